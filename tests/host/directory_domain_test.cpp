// The directory as a part of the machine: when its commands arrive, in clocks of several devices.
#include "host/directory_domain.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/persisted.hpp"

namespace lockstep::host {
namespace {

using Asked = uvm::DirectoryRequest::Kind;
using Ordered = uvm::DirectoryCommand::Kind;

constexpr uvm::TreeId kTreeOfTwo = 5;
constexpr Cycle kToDevice = 40;

/// Device 0 has the directory's clock, device 1 runs at two thirds of it. They are linked.
struct TwoDevices {
  static constexpr std::uint64_t kOwnKhz = 1'500'000, kOtherKhz = 1'000'000;
  core::DirectoryRequests requests{"request", {1, 2, 3, 4}, {0}};
  core::DirectoryCommands commands{"order", {0}, {1, 2, 3, 4}};
  std::unique_ptr<DirectoryDomain> domain = make();

  [[nodiscard]] std::unique_ptr<DirectoryDomain> make() {
    std::vector<DirectoryWay> ways;
    for (std::uint32_t part = 0; part < 4; ++part)
      ways.push_back({part, kToDevice, sim::ClockRatio(kOwnKhz, part < 2 ? kOwnKhz : kOtherKhz)});
    return std::make_unique<DirectoryDomain>(requests, commands, ways, std::vector<std::uint64_t>{0b10, 0b01},
                                             Cycle{200});
  }
  /// From a device's GMMU, or its peer port.
  void ask(std::uint32_t device, bool port, Cycle arrival, Asked kind, unsigned page, std::uint32_t id = 0) {
    uvm::DirectoryRequest r;
    r.kind = kind;
    r.tree = kTreeOfTwo;
    r.id = id;
    if (kind == Asked::kAcquire) r.pages = r.alone = uvm::PageSet::range(page, 1);
    requests.send(2 * device + (port ? 1 : 0), 0, arrival, r);
  }
  struct Arrived {
    std::uint32_t part;
    Cycle at;
    uvm::DirectoryCommand command;
  };
  /// A window that begins at `from`.
  std::vector<Arrived> advance(Cycle from, Cycle to) {
    std::vector<Time> next(5);
    requests.flip(std::vector<sim::DomainId>{1, 2, 3, 4}, from, next);
    due = domain->advance(from, to);
    commands.flip(std::vector<sim::DomainId>{0}, to, next);
    std::vector<Arrived> all;
    for (std::uint32_t part = 0; part < 4; ++part)
      commands.collect(part, [&](std::uint32_t, Cycle at, const uvm::DirectoryCommand& command) {
        all.push_back({part, at, command});
      });
    return all;
  }
  Cycle due = 0;
};

TEST_CASE("directory domain: what is asked at an edge is ordered from that edge on, in each device's clock") {
  TwoDevices machine;
  machine.ask(0, false, 50, Asked::kAcquire, 3, 7);
  machine.ask(1, false, 61, Asked::kAcquire, 9, 8);
  CHECK(machine.advance(0, 20).empty());
  CHECK(machine.due == 50);
  CHECK_FALSE(machine.domain->quiescent());
  const auto granted = machine.advance(50, 61);
  REQUIRE(granted.size() == 1);  // the tree is busy with it when the other request comes
  CHECK((granted[0].part == 0 && granted[0].at == 50 + kToDevice && granted[0].command.id == 7));
  CHECK(machine.advance(61, 70).empty());
  CHECK(machine.due == kNever);
  std::string text;
  machine.domain->dump(text);
  CHECK(text == "directory of managed pages: 2 acquisitions are not complete\n");
  machine.ask(0, false, 91, Asked::kDone, 0, 7);
  const auto next = machine.advance(70, 100);
  REQUIRE(next.size() == 1);
  // Edge 91 + 40 lies at 87.33 of the other clock.
  CHECK((next[0].part == 2 && next[0].at == 88 && next[0].command.id == 8));
  machine.ask(1, false, 110, Asked::kDone, 0, 8);
  (void)machine.advance(100, 120);
  CHECK(machine.domain->quiescent());
}

TEST_CASE("directory domain: a device's port is another destination than its GMMU; a kept state goes on") {
  TwoDevices machine;
  machine.ask(0, false, 10, Asked::kAcquire, 0, 1);
  machine.ask(0, false, 20, Asked::kDone, 0, 1);
  machine.ask(1, false, 30, Asked::kAcquire, 0, 2);
  const auto first = machine.advance(0, 40);
  REQUIRE(first.size() == 2);
  CHECK((first[1].part == 0 && first[1].command.kind == Ordered::kRevoke));
  machine.ask(0, false, 60, Asked::kRevoked, 0, first[1].command.id);
  auto fresh = machine.make();
  test::restore(*machine.domain, *fresh);
  machine.domain = std::move(fresh);
  const auto second = machine.advance(40, 70);
  REQUIRE(second.size() == 2);
  CHECK((second[0].part == 1 && second[0].command.kind == Ordered::kCopy && second[0].at == 100));
  CHECK((second[1].part == 2 && second[1].command.kind == Ordered::kGrant));
  machine.ask(0, true, 80, Asked::kCopied, 0, second[0].command.id);
  const auto third = machine.advance(70, 90);
  REQUIRE(third.size() == 2);
  CHECK((third[0].part == 0 && third[0].command.kind == Ordered::kGone));
  CHECK((third[1].part == 2 && third[1].command.kind == Ordered::kArrived && third[1].command.place == 0));
}

}  // namespace
}  // namespace lockstep::host
