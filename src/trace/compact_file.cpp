#include "trace/compact_file.hpp"

#include <cstring>
#include <type_traits>

#include "trace/shared_offsets.hpp"

namespace lockstep::trace {

void CompactFile::begin(const KernelHeader& header) { directory_.kernels.push_back({header, {}, 0, {}}); }

void CompactFile::add(const CtaTrace& cta) {
  if (pending_ == ctas_.size()) ctas_.emplace_back();
  CtaTrace& plain = ctas_[pending_++];
  copy_plain(cta, plain);
  const std::size_t records = record_count(plain);
  pending_bytes_ += counted_bytes(plain.warps.size(), records, plain.words.size());
  warp_instructions_ += records;
  if (pending_bytes_ >= kChunkBytes) close_chunk();
}

void CompactFile::close_chunk() {
  if (pending_ == 0) return;
  KernelEntry& entry = directory_.kernels.back();
  encoder_.encode({entry.header, ctas_.front().index}, {ctas_.data(), pending_}, raw_);
  entry.chunks.push_back({write(BlockKind::kChunk), pending_});
  pending_ = 0;
  pending_bytes_ = 0;
}

void CompactFile::end(std::uint32_t instructions,
                      const std::function<TracedInstruction(std::uint32_t)>& traced,
                      std::vector<std::string> remarks) {
  close_chunk();
  encode_table(instructions, traced, raw_);
  KernelEntry& entry = directory_.kernels.back();
  entry.table = write(BlockKind::kTable);
  entry.remarks = std::move(remarks);
}

void CompactFile::finish(std::string name, std::uint64_t hash, std::vector<Command> commands) {
  directory_.name = std::move(name);
  directory_.hash = hash;
  directory_.commands = std::move(commands);
  encode_directory(directory_, raw_);
  file_.finish(file_.write(BlockKind::kDirectory, raw_));
}

Bytes CompactFile::last_kernel() const {
  static_assert(std::is_trivially_copyable_v<ContentHash>);
  Bytes out;
  put_varint(out, file_.size());
  put_varint(out, warp_instructions_);
  const auto* hash = reinterpret_cast<const std::uint8_t*>(&hash_);
  out.insert(out.end(), hash, hash + sizeof hash_);
  encode_kernel(directory_.kernels.back(), out);
  return out;
}

void CompactFile::adopt_kernel(const Bytes& last) {
  ByteReader in(last);
  file_.skip_to(in.varint());
  warp_instructions_ = in.varint();
  std::memcpy(&hash_, in.take(sizeof hash_).data(), sizeof hash_);
  directory_.kernels.push_back(decode_kernel(in));
}

std::uint64_t CompactFile::write(BlockKind kind) {
  hash_.update(reinterpret_cast<const char*>(raw_.data()), raw_.size());
  return file_.write(kind, raw_);
}

}  // namespace lockstep::trace
