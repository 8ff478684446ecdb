#include "exec/print.hpp"

#include <bit>
#include <cstdio>
#include <vector>

namespace lockstep::exec {

namespace {

constexpr std::string_view kFlags = "-+ #0123456789.*", kLengths = "hlLqjzt";
constexpr std::string_view kIntegers = "diouxXc", kFloats = "fFeEgGaA";

/// snprintf with one value into `out`.
template <class T>
void append(std::string& out, const std::string& spec, T value) {
  char shorter[128];
  const int length = std::snprintf(shorter, sizeof shorter, spec.c_str(), value);
  if (length < 0) return;
  if (static_cast<std::size_t>(length) < sizeof shorter) {
    out.append(shorter, static_cast<std::size_t>(length));
    return;
  }
  std::vector<char> longer(static_cast<std::size_t>(length) + 1);
  std::snprintf(longer.data(), longer.size(), spec.c_str(), value);
  out.append(longer.data(), static_cast<std::size_t>(length));
}

class Arguments {
 public:
  explicit Arguments(const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& read) : read_(read) {}
  std::uint64_t next(std::uint32_t bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    const std::uint64_t value = read_(at_, bytes);
    at_ += bytes;
    ++taken_;
    return value;
  }
  [[nodiscard]] int taken() const { return taken_; }

 private:
  const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& read_;
  std::uint32_t at_ = 0;
  int taken_ = 0;
};

/// Flags, width and precision of the conversion at `at`, with `*` replaced by its argument. A negative
/// precision counts as none (C17, 7.21.6.1).
std::string take_flags(std::string_view format, std::size_t& at, Arguments& arguments) {
  std::string spec = "%";
  for (; at < format.size() && kFlags.find(format[at]) != std::string_view::npos; ++at) {
    if (format[at] != '*') {
      spec += format[at];
      continue;
    }
    const auto value = static_cast<std::int32_t>(arguments.next(4));
    if (value < 0 && spec.back() == '.')
      spec.pop_back();
    else
      spec += std::to_string(value);
  }
  return spec;
}

void convert(char letter, std::string spec, std::string_view length, Arguments& arguments,
             const std::function<std::string(Address)>& text, std::string& out) {
  if (letter == 's') {
    append(out, spec + 's', text(arguments.next(8)).c_str());
  } else if (letter == 'p') {
    append(out, spec + 'p', reinterpret_cast<void*>(arguments.next(8)));
  } else if (letter == 'c') {
    append(out, spec + 'c', static_cast<int>(arguments.next(4)));
  } else if (kFloats.find(letter) != std::string_view::npos) {
    append(out, spec + letter, std::bit_cast<double>(arguments.next(8)));
  } else {
    const bool wide = length.find_first_of("lLqjzt") != std::string_view::npos;
    const bool sign = letter == 'd' || letter == 'i';
    const std::uint64_t bits = arguments.next(wide ? 8 : 4);
    spec += wide ? "ll" : length.substr(0, 2) == "hh" ? "hh" : length == "h" ? "h" : "";
    spec += letter;
    if (wide)
      sign ? append(out, spec, static_cast<long long>(bits))
           : append(out, spec, static_cast<unsigned long long>(bits));
    else
      sign ? append(out, spec, static_cast<int>(bits)) : append(out, spec, static_cast<unsigned>(bits));
  }
}

}  // namespace

int format_device(std::string_view format,
                  const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& argument,
                  const std::function<std::string(Address)>& text, std::string& out) {
  Arguments arguments(argument);
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    const std::size_t begin = at++;
    if (at < format.size() && format[at] == '%') {
      out += format[at++];
      continue;
    }
    std::string spec = take_flags(format, at, arguments);
    const std::size_t lengths = at;
    while (at < format.size() && kLengths.find(format[at]) != std::string_view::npos) ++at;
    const std::string_view length = format.substr(lengths, at - lengths);
    const char letter = at < format.size() ? format[at] : '\0';
    const bool known = letter != '\0' &&
                       (letter == 's' || letter == 'p' || kIntegers.find(letter) != std::string_view::npos ||
                        kFloats.find(letter) != std::string_view::npos);
    if (!known) {
      out.append(format.substr(begin, at - begin));
      continue;
    }
    ++at;
    convert(letter, std::move(spec), length, arguments, text, out);
  }
  return arguments.taken();
}

}  // namespace lockstep::exec
