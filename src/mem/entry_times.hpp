// When the entries of network queues were written, as what serves the queues cannot know it by itself.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "icnt/messages.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// Of the last store to an entry's status word, in ps from the beginning of the simulation.
struct EntryMoments {
  std::uint64_t made = 0;     // it has left its SM's load/store unit
  std::uint64_t visible = 0;  // who polls the word would read it
};

/// One for all devices. The SM that stores notes the one, the home of the word the other; the reader is
/// whoever has been told, by a message sent after both, that the entry is there. So no window has two of them
/// at one entry, and concurrent calls of find() are safe. Changes otherwise only between windows.
class EntryTimes {
 public:
  /// [begin, begin + bytes) has entries from now on: begin is the first byte of a line.
  void add(Address begin, std::uint64_t bytes) {
    for (Address line = begin; line < begin + bytes; line += kLineBytes) lines_[line];
  }
  /// Null where no queue has it.
  [[nodiscard]] EntryMoments* find(Address entry) {
    const auto found = lines_.find(line_of(entry));
    return found == lines_.end() ? nullptr : &found->second[entry % kLineBytes / kEntryBytes];
  }
  /// Of the entries whose status words the store writes.
  void note_made(const icnt::Request& store, std::uint64_t ps) { note(store, &EntryMoments::made, ps); }
  void note_visible(const icnt::Request& store, std::uint64_t ps) { note(store, &EntryMoments::visible, ps); }

  template <class A>
  void persist(A& a) {
    a.members(*this, lines_);
  }

 private:
  static constexpr Address kEntryBytes = 64;  // trace::kNetEntryBytes
  static constexpr std::size_t kEntries = kLineBytes / kEntryBytes;
  void note(const icnt::Request& store, std::uint64_t EntryMoments::*which, std::uint64_t ps) {
    for (std::size_t i = 0; icnt::is_store(store.kind) && i < kEntries; ++i)
      if ((store.bytes[i * kEntryBytes / kSectorBytes] & 0xf) != 0)
        if (EntryMoments* const entry = find(store.line + i * kEntryBytes)) entry->*which = ps;
  }

  std::unordered_map<Address, std::array<EntryMoments, kEntries>> lines_;
};

}  // namespace lockstep::mem
