#include "exec/access_set.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "exec/device_memory.hpp"

namespace lockstep::exec {

namespace {

constexpr std::size_t kFewChunks = 256;             // to be cleared rather than dropped
constexpr std::size_t kMaxLines = (8 << 20) / 128;  // of a log whose memory is kept
enum State : std::uint8_t { kUntouched, kBeingKept, kKept };

/// Sets bits [first, last] of `bits`.
void set_bits(std::uint64_t* bits, std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  for (std::uint64_t at = first / 64; at <= last / 64; ++at) {
    std::uint64_t mask = kAll;
    if (at == first / 64) mask &= kAll << first % 64;
    if (at == last / 64) mask &= kAll >> (63 - last % 64);
    bits[at] |= mask;
  }
}

bool any_bit(const std::uint64_t* bits, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t at = first; at <= last; ++at)
    if ((bits[at / 64] >> at % 64 & 1) != 0) return true;
  return false;
}

std::uint64_t* words(const SparseBytes& bytes) { return reinterpret_cast<std::uint64_t*>(bytes.data()); }

}  // namespace

SparseBytes::SparseBytes(std::uint64_t bytes) : bytes_(bytes) {
  void* const got =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  data_ = got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
}
SparseBytes::~SparseBytes() {
  if (data_) munmap(data_, bytes_);
}

void SparseBytes::drop() { (void)madvise(data_, bytes_, MADV_DONTNEED); }

Undo::Undo(std::uint64_t arena_bytes) : states_(arena_bytes / kLineBytes) {}

void Undo::keep(Address line, std::vector<Line>& log) {
  auto& byte = reinterpret_cast<std::uint8_t&>(states_.data()[(line - kArenaBase) / kLineBytes]);
  const std::atomic_ref<std::uint8_t> state(byte);
  std::uint8_t expected = kUntouched;
  if (state.compare_exchange_strong(expected, kBeingKept, std::memory_order_acquire)) {
    log.emplace_back().at = line;
    // A page that is read first and written then is mapped twice, the second time with all of the host's
    // cores interrupted.
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(line)).fetch_or(0, std::memory_order_relaxed);
    std::memcpy(log.back().bytes, reinterpret_cast<const std::byte*>(line), kLineBytes);
    state.store(kKept, std::memory_order_release);
    return;
  }
  while (state.load(std::memory_order_acquire) != kKept) std::this_thread::yield();
}

void Undo::forget(Address line) { states_.data()[(line - kArenaBase) / kLineBytes] = std::byte{kUntouched}; }

AccessSet::AccessSet(Undo& undo, std::uint64_t arena_bytes)
    : undo_(undo),
      arena_bytes_(arena_bytes),
      read_(arena_bytes >> kWordsShift >> 3),
      written_(arena_bytes >> kWordsShift >> 3),
      reduced_(arena_bytes >> kWordsShift >> 3),
      touched_(arena_bytes >> kChunkShift) {}

bool AccessSet::works() const {
  return read_.data() && written_.data() && reduced_.data() && touched_.data();
}

bool AccessSet::reach_chunks(std::uint64_t from, std::uint64_t to) {
  if (from >= arena_bytes_ || to >= arena_bytes_) {
    foreign_ = true;
    return false;
  }
  for (std::uint64_t chunk = from >> kChunkShift; chunk <= to >> kChunkShift; ++chunk) {
    latest_ = chunk;
    if (touched_.data()[chunk] != std::byte{0}) continue;
    touched_.data()[chunk] = std::byte{1};
    chunks_.push_back(chunk);
  }
  return true;
}

void AccessSet::read(Address first, std::uint64_t bytes) {
  if (!reach(first, bytes)) return;
  const std::uint64_t from = (first - kArenaBase) >> kWordsShift,
                      to = (first - kArenaBase + bytes - 1) >> kWordsShift;
  set_bits(words(read_), from, to);
  if (reduces() && any_bit(words(reduced_), from, to)) throw Dependent();
}

void AccessSet::write(Address first, std::uint64_t bytes) {
  if (!reach(first, bytes)) return;
  const std::uint64_t from = first - kArenaBase, to = from + bytes - 1;
  const auto* const of_line = reinterpret_cast<const std::uint32_t*>(written_.data());  // 32 words each
  static_assert(Undo::kLineBytes == 32u << kWordsShift);
  for (std::uint64_t line = from / Undo::kLineBytes; line <= to / Undo::kLineBytes; ++line)
    if (of_line[line] == 0) undo_.keep(kArenaBase + line * Undo::kLineBytes, log_);
  set_bits(words(written_), from >> kWordsShift, to >> kWordsShift);
  if (reduces() && any_bit(words(reduced_), from >> kWordsShift, to >> kWordsShift)) throw Dependent();
}

