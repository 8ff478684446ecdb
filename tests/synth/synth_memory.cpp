// Addresses, sectors and bytes of the memory kinds against closed forms, read from the text of the traces.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "synth/kinds.hpp"
#include "trace_text.hpp"

using namespace lockstep;
using namespace lockstep::synth;

namespace {

using Addresses = std::vector<std::uint64_t>;

/// All addresses of executed accesses, in the order of the text.
Addresses addresses_of(const std::vector<TextWarp>& warps, const std::string& opcode) {
  Addresses all;
  for (const TextWarp& warp : warps)
    for (const TextLine& line : lines_of(warp, opcode))
      all.insert(all.end(), line.addresses.begin(), line.addresses.end());
  return all;
}

std::set<std::uint64_t> set_of(const Addresses& list) { return {list.begin(), list.end()}; }

std::size_t sectors_of(const std::vector<TextWarp>& warps, const std::string& opcode) {
  std::size_t sum = 0;
  for (const TextWarp& warp : warps)
    for (const TextLine& line : lines_of(warp, opcode)) sum += sectors_of(line);
  return sum;
}

}  // namespace

TEST_CASE("streaming: two loads and a store of four sectors per warp, and the copies are the two inputs") {
  const auto warps = warps_of("streaming", {{"ctas", "5"}, {"threads", "256"}});
  REQUIRE(warps.size() == 5 * 8);
  CHECK(sectors_of(warps, "LDG") == 5 * 8 * 2 * 4);
  CHECK(sectors_of(warps, "STG") == 5 * 8 * 4);
  const std::uint64_t bytes = 5 * 256 * 4, a = 0x7f8000000000, gap = 256 << 20;
  const auto loads = set_of(addresses_of(warps, "LDG"));
  CHECK(*loads.begin() == a);
  CHECK(*loads.rbegin() == a + gap + bytes - 4);
  TemporaryFolder folder;
  synthesize("streaming", {{"ctas", "5"}, {"threads", "256"}}, folder / "t");
  CHECK(text_of(folder / "t/kernelslist.g") ==
        fmt::format("MemcpyHtoD,0x{:016x},{}\nMemcpyHtoD,0x{:016x},{}\nkernel-1.traceg\n", a, bytes, a + gap,
                    bytes));
}

TEST_CASE("streaming: a warp that begins inside a sector touches one more") {
  // 100 threads: CTAs begin at 0, 400 and 800 bytes; 400 and 800 + 384 are the middle of a sector.
  std::size_t expected = 0;
  for (std::uint64_t cta = 0; cta < 3; ++cta)
    for (const auto& [first, size] :
         {std::pair<std::uint64_t, std::uint64_t>{0, 128}, {128, 128}, {256, 128}, {384, 16}})
      expected += (cta * 400 + first + size - 1) / 32 - (cta * 400 + first) / 32 + 1;
  CHECK(sectors_of(warps_of("streaming", {{"ctas", "3"}, {"threads", "100"}}), "STG") == expected);
}

/// C = A B with A of M x K and B of K x N: each CTA of the 64 x 64 tile loads 64 K + 64 K floats once.
TEST_CASE("sgemm: FFMA, bytes and the tiles are those of the product") {
  const std::uint64_t m = 2 * 64, n = 3 * 64, k = 2 * 16;
  const auto warps = warps_of("sgemm", {{"tiles-x", "3"}, {"tiles-y", "2"}, {"ktiles", "2"}});
  REQUIRE(warps.size() == 6 * 8);
  std::uint64_t ffma = 0;
  for (const TextWarp& warp : warps) ffma += lines_of(warp, "FFMA").size();
  CHECK(ffma * 32 == m * n * k);
  // Vectors of 16 bytes: A is read once for each of 3 columns of CTAs, B for each of 2 rows; C is written
  // once.
  std::map<std::uint64_t, unsigned> loads, stores;
  for (const std::uint64_t address : addresses_of(warps, "LDG")) ++loads[address];
  for (const std::uint64_t address : addresses_of(warps, "STG")) ++stores[address];
  const std::uint64_t a = 0x7f9000000000, b = a + 0x8000000, c = b + 0x8000000;
  CHECK(loads.size() == (m * k + k * n) / 4);
  for (std::uint64_t i = 0; i < m * k * 4; i += 16) CHECK(loads[a + i] == 3);
  for (std::uint64_t i = 0; i < k * n * 4; i += 16) CHECK(loads[b + i] == 2);
  CHECK(stores.size() == m * n / 4);
  for (std::uint64_t i = 0; i < m * n * 4; i += 16) CHECK(stores[c + i] == 1);
}

