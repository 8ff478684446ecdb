#include "correlate/kernel_name.hpp"

#include <array>
#include <utility>

#include "stats/demangle.hpp"
#include "stats/text.hpp"

namespace lockstep::correlate {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Where the parenthesis or bracket that ends at `last` begins; npos: nowhere.
std::size_t opening(std::string_view text, std::size_t last, char open, char close) {
  std::size_t depth = 0;
  for (std::size_t i = last + 1; i-- > 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Removes the word where it stands alone.
std::string without_word(std::string_view text, std::string_view word) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool here = text.substr(i).starts_with(word) && (i == 0 || !is_word(text[i - 1])) &&
                      (i + word.size() == text.size() || !is_word(text[i + word.size()]));
    if (here) {
      i += word.size();
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t') result += c;
  return result;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// "<(int)8,(bool)1>", "<8u,true>" and "<8,true>" are the same.
void even_out_arguments(std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kCasts{{{"(bool)1", "true"},
                                                                                 {"(bool)0", "false"},
                                                                                 {"(int)", ""},
                                                                                 {"(unsignedint)", ""},
                                                                                 {"(long)", ""},
                                                                                 {"(unsignedlong)", ""},
                                                                                 {"(longlong)", ""},
                                                                                 {"(unsignedlonglong)", ""},
                                                                                 {"(short)", ""}}};
  const std::size_t start = text.find('<');
  if (start == std::string::npos) return;
  std::string arguments = text.substr(start);
  for (const auto& [from, to] : kCasts) replace_all(arguments, from, to);
  std::string plain;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const char c = arguments[i];
    const bool suffix =
        (c == 'u' || c == 'l') && i > 0 && !plain.empty() && plain.back() >= '0' && plain.back() <= '9';
    const bool ends = i + 1 < arguments.size() &&
                      (arguments[i + 1] == ',' || arguments[i + 1] == '>' || arguments[i + 1] == 'l');
    if (!(suffix && ends)) plain += c;
  }
  text = text.substr(0, start) + plain;
}

/// Behind the last blank that is in no bracket: the result type goes.
std::string_view without_result(std::string_view text) {
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(') ++depth;
    if ((text[i] == '>' || text[i] == ')') && depth > 0) --depth;
    if (text[i] == ' ' && depth == 0) begin = i + 1;
  }
  return text.substr(begin);
}

}  // namespace

KernelName kernel_name(std::string_view name) {
  const std::string own(name);
  const std::string& declaration = stats::demangled(own);
  std::string text = stats::printable(declaration.empty() ? own : declaration);
  text.erase(text.find_last_not_of(' ') + 1);
  KernelName result;
  if (text.ends_with(')')) {
    const std::size_t open = opening(text, text.size() - 1, '(', ')');
    if (open != std::string::npos && open > 0) {
      result.parameters = without_blanks(without_word(text.substr(open), "const"));
      text.resize(open);
      text.erase(text.find_last_not_of(' ') + 1);
    }
  }
  if (result.parameters == "(void)") result.parameters = "()";
  result.function = without_blanks(without_word(without_result(text), "const"));
  even_out_arguments(result.function);
  result.plain = result.function.substr(0, result.function.find('<'));
  return result;
}

bool same_function(const KernelName& name, const KernelName& kernel) {
  const bool whole = name.function.find('<') != std::string::npos;
  return whole ? name.function == kernel.function : name.plain == kernel.plain;
}

bool same_parameters(const KernelName& name, const KernelName& kernel) {
  return name.parameters == kernel.parameters;
}

}  // namespace lockstep::correlate
