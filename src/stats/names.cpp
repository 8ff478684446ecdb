#include "stats/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stats/demangle.hpp"
#include "stats/label_cut.hpp"
#include "stats/text.hpp"

namespace lockstep::stats {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

/// Takes "<number><that many characters>" from the front, as in mangled names. Empty if there is none.
std::string_view take_length_prefixed(std::string_view& rest) {
  std::size_t length = 0, digits = 0;
  while (digits < rest.size() && digits < 4 && rest[digits] >= '0' && rest[digits] <= '9') {
    length = length * 10 + static_cast<std::size_t>(rest[digits++] - '0');
  }
  if (digits == 0 || length == 0 || digits + length > rest.size()) return {};
  const std::string_view name = rest.substr(digits, length);
  rest.remove_prefix(digits + length);
  return name;
}

/// For names that the demangler refuses, as it does long ones: "_ZN3foo3barINS_1aEEvT_" is
/// "foo::bar<NS_1aEEvT_>". Empty when the name does not begin with a plain or nested name.
std::string half_demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return {};
  std::string_view rest = name.substr(2);
  std::string result;
  if (rest.starts_with('N')) {
    rest.remove_prefix(1);
    for (std::string_view part; !(part = take_length_prefixed(rest)).empty();) {
      if (!result.empty()) result += "::";
      result += part;
    }
  } else {
    result = take_length_prefixed(rest);
  }
  if (!result.empty() && rest.starts_with('I')) result += fmt::format("<{}>", rest.substr(1));
  return result;
}

bool opens(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }

/// Where the parameters begin: the first parenthesis outside all brackets that is not of a namespace.
std::size_t parameters_of(std::string_view declaration) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < declaration.size(); ++i) {
    if (declaration.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (declaration[i] == '(' && depth == 0 && i > 0) {
      return i;
    } else if (opens(declaration[i])) {
      ++depth;
    } else if (closes(declaration[i]) && depth > 0) {
      --depth;
    }
  }
  return declaration.size();
}

/// Where the name begins: after the last blank outside all brackets, which ends the result type.
std::size_t name_of(std::string_view declaration) {
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = 0; i < declaration.size(); ++i) {
    if (opens(declaration[i])) ++depth;
    if (closes(declaration[i]) && depth > 0) --depth;
    if (declaration[i] == ' ' && depth == 0 && i + 1 < declaration.size()) begin = i + 1;
  }
  return begin;
}

struct Declared {
  std::string function, parameters;
};

Declared declared(std::string_view name) {
  std::string text = demangled(std::string(name));
  if (text.empty()) text = half_demangled(name);
  if (text.empty()) text = name;
  text = printable(text);
  const std::size_t end = parameters_of(text);
  const std::size_t begin = name_of(std::string_view(text).substr(0, end));
  return {text.substr(begin, end - begin), text.substr(end)};
}

/// Without namespaces and enclosing classes: "a::f<b::c>" becomes "f<c>". Enclosing templates stay.
std::string without_scopes(std::string_view text) {
  std::string out;
  std::vector<std::size_t> outer;  // where the names around the open brackets begin
  std::size_t begin = 0;           // of the name under way
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':' && i + 1 < text.size() && text[i + 1] == ':') {
      ++i;
      if (out.find('<', begin) == std::string::npos) {
        out.resize(begin);
      } else {
        out += "::";
        begin = out.size();
      }
      continue;
    }
    out += c;
    if (opens(c)) {
      outer.push_back(begin);
      begin = out.size();
    } else if (closes(c) && !outer.empty()) {
      begin = outer.back();
      outer.pop_back();
    } else if (c == ',' || c == ' ' || c == '&' || c == '*') {
      begin = out.size();
    }
  }
  return out;
}

/// Functions that only call what their first template argument names, such as Kokkos' and CUTLASS' entries:
/// what stands before that argument says nothing of what runs.
constexpr std::string_view kWrappers[] = {"cuda_parallel_launch_constant_memory",
                                          "cuda_parallel_launch_global_memory",
                                          "cuda_parallel_launch_local_memory",
                                          "device_kernel",
                                          "_kernel_agent",
                                          "Kernel",
                                          "Kernel2"};

/// "Kernel<Gemm<float> >" becomes "~Gemm<float>".
std::string without_wrapper(const std::string& text) {
  const std::size_t begin = text.find('<');
  if (begin == std::string::npos || text.back() != '>') return text;
  std::string_view function = std::string_view(text).substr(0, begin);
  if (const std::size_t scope = function.rfind("::"); scope != std::string_view::npos)
    function.remove_prefix(scope + 2);
  if (std::ranges::find(kWrappers, function) == std::end(kWrappers)) return text;
  std::string inner = "~" + text.substr(begin + 1, text.size() - begin - 2);
  while (inner.ends_with(' ')) inner.pop_back();
  return inner.size() > 1 ? inner : text;
}

/// What the functions are called; overloads with their parameters.
std::vector<std::string> different_texts(std::span<const std::string> names) {
  std::vector<Declared> kernels;
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back(kernels.emplace_back(declared(name)).function);
  for (const auto& [text, which] : positions_by_text(texts)) {
    if (which.size() < 2) continue;
    for (const std::size_t i : which) texts[i] += kernels[i].parameters;
  }
  return texts;
}

/// Takes for what is too long what `shorten` makes of it, unless that is another's.
template <class Shorten>
void shorten_too_long(std::vector<std::string>& texts, std::size_t width, Shorten shorten) {
  std::vector<std::string> shorter;
  for (const std::string& text : texts) shorter.push_back(text.size() > width ? shorten(text) : text);
  for (const auto& [text, which] : positions_by_text(shorter))
    if (which.size() == 1) texts[which.front()] = text;
}

}  // namespace

std::string function_name(std::string_view name) { return declared(name).function; }

std::vector<std::string> kernel_labels(std::span<const std::string> names, std::size_t width) {
  width = std::max<std::size_t>(width, 8);
  std::vector<std::string> texts = different_texts(names);
  shorten_too_long(texts, width, without_scopes);
  shorten_too_long(texts, width, without_wrapper);
  return cut(texts, width);
}

std::unordered_map<std::string, std::string> labels_by_name(std::span<const std::string> names,
                                                            std::size_t width) {
  std::unordered_map<std::string, std::string> by_name;
  std::vector<std::string> once;
  for (const std::string& name : names)
    if (by_name.emplace(name, "").second) once.push_back(name);
  std::vector<std::string> labels = kernel_labels(once, width);
  for (std::size_t i = 0; i < once.size(); ++i) by_name[once[i]] = std::move(labels[i]);
  return by_name;
}

std::string short_name(std::string_view name, std::size_t width) {
  const std::string one(name);
  return kernel_labels({&one, 1}, width).front();
}

}  // namespace lockstep::stats
