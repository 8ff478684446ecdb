#include "cuda/register_choice.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "util/error.hpp"

namespace lockstep::cuda {

namespace {
constexpr std::uint32_t kMaxRegisters = 255;  // CUDA C++ Programming Guide, technical specifications
}

RegisterChoice make_register_choice(std::string_view source, const std::vector<std::string>& kernels) {
  RegisterChoice choice;
  if (source == "estimate") {
    choice.source = RegisterChoice::Source::kEstimate;
  } else if (source != "cubin") {
    throw UserError(fmt::format("registers: 'cubin' or 'estimate' expected, '{}' found", source));
  }
  for (const std::string& text : kernels) {
    const std::size_t at = text.rfind('=');
    std::uint32_t number = 0;
    if (at != std::string::npos && at > 0) {
      const char *first = text.data() + at + 1, *end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(first, end, number);
      if (error != std::errc() || rest != end) number = 0;
    }
    if (number == 0 || number > kMaxRegisters)
      throw UserError(
          fmt::format("registers: KERNEL=N with N from 1 to {} expected, '{}' found", kMaxRegisters, text));
    choice.kernels[text.substr(0, at)] = number;
  }
  return choice;
}

std::string to_text(const RegisterChoice& choice) {
  std::string text = choice.source == RegisterChoice::Source::kCubin ? "cubin" : "estimate";
  for (const auto& [name, number] : choice.kernels) text += fmt::format(",{}={}", name, number);
  return text;
}

RegisterChoice read_register_choice() {
  const char* variable = std::getenv(kRegistersVariable);
  if (variable == nullptr) return {};
  std::vector<std::string> words(1);
  for (const char* c = variable; *c != '\0'; ++c) {
    if (*c == ',') {
      words.emplace_back();
    } else {
      words.back() += *c;
    }
  }
  return make_register_choice(words.front(), {words.begin() + 1, words.end()});
}

}  // namespace lockstep::cuda
