#include "core/instruction_port.hpp"

#include <algorithm>
#include <iterator>

namespace lockstep::core {
InstructionPort::InstructionPort(const config::FrontEndGroup& config, LsuPort& port)
    : port_(&port),
      sectors_(config.line_bytes / kSectorBytes),
      parts_(std::max(1u, sectors_ / kSectorsPerLine)) {
  fetches_.reserve(config.l1i_mshrs);
  lines_.reserve(config.l1i_mshrs);
}

void InstructionPort::fetch(Cycle now, Address line, std::uint8_t kernel) {
  const auto free =
      std::find_if(fetches_.begin(), fetches_.end(), [](const Fetch& f) { return f.missing == 0; });
  sending_ = static_cast<std::uint32_t>(std::distance(fetches_.begin(), free));
  if (free == fetches_.end()) fetches_.emplace_back();
  fetches_[sending_] = {line, (1u << sectors_) - 1, kernel};
  parts_left_ = parts_;
  send_part(now);
}

void InstructionPort::send_part(Cycle now) {
  const Fetch& fetch = fetches_[sending_];
  const std::uint32_t sectors = (1u << std::min(sectors_, kSectorsPerLine)) - 1;
  icnt::Request request;
  request.line = line_of(fetch.line) + Address{parts_ - parts_left_} * kLineBytes;
  request.tag = sending_;
  request.kind = icnt::AccessKind::kInstruction;
  request.sectors = static_cast<SectorMask>(sectors << sector_in_line(fetch.line) & 0xf);
  request.kernel = fetch.kernel;
  port_->send(now, request);
  --parts_left_;
}

void InstructionPort::receive(const icnt::Reply& reply) {
  Fetch& fetch = fetches_[reply.tag];
  const auto first = static_cast<unsigned>((reply.line - line_of(fetch.line)) / kSectorBytes);
  fetch.missing &= ~(std::uint32_t{reply.sectors} << first >> sector_in_line(fetch.line));
  if (fetch.missing == 0) lines_.push_back(fetch.line);
}

bool InstructionPort::idle() const {
  return std::all_of(fetches_.begin(), fetches_.end(), [](const Fetch& f) { return f.missing == 0; });
}

}  // namespace lockstep::core