void AccessSet::reduce(const Reduction& one) {
  bool fresh = false;
  if (!reductions_.add(one, fresh)) throw Dependent();
  if (!fresh || !reach(one.at, one.bytes)) return;
  const std::uint64_t from = one.at - kArenaBase, first = from >> kWordsShift,
                      last = (from + one.bytes - 1) >> kWordsShift;
  if (any_bit(words(read_), first, last) || any_bit(words(written_), first, last)) throw Dependent();
  set_bits(words(reduced_), first, last);
}

bool AccessSet::conflicts_with(const AccessSet& other) const {
  const auto differs = [&](const Reduction& one) {
    const Reduction* const theirs = other.reductions_.find(one.at);
    return theirs && theirs->fn != one.fn;
  };
  const auto reductions = reductions_.all();
  return std::any_of(reductions.begin(), reductions.end(), differs) || words_overlap(other);
}

void AccessSet::apply() const {
  for (const Reduction& one : reductions_.all()) {
    auto* const place = reinterpret_cast<std::byte*>(one.at);
    std::uint64_t value = 0;
    std::memcpy(&value, place, one.bytes);
    value = one.fn(value, one.value, 0);
    std::memcpy(place, &value, one.bytes);
  }
}

bool AccessSet::words_overlap(const AccessSet& other) const {
  const auto bits = [](const SparseBytes& of, std::uint64_t chunk) { return words(of) + chunk * kChunkBits; };
  return std::any_of(chunks_.begin(), chunks_.end(), [&](std::uint64_t chunk) {
    if (other.touched_.data()[chunk] == std::byte{0}) return false;
    const std::uint64_t *ours = bits(written_, chunk), *read = bits(other.read_, chunk),
                        *written = bits(other.written_, chunk);
    std::uint64_t both = 0;
    for (std::uint64_t i = 0; i < kChunkBits; ++i) both |= ours[i] & (read[i] | written[i]);
    if (both != 0 || !(reduces() || other.reduces())) return both != 0;
    const std::uint64_t *reduced = bits(reduced_, chunk), *theirs = bits(other.reduced_, chunk);
    for (std::uint64_t i = 0; i < kChunkBits; ++i) both |= (ours[i] & theirs[i]) | (reduced[i] & read[i]);
    return both != 0;
  });
}

void AccessSet::undo() const {
  for (const Undo::Line& line : log_)
    std::memcpy(reinterpret_cast<std::byte*>(line.at), line.bytes, sizeof line.bytes);
}

void AccessSet::clear() {
  for (const Undo::Line& line : log_) undo_.forget(line.at);
  if (log_.capacity() > kMaxLines) log_ = {};
  log_.clear();
  if (chunks_.size() > kFewChunks) {
    for (SparseBytes* bytes : {&read_, &written_, &reduced_, &touched_}) bytes->drop();
  } else {
    constexpr std::uint64_t kPage = kChunkBits * sizeof(std::uint64_t);
    for (const std::uint64_t chunk : chunks_) {
      std::memset(read_.data() + chunk * kPage, 0, kPage);
      std::memset(written_.data() + chunk * kPage, 0, kPage);
      if (reduces()) std::memset(reduced_.data() + chunk * kPage, 0, kPage);
      touched_.data()[chunk] = std::byte{0};
    }
  }
  chunks_.clear();
  latest_ = kNoChunk;
  reductions_.clear();
  foreign_ = false;
}

AccessSets::AccessSets(std::uint64_t arena_bytes) : arena_bytes_(arena_bytes), undo_(arena_bytes) {}
AccessSets::~AccessSets() = default;

std::span<const std::unique_ptr<AccessSet>> AccessSets::get(unsigned count) {
  if (!undo_.works()) return {};
  for (const auto& set : sets_) set->clear();
  while (sets_.size() < count) {
    auto set = std::make_unique<AccessSet>(undo_, arena_bytes_);
    if (!set->works()) return {};
    sets_.push_back(std::move(set));
  }
  return {sets_.data(), count};
}

}  // namespace lockstep::exec
