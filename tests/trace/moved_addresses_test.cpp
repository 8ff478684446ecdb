// Which memory an access is of, and how a CTA's global memory moves to a device's region.
#include "trace/moved_addresses.hpp"

#include <catch2/catch.hpp>

#include "trace/address_windows.hpp"
#include "trace/temporary_file.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

constexpr Address kShared = 0x7f00'0000'0000, kLocal = 0x7f10'0000'0000;

KernelHeader windows(bool ranks = false) {
  KernelHeader header;
  header.shared_base = kShared;
  header.local_base = kLocal;
  header.shared_ranks = ranks;
  return header;
}

StaticInst of_space(MemSpace space) {
  StaticInst inst{};
  inst.space = space;
  return inst;
}

}  // namespace

TEST_CASE("address windows: 16 MiB each, from their bases; no base, no window") {
  const KernelHeader header = windows();
  CHECK_FALSE(in_shared_window(kShared - 1, header));
  CHECK(in_shared_window(kShared, header));
  CHECK(in_shared_window(kShared + (1 << 24) - 1, header));
  CHECK_FALSE(in_shared_window(kShared + (1 << 24), header));
  CHECK(in_local_window(kLocal + (1 << 24) - 1, header));
  CHECK_FALSE(in_local_window(kLocal + (1 << 24), header));
  CHECK_FALSE(in_local_window(kLocal - 1, header));
  const KernelHeader none;
  for (const Address a : {Address{0}, Address{5}, kShared, kLocal})
    CHECK((!in_shared_window(a, none) && !in_local_window(a, none)));
}

TEST_CASE("address windows: shared memory of a cluster has a window for each of 16 CTAs and the own one") {
  const KernelHeader header = windows(true);
  CHECK(in_shared_window(kShared + 17 * (Address{1} << 24) - 1, header));
  CHECK_FALSE(in_shared_window(kShared + 17 * (Address{1} << 24), header));
}

TEST_CASE("generic accesses are global outside the windows; others are what their instruction says") {
  const KernelHeader header = windows();
  for (const Address a : {Address{0x1000}, kShared, kLocal}) {
    CHECK(is_global(of_space(MemSpace::kGlobal), a, header));
    CHECK(is_global(of_space(MemSpace::kTexture), a, header));
    CHECK_FALSE(is_global(of_space(MemSpace::kShared), a, header));
    CHECK_FALSE(is_global(of_space(MemSpace::kLocal), a, header));
    CHECK_FALSE(is_global(of_space(MemSpace::kConstant), a, header));
    CHECK(is_global(of_space(MemSpace::kGeneric), a, header) == (a == 0x1000));
  }
}

TEST_CASE("regions: 2^44 bytes each above 2^48, which keep an address's low bits and never meet") {
  CHECK(device_region(0) == Address{1} << 48);
  for (std::uint16_t device = 0; device < 64; ++device) {
    const Address region = device_region(device);
    for (const Address a : {Address{0}, Address{0x7f12'3456'789a}, kRegionBytes - 1, kRegionBytes + 3}) {
      const Address to = moved(a, region);
      CHECK(to >= region);
      CHECK(to < device_region(static_cast<std::uint16_t>(device + 1)));
      CHECK(to % kRegionBytes == a % kRegionBytes);
    }
  }
  CHECK(device_region(16) == Address{1} << 49);
}

TEST_CASE("a CTA's global addresses move in every form, its strides and offsets do not") {
  StaticTable table;
  const auto add = [&](MemSpace space) { return table.push(of_space(space)); };
  const std::uint32_t global = add(MemSpace::kGlobal), shared = add(MemSpace::kShared),
                      generic = add(MemSpace::kGeneric), constant = add(MemSpace::kConstant),
                      none = add(MemSpace::kNone);
  CtaTrace cta;
  const auto record = [&](std::uint32_t inst, AddressForm form, std::uint32_t mask,
                          std::vector<std::uint64_t> words) {
    REQUIRE(address_words(form, mask) == words.size());
    cta.records.push_back(Record::make(inst, form, mask));
    cta.words.insert(cta.words.end(), words.begin(), words.end());
  };
  const auto warp = [&](std::uint32_t first_record, std::uint32_t first_word) {
    WarpSpan span{};
    span.first_record = first_record;
    span.record_count = static_cast<std::uint32_t>(cta.records.size()) - first_record;
    span.first_word = first_word;
    cta.warps.push_back(span);
  };
  record(none, AddressForm::kNone, 0xf, {});
  record(global, AddressForm::kAffine, 0xf, {0x1000, 4});
  record(shared, AddressForm::kAffine, 0xf, {0x40, 8});
  record(global, AddressForm::kList, 0x7, {0x10, 0x2000, 0x77777});
  warp(0, 0);
  record(generic, AddressForm::kDelta, 0xf, {0x5000, 0x0000000400000008, 12});
  record(generic, AddressForm::kAffine, 0x1, {kShared + 16, 4});
  record(constant, AddressForm::kAffine, 0x1, {0x300, 0});
  warp(4, 7);
  move_addresses(cta, table, windows(), device_region(2));
  const Address r = device_region(2);
  CHECK(cta.words == std::vector<std::uint64_t>{r + 0x1000, 4, 0x40, 8, r + 0x10, r + 0x2000, r + 0x77777,
                                                r + 0x5000, 0x0000000400000008, 12, kShared + 16, 4,
                                                r + 0x300, 0});
}

TEST_CASE("a temporary file gives what was appended, from any place, and nothing behind its end") {
  TemporaryFile file;
  CHECK(file.size() == 0);
  std::string text;
  for (unsigned i = 0; i < 1000; ++i) {
    const std::string piece = std::to_string(i) + ",";
    file.append(piece.data(), piece.size());
    text += piece;
  }
  CHECK(file.size() == text.size());
  std::string part(37, ' ');
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1234}, text.size() - 37}) {
    file.read_at(at, part.data(), part.size());
    CHECK(part == text.substr(at, 37));
  }
  file.append("x", 1);  // reading moves nothing
  file.read_at(text.size(), part.data(), 1);
  CHECK(part[0] == 'x');
  CHECK_THROWS_WITH(file.read_at(text.size(), part.data(), 2),
                    Catch::Contains("cannot read a temporary file in "));
}

}  // namespace lockstep::trace
