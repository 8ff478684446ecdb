// The list of what --check has found: what counts as the same finding, how many are kept, and their text.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "exec/check/finding.hpp"
#include "util/error.hpp"

namespace lockstep::exec {
namespace {

Finding finding_at(FindingKind kind, std::uint32_t line) {
  Finding f;
  f.kind = kind;
  f.access = "read";
  f.space = "global";
  f.bytes = 4;
  f.address = 0x1000;
  f.kernel = "_Z3addPf";
  f.site = {"add.ptx", line, "", "ld.global.f32", {1, 2, 3}, {4, 5, 6}};
  return f;
}

}  // namespace

TEST_CASE("check findings: the same kernel, kind, access, place and partner are one, with a count") {
  Findings all;
  const Finding first = finding_at(FindingKind::kRace, 7);
  const auto place = all.add(first);
  CHECK(all.add(first) == place);
  all.count(place);
  const auto differs = [&](auto&& change) {
    Finding f = first;
    change(f);
    return all.add(f) != place;
  };
  CHECK(differs([](Finding& f) { f.kernel = "other"; }));
  CHECK(differs([](Finding& f) { f.kind = FindingKind::kOutOfBounds; }));
  CHECK(differs([](Finding& f) { f.access = "write"; }));
  CHECK(differs([](Finding& f) { f.site.line = 8; }));
  CHECK(differs([](Finding& f) { f.earlier = FindingSite{"add.ptx", 3, "", "", {}, {}}; }));
  CHECK_FALSE(differs([](Finding& f) { f.address = 0x2000; }));
  CHECK_FALSE(differs([](Finding& f) { f.site.thread = {0, 0, 0}; }));
  CHECK(all.all().size() == 6);
  CHECK(all.all()[0].count == 5);
  CHECK(all.all()[0].address == 0x1000);  // that of the first access
  CHECK(all.errors() == 10);
}

TEST_CASE("check findings: two allocations that are not freed are two leaks") {
  Findings all;
  Finding leak = finding_at(FindingKind::kLeak, 0);
  const auto first = all.add(leak);
  leak.address = 0x2000;
  CHECK(all.add(leak) != first);
}

TEST_CASE("check findings: of one kernel 32 are listed, and the accesses of the others counted") {
  Findings all;
  for (std::uint32_t line = 1; line <= 40; ++line) {
    const auto at = all.add(finding_at(FindingKind::kOutOfBounds, line));
    all.count(at);
  }
  CHECK(all.all().size() == Findings::kPerKernel);
  CHECK(all.dropped() == 16);
  CHECK(all.errors() == 80);
  Finding other = finding_at(FindingKind::kOutOfBounds, 1);
  other.kernel = "other";
  other.warning = true;
  (void)all.add(other);
  CHECK(all.all().size() == Findings::kPerKernel + 1);
  CHECK(all.errors() == 80);
  CHECK(all.warnings() == 1);
  const std::string text = all.to_text();
  CHECK(
      text.ends_with("lockstep: check: 80 errors at 32 places, 1 warning; 16 of them at further places that "
                     "are not listed\n"));
  Findings again;
  again.read(all.to_json(parse_checks("memory")));
  CHECK(again.to_text() == text);
  again.read(all.to_json(parse_checks("memory")));  // of another process
  CHECK(again.errors() == 160);
  CHECK(again.all().size() == all.all().size());
}

TEST_CASE("check findings: the text names access, place, kernel and thread") {
  const auto text_of = [](Finding f) {
    Findings all;
    (void)all.add(std::move(f));
    return all.to_text();
  };
  const std::string where =
                        "    in kernel add(float*)\n"
                        "    at add.ptx:7 [ld.global.f32] thread (4,5,6) of CTA (1,2,3)\n",
                    end = "lockstep: check: 1 error at 1 place\n";
  const std::pair<FindingKind, std::string> titles[] = {
      {FindingKind::kOutOfBounds, "read out of bounds of 4 bytes, global memory at 0x1000"},
      {FindingKind::kUseAfterFree, "read after free of 4 bytes, global memory at 0x1000"},
      {FindingKind::kMisaligned, "misaligned read of 4 bytes, global memory at 0x1000"},
      {FindingKind::kUninitialised, "read of uninitialised memory of 4 bytes, global memory at 0x1000"}};
  for (const auto& [kind, title] : titles)
    CHECK(text_of(finding_at(kind, 7)) == "lockstep: check: " + title + "\n" + where + end);
  CHECK(text_of(finding_at(FindingKind::kLeak, 0)) ==
        "lockstep: check: leak of 4 bytes, global memory at 0x1000\n" + end);

  Finding race = finding_at(FindingKind::kRace, 7);
  race.access = "read after write";
  race.warning = true;
  race.count = 3;
  race.detail = "in the CTA's own memory";
  race.site.source = "add.cu:12";
  race.earlier = FindingSite{"add.ptx", 5, "", "st.global.f32", {0, 0, 0}, {1, 0, 0}};
  CHECK(text_of(race) ==
        "lockstep: check warning: race, read after write of 4 bytes, global memory at 0x1000\n"
        "    in kernel add(float*)\n"
        "    later:   add.cu:12 (add.ptx:7) [ld.global.f32] thread (4,5,6) of CTA (1,2,3)\n"
        "    earlier: add.ptx:5 [st.global.f32] thread (1,0,0) of CTA (0,0,0)\n"
        "    in the CTA's own memory\n"
        "    3 accesses in all\n"
        "lockstep: check: 0 errors, 3 warnings\n");
}

TEST_CASE("check findings: a damaged report is an error, and what it did not say is not made up") {
  Findings all;
  (void)all.add(finding_at(FindingKind::kOutOfBounds, 7));
  const std::string good = all.to_json(parse_checks("memory"));
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{}"), good.substr(0, good.size() / 2),
        std::string(good).replace(good.find("\"line\": 7"), 9, "\"line\": {}"),
        std::string(good).replace(good.find("\"thread\""), 8, "\"fred\"")}) {
    INFO(bad);
    Findings none;
    CHECK_THROWS_AS(none.read(bad), UserError);
    CHECK(none.errors() == 0);
  }
}

}  // namespace lockstep::exec
