// Mailboxes between domains. A network carries one kind of message from its sources to its destinations; each
// source writes only its own outbox, each destination reads outboxes of the window before, so nothing is
// locked.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/clock.hpp"
#include "util/types.hpp"

namespace lockstep::sim {

using DomainId = std::uint32_t;

/// A message with 8 bytes of where it belongs fills a cache line, or is aligned as it needs to be itself.
template <class T>
inline constexpr std::size_t kEntryAlign = sizeof(T) + 8 == 64 ? 64 : std::max<std::size_t>(alignof(T), 4);

/// The part of a network that the engine needs, independent of what it carries.
class NetworkBase {
 public:
  /// `latency`: the time that every message takes at least, from which the engine finds where a window has
  /// to end. 0: unknown; then EngineOptions::window must be short enough.
  NetworkBase(std::string name, std::vector<DomainId> sources, std::vector<DomainId> destinations,
              Time latency)
      : name_(std::move(name)),
        sources_(std::move(sources)),
        destinations_(std::move(destinations)),
        latency_(latency) {}
  virtual ~NetworkBase() = default;
  NetworkBase(const NetworkBase&) = delete;
  NetworkBase& operator=(const NetworkBase&) = delete;

  /// Before a run: how many threads call note().
  virtual void set_threads(unsigned threads) = 0;
  /// Before a run: sending from `domain` sets `bit` in `word`, so that who advances the domain need only call
  /// note() where something was sent. Without it nothing is set.
  virtual void set_sent_word(DomainId domain, std::uint64_t& word, std::uint64_t bit) = 0;
  /// The thread that has just advanced `domain`: notes what it sent, while its outboxes are in the thread's
  /// cache.
  virtual void note(DomainId domain, unsigned thread) = 0;
  /// Serial: the window has ended at `now`. The mail noted in it becomes readable, and every domain that has
  /// some is due at once: `next[id]` = now.
  virtual void flip(Time now, std::vector<Time>& next) = 0;
  /// Both for a caller without threads: `advanced` are the domains that ran.
  void flip(std::span<const DomainId> advanced, Time now, std::vector<Time>& next) {
    for (const DomainId d : advanced) note(d, 0);
    flip(now, next);
  }

  // Between windows, for mail from and to domains of other processes (sim::RankChannels). Messages are plain
  // data.
  /// Writes the messages of the last window, by source, then in the order of sending.
  using MailWriter = std::function<void(std::uint32_t source, Cycle arrival, std::string_view message)>;
  virtual void write_mail(std::uint32_t destination, const MailWriter& write) const = 0;
  /// As if the source, which is in no window here, had sent it in the window before: its domain is due now.
  virtual void put_mail(std::uint32_t source, std::uint32_t destination, Cycle arrival,
                        std::string_view message, Time now, std::vector<Time>& next) = 0;

  /// Before a run: a destination may be advanced several times between two calls of flip(). What waits for it
  /// is given to it once.
  void give_once() { taken_in_.assign(destinations_.size(), 0); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Time latency() const { return latency_; }
  [[nodiscard]] const std::vector<DomainId>& source_domains() const { return sources_; }
  [[nodiscard]] const std::vector<DomainId>& destination_domains() const { return destinations_; }
  [[nodiscard]] std::size_t sources() const { return sources_.size(); }
  [[nodiscard]] std::size_t destinations() const { return destinations_.size(); }

 protected:
  std::string name_;
  std::vector<DomainId> sources_, destinations_;  // index -> domain; several indices may share a domain
  Time latency_;
  mutable std::vector<std::uint64_t> taken_in_;  // with give_once(): by destination, the last such window
};

template <class T>
class Network final : public NetworkBase {
 public:
  /// `numbers`: of the sources, as destinations are given them; by default their indices. They grow.
  Network(std::string name, std::vector<DomainId> sources, std::vector<DomainId> destinations,
          Time latency = 0, std::vector<std::uint32_t> numbers = {});