TEST_CASE("sgemm: what the products read from shared memory has been stored there") {
  const auto warps = warps_of("sgemm", {{"tiles-x", "1"}, {"tiles-y", "1"}, {"ktiles", "1"}});
  std::set<std::uint64_t> stored, loaded;
  for (const auto& [opcode, into] :
       {std::pair<std::string, std::set<std::uint64_t>*>{"STS", &stored}, {"LDS", &loaded}})
    for (const TextWarp& warp : warps)
      for (const TextLine& line : lines_of(warp, opcode))
        for (const std::uint64_t address : line.addresses)
          for (std::uint64_t word = address; word < address + line.width; word += 4) into->insert(word);
  CHECK(stored.size() == 2 * 64 * 16);
  CHECK(stored == loaded);
  CHECK(*stored.rbegin() == 2 * 64 * 16 * 4 - 4);
}

/// The first numbers of splitmix64 with the seed 1234567, as published with the reference implementation's
/// ports (Rosetta Code, "Pseudo-random numbers/Splitmix64").
TEST_CASE("random numbers are splitmix64's") {
  Random random(1234567);
  for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                       4593380528125082431u, 16408922859458223821u})
    CHECK(random.next() == expected);
  Random scaled(1234567);
  CHECK(scaled.below(1000) == 350);  // 6457827717110365317 / 2^64 = 0.35008...
  CHECK(scaled.below(1000) == 173);  // 3203168211198807973 / 2^64 = 0.17364...
}

TEST_CASE("random: addresses are words of the footprint, by the seed, however they are encoded") {
  const Options options{
      {"ctas", "2"}, {"threads", "48"}, {"loads", "20"}, {"footprint", "4096"}, {"seed", "1234567"}};
  const auto with = [&](const std::string& name, const std::string& value) {
    Options changed = options;
    changed[name] = value;
    return addresses_of(warps_of("random", changed), "LDG");
  };
  const Addresses list = with("encoding", "list");
  REQUIRE(list.size() == 2 * 48 * 20);
  CHECK(list[0] == 0x7fa000000000 + 179 * 8);  // 0.35008 of 512 words
  CHECK(list[1] == 0x7fa000000000 + 88 * 8);   // 0.17364 of 512 words
  for (const std::uint64_t address : list) {
    CHECK(address % 8 == 0);
    CHECK(address - 0x7fa000000000 < 4096);
  }
  CHECK(set_of(list).size() > 480);  // 512 (1 - e^(-1920/512)) = 500 expected
  CHECK(with("encoding", "delta") == list);
  CHECK(with("seed", "1234568") != list);
  // Every thread has its own result.
  CHECK(set_of(addresses_of(warps_of("random", options), "STG")).size() == 2 * 48);
}

TEST_CASE("chain: a warp walks round the eight lines of its CTA") {
  const auto warps = warps_of("chain", {{"ctas", "3"}, {"iterations", "20"}});
  REQUIRE(warps.size() == 3);
  for (const TextWarp& warp : warps) {
    const auto loads = lines_of(warp, "LDG"), stores = lines_of(warp, "STG");
    REQUIRE(loads.size() == 20);
    REQUIRE(stores.size() == 20);
    CHECK(lines_of(warp, "MUFU").size() == 20 * 16);
    CHECK(lines_of(warp, "FFMA").size() == 20 * 48);
    for (std::uint64_t n = 0; n < 20; ++n) {
      CHECK(loads[n].addresses[0] == 0x7fb000000000 + warp.cta_x * 4096 + n % 8 * 128);
      CHECK(loads[n].addresses[31] == loads[n].addresses[0] + 31 * 4);
      CHECK(stores[n].addresses[0] == loads[n].addresses[0] + 0x8000);
    }
  }
}

