#include "ptx/source_lines.hpp"

#include <fmt/format.h>

#include <string_view>

namespace lockstep::ptx {

void SourceLines::locate(Position at, std::optional<Position> caller) {
  std::uint32_t outer = kNone;
  if (caller) {
    const auto found = latest_.find(*caller);
    outer = found != latest_.end() ? found->second : add(*caller, kNone);
    if (nodes_[outer].depth == kMaxCallers) outer = kNone;
  }
  now_ = add(at, outer);
  latest_[at] = now_;
}

std::uint32_t SourceLines::add(Position at, std::uint32_t caller) {
  const auto [found, is_new] = known_.try_emplace({at, caller}, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({at, caller, caller == kNone ? 0 : nodes_[caller].depth + 1});
  return found->second;
}

SourceLine SourceLines::line(std::vector<SourceLine>& callers) {
  if (now_ == kNone) return {};
  const Node& node = nodes_[now_];
  return {node.at.file, node.at.line, node.caller == kNone ? 0 : number(node.caller, callers)};
}

std::uint32_t SourceLines::number(std::uint32_t index, std::vector<SourceLine>& callers) {
  Node& node = nodes_[index];
  if (node.number != 0) return node.number;
  const std::uint32_t outer = node.caller == kNone ? 0 : number(node.caller, callers);
  const auto [found, is_new] = numbers_.try_emplace({node.at.file, node.at.line, outer},
                                                    static_cast<std::uint32_t>(callers.size() + 1));
  if (is_new) callers.push_back({node.at.file, node.at.line, outer});
  return node.number = found->second;
}

std::string source_text(const SourceLine& line, const Function& function,
                        const std::vector<std::string>& files) {
  std::string text;
  for (SourceLine at = line; at.line != 0; at = function.callers[at.caller - 1]) {
    const std::string_view file =
        at.file < files.size() ? std::string_view(files[at.file]) : std::string_view();
    const std::string_view name = file.substr(file.rfind('/') + 1);
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", inlined at ", name.empty() ? "?" : name, at.line);
    if (at.caller == 0) break;
  }
  return text;
}

}  // namespace lockstep::ptx
