// Helpers of the reader tests: traces as text, temporary folders, and a second, naive parser to compare with.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "paths.hpp"
#include "tests/temporary_folder.hpp"
#include "trace/byte_source.hpp"
#include "trace/kernel_trace.hpp"
#include "trace/text_feed.hpp"
#include "util/error.hpp"

namespace lockstep::trace::test {

using lockstep::test::TemporaryFolder;

struct HeaderText {
  std::string grid = "(1,1,1)", block = "(32,1,1)", binary = "70", tracer = "5", more;
  bool line_info = false;
  std::string format = "#traces format = PC mask ... mem_width [adrrescompress?] [mem_addresses] immediate\n";
  [[nodiscard]] std::string text() const {
    return "-kernel name = k\n-kernel id = 1\n-grid dim = " + grid + "\n-block dim = " + block +
           "\n-shmem = 16\n-nregs = 12\n-binary version = " + binary +
           "\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n-accelsim tracer version = " +
           tracer + "\n-enable lineinfo = " + (line_info ? "1" : "0") + "\n" + more + "\n" + format + "\n";
  }
};

inline std::string warp_text(unsigned warp, const std::vector<std::string>& lines) {
  std::string text = "\nwarp = " + std::to_string(warp) + "\ninsts = " + std::to_string(lines.size()) + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}
inline std::string block_text(const std::string& id, const std::string& warps) {
  return "\n#BEGIN_TB\n\nthread block = " + id + "\n" + warps + "\n#END_TB\n";
}
/// One CTA, one warp.
inline std::string small_trace(const std::vector<std::string>& lines, const HeaderText& header = {}) {
  return header.text() + block_text("0,0,0", warp_text(0, lines));
}

inline std::unique_ptr<CtaFeed> feed_of(const std::string& text, const FeedOptions& options = {}) {
  return open_kernel_text(open_memory(text), "k.traceg", options);
}

/// A dynamic instruction, as both parsers see it.
struct Seen {
  std::uint64_t cta = 0, warp = 0, pc = 0;
  LaneMask mask = 0;
  std::string mnemonic;
  std::map<int, Address> addresses;  // by lane
  bool operator==(const Seen&) const = default;
};

inline void append_seen(const CtaTrace& cta, const StaticTable& table, std::vector<Seen>& out) {
  for (std::size_t w = 0; w < cta.warps.size(); ++w) {
    std::uint32_t word = cta.warps[w].first_word;
    for (std::uint32_t i = 0; i < cta.warps[w].record_count; ++i) {
      const Record& record = cta.records[cta.warps[w].first_record + i];
      const StaticInst& inst = table[record.inst()];
      Seen seen{cta.index, w, inst.pc, record.mask, inst.mnemonic.data(), {}};
      if (record.form() != AddressForm::kNone) {
        std::array<Address, kWarpSize> lanes{};
        expand_addresses(record.form(), record.mask, cta.words.data() + word, lanes.data());
        for (int lane = 0; lane < 32; ++lane) {
          if (record.mask >> lane & 1) seen.addresses[lane] = lanes[static_cast<std::size_t>(lane)];
        }
      }
      word += address_words(record.form(), record.mask);
      out.push_back(std::move(seen));
    }
  }
}

/// Every instruction of the kernel, reading `step` CTAs at a time.
inline std::vector<Seen> read_all(CtaFeed& feed, std::uint64_t step = 1) {
  std::vector<Seen> out;
  const std::uint64_t total = feed.header().grid.count();
  for (std::uint64_t next = 0; next < total;) {
    const std::uint64_t end = std::min(total, next + step);
    feed.decode_now(end);
    for (; next < end; ++next) {
      CtaTrace* cta = feed.take(next);
      REQUIRE(cta->index == next);
      append_seen(*cta, feed.instructions(), out);
      feed.release(cta);
    }
  }
  return out;
}
inline std::vector<Seen> read_text(const std::string& text) { return read_all(*feed_of(text)); }

/// The message of the InputError that reading `text` ends with; empty when it succeeds.
inline std::string error_of(const std::string& text, const FeedOptions& options = {}) {
  try {
    const auto feed = feed_of(text, options);
    read_all(*feed);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// A second implementation with streams and strings: processed traces of tracers 3 to 5 without line info.
inline std::vector<Seen> naive_parse(std::istream& in) {
  std::vector<Seen> out;
  std::string line, word;
  std::uint64_t cta = 0, warp = 0, left = 0;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    if (line.starts_with("#END_TB")) ++cta;
    if (line.starts_with("warp = ")) warp = std::stoull(line.substr(7));
    if (line.starts_with("insts = ")) {
      left = std::stoull(line.substr(8));
    } else if (left > 0 && !line.empty()) {
      --left;
      Seen seen{cta, warp, 0, 0, {}, {}};
      unsigned count = 0, width = 0;
      words >> std::hex >> seen.pc >> seen.mask >> std::dec >> count;
      for (; count > 0; --count) words >> word;
      words >> seen.mnemonic >> count;
      seen.mnemonic = seen.mnemonic.substr(0, std::min<std::size_t>(15, seen.mnemonic.find('.')));
      for (; count > 0; --count) words >> word;
      words >> width;
      if (width > 0) {
        int mode = 0;
        words >> mode;
        Address base = 0;
        long long step = 0;
        int first = -1;
        for (int lane = 0; lane < 32; ++lane) {
          if ((seen.mask >> lane & 1) == 0) continue;
          if (mode == 0 || first < 0) {
            words >> word;
            base = std::stoull(word, nullptr, 16);
            if (mode == 1) words >> step;
          } else if (mode == 2) {
            words >> step;
            base += static_cast<Address>(step);
          }
          if (first < 0) first = lane;
          seen.addresses[lane] = mode == 1 ? base + static_cast<Address>(step * (lane - first)) : base;
        }
      }
      out.push_back(seen);
    }
  }
  return out;
}

inline std::filesystem::path shared_traces() {
  return std::filesystem::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared" / "traces";
}

}  // namespace lockstep::trace::test
