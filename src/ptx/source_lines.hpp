// Lines of the program's source (.loc, which nvcc writes with -lineinfo).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

/// The .loc directives of one function as they come.
class SourceLines {
 public:
  struct Position {
    std::uint32_t file = 0, line = 0, column = 0;
    friend auto operator<=>(const Position&, const Position&) = default;
  };
  /// What follows is of `at`; where `caller` is given, in a function inlined there. A caller is known by its
  /// position: when that is in an inlined function itself, its own .loc came before.
  void locate(Position at, std::optional<Position> caller);
  /// The line in force. Adds to `callers` what it needs.
  [[nodiscard]] SourceLine line(std::vector<SourceLine>& callers);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kMaxCallers = 64;  // deeper ones are left out
  struct Node {
    Position at;
    std::uint32_t caller = kNone;  // index of nodes_
    std::uint32_t depth = 0;
    std::uint32_t number = 0;  // 1 + index of callers, once it is there
  };
  std::uint32_t add(Position at, std::uint32_t caller);
  std::uint32_t number(std::uint32_t node, std::vector<SourceLine>& callers);

  std::vector<Node> nodes_;
  std::map<std::tuple<Position, std::uint32_t>, std::uint32_t> known_;  // by position and caller
  std::map<Position, std::uint32_t> latest_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::uint32_t now_ = kNone;
};

/// "vector_add.cu:12"; of an inlined function "helper.cuh:3, inlined at vector_add.cu:12" and so on, without
/// folders. "" where there is no line. `files`: of the function's module.
[[nodiscard]] std::string source_text(const SourceLine& line, const Function& function,
                                      const std::vector<std::string>& files);

}  // namespace lockstep::ptx
