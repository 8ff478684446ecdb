// What a system's file must not say, beyond system_test.cpp: one bad line for each message, with its number.
#include <catch2/catch.hpp>
#include <string>

#include "config/system_config.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

/// The message for a file with this text, from its name on: "s.ini:3: ..."; "" if it is read.
std::string system_error(const std::string& text) {
  const std::string error = test::error_of([&] { (void)test::read_system(text); });
  const std::size_t name = error.find("s.ini");
  return name == std::string::npos ? (error == "(no error)" ? "" : error) : error.substr(name);
}

/// Two V100s, a kind of link named `wire` in lines 3 to 9, and then `rest` from line 10 on.
std::string pair_with(const std::string& rest, const std::string& more = "") {
  return "[system]\ndevices = v100 * 2" + more + "\n" + test::kLink + rest;
}

TEST_CASE("System files: a count is one number, of one thing") {
  CHECK(system_error("[system]\ndevices = v100 * 2 * 2\n") ==
        "s.ini:2: found 'v100 * 2 * 2', expected GPU or GPU * COUNT");
  CHECK(system_error("[system]\ndevices = * 2\n") == "s.ini:2: found '* 2', expected GPU or GPU * COUNT");
  for (const char* count : {"0", "-1"})
    CHECK(system_error("[system]\n\ndevices = v100 * " + std::string(count) + "\n")
              .starts_with("s.ini:3: the count = "));
  CHECK(system_error(pair_with("[edges]\ngpu0.gpu1 = wire * 2 * 3\n")) ==
        "s.ini:11: found 'wire * 2 * 3', expected LINK or LINK * COUNT");
}

TEST_CASE("System files: names that a switch cannot have") {
  const auto with = [](const std::string& names) {
    return system_error("[system]\ndevices = v100\nswitches = " + names + "\n");
  };
  for (const char* name : {"all", "hosts", "nics", "gpux", "host0", "nic12", "nic", "command_processor",
                           "system", "devices", "topology", "port", "edges"}) {
    CAPTURE(name);
    CHECK(with(name) == "s.ini:3: '" + std::string(name) + "' cannot be a switch's name");
  }
  CHECK(with("a, , b") == "s.ini:3: '' cannot be a switch's name");
  CHECK(with("a * 2, a1") == "s.ini:3: two switches 'a1'");
  CHECK(with("hostess, nicer").empty());
}

TEST_CASE("System files: links between pairs of nodes, once each") {
  const auto with = [](const std::string& edges) { return system_error(pair_with("[edges]\n" + edges)); };
  CHECK(with("gpu0.gpu1 = wire\n").empty());
  CHECK(with("gpu0.gpu1.gpu0 = wire\n") ==
        "s.ini:11: found 'gpu0.gpu1.gpu0', expected two nodes, such as gpu0.gpu1 or all.SWITCH");
  CHECK(with("gpu0.gpu1 = wire\n\ngpu1.gpu0 = wire\n") ==
        "s.ini:13: two nodes are linked twice; expected one line with their number of links");
  CHECK(with("gpuN.hubN = wire\n") ==
        "s.ini:11: 'gpuN.hubN' names no nodes; expected two by these names and a number");
}

TEST_CASE("System files: mistakes of [topology]") {
  const auto with = [](const std::string& topology) {
    return system_error(pair_with("[topology]\n" + topology));
  };
  CHECK(with("kind = full_mesh\nlink = wire\n").empty());
  CHECK(with("link = wire\n") == "s.ini:11: [topology] has no 'kind'");
  CHECK(with("kind = full_mesh\n") == "s.ini:11: [topology] has no 'link'; expected LINK or LINK * COUNT");
  CHECK(with("kind = full_mesh\nlink = cable\n") ==
        "s.ini:12: 'cable' is not a kind of link; expected one that has a section");
  CHECK(with("kind = full_mesh\nlink = wire\nattach = wire\n") ==
        "s.ini:13: 'attach': this topology attaches no device to a switch");
  CHECK(with("kind = full_mesh\nlinks = wire\n") == "s.ini:12: unknown key 'links'; did you mean 'link'?");
}

TEST_CASE("System files: networks are of systems with NICs, and their nodes are connected") {
  CHECK(system_error(pair_with("[nic]\nqueue_entries = 4\n")) ==
        "s.ini:11: [nic] says nothing of a system without NICs; expected 'nics' in [system]");
  const auto with = [](const std::string& edges) {
    return system_error(pair_with("[edges]\n" + edges, "\nnics = 2"));
  };
  const std::string ending = "; expected [edges] with a way over switches alone";
  CHECK(with("gpuN.nicN = wire\nnic0.nic1 = wire\n").empty());
  CHECK(with("gpuN.nicN = wire\n") == "s.ini: no links lead from nic0 to nic1" + ending);
  CHECK(with("nic0.nic1 = wire\n") == "s.ini: no links lead from gpu0 to nic0" + ending);
  // There is a way over a device, but devices pass nothing on.
  CHECK(with("gpuN.nicN = wire\ngpu0.nic1 = wire\n") == "s.ini: no links lead from nic0 to nic1" + ending);
}

TEST_CASE("System files: parameters of the devices are checked where they stand, and are all devices'") {
  CHECK(system_error(pair_with("[devices]\nl1.wayz = 4\n"))
            .starts_with("s.ini:11: 'l1.wayz' is no parameter of a GPU"));
  CHECK(system_error(pair_with("[devices]\nl1.ways = 4\nl1.ways = 8\n")) ==
        "s.ini:12: duplicate key 'l1.ways'");
  for (const GpuConfig& device : test::read_system(pair_with("[devices]\nl1.ways = 16\n")).devices)
    CHECK(device.l1.ways == 16);
}

}  // namespace
}  // namespace lockstep::config
