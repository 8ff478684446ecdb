// A graph that is being made: its messages have no partners yet, and a node may wait for one of another rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/frontier.hpp"
#include "export/graph.hpp"

namespace lockstep::exporter {

/// What a node occupies.
struct Lane {
  enum class Kind : std::uint8_t {
    kHostThread,
    kStream,
    kToDevice,
    kToHost,
    kPeers,
    kNic
  } kind = Kind::kHostThread;
  std::uint64_t number = 0;  // of a thread or stream
  auto operator<=>(const Lane&) const = default;
};

/// Which message a node sends or receives, before the messages of a pair are numbered.
struct MessageKey {
  enum class Space : std::uint8_t { kLibrary, kProgram, kCopy, kOneSided, kReply };
  std::uint16_t from = 0, to = 0;
  Space space = Space::kLibrary;
  std::uint64_t number = 0;
  auto operator<=>(const MessageKey&) const = default;
};

class Draft {
 public:
  explicit Draft(std::uint16_t ranks) {
    graph_.ranks = ranks;
    for (std::uint16_t r = 0; r < ranks; ++r) (void)lane(r, {});
  }

  /// Appends a node that waits for `before`. The name is of at most one node of each kind of work, or a
  /// kernel's.
  std::uint32_t add(Node node, std::string_view name, const Frontier& before);
  std::uint32_t compute(std::uint16_t rank, const Lane& where, std::uint64_t time_ps, std::string_view name,
                        const Frontier& before);
  /// `from` and `to` are the key's.
  std::uint32_t send(const MessageKey& key, std::uint64_t bytes, bool offered, const Lane& where,
                     const Frontier& before);
  std::uint32_t receive(const MessageKey& key, const Lane& where, const Frontier& before);
  [[nodiscard]] std::uint32_t new_chain() { return chains_++; }

  /// Pairs sends with receives, and puts messages in place of waits for other ranks. Throws UserError for a
  /// receive without a send.
  [[nodiscard]] Graph finish();

 private:
  std::uint32_t lane(std::uint16_t rank, const Lane& where);
  void match();

  Graph graph_;
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::map<std::pair<std::uint16_t, Lane>, std::uint32_t> lanes_;
  std::map<MessageKey, std::uint32_t> sends_, receives_;
  std::uint32_t chains_ = 0;
};

}  // namespace lockstep::exporter
