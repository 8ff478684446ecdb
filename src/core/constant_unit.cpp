#include "core/constant_unit.hpp"

namespace lockstep::core {
namespace {

// Each kernel slot has one line of 64 bytes (Jia et al. 2018: constant L1 lines), in a part of the address
// space that no allocation gets.
constexpr Address kArena = Address{1} << 45;
constexpr Address kSpacing = 4096;
constexpr SectorMask kSectors = 0b11;

}  // namespace

void ConstantUnit::load(Cycle now, const MioOperation& op) {
  ++(*counters_)[op.kernel].const_instructions;
  if (!filling_ && (!cold_ || !cold_miss_)) return results_->add(now, now + rest_, op.handle);
  waiting_.push_back(op.handle);
  if (filling_) return;
  cold_ = false;
  filling_ = true;
  missing_ = kSectors;
  icnt::Request request;
  request.line = kArena + op.kernel * kSpacing;
  request.kind = icnt::AccessKind::kConstant;
  request.sectors = kSectors;
  request.kernel = op.kernel;
  port_->send(now, request);
}

void ConstantUnit::receive(Cycle now, const icnt::Reply& reply) {
  missing_ = static_cast<SectorMask>(missing_ & ~reply.sectors);
  if (missing_ != 0) return;
  filling_ = false;
  for (const std::uint32_t handle : waiting_)
    results_->add(now, now + LsuLatencies::kMissPath + rest_, handle);
  waiting_.clear();
}

}  // namespace lockstep::core