  /// The source's thread. `arrival` is an edge of the destination's clock, not before the end of the window
  /// (the destination's inbox checks that).
  void send(std::uint32_t source, std::uint32_t destination, Cycle arrival, const T& message) {
    Source& from = outboxes_[source];
    Outbox& box = from.side[parity_];
    if (box.window != window_) box.reset(window_);
    if (from.sent) *from.sent |= from.sent_bit;
    box.append(destination, arrival, message);
  }

  /// Has the window before left messages for the destination, which it has not taken?
  [[nodiscard]] bool has_mail(std::uint32_t destination) const {
    return (mail_for_[destination / 64] >> destination % 64 & 1) != 0 &&
           (taken_in_.empty() || taken_in_[destination] != window_);
  }

  /// The destination's thread, once a window: f(number of the source, arrival, message) for each message, by
  /// source, then in the order of sending.
  template <class F>
  void collect(std::uint32_t destination, F&& f) const {
    if (!has_mail(destination)) return;
    if (!taken_in_.empty()) taken_in_[destination] = window_;
    each_of(destination, [&](std::uint32_t source, Cycle arrival, const T& message) {
      f(numbers_.empty() ? source : numbers_[source], arrival, message);
    });
  }

  using NetworkBase::flip;
  void set_threads(unsigned threads) override;
  void set_sent_word(DomainId domain, std::uint64_t& word, std::uint64_t bit) override;
  void note(DomainId domain, unsigned thread) override;
  void flip(Time now, std::vector<Time>& next) override;
  void write_mail(std::uint32_t destination, const MailWriter& write) const override;
  void put_mail(std::uint32_t source, std::uint32_t destination, Cycle arrival, std::string_view message,
                Time now, std::vector<Time>& next) override;

