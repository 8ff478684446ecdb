#include "messages/memory.hpp"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/random.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::messages {
namespace {

using trace::AddressForm;
using trace::Record;

constexpr LaneMask kLow = 0xffffffff;

/// As exec/address_space.hpp has the regions: device 0, managed memory, the host's, device 1, device 2, ...
Address expected(Address address, std::uint16_t process) {
  const Address end = exec::kArenaBase + exec::kRegionBytes;
  if (process == 0 || address < exec::kArenaBase || address >= end) return address;
  return address + (process + Address{2}) * exec::kRegionBytes;
}

trace::StaticTable table() {
  trace::StaticTable table;
  table.push({});
  trace::StaticInst bulk;
  bulk.bulk = trace::BulkCopy::kLoad;
  table.push(bulk);
  return table;
}

using Lanes = std::array<Address, kWarpSize>;

std::vector<Lanes> lanes_of(const trace::CtaTrace& cta) {
  std::vector<Lanes> all;
  for (const trace::WarpSpan& warp : cta.warps) {
    const std::uint64_t* words = cta.words.data() + warp.first_word;
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const Record& record = cta.records[warp.first_record + i];
      expand_addresses(record.form(), record.mask, words, all.emplace_back().data());
      words += address_words(record.form(), record.mask);
    }
  }
  return all;
}

/// Lanes in the memory of device 0 or in the host's, close to each other or far apart.
Lanes random_lanes(test::Random32& random) {
  const Address region = exec::kArenaBase + (random() % 2 == 0 ? 0 : 2 * exec::kRegionBytes);
  const Address base = region + (Address{1} << 34) + random();
  const std::uint64_t stride = random() % 512, scatter = std::uint64_t{1} << (random() % 34);
  const bool regular = random() % 2 == 0;
  Lanes lanes{};
  for (unsigned l = 0; l < kWarpSize; ++l)
    lanes[l] = base + (regular ? stride * l : (std::uint64_t{random()} << 2) % scatter);
  return lanes;
}

}  // namespace

TEST_CASE("Only the memory of device 0 becomes that of the process's device") {
  for (const Address inside : {exec::kArenaBase, exec::kArenaBase + exec::kRegionBytes - 1}) {
    CHECK(is_on_device(inside));
    CHECK(moved(inside, 0) == inside);
    CHECK(moved(inside, 1) == inside + 3 * exec::kRegionBytes);
    CHECK(moved(inside, 5) == inside + 7 * exec::kRegionBytes);
    CHECK(buffer_of(inside, 1) == moved(inside, 1));
  }
  for (const Address outside :
       {Address{0}, exec::kArenaBase - 1, exec::kArenaBase + exec::kRegionBytes, ~Address{0}}) {
    CHECK_FALSE(is_on_device(outside));
    CHECK(moved(outside, 3) == outside);
    CHECK(buffer_of(outside, 3) == trace::kHostMemory);
  }
}

TEST_CASE("Records name the same lanes' addresses, moved, whatever their form") {
  test::Random32 random(7);
  const trace::StaticTable instructions = table();
  std::array<unsigned, 4> forms{};
  for (unsigned round = 0; round < 200; ++round) {
    trace::CtaTrace cta;
    for (unsigned w = 0; w < 3; ++w) {
      trace::WarpSpan warp{static_cast<std::uint32_t>(cta.records.size()), 20,
                           static_cast<std::uint32_t>(cta.words.size())};
      for (unsigned i = 0; i < warp.record_count; ++i) {
        const LaneMask mask = random() % 8 == 0 ? 0 : random() % 2 == 0 ? kLow : random();
        const AddressForm form = trace::pack_addresses(mask, random_lanes(random).data(), cta.words);
        cta.records.push_back(Record::make(0, form, mask));
        ++forms[static_cast<std::size_t>(form)];
      }
      cta.warps.push_back(warp);
    }
    const auto process = static_cast<std::uint16_t>(random() % 4);
    const std::vector<Lanes> before = lanes_of(cta);
    move_addresses(cta, instructions, process);
    const std::vector<Lanes> after = lanes_of(cta);
    REQUIRE(after.size() == before.size());
    for (std::size_t r = 0; r < before.size(); ++r)
      for (unsigned l = 0; l < kWarpSize; ++l) REQUIRE(after[r][l] == expected(before[r][l], process));
  }
  for (const unsigned count : forms) CHECK(count > 100);
}

