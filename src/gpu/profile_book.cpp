#include "gpu/profile_book.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace lockstep::gpu {
namespace {

std::vector<stats::ProfiledInstruction> instructions_of(const trace::CtaFeed& feed) {
  std::vector<stats::ProfiledInstruction> all(feed.instructions().size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const trace::TracedInstruction traced = feed.traced(i);
    all[i].pc = feed.instructions()[i].pc;
    all[i].text = traced.text;
    all[i].source_file = traced.source_file;
    all[i].source_line = traced.source_line;
  }
  return all;
}

}  // namespace

void ProfileBook::enter(Device& device, std::uint8_t slot, stats::KernelResult& result) {
  const trace::CtaFeed* feed = device.kernels()[slot].feed;
  stats::KernelProfile counted;
  device.take_profile(slot, counted);
  if (feed == nullptr) return;  // launched, but no CTA was asked for yet
  std::vector<stats::ProfiledInstruction> instructions = instructions_of(*feed);
  counted.instructions.resize(instructions.size());
  result.profile.subcores = std::move(counted.subcores);
  // The static table is in order of occurrence, which launches of the same code need not share.
  std::vector<std::uint32_t> order(instructions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(instructions[a].pc, instructions[a].text) <
           std::tie(instructions[b].pc, instructions[b].text);
  });
  stats::ProfiledCode code{result.name, {}};
  for (const std::uint32_t i : order) {
    code.instructions.push_back(std::move(instructions[i]));
    result.profile.instructions.push_back(counted.instructions[i]);
  }
  result.code = number_of(std::move(code));
}

std::uint32_t ProfileBook::number_of(stats::ProfiledCode code) {
  const auto [first, last] = by_kernel_.equal_range(code.kernel);
  for (auto known = first; known != last; ++known)
    if ((*codes_)[known->second].instructions == code.instructions) return known->second;
  const auto number = static_cast<std::uint32_t>(codes_->size());
  by_kernel_.emplace(code.kernel, number);
  codes_->push_back(std::move(code));
  return number;
}

}  // namespace lockstep::gpu
