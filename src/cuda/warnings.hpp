// Warnings on stderr, each of them once.
#pragma once

#include <set>
#include <string>

namespace lockstep::cuda {

class Warnings {
 public:
  /// Something was asked for and makes no difference here.
  void once(const std::string& text);
  /// The program called a function that is not supported; its name comes again in list_unsupported().
  /// `caller`: the program or the shared object that contains the call, empty where that is not known.
  void unsupported(const std::string& function, const std::string& caller);
  /// At the end of the process: which functions were called that are not supported.
  void list_unsupported() const;

 private:
  std::set<std::string> unsupported_, warned_;
};

}  // namespace lockstep::cuda