TEST_CASE("Lanes that access the device and the host in one instruction") {
  const Address device = exec::kArenaBase + 4096, host = exec::kArenaBase + 2 * exec::kRegionBytes + 64;
  for (const bool device_first : {true, false})
    for (const LaneMask mask : {LaneMask{0x3}, LaneMask{0x21}, LaneMask{0x80000001}}) {
      Lanes lanes{}, plain{};
      const int first = std::countr_zero(mask), last = 31 - std::countl_zero(mask);
      const std::int64_t distance = last - first;
      lanes[static_cast<std::size_t>(first)] = device_first ? device : host;
      // A multiple of the lanes' distance, so that the two have a stride.
      const Address other = device_first ? host : device, from = device_first ? device : host;
      const auto apart = static_cast<std::int64_t>(other - from);
      lanes[static_cast<std::size_t>(last)] = other - static_cast<Address>(apart % distance);
      for (unsigned l = 0; l < kWarpSize; ++l) plain[l] = device + 8 * l;
      trace::CtaTrace cta;
      cta.words = {0x0000000800000004};  // offsets of a record of three lanes, 4 and 8, as a CTA keeps them
      const auto first_word = static_cast<std::uint32_t>(cta.words.size());
      cta.records.push_back(Record::make(0, trace::pack_addresses(kLow, plain.data(), cta.words), kLow));
      cta.records.push_back(Record::make(0, trace::pack_addresses(mask, lanes.data(), cta.words), mask));
      REQUIRE(cta.records.back().form() == AddressForm::kAffine);
      cta.records.push_back(Record::make(0, AddressForm::kShared, 0x7));
      cta.words.insert(cta.words.end(), {device, cta.words.size()});
      // A second warp has the same records, and no access to the host.
      const auto second_word = static_cast<std::uint32_t>(cta.words.size());
      cta.words.insert(cta.words.end(), {device, 8, device, 8, device, cta.words.size() + 4});
      cta.warps = {{0, 3, first_word}, {0, 3, second_word}};
      const std::vector<Lanes> before = lanes_of(cta);
      REQUIRE(before.size() == 6);
      REQUIRE(before[2][2] == device + 8);
      move_addresses(cta, table(), 3);
      const std::vector<Lanes> after = lanes_of(cta);
      REQUIRE(after.size() == before.size());
      for (std::size_t r = 0; r < before.size(); ++r)
        for (unsigned l = 0; l < kWarpSize; ++l) {
          CAPTURE(device_first, mask, r, l);
          CHECK(after[r][l] == expected(before[r][l], 3));
        }
    }
}

TEST_CASE("Bulk copies: the runs are moved, the mbarrier and what it counts are not") {
  const Address global = exec::kArenaBase + 4096, host = exec::kArenaBase + 2 * exec::kRegionBytes;
  const std::vector<trace::BulkRun> runs{{global, 128, 4, 512}, {host, 64, 2, -64}, {global + 1, 1, 1, 0}};
  trace::CtaTrace cta;
  cta.words = {global, global};  // a number and a count that look like addresses
  for (const trace::BulkRun& run : runs) {
    const trace::BulkRunWords words = trace::pack(run);
    cta.words.insert(cta.words.end(), {words.place, words.shape});
  }
  const auto mask = static_cast<LaneMask>((1u << cta.words.size()) - 1);
  cta.records = {Record::make(1, AddressForm::kList, mask)};
  cta.warps = {{0, 1, 0}};
  move_addresses(cta, table(), 2);
  CHECK(cta.words[0] == global);
  CHECK(cta.words[1] == global);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    trace::BulkRun run = runs[i];
    run.first = expected(run.first, 2);
    CHECK(trace::unpack({cta.words[2 + 2 * i], cta.words[3 + 2 * i]}) == run);
  }
}

}  // namespace lockstep::messages
