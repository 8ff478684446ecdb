#include "trace/intern_table.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "trace/text_scan.hpp"

namespace lockstep::trace {
namespace {

std::uint64_t with_immediate(std::uint64_t hash, std::int64_t immediate) {
  return mix_hash(hash, static_cast<std::uint64_t>(immediate) + 0xD1B54A32D192ED03u);
}

}  // namespace

std::uint64_t key_hash(std::uint64_t function, std::uint32_t pc, std::string_view text) {
  return mix_hash(mix_hash(hash_text(text), pc), function);
}

InstructionKey InternTable::key(std::uint32_t i) const {
  const InternedInstruction& e = entries_[i];
  const std::string_view words(text(e), e.text_length);
  return {key_hash(e.function, e.pc, words), e.function, e.pc, words, e.immediate};
}

std::uint32_t InternTable::probe(const InstructionKey& key, std::uint64_t hash, bool same_immediate) const {
  if (buckets_.empty()) return kNone;
  const std::size_t mask = buckets_.size() - 1;
  for (std::size_t i = hash & mask; buckets_[i] != 0; i = (i + 1) & mask) {
    const InternedInstruction& e = entries_[buckets_[i] - 1];
    if (e.hash == hash && e.function == key.function && e.pc == key.pc && e.text_length == key.text.size() &&
        (!same_immediate || e.immediate == key.immediate) &&
        std::memcmp(text(e), key.text.data(), e.text_length) == 0) {
      return buckets_[i] - 1;
    }
  }
  return kNone;
}

// The first instruction with a text is filed under the text alone. Only when that one uses its immediate are
// the others with the same text filed separately, under a hash that includes it.
std::uint32_t InternTable::find(const InstructionKey& key) const {
  const std::uint32_t first = probe(key, key.hash, false);
  if (first == kNone || !entries_[first].uses_immediate || entries_[first].immediate == key.immediate) {
    return first;
  }
  return probe(key, with_immediate(key.hash, key.immediate), true);
}

std::uint32_t InternTable::add(const InstructionKey& key, InternedInstruction entry) {
  if (texts_.size() + key.text.size() > ~std::uint32_t{0})
    throw std::length_error("too much instruction text");
  const bool first = probe(key, key.hash, false) == kNone;
  entry.hash = first ? key.hash : with_immediate(key.hash, key.immediate);
  entry.function = key.function;
  entry.pc = key.pc;
  entry.immediate = key.immediate;
  entry.text_offset = static_cast<std::uint32_t>(texts_.size());
  entry.text_length = static_cast<std::uint32_t>(key.text.size());
  texts_.insert(texts_.end(), key.text.begin(), key.text.end());
  const std::uint32_t index = size();
  entries_.push_back(entry);
  if (2 * entries_.size() > buckets_.size()) {
    grow();
  } else {
    link(entry.hash, index);
  }
  return index;
}

void InternTable::link(std::uint64_t hash, std::uint32_t index) {
  const std::size_t mask = buckets_.size() - 1;
  std::size_t i = hash & mask;
  while (buckets_[i] != 0) i = (i + 1) & mask;
  buckets_[i] = index + 1;
}

void InternTable::grow() {
  buckets_.assign(std::max<std::size_t>(64, 2 * buckets_.size()), 0);
  for (std::uint32_t i = 0; i < size(); ++i) link(entries_[i].hash, i);
}

void InternTable::clear() {
  if (entries_.empty()) return;
  entries_.clear();
  texts_.clear();
  std::fill(buckets_.begin(), buckets_.end(), 0);
}

}  // namespace lockstep::trace
