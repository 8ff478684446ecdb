// Mutations of the shipped files: a translation that accounts for each option, or one UserError.
#include <random>

#include "config/checks.hpp"
#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::accelsim;
using namespace lockstep::accelsim::test;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

std::string piece(Random& random) {
  static const char* const kPieces[] = {"\n",
                                        "-",
                                        "\"",
                                        "#",
                                        ":",
                                        ",",
                                        "0",
                                        "-1",
                                        "=",
                                        ";",
                                        "18446744073709551616",
                                        "//",
                                        " ",
                                        "none",
                                        "\xff",
                                        "1e9",
                                        "S:",
                                        "A:",
                                        "\r",
                                        "999999999999",
                                        "0,0,0,0,0,"};
  if (below(random, 8) == 0) return std::string(1, static_cast<char>(below(random, 256)));
  return kPieces[below(random, std::size(kPieces))];
}

void mutate(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size() + 1), length = below(random, 20);
  switch (below(random, 5)) {
    case 0:
      text.insert(at, piece(random));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.replace(at, std::min(length, text.size() - at), piece(random));
      break;
    case 3:  // another digit: the commonest way to a value that can be read
      for (std::size_t i = at; i < text.size(); ++i) {
        if (text[i] < '0' || text[i] > '9') continue;
        text[i] = static_cast<char>('0' + below(random, 10));
        break;
      }
      break;
    default: {  // a line twice, or at another place
      const std::size_t start = text.find('\n', at);
      if (start == std::string::npos) break;
      const std::string line = text.substr(start, text.find('\n', start + 1) - start);
      text.insert(std::min(text.size(), below(random, text.size())), line);
    }
  }
}

}  // namespace

TEST_CASE("mutated files give a checked configuration or one error with its place") {
  Random random(20241008);
  std::size_t good = 0, bad = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    std::string text = shipped(round % 2 ? kQv100 : kRtx3070);
    for (std::size_t n = 1 + below(random, 4); n > 0; --n) mutate(text, random);
    try {
      const auto options = parse_options(text, "gpgpusim.config");
      const Translation t = translate(options, "v100");
      REQUIRE(t.mapped.size() + t.ignored.size() + t.unknown.size() == options.size());
      for (const Ignored& i : t.ignored) {
        INFO(i.option.name << " " << i.option.value);
        REQUIRE(i.reason != "no effect beside the other options");
      }
      const config::GpuConfig config = resolve(t);
      REQUIRE(!config::first_inconsistency(config));
      REQUIRE(config::hash(config::resolve(
                  "v100", config::parse_ini(annotated_ini(t, resolve_with_origins(t)), "a").assignments,
                  {})) == config::hash(config));
      ++good;
    } catch (const UserError& e) {
      const std::string what = e.what();
      INFO(what);
      REQUIRE((what.starts_with("gpgpusim.config:") || what.starts_with("inconsistent configuration: ")));
      ++bad;
    }
  }
  CHECK(good > 300);
  CHECK(bad > 300);
}