  /// Between windows, after set_threads(): with the mail that is not taken yet.
  template <class A>
  void persist(A& a) {
    a.section(name_);
    std::vector<std::uint64_t> senders(destinations_.size() * source_words_);
    if (!a.reading()) list_senders(senders);
    a(outboxes_, mail_for_, any_mail_, window_, parity_, senders);
    if (a.reading()) note_senders(senders);
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  struct alignas(kEntryAlign<T>) Entry {
    std::int32_t arrival;  // after that of the list's first
    std::uint32_t next;
    T message;
  };
  struct List {
    Cycle first;  // arrival
    std::uint32_t head, tail;
  };
  struct Outbox {
    std::uint64_t window = 0;
    std::vector<std::uint64_t> mask;  // non-empty destinations
    std::vector<List> lists;          // by destination; valid where the mask is set
    std::vector<Entry> entries;
    void reset(std::uint64_t w) {
      window = w;
      for (auto& m : mask) m = 0;
      entries.clear();
    }
    void append(std::uint32_t destination, Cycle arrival, const T& message) {
      const auto index = static_cast<std::uint32_t>(entries.size());
      std::uint64_t& word = mask[destination / 64];
      const std::uint64_t bit = std::uint64_t{1} << destination % 64;
      List& list = lists[destination];
      if (word & bit) {
        entries[list.tail].next = index;
      } else {
        word |= bit;
        list.head = index;
        list.first = arrival;
      }
      list.tail = index;
      entries.push_back({static_cast<std::int32_t>(arrival - list.first), kEnd, message});
    }
    template <class A>
    void persist(A& a) {
      a.members(*this, window, mask, lists, entries);
    }
  };

  /// As collect(), with the indices of sources, and however often.
  template <class F>
  void each_of(std::uint32_t destination, F&& f) const {
    for (std::size_t w = 0; w < source_words_; ++w)
      for (std::uint64_t bits = senders_to(destination, w); bits; bits &= bits - 1) {
        const auto source =
            static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
        const Outbox& box = outboxes_[source].side[parity_ ^ 1];
        const List& list = box.lists[destination];
        for (std::uint32_t i = list.head; i != kEnd; i = box.entries[i].next) {
          const Entry& entry = box.entries[i];
          f(source, list.first + static_cast<Cycle>(std::int64_t{entry.arrival}), entry.message);
        }
      }
  }

  struct alignas(64) Source {
    std::uint64_t* sent = nullptr;  // the domain's word
    std::uint64_t sent_bit = 0;
    Outbox side[2];
    template <class A>
    void persist(A& a) {
      a.members(*this, a.given(sent), a.given(sent_bit), side);
    }
  };
  /// What one thread has seen being sent. A row for each destination and window parity: the window that it is
  /// of, and the sources with mail for the destination, bit each. So a receiver touches only the outboxes
  /// that have something for it.
  struct alignas(64) Note {
    bool any = false;
    std::vector<std::uint64_t> mail;  // destinations, bit each
    std::vector<std::uint64_t> rows[2];
  };

  [[nodiscard]] std::size_t row_of(std::uint32_t destination) const {
    return destination * (1 + source_words_);
  }
  /// Word `w` of the sources that sent in the window before.
  [[nodiscard]] std::uint64_t senders_to(std::uint32_t destination, std::size_t w) const {
    std::uint64_t bits = 0;
    for (const Note& note : notes_) {
      const std::uint64_t* row = &note.rows[parity_ ^ 1][row_of(destination)];
      if (row[0] == window_ - 1) bits |= row[1 + w];
    }
    return bits;
  }

  /// Those of the window before, for each destination.
  void list_senders(std::vector<std::uint64_t>& senders) const {
    for (std::uint32_t d = 0; d < destinations_.size(); ++d)
      for (std::size_t w = 0; w < source_words_; ++w) senders[d * source_words_ + w] = senders_to(d, w);
  }
  void note_senders(const std::vector<std::uint64_t>& senders) {
    std::vector<std::uint64_t>& rows = notes_.front().rows[parity_ ^ 1];
    if (senders.size() != destinations_.size() * source_words_)
      throw std::logic_error("not this network's mail");
    for (std::uint32_t d = 0; d < destinations_.size(); ++d) {
      rows[row_of(d)] = window_ - 1;
      std::copy_n(&senders[d * source_words_], source_words_, &rows[row_of(d) + 1]);
    }
  }

  std::vector<std::uint32_t> numbers_;  // empty: the indices
  std::vector<Source> outboxes_;
  std::vector<std::vector<std::uint32_t>> sources_of_domain_;
  std::size_t source_words_;
  std::vector<Note> notes_;
  std::vector<std::uint64_t> mail_for_;  // destinations with mail of the window before, bit each
  bool any_mail_ = false;
  std::uint64_t window_ = 1;
  unsigned parity_ = 0;
};

template <class T>
Network<T>::Network(std::string name, std::vector<DomainId> sources, std::vector<DomainId> destinations,
                    Time latency, std::vector<std::uint32_t> numbers)
    : NetworkBase(std::move(name), std::move(sources), std::move(destinations), latency),
      numbers_(std::move(numbers)),
      outboxes_(sources_.size()),
      source_words_((sources_.size() + 63) / 64) {
  const std::size_t words = (destinations_.size() + 63) / 64;
  mail_for_.resize(words);
  set_threads(1);
  for (Source& s : outboxes_)
    for (Outbox& box : s.side) {
      box.mask.resize(words);
      box.lists.resize(destinations_.size());
    }
  for (std::uint32_t s = 0; s < sources_.size(); ++s) {
    if (sources_[s] >= sources_of_domain_.size()) sources_of_domain_.resize(sources_[s] + 1);
    sources_of_domain_[sources_[s]].push_back(s);
  }
}

template <class T>
void Network<T>::set_threads(unsigned threads) {
  const std::vector<std::uint64_t> rows(destinations_.size() * (1 + source_words_));
  notes_.assign(threads, {false, std::vector<std::uint64_t>(mail_for_.size()), {rows, rows}});
}

template <class T>
void Network<T>::set_sent_word(DomainId domain, std::uint64_t& word, std::uint64_t bit) {
  if (domain >= sources_of_domain_.size()) return;
  for (const std::uint32_t s : sources_of_domain_[domain]) {
    outboxes_[s].sent = &word;
    outboxes_[s].sent_bit = bit;
  }
}

template <class T>
void Network<T>::note(DomainId domain, unsigned thread) {
  if (domain >= sources_of_domain_.size()) return;
  Note& note = notes_[thread];
  for (const std::uint32_t s : sources_of_domain_[domain]) {
    const Outbox& box = outboxes_[s].side[parity_];
    if (box.window != window_) continue;
    note.any = true;
    for (std::size_t w = 0; w < mail_for_.size(); ++w) {
      note.mail[w] |= box.mask[w];
      for (std::uint64_t bits = box.mask[w]; bits; bits &= bits - 1) {
        const auto destination =
            static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
        std::uint64_t* row = &note.rows[parity_][row_of(destination)];
        if (row[0] != window_) {
          std::fill_n(row + 1, source_words_, 0);
          row[0] = window_;
        }
        row[1 + s / 64] |= std::uint64_t{1} << s % 64;
      }
    }
  }
}

template <class T>
void Network<T>::write_mail(std::uint32_t destination, const MailWriter& write) const {
  if ((mail_for_[destination / 64] >> destination % 64 & 1) == 0) return;
  each_of(destination, [&](std::uint32_t source, Cycle arrival, const T& message) {
    write(source, arrival, {reinterpret_cast<const char*>(&message), sizeof message});
  });
}

template <class T>
void Network<T>::put_mail(std::uint32_t source, std::uint32_t destination, Cycle arrival,
                          std::string_view message, Time now, std::vector<Time>& next) {
  if constexpr (!std::is_trivially_copyable_v<T>) {
    throw std::logic_error("messages of '" + name_ + "' are not plain data");
  } else {
    if (message.size() != sizeof(T) || source >= sources_.size() || destination >= destinations_.size())
      throw std::logic_error("not a message of '" + name_ + "'");
    T copy;
    std::memcpy(static_cast<void*>(&copy), message.data(), sizeof copy);
    Outbox& box = outboxes_[source].side[parity_ ^ 1];
    if (box.window != window_ - 1) box.reset(window_ - 1);
    box.append(destination, arrival, copy);
    std::uint64_t* row = &notes_.front().rows[parity_ ^ 1][row_of(destination)];
    if (row[0] != window_ - 1) {
      std::fill_n(row + 1, source_words_, 0);
      row[0] = window_ - 1;
    }
    row[1 + source / 64] |= std::uint64_t{1} << source % 64;
    mail_for_[destination / 64] |= std::uint64_t{1} << destination % 64;
    any_mail_ = true;
    next[destinations_[destination]] = now;
  }
}

template <class T>
void Network<T>::flip(Time now, std::vector<Time>& next) {
  parity_ ^= 1;
  ++window_;
  if (any_mail_) std::fill(mail_for_.begin(), mail_for_.end(), 0);
  any_mail_ = false;
  for (Note& note : notes_) {
    if (!std::exchange(note.any, false)) continue;
    any_mail_ = true;
    for (std::size_t w = 0; w < mail_for_.size(); ++w) mail_for_[w] |= std::exchange(note.mail[w], 0);
  }
  if (!any_mail_) return;
  for (std::size_t w = 0; w < mail_for_.size(); ++w)
    for (std::uint64_t bits = mail_for_[w]; bits; bits &= bits - 1)
      next[destinations_[w * 64 + static_cast<unsigned>(std::countr_zero(bits))]] = now;
}

}  // namespace lockstep::sim
