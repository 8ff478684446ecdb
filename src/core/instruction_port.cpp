#include "core/instruction_port.hpp"

#include <algorithm>
#include <iterator>

namespace lockstep::core {
namespace {

SectorMask sectors_of(std::uint32_t line_bytes) {
  const std::uint32_t sectors = std::clamp(line_bytes / kSectorBytes, 1u, kSectorsPerLine);
  return static_cast<SectorMask>((1u << sectors) - 1);
}

}  // namespace

InstructionPort::InstructionPort(const config::FrontEndGroup& config, LsuPort& port)
    : port_(&port), sectors_(sectors_of(config.line_bytes)) {
  fetches_.reserve(config.l1i_mshrs);
  lines_.reserve(config.l1i_mshrs);
}

void InstructionPort::fetch(Cycle now, Address line, std::uint8_t kernel) {
  const auto free =
      std::find_if(fetches_.begin(), fetches_.end(), [](const Fetch& f) { return f.missing == 0; });
  const auto index = static_cast<std::uint32_t>(std::distance(fetches_.begin(), free));
  if (free == fetches_.end()) fetches_.emplace_back();
  const auto sectors = static_cast<SectorMask>(sectors_ << sector_in_line(line) & 0xf);
  fetches_[index] = {line, sectors};
  icnt::Request request;
  request.line = line_of(line);
  request.tag = index;
  request.kind = icnt::AccessKind::kInstruction;
  request.sectors = sectors;
  request.kernel = kernel;
  port_->send(now, request);
}

void InstructionPort::receive(const icnt::Reply& reply) {
  Fetch& fetch = fetches_[reply.tag];
  fetch.missing = static_cast<SectorMask>(fetch.missing & ~reply.sectors);
  if (fetch.missing == 0) lines_.push_back(fetch.line);
}

bool InstructionPort::idle() const {
  return std::all_of(fetches_.begin(), fetches_.end(), [](const Fetch& f) { return f.missing == 0; });
}

}  // namespace lockstep::core
