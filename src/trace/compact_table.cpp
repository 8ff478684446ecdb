// The instruction tables of a compact trace.
#include <algorithm>
#include <map>

#include "trace/compact_directory.hpp"

namespace lockstep::trace {
namespace {

constexpr std::uint64_t kMaxInstructions = std::uint64_t{StaticTable::kChunk} * StaticTable::kMaxChunks;
constexpr std::uint32_t kUsualBytes = 16;  // of an instruction since sm_70

/// Each text once, numbered from 0 as they come.
class TextList {
 public:
  std::uint64_t number(std::string_view text) {
    auto found = known_.find(text);
    if (found == known_.end()) {
      found = known_.emplace(text, known_.size()).first;
      put_text(texts_, text);
    }
    return found->second;
  }
  [[nodiscard]] std::uint64_t size() const { return known_.size(); }
  [[nodiscard]] const Bytes& texts() const { return texts_; }

 private:
  std::map<std::string, std::uint64_t, std::less<>> known_;
  Bytes texts_;
};

/// The column of lines: 1 + number of the file, 0 where none is named; the line.
class LineColumn {
 public:
  void add(const TracedInstruction& traced) {
    put_varint(column_, traced.source_file.empty() ? 0 : 1 + files_.number(traced.source_file));
    put_varint(column_, zigzag(std::uint64_t{traced.source_line} - before_));
    before_ = traced.source_line;
    any_ |= traced.source_line != 0;
  }
  /// Nothing where no instruction has a line.
  void put(Bytes& out) const {
    if (!any_) return;
    put_varint(out, files_.size());
    out.insert(out.end(), files_.texts().begin(), files_.texts().end());
    out.insert(out.end(), column_.begin(), column_.end());
  }

 private:
  TextList files_;
  Bytes column_;
  std::uint64_t before_ = 0;
  bool any_ = false;
};

void decode_lines(ByteReader& in, TracedTable& table) {
  for (std::uint64_t n = in.number(in.left(), "the number of source files"); n > 0; --n)
    table.files.push_back(in.text());
  std::uint64_t line = 0;
  for (TracedTable::Entry& entry : table.entries) {
    entry.file =
        static_cast<std::uint32_t>(in.number(table.files.size(), "the source file of an instruction"));
    line += in.difference();
    if (line >> 32 != 0) throw BrokenBlock("a source line of more than 32 bits");
    entry.line = static_cast<std::uint32_t>(line);
  }
}

}  // namespace

void encode_table(std::uint32_t size, const std::function<TracedInstruction(std::uint32_t)>& source,
                  Bytes& out) {
  TextList known;
  LineColumn lines;
  Bytes pcs, numbers, immediates;
  std::uint32_t next_pc = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const TracedInstruction traced = source(i);
    put_varint(numbers, known.number(traced.text));
    put_varint(pcs, zigzag(static_cast<std::uint64_t>(std::int64_t{traced.pc} - std::int64_t{next_pc})));
    next_pc = traced.pc + kUsualBytes;
    put_varint(immediates, zigzag(static_cast<std::uint64_t>(traced.immediate)));
    lines.add(traced);
  }
  out.clear();
  put_varint(out, known.size());
  put_varint(out, size);
  const Bytes& texts = known.texts();
  for (const Bytes* column : std::initializer_list<const Bytes*>{&texts, &pcs, &numbers, &immediates})
    out.insert(out.end(), column->begin(), column->end());
  lines.put(out);
}

TracedTable decode_table(std::span<const std::uint8_t> bytes) {
  ByteReader in(bytes);
  TracedTable table;
  const std::uint64_t texts =
      in.number(std::min<std::uint64_t>(in.left(), kMaxInstructions), "the number of texts");
  const std::uint64_t size =
      in.number(std::min<std::uint64_t>(in.left(), kMaxInstructions), "the number of instructions");
  for (std::uint64_t i = 0; i < texts; ++i) table.texts.push_back(in.text());
  table.entries.resize(size);
  std::uint32_t next_pc = 0;
  for (TracedTable::Entry& entry : table.entries) {
    entry.pc = static_cast<std::uint32_t>(next_pc + in.difference());
    next_pc = entry.pc + kUsualBytes;
  }
  for (TracedTable::Entry& entry : table.entries) {
    if (texts == 0) throw BrokenBlock("the instructions have no texts");
    entry.text = static_cast<std::uint32_t>(in.number(texts - 1, "the text of an instruction"));
  }
  for (TracedTable::Entry& entry : table.entries)
    entry.immediate = static_cast<std::int64_t>(in.difference());
  if (in.left() > 0) decode_lines(in, table);
  in.expect_end("the instruction table");
  return table;
}

}  // namespace lockstep::trace
