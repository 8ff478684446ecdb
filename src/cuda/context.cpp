#include "cuda/context.hpp"

#include "exec/address_space.hpp"

namespace lockstep::cuda {

Context& primary_context(unsigned device) {
  static std::vector<Context> all = [] {
    std::vector<Context> made(exec::kMostDevices);
    for (unsigned d = 0; d < exec::kMostDevices; ++d) made[d].device = d;
    return made;
  }();
  return all[device];
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context& current_context() {
  const auto& stack = context_stack();
  return stack.empty() ? primary_context(0) : *stack.back();
}

void set_current_device(unsigned device) {
  auto& stack = context_stack();
  if (!stack.empty()) stack.pop_back();
  stack.push_back(&primary_context(device));
}

void make_context_current() {
  auto& stack = context_stack();
  if (stack.empty()) stack.push_back(&primary_context(0));
}

}  // namespace lockstep::cuda
