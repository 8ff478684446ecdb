// Matrix products of warps, from memory to memory, against the plain triple loop on small integers.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

struct Format {
  const char* name;    // of the multiplicands
  const char* result;  // of accumulator and result
  unsigned bytes, result_bytes;
  unsigned a, b, c;  // registers of a lane
  const char* reg;
  const char* result_reg;
};

/// The bits of a small integer in a format.
std::uint64_t encode(const std::string& format, int value) {
  if (format == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (format == "f32" || format == "tf32") return bits;
  if (format == "bf16") return bits >> 16;
  if (format == "f16") {
    if (value == 0) return 0;
    return (bits >> 16 & 0x8000) | ((((bits >> 23) & 255) - 112) << 10) | (bits >> 13 & 1023);
  }
  return static_cast<std::uint64_t>(value);
}

std::string list(const char* prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}{}{}", i ? ", " : "", prefix, i);
  return text + "}";
}

void multiply(const Format& f, unsigned m, unsigned n, unsigned k, bool a_columns, bool b_columns) {
  const std::string shape = fmt::format("m{}n{}k{}", m, n, k);
  const std::string la = a_columns ? "col" : "row", lb = b_columns ? "col" : "row";
  const std::string integer =
      f.name[0] == 'u' || f.name[0] == 's' ? fmt::format(".s32.{0}.{0}.s32", f.name) : "";
  const std::string types = !integer.empty()               ? integer
                            : std::string(f.name) == "f16" ? fmt::format(".{0}.{0}", f.result)
                            : std::string(f.name) == "f64" ? ".f64.f64.f64.f64"
                                                           : fmt::format(".f32.{0}.{0}.f32", f.name);
  INFO(f.name << ' ' << f.result << ' ' << shape << ' ' << la << ' ' << lb);
  Device device(fmt::format(
      R"(
.visible .entry run(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
  .reg .{reg} %a<8>, %b<8>; .reg .{res} %c<8>, %d<8>; .reg .b32 %s; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u64 %rd4, [d];
  mov.u32 %s, {sa};
  wmma.load.a.sync.aligned.{la}.{shape}.global.{type} {a}, [%rd1], %s;
  wmma.load.b.sync.aligned.{lb}.{shape}.{type} {b}, [%rd2];
  wmma.load.c.sync.aligned.row.{shape}.global.{result} {c}, [%rd3];
  wmma.mma.sync.aligned.{la}.{lb}.{shape}{types} {d}, {a}, {b}, {c};
  wmma.store.d.sync.aligned.col.{shape}.global.{result} [%rd4], {d};
  ret;
}})",
      fmt::arg("reg", f.reg), fmt::arg("res", f.result_reg), fmt::arg("la", la), fmt::arg("lb", lb),
      fmt::arg("shape", shape), fmt::arg("type", f.name), fmt::arg("result", f.result),
      fmt::arg("types", types), fmt::arg("sa", (a_columns ? m : k) + 8), fmt::arg("a", list("%a", f.a)),
      fmt::arg("b", list("%b", f.b)), fmt::arg("c", list("%c", f.c)), fmt::arg("d", list("%d", f.c))));
  const auto a = [](unsigned i, unsigned j) { return static_cast<int>((i * 5 + j * 3) % 7); };
  const auto b = [](unsigned i, unsigned j) { return static_cast<int>((i * 2 + j * 7) % 5); };
  const auto c = [](unsigned i, unsigned j) { return static_cast<int>((i + 3 * j) % 11); };
  const auto fill = [&](unsigned rows, unsigned columns, bool by_columns, unsigned pad, unsigned bytes,
                        const char* format, auto value) {
    const unsigned stride = (by_columns ? rows : columns) + pad;
    std::vector<std::uint8_t> image((by_columns ? columns : rows) * stride * bytes);
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < columns; ++j) {
        const std::uint64_t bits = encode(format, value(i, j));
        std::memcpy(image.data() + (by_columns ? j * stride + i : i * stride + j) * bytes, &bits, bytes);
      }
    return device.array(image);
  };
  const Address da = fill(m, k, a_columns, 8, f.bytes, f.name, a),
                db = fill(k, n, b_columns, 0, f.bytes, f.name, b);
  const Address dc = fill(m, n, false, 0, f.result_bytes, f.result, c);
  const Address dd = device.zeros<std::uint8_t>(m * n * f.result_bytes);
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(da, db, dc, dd));
  const auto got = device.read<std::uint8_t>(dd, m * n * f.result_bytes);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      int sum = c(i, j);
      for (unsigned x = 0; x < k; ++x) sum += a(i, x) * b(x, j);
      std::uint64_t bits = 0;
      std::memcpy(&bits, got.data() + (j * m + i) * f.result_bytes, f.result_bytes);
      REQUIRE(bits == encode(f.result, sum));
    }
}

TEST_CASE("wmma in every shape and layout") {
  for (const bool a_columns : {false, true})
    for (const bool b_columns : {false, true}) {
      const Format half{"f16", "f32", 2, 4, 8, 8, 8, "b32", "f32"},
          all_half{"f16", "f16", 2, 2, 8, 8, 4, "b32", "b32"};
      multiply(half, 16, 16, 16, a_columns, b_columns);
      multiply(half, 8, 32, 16, a_columns, b_columns);
      multiply(half, 32, 8, 16, a_columns, b_columns);
      multiply(all_half, 16, 16, 16, a_columns, b_columns);
      multiply({"u8", "s32", 1, 4, 2, 2, 8, "b32", "b32"}, 16, 16, 16, a_columns, b_columns);
      multiply({"s8", "s32", 1, 4, 1, 4, 8, "b32", "b32"}, 8, 32, 16, a_columns, b_columns);
      multiply({"bf16", "f32", 2, 4, 4, 4, 8, "b32", "f32"}, 16, 16, 16, a_columns, b_columns);
      multiply({"tf32", "f32", 4, 4, 4, 4, 8, "b32", "f32"}, 16, 16, 8, a_columns, b_columns);
      multiply({"f64", "f64", 8, 8, 1, 1, 2, "f64", "f64"}, 8, 8, 4, a_columns, b_columns);
    }
}

}  // namespace
}  // namespace lockstep::exec::test