TEST_CASE("pointer_chase: a lap visits every element once, and kernels go on where the one before ended") {
  Options options{
      {"footprint", "6400"}, {"stride", "64"}, {"warm", "0"}, {"first", "100"}, {"second", "150"}};
  const auto lap = [&](unsigned kernel) {
    Addresses order;
    const auto warps = warps_of("pointer_chase", options, kernel);
    REQUIRE(warps.size() == 1);
    for (const TextLine& line : lines_of(warps[0], "LDG")) {
      CHECK(set_of(line.addresses).size() == 1);  // all lanes load the same element
      order.push_back(line.addresses[0]);
    }
    return order;
  };
  const Addresses first = lap(1), second = lap(2);
  REQUIRE(first.size() == 100);
  REQUIRE(second.size() == 150);
  std::set<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 100; ++i) expected.insert(0x7fa000000000 + i * 64);
  CHECK(set_of(first) == expected);
  CHECK_FALSE(std::ranges::is_sorted(first));
  // A whole lap later the chain is at its first element again.
  CHECK(Addresses(second.begin(), second.begin() + 100) == first);
  CHECK(Addresses(second.begin() + 100, second.end()) == Addresses(first.begin(), first.begin() + 50));
  options["first"] = "30";
  CHECK(lap(1) == Addresses(first.begin(), first.begin() + 30));
  CHECK(lap(2).front() == first[30]);
  options["continue"] = "0";
  CHECK(lap(2).front() == first[0]);
  options["seed"] = "1";
  CHECK(lap(1) != Addresses(first.begin(), first.begin() + 30));
}

TEST_CASE("pointer_chase: the warming kernel loads the chain's first elements, in its order") {
  const Options options{
      {"footprint", "6400"}, {"stride", "64"}, {"warm", "70"}, {"first", "100"}, {"continue", "0"}};
  const auto warming = warps_of("pointer_chase", options, 1);
  REQUIRE(warming.size() == 32);
  const Addresses warmed = addresses_of(warming, "LDG");
  REQUIRE(warmed.size() == 70);
  Addresses chased;
  for (const TextLine& line : lines_of(warps_of("pointer_chase", options, 2)[0], "LDG"))
    chased.push_back(line.addresses[0]);
  CHECK(Addresses(chased.begin(), chased.begin() + 70) == warmed);
}

TEST_CASE("cache_read: laps over the array, and the next kernel goes on in the lap") {
  const Options options{
      {"ctas", "2"}, {"threads", "64"}, {"footprint", "1024"}, {"first", "6"}, {"second", "40"}};
  std::uint64_t load = 0;  // 1024 bytes are four loads of 64 threads
  for (unsigned kernel = 1; kernel <= 2; ++kernel) {
    const std::uint64_t loads = kernel == 1 ? 6 : 40;
    const auto warps = warps_of("cache_read", options, kernel);
    REQUIRE(warps.size() == 4);
    for (const TextWarp& warp : warps) {
      const auto lines = lines_of(warp, "LDG");
      REQUIRE(lines.size() == loads);
      for (std::uint64_t n = 0; n < loads; ++n) {
        CHECK(lines[n].addresses[0] == 0x7fa000000000 + (load + n) % 4 * 256 + warp.warp * 128);
        CHECK(sectors_of(lines[n]) == 4);
      }
    }
    load += loads;
  }
}

TEST_CASE("cache_read: CTAs with even numbers warm every line once, and those with odd numbers do") {
  const auto warps = warps_of("cache_read", {{"ctas", "16"}, {"threads", "64"}, {"warm", "8192"}});
  std::map<std::uint64_t, unsigned> even, odd;
  for (const TextWarp& warp : warps)
    for (const TextLine& line : lines_of(warp, "LDG"))
      ++(warp.cta_x % 2 == 0 ? even : odd)[line.addresses[0]];
  REQUIRE(even.size() == 64);
  CHECK(even == odd);
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(even[0x7fa000000000 + i * 128] == 1);
}

TEST_CASE("l2_read: as many CTAs as pieces read the array once; the first of a counted kernel read less") {
  const Options options{{"pieces", "3"}, {"rows", "4"},  {"resident", "2"},
                        {"warm", "3"},   {"first", "5"}, {"second", "1"}};
  std::map<std::uint64_t, unsigned> warmed;
  for (const std::uint64_t address : addresses_of(warps_of("l2_read", options, 1), "LDG")) ++warmed[address];
  REQUIRE(warmed.size() == 3 * 4 * 16384 / 8);
  for (const auto& [address, count] : warmed) CHECK(count == 1);
  CHECK(warmed.begin()->first == 0x7fa000000000);
  CHECK(warmed.rbegin()->first == 0x7fa000000000 + 3 * 4 * 16384 - 8);
  // Two CTAs at a time: the first reads the last row, the second the last three, the others all four.
  std::map<std::uint64_t, std::set<std::uint64_t>> rows;
  for (const TextWarp& warp : warps_of("l2_read", options, 2))
    for (const std::uint64_t address : addresses_of({warp}, "LDG"))
      rows[warp.cta_x].insert((address - 0x7fa000000000) / 16384);
  // The row r of piece p is at r * pieces + p; three CTAs have gone before.
  CHECK(rows[0] == std::set<std::uint64_t>{9});
  CHECK(rows[1] == std::set<std::uint64_t>{4, 7, 10});
  CHECK(rows[2] == std::set<std::uint64_t>{2, 5, 8, 11});
  CHECK(rows[3] == std::set<std::uint64_t>{0, 3, 6, 9});
}

