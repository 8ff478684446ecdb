#include "trace/compact_file.hpp"

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

std::uint64_t CompactFile::write(BlockKind kind) {
  hash_.update(reinterpret_cast<const char*>(raw_.data()), raw_.size());
  return file_.write(kind, raw_);
}

}  // namespace lockstep::trace
