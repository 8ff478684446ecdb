// What the mapping rules work with: the options that the files give, and the configuration that they make.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accelsim/option.hpp"
#include "config/gpu_config.hpp"
#include "config/ini.hpp"

namespace lockstep::accelsim {

/// Rules ask for options and set keys. An option that the files do not give has Accel-Sim's own default where
/// a rule needs it beside one that they give.
class Context {
 public:
  Context(config::GpuConfig base, const std::vector<const Option*>& given);

  [[nodiscard]] bool has(std::string_view option) const { return given_.count(option) > 0; }
  [[nodiscard]] std::string_view text(std::string_view option) const;
  /// A whole number of at most 10^12. Throws InputError with the option's place.
  [[nodiscard]] std::uint64_t number(std::string_view option) const;
  [[nodiscard]] bool flag(std::string_view option) const { return number(option) != 0; }
  /// The parts of "4,2" or "64:64"; at least `least`, at most `most`. `form`: for the error,
  /// "LATENCY,INTERVAL".
  [[nodiscard]] std::vector<std::string> parts(std::string_view option, char separator, std::size_t least,
                                               std::size_t most, std::string_view form) const;
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::string_view option, char separator, std::size_t least,
                                                   std::size_t most, std::string_view form) const;
  [[noreturn]] void fail(std::string_view option, const std::string& message) const;

  /// With everything set so far.
  [[nodiscard]] const config::GpuConfig& config() const { return config_; }

  /// Sets a key from the options named (the first that is given is its place). Throws InputError.
  void set(std::string_view key, const std::string& value, std::initializer_list<std::string_view> from);
  void set(std::string_view key, std::uint64_t value, std::initializer_list<std::string_view> from) {
    set(key, std::to_string(value), from);
  }
  /// Sets a key to the number that the option has.
  void copy(std::string_view key, std::string_view option) { set(key, number(option), {option}); }
  /// The rule that runs now: where none of a key's options is given, the place is another of its options.
  void begin(std::vector<std::string_view> inputs) { inputs_ = std::move(inputs); }
  /// The option has no effect in this configuration, and why.
  void unused(std::string_view option, std::string reason);

  [[nodiscard]] const std::vector<config::Assignment>& assignments() const { return assignments_; }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& unused() const { return unused_; }
  [[nodiscard]] bool used(std::string_view option) const { return used_.count(option) > 0; }

 private:
  [[nodiscard]] const Option* place_of(std::initializer_list<std::string_view> from) const;

  config::GpuConfig config_;
  std::map<std::string, const Option*, std::less<>> given_;
  std::vector<std::string_view> inputs_;
  std::vector<config::Assignment> assignments_;
  std::map<std::string, std::string, std::less<>> unused_;
  std::set<std::string, std::less<>> used_;
};

/// value * numerator / denominator, rounded half up.
[[nodiscard]] std::uint64_t scaled(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator);
[[nodiscard]] constexpr std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

}  // namespace lockstep::accelsim
