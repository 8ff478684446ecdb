// Host objects that the program shares with graphs (CUDA C++ Programming Guide, "CUDA User Objects").
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/abi.hpp"

namespace lockstep::cuda {

/// Calls its destructor when the last reference is released.
class UserObject {
 public:
  UserObject(void* data, abi::HostFn destructor) : data_(data), destructor_(destructor) {}
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
  ~UserObject() { destructor_(data_); }

 private:
  void* data_;
  abi::HostFn destructor_;
};

/// References to objects, in the order in which the objects came.
class UserReferences {
 public:
  void retain(const std::shared_ptr<UserObject>& object, unsigned count);
  /// Throws ApiError(InvalidValue) if there are fewer.
  void release(const UserObject* object, unsigned count);

 private:
  std::vector<std::pair<std::shared_ptr<UserObject>, unsigned>> counts_;
};

/// The objects by their handles, and the program's own references.
class UserObjects {
 public:
  [[nodiscard]] UserObject* create(void* data, abi::HostFn destructor, unsigned count);
  /// Also one that only graphs refer to. Throws ApiError(InvalidValue), as the functions below.
  [[nodiscard]] std::shared_ptr<UserObject> at(const void* handle) const;
  void retain(const void* handle, unsigned count) { own_.retain(at(handle), count); }
  void release(const void* handle, unsigned count) { own_.release(at(handle).get(), count); }

 private:
  UserReferences own_;
  std::map<const void*, std::weak_ptr<UserObject>> all_;
};

}  // namespace lockstep::cuda
