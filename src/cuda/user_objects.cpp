#include "cuda/user_objects.hpp"

#include <algorithm>
#include <limits>

#include "cuda/error.hpp"

namespace lockstep::cuda {

void UserReferences::retain(const std::shared_ptr<UserObject>& object, unsigned count) {
  const auto found =
      std::ranges::find(counts_, object, &std::pair<std::shared_ptr<UserObject>, unsigned>::first);
  const unsigned before = found == counts_.end() ? 0 : found->second;
  if (count == 0 || count > std::numeric_limits<int>::max() - before)
    throw ApiError(Status::kErrorInvalidValue);
  if (found == counts_.end())
    counts_.emplace_back(object, count);
  else
    found->second += count;
}

void UserReferences::release(const UserObject* object, unsigned count) {
  const auto found =
      std::ranges::find_if(counts_, [&](const auto& entry) { return entry.first.get() == object; });
  if (found == counts_.end() || count == 0 || count > found->second)
    throw ApiError(Status::kErrorInvalidValue);
  found->second -= count;
  if (found->second > 0) return;
  const std::shared_ptr<UserObject> last =
      std::move(found->first);  // its destructor runs when the list is as it will be
  counts_.erase(found);
}

UserObject* UserObjects::create(void* data, abi::HostFn destructor, unsigned count) {
  auto made = std::make_shared<UserObject>(data, destructor);
  own_.retain(made, count);
  all_[made.get()] = made;
  return made.get();
}

std::shared_ptr<UserObject> UserObjects::at(const void* handle) const {
  const auto found = all_.find(handle);
  auto object = found == all_.end() ? nullptr : found->second.lock();
  if (object == nullptr) throw ApiError(Status::kErrorInvalidValue);
  return object;
}

}  // namespace lockstep::cuda
