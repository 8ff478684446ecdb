// Random option files in random layout, and random pipes against the conversions that docs/accelsim.md
// states.
#include <fmt/format.h>

#include <map>

#include "helpers.hpp"
#include "tests/random.hpp"

using namespace lockstep;
using namespace lockstep::accelsim;
using namespace lockstep::accelsim::test;

namespace {

using lockstep::test::Random32;

/// A file's text with the options that it sets.
struct WrittenOptions {
  std::string text;
  std::vector<Option> options;
};

class OptionFileMaker {
 public:
  explicit OptionFileMaker(std::uint32_t seed) : random_(seed) {}

  /// "-option value" with comments, quotes, blanks and line ends where they may stand.
  WrittenOptions options() {
    WrittenOptions out;
    for (auto n = random_() % 20; n > 0; --n) {
      gap(out);
      Option o{"-" + word(), "", "f", line_};
      out.text += o.name;
      out.text += random_() % 4 == 0 ? fmt::format("{}\t ", new_line(0)) : " ";
      o.value = value(out);
      out.options.push_back(o);
      out.text += " ";
    }
    gap(out);
    return out;
  }
  /// "key = value;" likewise.
  WrittenOptions booksim() {
    WrittenOptions out;
    for (auto n = 1 + random_() % 20; n > 0; --n) {
      const std::string value = random_() % 3 == 0 ? fmt::format("{{{{{},{}}}}}", word(), word()) : word();
      if (random_() % 4 == 0) out.text += "// " + word() + " = 1;" + new_line(1);
      const std::string key = word();
      out.text += key;
      out.text += random_() % 2 == 0 ? " = " : "=";
      out.text += value + (random_() % 3 == 0 ? " ;" : ";");
      out.options.push_back({key, value, "f", line_});
      out.text += random_() % 2 == 0 ? new_line(1) : " ";
    }
    return out;
  }

 private:
  std::string word() {
    std::string text;
    for (auto n = 1 + random_() % 8; n > 0; --n) text += "abcxyz_059"[random_() % (text.empty() ? 6 : 10)];
    return text;
  }
  std::string new_line(unsigned least) {
    std::string text;
    for (auto n = least + random_() % 2; n > 0; --n) {
      text += random_() % 2 == 0 ? "\n" : "\r\n";
      ++line_;
    }
    return text;
  }
  void gap(WrittenOptions& out) {
    if (random_() % 3 == 0) out.text += "# -" + word() + " 1 \"" + new_line(1);
    if (random_() % 2 == 0) out.text += new_line(1) + "  ";
  }
  std::string value(WrittenOptions& out) {
    const std::string a = word(), b = word();
    switch (random_() % 4) {
      case 0:
        out.text += fmt::format("\"{} {}\"", a, b);
        return a + " " + b;
      case 1:
        out.text += fmt::format("-{}", line_);  // a negative number
        return fmt::format("-{}", line_);
      case 2:
        out.text += "\"\"";
        return "";
      default:
        out.text += a + ":" + b + ",4";
        return a + ":" + b + ",4";
    }
  }

  Random32 random_;
  std::uint64_t line_ = 1;
};

void require_parsed(const WrittenOptions& written) {
  INFO(written.text);
  const auto found = parse_options(written.text, "f");
  REQUIRE(found.size() == written.options.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i].name == written.options[i].name);
    REQUIRE(found[i].value == written.options[i].value);
    REQUIRE(found[i].line == written.options[i].line);
    REQUIRE(found[i].file == "f");
  }
}

/// Pipes that an option of trace.config is about, and the option that says its units.
struct PipeOption {
  const char *timing, *units;
  std::vector<std::string> pipes;
};

const std::vector<PipeOption>& pipe_options() {
  static const std::vector<PipeOption> rows = {
      {"int", "-gpgpu_num_int_units", {"alu", "imad", "imad_wide", "vote"}},
      {"sp", "-gpgpu_num_sp_units", {"fp32", "fp16"}},
      {"sfu", "-gpgpu_num_sfu_units", {"sfu", "convert", "bitcount"}},
  };
  return rows;
}

std::uint64_t rounded_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

TEST_CASE("random option files: names, values and lines are those that were written, whatever the layout") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) require_parsed(OptionFileMaker(seed).options());
  for (std::uint32_t seed = 0; seed < 300; ++seed) require_parsed(OptionFileMaker(seed).booksim());
}

TEST_CASE("random pipes: latency + 2, and an interval of the scheduler's share of the units") {
  Random32 random(4);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t schedulers = std::uint64_t{1} << random() % 3;
    std::string text = fmt::format("-gpgpu_num_sched_per_core {} ", schedulers);
    std::map<std::string, std::uint64_t> expected;
    for (const PipeOption& o : pipe_options()) {
      const std::uint64_t latency = 1 + random() % 200, interval = random() % 20, units = 1 + random() % 8;
      text += fmt::format("-trace_opcode_latency_initiation_{} {},{} {} {} ", o.timing, latency, interval,
                          o.units, units);
      for (const std::string& pipe : o.pipes) {
        expected["pipe." + pipe + ".latency"] = latency + 2;
        expected["pipe." + pipe + ".interval"] =
            rounded_up(std::max<std::uint64_t>(1, interval) * schedulers, units);
      }
    }
    INFO(text);
    const std::string error = error_of(text);
    if (error != "(no error)") {  // a rule between values, not a conversion
      REQUIRE_THAT(error, Catch::Contains("inconsistent configuration"));
      continue;
    }
    const config::GpuConfig config = resolve(translated(text));
    for (const auto& [key, value] : expected) {
      CAPTURE(key);
      REQUIRE(value_of(config, key) == std::to_string(value));
    }
  }
}

TEST_CASE("random files: every option is mapped, ignored or unknown, and the last of its name counts") {
  Random32 random(6);
  const std::pair<const char*, const char*> kMapped[] = {{"-gpgpu_n_mem", "l2.partitions"},
                                                         {"-gpgpu_shader_cta", "sm.max_ctas"},
                                                         {"-gpgpu_cycle_sched_prio", ""},
                                                         {"-made_up_here", ""}};
  for (int round = 0; round < 100; ++round) {
    std::string text;
    std::map<std::string, std::uint64_t> last;
    unsigned count = 0;
    for (auto n = 1 + random() % 8; n > 0; --n, ++count) {
      const auto& [option, key] = kMapped[random() % 4];
      const std::uint64_t value = 8 + random() % 24;
      text += fmt::format("{} {}\n", option, value);
      if (*key != '\0') last[key] = value;
    }
    INFO(text);
    const Translation t = translated(text);
    CHECK(t.mapped.size() + t.ignored.size() + t.unknown.size() == count);
    for (const Option& o : t.unknown)
      CHECK((o.name == "-made_up_here" || o.name == "-gpgpu_cycle_sched_prio"));
    const config::GpuConfig config = resolve(t);
    for (const auto& [key, value] : last) CHECK(value_of(config, key) == std::to_string(value));
    const std::string one_line = summary(t);
    CHECK_THAT(one_line, Catch::StartsWith(fmt::format("{} Accel-Sim option", t.mapped.size())));
    CHECK(one_line.find('\n') == std::string::npos);
  }
}
