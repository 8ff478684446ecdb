#include "libraries/common/error.hpp"

#include <cstdio>
#include <mutex>
#include <set>

namespace lockstep::libraries {

void say(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(text).second) std::fprintf(stderr, "lockstep: %s\n", text.c_str());
}

void refuse(const std::string& what) { throw Error(Failure::kNotSupported, what); }

}  // namespace lockstep::libraries
