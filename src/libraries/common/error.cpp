#include "libraries/common/error.hpp"

#include <cstdio>
#include <mutex>
#include <set>

namespace lockstep::libraries {

void say_unsupported(const std::string& what) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(what).second)
    std::fprintf(stderr, "lockstep: %s is not supported by Lockstep's own library\n", what.c_str());
}

void refuse(const std::string& what) { throw Error(Failure::kNotSupported, what); }

}  // namespace lockstep::libraries
