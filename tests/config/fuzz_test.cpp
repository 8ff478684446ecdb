// Mutations of real files: the reader either gives a configuration that fulfils all rules, or one UserError.
#include <catch2/catch.hpp>
#include <random>

#include "config/checks.hpp"
#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"
#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::config;
using lockstep::config::test::TemporaryFolder;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

std::string piece(Random& random) {
  static const char* const kPieces[] = {"\n",
                                        "=",
                                        "[",
                                        "]",
                                        ";",
                                        "#",
                                        "include = v100\n",
                                        "0",
                                        "-1",
                                        ".",
                                        " MHz",
                                        "18446744073709551616",
                                        "999999999999999999",
                                        "\xff",
                                        "\t",
                                        ",",
                                        "4 KiB",
                                        "[l1]\n",
                                        "ways",
                                        "include = common\n",
                                        "1e9",
                                        "65536",
                                        "\r",
                                        "[[",
                                        "l1.ways = 1\n",
                                        "0.0000000000001",
                                        " = "};
  if (below(random, 8) == 0) return std::string(1, static_cast<char>(below(random, 256)));
  return kPieces[below(random, std::size(kPieces))];
}

void mutate(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size() + 1);
  switch (below(random, 5)) {
    case 0:
      text.insert(at, piece(random));
      break;
    case 1:
      text.erase(at, 1 + below(random, 40));
      break;
    case 2:
      text.resize(at);
      break;
    case 3:
      text.insert(at, text.substr(below(random, text.size() + 1), below(random, 200)));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(below(random, 256));
  }
}

}  // namespace

TEST_CASE("mutated INI files give a checked configuration or one error", "[long]") {
  const TemporaryFolder folder;
  Random random(20260101);
  int accepted = 0, rejected = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto inis = embedded_inis();
    std::string text(inis[below(random, inis.size())].text);
    for (std::size_t n = 1 + below(random, 3); n > 0; --n) mutate(text, random);
    const std::string file = folder.write("fuzz.ini", text);
    try {
      const GpuConfig c = resolve(file);
      ++accepted;
      REQUIRE_FALSE(first_inconsistency(c).has_value());
    } catch (const UserError& e) {
      ++rejected;
      REQUIRE(std::string(e.what()).size() < 2000);
      for (const char ch : std::string(e.what())) REQUIRE((ch >= ' ' && ch <= '~'));
    }
  }
  CHECK(accepted > 500);  // the mutations reach both ends
  CHECK(rejected > 500);
}

TEST_CASE("random values of random keys give a checked configuration or one error") {
  Random random(7);
  const GpuConfig defaults;
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    const Parameter& p = schema()[below(random, schema().size())];
    std::string value;
    if (p.type == Type::kInteger) {
      const std::uint64_t span = p.max - p.min + 1;
      const std::uint64_t choice[] = {p.min, p.max, p.min + random() % span,
                                      p.min + random() % std::min<std::uint64_t>(span, 64)};
      value = std::to_string(choice[below(random, 4)]);
    } else {
      value = below(random, 2) ? piece(random) : value_text(p, defaults);
    }
    try {
      const GpuConfig c = resolve("v100", {p.key + "=" + value});
      ++accepted;
      REQUIRE_FALSE(first_inconsistency(c).has_value());
      REQUIRE(c.icnt.flit_bytes > 0);
      REQUIRE(shortest_channel(c) >= 1);
    } catch (const UserError&) {
    }
  }
  CHECK(accepted > 1000);
}
