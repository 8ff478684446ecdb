// Where the names of a kernel lie, and where a program's variables lie and what they hold before a launch.
#include "exec/layout.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/exec/support.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

struct Extent {
  std::uint64_t at = 0, size = 0;
  std::uint32_t align = 1;
};

/// Aligned, within `end`, and none over another.
void check_apart(const std::vector<Extent>& all, std::uint64_t end) {
  for (const Extent& a : all) {
    CHECK(a.at % a.align == 0);
    CHECK(a.at + a.size <= end);
    for (const Extent& b : all)
      if (&a != &b) CHECK((a.at + a.size <= b.at || b.at + b.size <= a.at));
  }
}

ptx::Program linked(const std::string& text) {
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse(std::string(kHeader) + text, "layout.ptx"));
  return ptx::link(std::move(modules));
}

struct LaidOut {
  explicit LaidOut(const std::string& text) : program(linked(text)) {
    layout = lay_out(program, program.find_function("k").value(), translation);
  }
  /// Names of the functions that the kernel reaches.
  [[nodiscard]] std::string reached() const {
    std::string names;
    for (const std::uint32_t id : layout.ids)
      names += (names.empty() ? "" : " ") + program.functions[id].name;
    return names;
  }
  ptx::Program program;
  Translation translation;
  KernelLayout layout;
};

template <class T>
std::vector<T> values_at(Address at, std::size_t count) {
  std::vector<T> values(count);
  if (count != 0) std::memcpy(values.data(), reinterpret_cast<const void*>(at), count * sizeof(T));
  return values;
}

}  // namespace

TEST_CASE(
    "layout: random shared and local variables are aligned and apart; what is not named takes no room") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
    std::string module, body;
    std::vector<bool> named;
    for (unsigned n = 0, count = below(6); n < count; ++n) {
      module += fmt::format(".shared .align {} .b8 m{}[{}];\n", 1u << below(8), n, 1 + below(300));
      named.push_back(below(3) != 0);
      if (named.back()) body += fmt::format("mov.u32 %r1, m{};\n", n);
    }
    module += ".extern .shared .align 64 .b8 dynamic[];\n";
    for (unsigned n = 0, count = below(6); n < count; ++n)
      body += fmt::format(".{} .align {} .b8 v{}[{}];\n", below(2) == 0 ? "shared" : "local", 1u << below(7),
                          n, 1 + below(200));
    CAPTURE(seed, module, body);
    const LaidOut k(module + ".entry k() {\n.reg .b32 %r<3>;\n" + body + "mov.u32 %r2, dynamic;\nret;\n}\n");
    std::vector<Extent> shared, local;
    const auto add = [&](const ptx::Variable& v, std::uint32_t at) {
      (v.space == ptx::Space::kShared ? shared : local).push_back({at, v.size, v.align});
    };
    const ptx::Function& f = k.program.functions[k.layout.ids[0]];
    for (std::size_t i = 0; i < f.variables.size(); ++i)
      add(f.variables[i], k.layout.functions[0].variables[i]);
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < k.program.variables.size(); ++i) {
      const ptx::Variable& v = k.program.variables[i];
      if (v.is_dynamic_shared()) {
        CHECK(k.layout.variables[i] == k.translation.dynamic_shared);
      } else if (named.at(std::stoul(v.name.substr(1)))) {
        add(v, k.layout.variables[i]);
      } else {
        CHECK(k.layout.variables[i] == ~0u);
      }
    }
    for (const Extent& e : shared) most += e.size + e.align - 1;
    check_apart(shared, k.translation.shared_bytes);
    check_apart(local, k.translation.functions[0].frame_bytes);
    CHECK(k.translation.shared_bytes <= most);
    CHECK(k.translation.dynamic_shared >= k.translation.shared_bytes);
    CHECK(k.translation.dynamic_shared < k.translation.shared_bytes + 64);
    CHECK(k.translation.dynamic_shared % 64 == 0);
    CHECK(k.translation.functions[0].frame_bytes % 16 == 0);
  }
}

