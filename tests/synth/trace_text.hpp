// A reader of the tracer's text (version 5), written from the format line of the files and not from the trace
// reader's code.
#pragma once

#include <bit>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support.hpp"
#include "synth/synth.hpp"
#include "util/types.hpp"

namespace lockstep::synth {

struct TextLine {
  std::uint64_t pc = 0;
  std::uint32_t mask = 0;
  std::vector<int> to, from;
  std::string opcode;
  unsigned width = 0;
  std::vector<std::uint64_t> addresses;  // one for each active lane
  std::int64_t immediate = 0;
};

struct TextWarp {
  std::uint64_t cta_x = 0, cta_y = 0, warp = 0, announced = 0;  // announced: the count of its "insts" line
  std::vector<TextLine> lines;
};

inline std::vector<int> read_registers(std::istringstream& in) {
  std::size_t count = 0;
  REQUIRE(in >> count);
  std::vector<int> registers;
  for (std::string word; registers.size() < count;) {
    REQUIRE(in >> word);
    REQUIRE(word.front() == 'R');
    registers.push_back(std::stoi(word.substr(1)));
  }
  return registers;
}

/// Form 0: one address per active lane; 1: the first and a stride; 2: the first and differences.
inline std::vector<std::uint64_t> read_addresses(std::istringstream& in, std::size_t lanes) {
  int form = 0;
  REQUIRE(in >> form);
  std::vector<std::uint64_t> addresses;
  std::string hex;
  if (form == 0) {
    for (; addresses.size() < lanes; addresses.push_back(std::stoull(hex, nullptr, 16))) REQUIRE(in >> hex);
    return addresses;
  }
  REQUIRE(in >> hex);
  std::uint64_t at = std::stoull(hex, nullptr, 16);
  std::int64_t step = 0;
  if (form == 1) REQUIRE(in >> step);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (form == 2 && lane > 0) REQUIRE(in >> step);
    if (lane > 0) at += static_cast<std::uint64_t>(step);
    addresses.push_back(at);
  }
  return addresses;
}

inline TextLine read_line(const std::string& text) {
  std::istringstream in(text);
  TextLine line;
  REQUIRE(in >> std::hex >> line.pc >> line.mask >> std::dec);
  line.to = read_registers(in);
  REQUIRE(in >> line.opcode);
  line.from = read_registers(in);
  REQUIRE(in >> line.width);
  if (line.width != 0)
    line.addresses = read_addresses(in, static_cast<std::size_t>(std::popcount(line.mask)));
  REQUIRE(in >> line.immediate);
  std::string more;
  REQUIRE_FALSE(in >> more);
  return line;
}

inline std::vector<TextWarp> read_warps(const std::string& path) {
  std::istringstream in(text_of(path));
  std::vector<TextWarp> warps;
  TextWarp place;
  for (std::string text; std::getline(in, text);) {
    const auto number = [&] { return std::stoull(text.substr(text.find('=') + 1)); };
    if (text.starts_with("thread block = ")) {
      place.cta_x = number();
      place.cta_y = std::stoull(text.substr(text.find(',') + 1));
    } else if (text.starts_with("warp = ")) {
      warps.push_back(place);
      warps.back().warp = number();
    } else if (text.starts_with("insts = ")) {
      warps.back().announced = number();
    } else if (!text.empty() && text[0] != '-' && text[0] != '#') {
      warps.back().lines.push_back(read_line(text));
    }
  }
  for (const TextWarp& warp : warps) CHECK(warp.lines.size() == warp.announced);
  return warps;
}

/// A kernel's warps: the trace is written to a temporary folder.
inline std::vector<TextWarp> warps_of(const std::string& kind, const Options& options, unsigned kernel = 1) {
  TemporaryFolder folder;
  synthesize(kind, options, folder / "t");
  return read_warps(folder / fmt::format("t/kernel-{}.traceg", kernel));
}

/// The executed lines (with active lanes) whose opcode begins with `opcode`.
inline std::vector<TextLine> lines_of(const TextWarp& warp, const std::string& opcode) {
  std::vector<TextLine> lines;
  for (const TextLine& line : warp.lines)
    if (line.mask != 0 && line.opcode.starts_with(opcode)) lines.push_back(line);
  return lines;
}

/// The different 32-byte sectors that an access touches.
inline std::size_t sectors_of(const TextLine& line) {
  std::set<std::uint64_t> sectors;
  for (const std::uint64_t address : line.addresses)
    for (std::uint64_t s = address / 32; s <= (address + line.width - 1) / 32; ++s) sectors.insert(s);
  return sectors.size();
}

}  // namespace lockstep::synth
