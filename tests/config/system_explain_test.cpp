// Explanations of a system's parameters.
#include <catch2/catch.hpp>

#include "config/network_fields.hpp"
#include "config/system_config.hpp"
#include "config/system_fields.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

std::size_t explained(const std::string& text) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find("    type: ", at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST_CASE("a parameter of a kind of link is explained with value, help, range and default") {
  const SystemConfig s = test::read_system("[system]\ndevices = v100 * 2\n" + std::string(test::kLink) +
                                           "flit_bytes = 32\n[edges]\ngpu0.gpu1 = wire\n");
  CHECK(explain("wire.latency_ps", s) ==
        "wire.latency_ps = 100000 ps\n    from a message's last byte on the wire to its arrival at the other "
        "end\n    type: integer, ps\n    allowed: 20000 to 1000000000 ps\n    default: none, it must be "
        "given\n");
  CHECK(explain("wire.flit_bytes", s) ==
        "wire.flit_bytes = 32 B\n    size of a flit (model = flits)\n    type: integer, B\n    allowed: 1 to "
        "256 "
        "B\n    default: 16\n");
  CHECK(explain("wire.model", s) ==
        "wire.model = packets\n    what a message costs on the wire\n    type: name\n    allowed: packets, "
        "flits, "
        "ideal\n    default: packets\n");
}

TEST_CASE("a section of a system is explained key by key, each system with what it has") {
  const SystemConfig plain = resolve_system("dgx_a100"), net = resolve_system("compnet_8");
  CHECK(explained(explain("port", plain)) == port_fields().size());
  REQUIRE(plain.kinds.size() == 1);
  CHECK(explained(explain(plain.kinds[0].name, plain)) == link_fields().size() + 1);
  CHECK(explained(explain("", plain)) == port_fields().size() + link_fields().size() + 1);
  CHECK(explained(explain("", net)) ==
        port_fields().size() + net.kinds.size() * (link_fields().size() + 1) + 1 + network_fields().size());
  CHECK_THAT(explain("node", net), Catch::StartsWith("node.design = compnet\n"));
  CHECK_THAT(explain("nic.outstanding", net), Catch::Contains("    source of the default: "));
  CHECK(explain("service", net).find("service_energy.") == std::string::npos);
  CHECK_THAT(explain("service_energy", net), Catch::StartsWith("service_energy."));
}

TEST_CASE("what a system has not is said, with what may be meant") {
  const SystemConfig plain = resolve_system("dgx_a100");
  const auto error = [&](const char* wanted) {
    return test::error_of([&] { (void)explain(wanted, plain); });
  };
  CHECK(error("port.lanez") ==
        "dgx_a100 has no parameter or section 'port.lanez'; did you mean 'port.lanes'?");
  CHECK(error("l1.ways") ==
        "'l1.ways' is a parameter of a GPU; expected `lockstep config a100 --explain l1.ways`");
  CHECK_THAT(error("nic.outstanding"),
             Catch::StartsWith("dgx_a100 has no parameter or section 'nic.outstanding'"));
}

}  // namespace
}  // namespace lockstep::config