TEST_CASE("layout: a kernel has what it calls, and all that has an address where it calls by address") {
  const std::string functions =
      ".func deep() { ret; }\n.func a() { call deep; ret; }\n.func b() { ret; }\n.entry other() { ret; }\n";
  CHECK(LaidOut(functions + ".entry k() { ret; }").reached() == "k");
  CHECK(LaidOut(functions + ".entry k() { call a; call a; ret; }").reached() == "k a deep");
  CHECK(LaidOut(functions + ".entry k() { call b; call a; ret; }").reached() == "k b a deep");
  const std::string indirect =
      ".entry k() { .reg .b64 %d; P: .callprototype _ ();\nmov.u64 %d, b; call %d, (), P; ret; }";
  CHECK(LaidOut(functions + indirect).reached() == "k deep a b");
}

TEST_CASE("layout: registers take a row, of 128 bits two, and those that may be read first are cleared") {
  const LaidOut k(
      ".entry k() {\n.reg .b32 %a, %b; .reg .b128 %q, %u; .reg .pred %p;\nadd.s32 %a, %b, 1;\n"
      "setp.lt.s32 %p, %a, 0;\n@%p mov.b128 %q, %u;\nst.global.b128 [0], %q;\nret;\n}\n");
  const ptx::Function& f = k.program.functions[k.layout.ids[0]];
  const FunctionLayout& layout = k.layout.functions[0];
  std::set<std::uint32_t> rows, cleared;
  const auto cells = [&](std::size_t id) {
    std::set<std::uint32_t> own{layout.registers[id]};
    if (ptx::bits(f.registers[id].type) > 64) own.insert(layout.registers[id] + 1);
    return own;
  };
  std::size_t count = 0;
  for (std::size_t id = 0; id < f.registers.size(); ++id) {
    count += cells(id).size();
    rows.merge(cells(id));
    if (f.registers[id].name != "%a" && f.registers[id].name != "%p") cleared.merge(cells(id));
  }
  CHECK(count == 3 + 2 * 2);
  CHECK(rows.size() == count - 1);  // %p is written when %b is read no more, and takes its row
  CHECK(k.translation.functions[0].rows == count - 1);
  const auto& found = k.translation.functions[0].cleared;
  CHECK(std::set<std::uint32_t>(found.begin(), found.end()) == cleared);
}

TEST_CASE("layout: parameters of a kernel are where the launch puts them, those of a function in its frame") {
  const LaidOut k(
      ".func (.param .b64 r) f(.param .b32 a, .param .align 16 .b8 s[20], .reg .b32 x) {\nst.param.b64 [r], "
      "1;\n"
      "ret;\n}\n.entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[5]) {\n.param .b32 p; .param "
      ".b64 q;\n"
      ".param .align 16 .b8 s[20];\ncall (q), f, (p, s, 5);\nret;\n}\n");
  CHECK(k.layout.functions[0].parameters == std::vector<std::uint32_t>{0, 8, 16});
  CHECK(k.translation.parameter_bytes == 21);
  const FunctionCode& f = k.translation.functions[1];
  REQUIRE(f.parameters.size() == 3);
  CHECK_FALSE(f.parameters[0].in_register);
  CHECK(f.parameters[2].in_register);
  check_apart({{f.parameters[0].offset, 4, 4}, {f.parameters[1].offset, 20, 16}, {f.results[0].offset, 8, 8}},
              f.frame_bytes);
}

TEST_CASE("layout: operations of functions follow each other, and addresses of code name functions") {
  const Device device(".func a() { ret; }\n.func b() { call a; ret; }\n.entry k() { call b; exit; }\n");
  const auto k = device.kernel("k");
  REQUIRE(k->functions().size() == 3);
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const FunctionCode& f = k->functions()[i];
    CHECK(f.first == next);
    for (std::uint32_t at = f.first; at < f.first + f.size; ++at) {
      CHECK(k->function_of(at).source == f.source);
      CHECK(&k->instruction(at) == &f.source->instructions[at - f.first]);
    }
    next += f.size;
    const auto id = device.program.find_function(f.source->name).value();
    CHECK(k->function_at(code_address(id)) == i);
    CHECK(k->function_at(code_address(id) + 1) == ~0u);
  }
  CHECK(k->operations().size() == next);
  CHECK(k->function_at(0) == ~0u);
  CHECK(k->function_at(code_address(1000)) == ~0u);
  CHECK(k->slow_path_record(2) == next + 2);
  CHECK(k->await_record() == 2 * next);
}

