// Helpers of the tests of compact traces.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "reader_generator.hpp"
#include "trace/compact_feed.hpp"

namespace lockstep::trace::test {

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

/// Everything about a kernel that anyone may look at, in an order of its own.
struct Warps {
  std::uint64_t cta = 0;
  Dim3 id{0, 0, 0};
  std::vector<std::tuple<std::uint32_t, LaneMask>> records;  // with the form
  std::vector<std::uint64_t> words;
  std::vector<std::uint32_t> counts;  // records of each warp
  bool operator==(const Warps&) const = default;
};

inline Warps warps_of(const CtaTrace& cta) {
  Warps out{cta.index, cta.id, {}, {}, {}};
  for (const WarpSpan& span : cta.warps) {
    out.counts.push_back(span.record_count);
    std::uint32_t word = span.first_word;
    for (std::uint32_t i = 0; i < span.record_count; ++i) {
      const Record& record = cta.records[span.first_record + i];
      out.records.emplace_back(record.inst_and_form, record.mask);
      for (unsigned n = address_words(record.form(), record.mask); n > 0; --n)
        out.words.push_back(cta.words[word++]);
    }
  }
  return out;
}

inline bool same_registers(const auto& a, const auto& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline bool same_instruction(const StaticInst& a, const StaticInst& b) {
  const auto fields = [](const StaticInst& s) {
    return std::tuple(s.pc, s.bytes, s.mnemonic, s.op_class, s.space, s.access_bytes, s.has_addresses,
                      s.bypass_l1, s.l2_policy, s.known, s.may_branch, s.barrier, s.barrier_id, s.fence,
                      s.bulk, s.tensor_type, s.tensor_sparse, s.macs, s.immediate);
  };
  return fields(a) == fields(b) && same_registers(a.destinations, b.destinations) &&
         same_registers(a.sources, b.sources);
}

inline void require_same_header(const KernelHeader& a, const KernelHeader& b) {
  const auto fields = [](const KernelHeader& h) {
    return std::tuple(h.name, h.id, h.shared_bytes, h.registers, h.binary_version, h.stream, h.shared_base,
                      h.local_base, h.tracer_version, h.line_info, h.nvbit_version, h.l2.bytes, h.l2.base,
                      h.l2.ratio, h.l2.hit, h.l2.miss, h.l2.set_aside, h.l2.resets);
  };
  REQUIRE(fields(a) == fields(b));
  REQUIRE(a.grid == b.grid);
  REQUIRE(a.block == b.block);
}

/// Reads both to their ends, in different steps.
inline void require_same_kernel(CtaFeed& a, CtaFeed& b) {
  require_same_header(a.header(), b.header());
  const std::uint64_t total = a.header().grid.count();
  for (std::uint64_t i = 0; i < total; ++i) {
    if (i % 5 == 0) a.decode_now(std::min(total, i + 5));
    if (i % 3 == 0) b.decode_now(std::min(total, i + 3));
    CtaTrace* const x = a.take(i);
    CtaTrace* const y = b.take(i);
    INFO("CTA " << i);
    REQUIRE((warps_of(*x) == warps_of(*y)));
    a.release(x);
    b.release(y);
  }
  REQUIRE(a.instructions().size() == b.instructions().size());
  for (std::uint32_t i = 0; i < a.instructions().size(); ++i) {
    INFO("instruction " << i);
    REQUIRE(same_instruction(a.instructions()[i], b.instructions()[i]));
    REQUIRE(a.traced(i).text == b.traced(i).text);
    REQUIRE(a.traced(i).immediate == b.traced(i).immediate);
    REQUIRE(a.traced(i).source_line == b.traced(i).source_line);
    REQUIRE(a.traced(i).source_file == b.traced(i).source_file);
  }
  REQUIRE(a.notes().unknown_opcodes == b.notes().unknown_opcodes);
  REQUIRE(a.notes().remarks == b.notes().remarks);
}

inline void require_same_trace(const TraceSet& a, const TraceSet& b) {
  REQUIRE(a.name() == b.name());
  REQUIRE(a.content_hash() == b.content_hash());
  REQUIRE(a.kernels().size() == b.kernels().size());
  REQUIRE(a.commands().size() == b.commands().size());
  for (std::size_t i = 0; i < a.commands().size(); ++i) {
    const Command &x = a.commands()[i], &y = b.commands()[i];
    REQUIRE(std::tuple(x.kind, x.address, x.bytes, x.kernel, x.stream, x.event) ==
            std::tuple(y.kind, y.address, y.bytes, y.kernel, y.stream, y.event));
  }
  for (std::uint32_t k = 0; k < a.kernels().size(); ++k) {
    INFO("kernel " << k);
    require_same_header(a.kernels()[k], b.kernels()[k]);
    require_same_kernel(*a.open(k), *b.open(k));
  }
}

/// The message of the InputError that reading all of `path` ends with; empty when it succeeds.
inline std::string compact_error(const std::string& path) {
  try {
    const auto set = open_compact(path, {});
    for (std::uint32_t k = 0; k < set->kernels().size(); ++k) (void)read_all(*set->open(k), 64);
  } catch (const InputError& error) {
    REQUIRE(error.file() == path);
    return error.what();
  }
  return {};
}

}  // namespace lockstep::trace::test