TEST_CASE("stream: each kernel's arrays and stencils") {
  struct Shape {
    std::string name;
    std::vector<std::int64_t> loads;  // bytes from the thread's own element of the first array that is read
    bool stores;
  };
  const std::int64_t second = 0x100000000;
  const std::vector<Shape> shapes = {{"init", {}, true},        {"read", {0}, false},
                                     {"scale", {0}, true},      {"triad", {0, second}, true},
                                     {"3pt", {-8, 0, 8}, true}, {"5pt", {-16, -8, 0, 8, 16}, true}};
  for (const Shape& shape : shapes) {
    INFO(shape.name);
    const auto warps = warps_of("stream", {{"kernel", shape.name},
                                           {"threads", "64"},
                                           {"most", "64"},
                                           {"resident", "3"},
                                           {"waves", "2"},
                                           {"bytes", "1"}});
    REQUIRE(warps.size() == 6 * 2);
    for (const TextWarp& warp : warps) {
      const std::uint64_t own = 0x7fa000000000 + 16 + (warp.cta_x * 64 + warp.warp * 32) * 8;
      const auto loads = lines_of(warp, "LDG"), stores = lines_of(warp, "STG");
      REQUIRE(loads.size() == shape.loads.size());
      for (std::size_t i = 0; i < loads.size(); ++i)
        CHECK(loads[i].addresses[0] == own + 0x100000000 + static_cast<std::uint64_t>(shape.loads[i]));
      REQUIRE(stores.size() == (shape.stores ? 1 : 0));
      if (shape.stores) CHECK(stores[0].addresses[0] == own);
      CHECK(lines_of(warp, "DFMA").size() == shape.loads.size());
    }
  }
}

TEST_CASE("stream: CTAs of each kernel, and no element is touched twice") {
  // 100000 bytes are 196 CTAs of 64 threads and 98 of 128, in multiples of 5; the fill moves three arrays.
  const Options options{{"threads", "64"}, {"most", "128"},     {"step", "64"},   {"resident", "5"},
                        {"waves", "2"},    {"bytes", "100000"}, {"fill", "49152"}};
  TemporaryFolder folder;
  synthesize("stream", options, folder / "t");
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{
      {2, 1024}, {200, 64}, {600, 64}, {100, 128}, {300, 128}};
  std::uint64_t elements = 0;
  std::set<std::uint64_t> written;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const auto warps = read_warps(folder / fmt::format("t/kernel-{}.traceg", k + 1));
    CHECK(warps.size() == expected[k].first * expected[k].second / 32);
    elements += expected[k].first * expected[k].second;
    written.merge(set_of(addresses_of(warps, "STG")));
  }
  CHECK(written.size() == elements);
  CHECK(*written.rbegin() - *written.begin() == (elements - 1) * 8);
}

TEST_CASE("stream: options that leave no kernel or no CTA, or more than the arrays hold, are refused") {
  const auto complaint = [](const Options& options) -> std::string {
    TemporaryFolder folder;
    try {
      synthesize("stream", options, folder / "t");
    } catch (const std::exception& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK(complaint({{"threads", "256"}, {"most", "128"}}) ==
        "synth stream: most: found 128, expected at least threads, 256");
  CHECK(
      complaint({{"waves", "65536"}, {"resident", "65536"}}) ==
      "synth stream: the kernels touch more than 4 GiB of an array, expected less of fill, waves, resident, "
      "bytes, or a larger step");
  CHECK(complaint({{"bytes", "4294967296"}}).find("more than 4 GiB") != std::string::npos);
  // Less than an element of each array is one CTA.
  CHECK(warps_of("stream", {{"fill", "1"}, {"resident", "1"}, {"waves", "1"}, {"bytes", "1"}}).size() == 32);
}
