// What mapping rules work with: options with their defaults and places, and keys with where they come from.
#include "accelsim/context.hpp"

#include <limits>
#include <optional>
#include <stdexcept>

#include "accelsim/table.hpp"
#include "helpers.hpp"

namespace lockstep::accelsim {
namespace {

using test::error_of;

constexpr std::string_view kMemories = "-gpgpu_n_mem", kPorts = "-gpgpu_num_reg_banks",
                           kPipeline = "-gpgpu_shader_core_pipeline";

/// A context of the options in a file of that name; they live as long as it does.
class ContextOf {
 public:
  explicit ContextOf(const std::string& text) : options_(parse_options(text, "g.config")) {
    std::vector<const Option*> given;
    for (const Option& option : options_) given.push_back(&option);
    context.emplace(config::resolve("v100"), given);
  }
  Context* operator->() { return &*context; }

 private:
  std::vector<Option> options_;

 public:
  std::optional<Context> context;
};

TEST_CASE("context: an option that is not given has Accel-Sim's default, and one without a rule has none") {
  ContextOf c("-gpgpu_n_mem 24");
  CHECK(c->has(kMemories));
  CHECK(c->text(kMemories) == "24");
  CHECK_FALSE(c->has(kPorts));
  CHECK(c->text(kPorts) == "8");
  CHECK(c->number(kPorts) == 8);
  CHECK(c->text("-no_such_option") == "");
  CHECK(default_of("-no_such_option") == "");
  CHECK(default_of(kMemories) == "8");
}

TEST_CASE("context: numbers are whole, unsigned, and at most 10^12") {
  for (const std::string text : {"0", "007", "1000000000000"})
    CHECK(ContextOf("-gpgpu_n_mem " + text)->number(kMemories) == std::stoull(text));
  for (const std::string text : {"1000000000001", "99999999999999999999999", "-1", "+1", "1.0", "0x10", "1k"})
    CHECK(error_of([&] { (void)ContextOf("\n\n-gpgpu_n_mem " + text)->number(kMemories); }) ==
          "g.config:3: -gpgpu_n_mem " + text + ": expected a whole number up to 1000000000000");
  CHECK(error_of([&] {
          (void)ContextOf("-gpgpu_n_mem \"\"")->number(kMemories);
        }).starts_with("g.config:1: -gpgpu_n_mem : expected a whole number"));
  CHECK(ContextOf("-gpgpu_n_mem 7")->flag(kMemories));
  CHECK_FALSE(ContextOf("-gpgpu_n_mem 0")->flag(kMemories));
}

TEST_CASE("context: the parts of a value are as many as the form allows, without blanks around them") {
  const auto numbers = [](const std::string& value, std::size_t least, std::size_t most) {
    ContextOf c("-gpgpu_shader_core_pipeline \"" + value + "\"");
    return c->numbers(kPipeline, ':', least, most, "A:B");
  };
  using Numbers = std::vector<std::uint64_t>;
  CHECK(numbers("1", 1, 3) == Numbers{1});
  CHECK(numbers(" 1 :2: 3", 1, 3) == Numbers{1, 2, 3});
  const std::string place = "g.config:1: -gpgpu_shader_core_pipeline ";
  CHECK(error_of([&] { (void)numbers("1", 2, 2); }) == place + "1: expected A:B");
  CHECK(error_of([&] { (void)numbers("1:2:3", 2, 2); }) == place + "1:2:3: expected A:B");
  CHECK(error_of([&] { (void)numbers("1:", 2, 2); }) == place + "1:: '' is not a whole number; expected A:B");
  CHECK(error_of([&] { (void)numbers("1:x", 2, 2); }) ==
        place + "1:x: 'x' is not a whole number; expected A:B");
  ContextOf c("-gpgpu_shader_core_pipeline a,,b");
  CHECK(c->parts(kPipeline, ',', 1, 9, "") == std::vector<std::string>{"a", "", "b"});
}

TEST_CASE("context: an error of an option that is not given says that it is the default") {
  ContextOf c("-gpgpu_n_mem 1");
  CHECK(error_of([&] { c->fail(kPorts, "wrong"); }) == "-gpgpu_num_reg_banks (default): wrong");
  CHECK(error_of([&] { c->fail(kMemories, "wrong"); }) == "g.config:1: -gpgpu_n_mem 1: wrong");
}

TEST_CASE("context: a key's place is the first of its options that is given, its note names all of them") {
  ContextOf c("-gpgpu_n_mem 24\n-gpgpu_num_sched_per_core 2\n");
  c->set("l2.partitions", 12, {kPorts, kSchedulers, kMemories});
  c->copy("l2.slices_per_partition", kSchedulers);
  CHECK(c->config().l2.partitions == 12);
  CHECK(c->config().l2.slices_per_partition == 2);
  REQUIRE(c->assignments().size() == 2);
  const config::Assignment& first = c->assignments().front();
  CHECK(first.key == "l2.partitions");
  CHECK(first.value == "12");
  CHECK(first.note == "-gpgpu_num_reg_banks 8 (default), -gpgpu_num_sched_per_core 2, -gpgpu_n_mem 24");
  CHECK(first.file == "g.config");
  CHECK(first.line == 2);
  for (const std::string_view option : {kPorts, kSchedulers, kMemories}) CHECK(c->used(option));
  CHECK_FALSE(c->used(kPipeline));
}

TEST_CASE("context: a key whose own options are not given has the place of another one of its rule") {
  ContextOf c("\n-gpgpu_n_mem 24\n");
  CHECK_THROWS_AS(c->set("rf.banks", 2, {kPorts}), std::logic_error);  // a rule that should not have run
  c->begin({kPorts, kMemories});
  c->set("rf.banks", 2, {kPorts});
  CHECK(c->assignments().back().line == 2);
  CHECK(c->assignments().back().note == "-gpgpu_num_reg_banks 8 (default)");
  CHECK_THROWS_AS(c->set("rf.no_such_key", 2, {kMemories}), std::logic_error);
}

TEST_CASE("context: a value that the key refuses is an error with the option's place, and sets nothing") {
  ContextOf c("\n-gpgpu_n_mem 300\n");
  const std::uint32_t before = c->config().l2.partitions;
  CHECK(error_of([&] { c->copy("l2.partitions", kMemories); }) ==
        "g.config:2: -gpgpu_n_mem 300: l2.partitions = 300 is out of range; expected 1 to 256");
  CHECK(c->config().l2.partitions == before);
  CHECK(c->assignments().empty());
}

TEST_CASE("context: only options that are given can be without effect, for the reason given last") {
  ContextOf c("-gpgpu_n_mem 1");
  c->unused(kPorts, "not given");
  c->unused(kMemories, "first");
  c->unused(kMemories, "second");
  REQUIRE(c->unused().size() == 1);
  CHECK(c->unused().at(std::string(kMemories)) == "second");
}

TEST_CASE("scaled numbers are rounded half up, also where the product has more than 64 bits") {
  for (std::uint64_t value = 0; value < 50; ++value)
    for (std::uint64_t by = 1; by < 20; ++by) {
      // The nearest of q and q + 1 by twice the remainder.
      const std::uint64_t quotient = value * 7 / by, rest = value * 7 % by;
      REQUIRE(scaled(value, 7, by) == quotient + (2 * rest >= by ? 1 : 0));
      REQUIRE(divided_up(value, by) == value / by + (value % by != 0 ? 1 : 0));
    }
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  CHECK(scaled(kMax, kMax, kMax) == kMax);
  CHECK(scaled(kMax, 2, 4) == kMax / 2 + 1);
}

}  // namespace
}  // namespace lockstep::accelsim
