#include "trace/compact_file.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

#include "trace/shared_offsets.hpp"

namespace lockstep::trace {

void ChunkPacker::pack(const KernelHeader& header, std::span<const CtaTrace> ctas, PackedChunk& out) {
  encoder_.encode({header, ctas.front().index}, ctas, out.raw);
  blocks_.pack(BlockKind::kChunk, out.raw, out.stored);
  out.ctas = ctas.size();
  out.records = out.words = 0;
  for (const CtaTrace& cta : ctas) {
    out.records += record_count(cta);
    out.words += cta.words.size();
  }
}

bool OpenChunk::add(CtaTrace& cta) {
  if (size_ == ctas_.size()) ctas_.emplace_back();
  CtaTrace& mine = ctas_[size_++];
  std::swap(mine, cta);
  bytes_ += counted_bytes(mine.warps.size(), record_count(mine), mine.words.size());
  return bytes_ >= kChunkBytes;
}

void CompactFile::begin(const KernelHeader& header) {
  begin_ = {file_.size(), warp_instructions_, hash_};
  directory_.kernels.push_back({header, {}, 0, {}, KernelSize{}});
}

void CompactFile::restart() {
  open_.clear();
  if (file_.size() == begin_.bytes) return;
  file_.resize(begin_.bytes);
  warp_instructions_ = begin_.warp_instructions;
  hash_ = begin_.hash;
  directory_.kernels.back().chunks.clear();
  directory_.kernels.back().size = KernelSize{};
}

CompactFile::Unfinished CompactFile::suspend() {
  Unfinished kernel{std::move(directory_.kernels.back()), std::exchange(open_, {})};
  directory_.kernels.pop_back();
  return kernel;
}

void CompactFile::resume(Unfinished kernel, std::uint64_t id) {
  kernel.entry.header.id = id;
  directory_.kernels.push_back(std::move(kernel.entry));
  open_ = std::move(kernel.open);
}

void CompactFile::add(const CtaTrace& cta) {
  copy_plain(cta, plain_);
  add_plain(plain_);
}

void CompactFile::add_plain(CtaTrace& cta) {
  if (open_.add(cta)) close_chunk();
}

void CompactFile::close_chunk() {
  if (open_.ctas().empty()) return;
  packer_.pack(directory_.kernels.back().header, open_.ctas(), packed_);
  add_packed(packed_);
  open_.clear();
}

void CompactFile::add_packed(const PackedChunk& chunk) {
  hash_.update(reinterpret_cast<const char*>(chunk.raw.data()), chunk.raw.size());
  warp_instructions_ += chunk.records;
  KernelEntry& kernel = directory_.kernels.back();
  kernel.size->instructions += chunk.records;
  kernel.size->address_words += chunk.words;
  kernel.chunks.push_back({file_.write_packed(chunk.stored), chunk.ctas});
}

void CompactFile::end(std::uint32_t instructions,
                      const std::function<TracedInstruction(std::uint32_t)>& traced,
                      std::vector<std::string> remarks) {
  close_chunk();
  encode_table(instructions, traced, raw_);
  KernelEntry& entry = directory_.kernels.back();
  if (const L2Launch& l2 = entry.header.l2; l2 != L2Launch{})
    for (const std::uint64_t said :
         {l2.base, l2.bytes, std::uint64_t{l2.ratio}, static_cast<std::uint64_t>(l2.hit),
          static_cast<std::uint64_t>(l2.miss), l2.set_aside, std::uint64_t{l2.resets}})
      hash_.update(said);
  entry.table = write(BlockKind::kTable);
  entry.remarks = std::move(remarks);
}

void CompactFile::finish(std::string name, std::uint64_t hash, std::vector<Command> commands) {
  directory_.name = std::move(name);
  directory_.hash = hash;
  directory_.commands = std::move(commands);
  encode_directory(directory_, raw_);
  file_.finish(file_.write(BlockKind::kDirectory, raw_), version_of(directory_));
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
  file_.resize(in.varint());
  warp_instructions_ = in.varint();
  std::memcpy(&hash_, in.take(sizeof hash_).data(), sizeof hash_);
  directory_.kernels.push_back(decode_kernel(in));
}

std::uint64_t CompactFile::write(BlockKind kind) {
  hash_.update(reinterpret_cast<const char*>(raw_.data()), raw_.size());
  return file_.write(kind, raw_);
}

}  // namespace lockstep::trace
