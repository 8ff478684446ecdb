// What a message costs on a wire: its data and what the link adds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "icnt/messages.hpp"
#include "util/bits.hpp"

namespace lockstep::link {

/// Framing of a kind of link, all in bytes.
struct FramingBytes {
  std::uint32_t packet = 256;  // of data under one header, where data follow each other: copies
  std::uint32_t header = 16;   // of a packet: a request, a reply with data
  std::uint32_t store = 0;     // more than that for a store or an atomic
  std::uint32_t ack = 1;       // of an acknowledgement: it rides with others
  std::uint32_t flit = 16;     // model `flits` only
};

/// A message as the models see it.
struct FramedMessage {
  icnt::AccessKind kind = icnt::AccessKind::kLoad;
  bool is_reply = false;
  std::uint32_t data = 0;  // bytes that it carries, by whole sectors
};

/// `bytes`: on the wire, at least 1.
struct FramingModel {
  std::string_view name, help;
  std::uint32_t (*bytes)(const FramedMessage& message, const FramingBytes& of);
};

/// All of them, in the order of config::link_models(). A new one is a file framing_*.cpp, a line in
/// framing.cpp, and its name there.
[[nodiscard]] std::span<const FramingModel* const> framing_models();
extern const FramingModel kPackets, kFlits, kIdeal;

/// A model's sizes for a kind of link, computed once.
class Framing {
 public:
  Framing(const FramingModel& model, const FramingBytes& of);

  [[nodiscard]] std::uint32_t request(icnt::AccessKind kind, SectorMask sectors) const {
    return bytes_[0][static_cast<unsigned>(kind)][bit_count(sectors)];
  }
  [[nodiscard]] std::uint32_t reply(icnt::AccessKind kind, SectorMask sectors) const {
    return bytes_[1][static_cast<unsigned>(kind)][bit_count(sectors)];
  }

 private:
  static constexpr unsigned kKinds = static_cast<unsigned>(icnt::AccessKind::kRemoteDone) + 1;
  using Sizes = std::array<std::array<std::uint32_t, kSectorsPerLine + 1>, kKinds>;
  std::array<Sizes, 2> bytes_{};  // of requests, of replies; by kind, by sectors
};

}  // namespace lockstep::link
