#include "link/framing.hpp"

namespace lockstep::link {
namespace {

/// Every model, one line each.
constexpr const FramingModel* kModels[] = {
    &kPackets,
    &kFlits,
    &kIdeal,
};

}  // namespace

std::span<const FramingModel* const> framing_models() { return kModels; }

Framing::Framing(const FramingModel& model, const FramingBytes& of) {
  for (const bool is_reply : {false, true})
    for (unsigned k = 0; k < kKinds; ++k) {
      const auto kind = static_cast<icnt::AccessKind>(k);
      const bool data = is_reply ? icnt::reply_carries_data(kind) : icnt::carries_data(kind);
      for (std::uint32_t sectors = 0; sectors <= kSectorsPerLine; ++sectors)
        bytes_[is_reply][k][sectors] = model.bytes({kind, is_reply, data ? sectors * kSectorBytes : 0}, of);
    }
}

}  // namespace lockstep::link
