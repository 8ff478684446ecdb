#include "exec/check/checks.hpp"

#include <fmt/format.h>

#include "util/error.hpp"

namespace lockstep::exec {

namespace {

struct Name {
  std::string_view text;
  bool Checks::*member;
};
constexpr Name kCheckNames[] = {
    {"memory", &Checks::memory}, {"init", &Checks::init}, {"race", &Checks::race}, {"leak", &Checks::leak}};

}  // namespace

Checks parse_checks(std::string_view list) {
  Checks checks;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    bool known = false;
    for (const Name& name : kCheckNames)
      if (word == name.text || (word == "all" && name.member != &Checks::leak))
        checks.*name.member = known = true;
    if (!known)
      throw UserError(fmt::format(
          "--check: `{}` is not a check; expected all or a list of memory, init, race, leak", word));
    if (comma == std::string_view::npos) return checks;
    rest.remove_prefix(comma + 1);
  }
}

std::string to_text(const Checks& checks) {
  std::string text;
  for (const Name& name : kCheckNames)
    if (checks.*name.member) text.append(text.empty() ? "" : ",").append(name.text);
  return text;
}

}  // namespace lockstep::exec