namespace {

constexpr const char* kVariables =
    ".global .align 128 .b32 words[4] = {1, -2, 3};\n.global .b64 pointers[4] = {words, words+8, "
    "generic(late)-4, f};\n"
    ".global .b8 bytes[10] = {0xFF(words), 0xFF00(words), 0xFF0000(words), 7};\n.const .f32 c = 0f40490FDB;\n"
    ".global .attribute(.managed) .b32 managed = 5;\n.global .b16 late = 9;\n.shared .b32 s[4];\n"
    ".func f() { ret; }\n.entry k() { ret; }\n";

Address address_in(const ProgramImage& image, const char* name) {
  return image.address(image.program().find_variable(name).value());
}

}  // namespace

TEST_CASE("image: variables hold their initial values, the rest is zero") {
  Device device(kVariables);
  const auto at = [&](const char* name) { return address_in(*device.image, name); };
  CHECK(at("words") % 128 == 0);
  CHECK(values_at<std::int32_t>(at("words"), 4) == std::vector<std::int32_t>{1, -2, 3, 0});
  CHECK(values_at<std::uint32_t>(at("c"), 1)[0] == 0x40490fdb);
  CHECK(at("s") == 0);
  const auto pointers = values_at<Address>(at("pointers"), 4);
  const std::uint32_t f = device.program.find_function("f").value();
  CHECK(pointers == std::vector<Address>{at("words"), at("words") + 8, at("late") - 4, code_address(f)});
  const auto bytes = values_at<std::uint8_t>(at("bytes"), 10);
  for (unsigned n = 0; n < 3; ++n) CHECK(bytes[n] == static_cast<std::uint8_t>(at("words") >> 8 * n));
  CHECK(bytes[3] == 7);
  for (unsigned n = 4; n < 10; ++n) CHECK(bytes[n] == 0);
  CHECK(DeviceMemory::kind_of(at("managed")) == MemoryKind::kManaged);
  CHECK(DeviceMemory::kind_of(at("words")) == MemoryKind::kDevice);
}

TEST_CASE("image: initialising again undoes what was written; no two variables share a byte") {
  Device device(kVariables);
  std::vector<Extent> extents;
  for (std::uint32_t v = 0; v < device.program.variables.size(); ++v) {
    const ptx::Variable& variable = device.program.variables[v];
    if (device.image->address(v) == 0) continue;
    extents.push_back({device.image->address(v), variable.size, variable.align});
    const auto before = values_at<std::uint8_t>(device.image->address(v), variable.size);
    std::memset(reinterpret_cast<void*>(device.image->address(v)), 0xaa, variable.size);
    device.image->initialise();
    CHECK(values_at<std::uint8_t>(device.image->address(v), variable.size) == before);
  }
  CHECK(extents.size() == 6);
  check_apart(extents, ~std::uint64_t{0});
}

TEST_CASE("image: each device has its own variables but for the managed ones") {
  const ptx::Program program = linked(kVariables);
  DeviceMemory memory(std::uint64_t{1} << 24, 2);
  const ProgramImage first(program, memory), second(program, memory, 1, &first);
  CHECK(address_in(first, "managed") == address_in(second, "managed"));
  CHECK(address_in(first, "words") != address_in(second, "words"));
  CHECK(values_at<Address>(address_in(second, "pointers"), 1)[0] == address_in(second, "words"));
  CHECK(values_at<std::int32_t>(address_in(second, "words"), 3) == std::vector<std::int32_t>{1, -2, 3});
}

TEST_CASE("image: a program that does not fit says which variable, and leaves no memory taken") {
  const ptx::Program program =
      linked(".global .b8 small[1048576];\n.global .b8 large[8388608];\n.entry k() { ret; }");
  DeviceMemory memory(std::uint64_t{1} << 22);
  CHECK_THROWS_WITH(ProgramImage(program, memory),
                    "variable large of 8388608 bytes does not fit into the device's memory");
  CHECK(memory.allocate(std::uint64_t{1} << 22));
}

TEST_CASE("image: addresses that are known at the launch only cannot be initial values") {
  const ptx::Program program = linked(".shared .b32 s;\n.global .b64 p = s;\n.entry k() { ret; }");
  DeviceMemory memory(std::uint64_t{1} << 22);
  CHECK_THROWS_WITH(
      ProgramImage(program, memory),
      "layout.ptx:5: the initialiser of p needs the address of s, which has none before a launch");
}

}  // namespace lockstep::exec::test
