#include "cuda/context.hpp"

#include <algorithm>
#include <list>
#include <mutex>

#include "cuda/lasting.hpp"
#include "exec/address_space.hpp"

namespace lockstep::cuda {

namespace {

/// What programs created and did not destroy. It is owned here, since few destroy theirs before they end.
struct Created {
  std::mutex mutex;
  std::list<Context> contexts;
  std::uint64_t made = 0;  // so far
};

Created& created() {
  static Created& all = *new Created;  // never destroyed, as make_lasting()
  return all;
}

}  // namespace

Context& primary_context(unsigned device) {
  static std::vector<Context>& all = *[] {
    auto* const made = new std::vector<Context>(exec::kMaxDevices);
    for (unsigned d = 0; d < exec::kMaxDevices; ++d) (*made)[d] = {d, 0, 0, d + 1U, false};
    return made;
  }();
  return all[device];
}

Context& create_context(unsigned device, unsigned flags) {
  Created& all = created();
  const std::scoped_lock lock(all.mutex);
  return all.contexts.emplace_back(Context{device, flags, 0, exec::kMaxDevices + ++all.made, false});
}

bool is_context(const void* context, unsigned devices) {
  for (unsigned d = 0; d < devices; ++d)
    if (context == &primary_context(d)) return true;
  Created& all = created();
  const std::scoped_lock lock(all.mutex);
  return std::ranges::any_of(all.contexts, [context](const Context& known) { return &known == context; });
}

bool destroy_context(const void* context) {
  Created& all = created();
  const std::scoped_lock lock(all.mutex);
  if (std::erase_if(all.contexts, [context](const Context& known) { return &known == context; }) == 0)
    return false;
  std::erase(context_stack(), context);
  return true;
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*>& stack = make_lasting<std::vector<Context*>>();
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
  stack.back()->used = true;
}

void make_context_current() {
  auto& stack = context_stack();
  if (stack.empty()) stack.push_back(&primary_context(0));
  stack.back()->used = true;
}

}  // namespace lockstep::cuda
