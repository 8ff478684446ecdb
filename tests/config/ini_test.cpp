// The INI reader by itself: texts and what they assign.
#include "config/ini.hpp"

#include <catch2/catch.hpp>

#include "helpers.hpp"

namespace lockstep::config {
namespace {

/// One line for each assignment: "line: key = value; note".
std::string parsed(std::string_view text) {
  const IniText ini = parse_ini(text, "t.ini");
  std::string out;
  for (const auto* part : {&ini.includes, &ini.assignments})
    for (const Assignment& a : *part) {
      CHECK(a.file == "t.ini");
      out += std::to_string(a.line) + ": " + a.key + " = " + a.value + "; " + a.note + "\n";
    }
  return out;
}

TEST_CASE("INI: comments begin at the start of a line or behind a blank, and stay with their value") {
  CHECK(parsed("[gpu]\nname = a;b#c ; one ; two\n") == "2: gpu.name = a;b#c; one ; two\n");
  CHECK(parsed("gpu.name = x\t# tab\n") == "1: gpu.name = x; tab\n");
  CHECK(parsed("; gpu.name = x\n#gpu.name = x\n   ; indented\n") == "");
  CHECK(parsed("gpu.name = x ;\n") == "1: gpu.name = x; \n");
  CHECK(parsed("gpu.name = ; nothing\n") == "1: gpu.name = ; nothing\n");
}

TEST_CASE("INI: keys are those of their section, full ones where that has none of the name") {
  CHECK(parsed("[l1]\nways = 4\nl2.ways = 8\nbogus = 1\n") ==
        "2: l1.ways = 4; \n3: l2.ways = 8; \n4: l1.bogus = 1; \n");
  CHECK(parsed("[pipe]\nfp32.latency = 4\n[pipe.alu]\nlatency = 5\n") ==
        "2: pipe.fp32.latency = 4; \n4: pipe.alu.latency = 5; \n");
  CHECK(parsed("[ system ]\ndevices = a = b\n") == "2: system.devices = a = b; \n");
}

TEST_CASE("INI: lines end with a line feed, a carriage return before it is a blank, the last needs none") {
  CHECK(parsed("gpu.sms = 2\r\n\r\nl1.ways = 4\r\nl2.ways = 8") ==
        "1: gpu.sms = 2; \n3: l1.ways = 4; \n4: l2.ways = 8; \n");
  CHECK(parsed("\xef\xbb\xbfgpu.sms = 2\n") == "1: gpu.sms = 2; \n");
  CHECK(parsed("") == "");
  CHECK(parsed("\n\n\n") == "");
}

TEST_CASE("INI: includes stand apart, in their order, before all else") {
  CHECK(parsed("; why\ninclude = v100 ; base\ninclude=b.ini\nl1.ways = 4\n") ==
        "2: include = v100; base\n3: include = b.ini; \n4: l1.ways = 4; \n");
  for (const char* late : {"[l1]\ninclude = v100\n", "l1.ways = 4\ninclude = v100\n"})
    CHECK_THROWS_AS(parsed(late), InputError);
}

TEST_CASE("INI: the longest line that is read has 4096 characters") {
  const std::string value(4096 - 11, 'x');
  CHECK(parsed("gpu.name = " + value) == "1: gpu.name = " + value + "; \n");
  CHECK_THROWS_AS(parsed("gpu.name = x" + value), InputError);
  CHECK_THROWS_AS(parsed(";" + std::string(4096, 'x')), InputError);
}

TEST_CASE("INI: the largest file that is read has 1 MiB") {
  const lockstep::test::TemporaryFolder folder;
  const std::string largest(1 << 20, '\n');
  CHECK(read_text_file(folder.write("a.ini", largest)) == largest);
  CHECK_THROWS_AS(read_text_file(folder.write("b.ini", largest + "\n")), InputError);
  CHECK(read_text_file(folder.write("c.ini", std::string("a\0b\r\n", 5))) == std::string("a\0b\r\n", 5));
}

}  // namespace
}  // namespace lockstep::config
