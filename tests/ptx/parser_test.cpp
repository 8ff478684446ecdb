// What the text says is what the intermediate form holds.
#include "ptx/parser.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <string>

#include "ptx/pragmas.hpp"
#include "ptx/printer.hpp"
#include "ptx/source_lines.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

std::uint64_t unsigned_value(const std::string& text) { return immediate(text).bits; }
Variable variable(const std::string& text) { return parse(module_text(text), "test.ptx").variables.back(); }

}  // namespace

TEST_CASE("ptx parser: a pragma of the body stays before its instruction, also when printed") {
  const Module m = parse(module_text(R"(
    .visible .entry k() {
    .reg .b32 %r<3>;
    .reg .pred %p;
    mov.u32 %r1, 4;
    A: .pragma "nounroll";
    add.s32 %r1, %r1, -1;
    setp.ne.s32 %p, %r1, 0;
    @%p bra A;
    mov.u32 %r2, 4;
    B: add.s32 %r2, %r2, -1;
    setp.ne.s32 %p, %r2, 0;
    @%p bra B;
    C: .pragma "nounroll", "other";
    @%p bra C;
    ret;
    })"),
                         "test.ptx");
  for (const Module& module : {m, parse(print(m), "printed")}) {
    const Function& k = module.functions.back();
    CHECK(k.directives.pragmas.empty());
    for (std::uint32_t at = 0; at < k.instructions.size(); ++at) {
      CAPTURE(at);
      CHECK(has_pragma(k, at, "nounroll") == (at == 1 || at == 8));
      CHECK(has_pragma(k, at, "other") == (at == 8));
    }
  }
}

TEST_CASE("ptx parser: literals") {
  CHECK(unsigned_value("0x1F") == 31);
  CHECK(unsigned_value("017") == 15);
  CHECK(unsigned_value("0b1101") == 13);
  CHECK(unsigned_value("0") == 0);
  CHECK(unsigned_value("4294967296") == 4294967296);
  CHECK(unsigned_value("0xFFFFFFFFFFFFFFFF") == ~std::uint64_t{0});
  CHECK(immediate("0xFFFFFFFFFFFFFFFF").literal == Literal::kUnsigned);
  CHECK(immediate("5").literal == Literal::kSigned);
  CHECK(immediate("5U").literal == Literal::kUnsigned);
  CHECK(unsigned_value("-1") == ~std::uint64_t{0});
  CHECK(unsigned_value("0f3F800000") == 0x3f800000);
  CHECK(immediate("0f3F800000").literal == Literal::kFloat32);
  CHECK(unsigned_value("0dBFF0000000000000") == std::bit_cast<std::uint64_t>(-1.0));
  CHECK(unsigned_value("1.5") == std::bit_cast<std::uint64_t>(1.5));
  CHECK(unsigned_value(".25") == std::bit_cast<std::uint64_t>(.25));
  CHECK(unsigned_value("-2.5e-3") == std::bit_cast<std::uint64_t>(-2.5e-3));
  CHECK(unsigned_value("1e3") == std::bit_cast<std::uint64_t>(1000.0));
  CHECK(unsigned_value("WARP_SZ") == 32);
}

TEST_CASE("ptx parser: values of literals by type") {
  Operand half;
  half.literal = Literal::kFloat64;
  const auto f16 = [&](double v) {
    half.bits = std::bit_cast<std::uint64_t>(v);
    return immediate_bits(half, Type::kF16);
  };
  CHECK(f16(1.0) == 0x3c00);
  CHECK(f16(-2.0) == 0xc000);
  CHECK(f16(65504.0) == 0x7bff);
  CHECK(f16(65519.99) == 0x7bff);
  CHECK(f16(65520.0) == 0x7c00);
  CHECK(f16(0x1p-24) == 0x0001);
  CHECK(f16(0x1p-25) == 0x0000);  // half of the least one: to even
  CHECK(f16(0x1.8p-25) == 0x0001);
  CHECK(f16(0x1.ffcp-15) == 0x0400);  // rounds up to the least normal number
  CHECK(f16(1.0 + 0x1p-11) == 0x3c00);
  CHECK(f16(1.0 + 0x1.8p-11) == 0x3c01);
  CHECK(f16(1.0 + 0x3p-11) == 0x3c02);
  CHECK(immediate_bits(immediate("-1"), Type::kU16) == 0xffff);
  CHECK(immediate_bits(immediate("0.1"), Type::kF32) == std::bit_cast<std::uint32_t>(0.1f));
  CHECK(immediate_bits(immediate("0f3F800000"), Type::kF64) == std::bit_cast<std::uint64_t>(1.0));
  CHECK_FALSE(immediate_bits(immediate("1"), Type::kF32));
  CHECK_FALSE(immediate_bits(immediate("1.0"), Type::kS32));
}

TEST_CASE("ptx parser: operands") {
  const Instruction ld = parse_one("@!%p1 ld.shared.v2.b32 {%r1, _}, [%r2+-8];");
  REQUIRE(ld.guard);
  CHECK(ld.guard->negated);
  CHECK(ld.operands[0].elements[1].kind == OperandKind::kSink);
  CHECK(ld.operands[1].kind == OperandKind::kAddress);
  CHECK(ld.operands[1].base == AddressBase::kRegister);
  CHECK(ld.operands[1].offset == -8);
  CHECK(ld.place.line == 7);

  const Instruction mov = parse_one("mov.u32 %r1, %ctaid.z;");
  CHECK(mov.operands[1].special == Special::kCtaid);
  CHECK(mov.operands[1].index == 2);
  CHECK(parse_one("mov.u32 %r1, %envreg3;").operands[1].index == 3);
  CHECK(parse_one("ld.global.b32 %r1, [256 + 4*2];").operands[1].offset == 264);
  CHECK(parse_one("ld.param.b64 %d1, [arg+8-4];").operands[1].symbol == Symbol{SymbolKind::kParameter, 0});
  CHECK(parse_one("ld.param.b64 %d1, [arg+8-4];").operands[1].offset == 4);
  const Instruction setp = parse_one("setp.eq.and.s32 _|%p2, %r1, %r2, !%p3;");
  CHECK(setp.operands[0].kind == OperandKind::kPair);
  CHECK(setp.operands[3].negated);
  const Instruction video = parse_one("vadd.s32.u32.s32 %r1, %r2.b3, %r3.h1;");
  CHECK(video.operands[1].selector == Selector{Selector::Unit::kByte, 1, {3}});
  CHECK(video.operands[2].selector == Selector{Selector::Unit::kHalf, 1, {1}});
  const Instruction vmad = parse_one("vmad.s32.s32.s32 %r1, -%r2.b3, %r3, -1;");
  CHECK(vmad.operands[1].negated);
  CHECK(vmad.operands[1].selector == Selector{Selector::Unit::kByte, 1, {3}});
  CHECK_FALSE(vmad.operands[2].negated);
  CHECK(vmad.operands[3].kind == OperandKind::kImmediate);
  CHECK_THROWS_AS(parse_one("vmad.s32.s32.s32 %r1, -_, %r3, %r4;"), ParseError);
  CHECK_THROWS_AS(parse_one("add.s32 %r1, -%r2, %r3;"), ParseError);
  CHECK(parse_one("ld.global.nc.b32 %r1, [%d1].unified;").has(Mod::kUnified));
  const Instruction tex = parse_one("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];");
  REQUIRE(tex.operands[1].kind == OperandKind::kCoordinates);
  CHECK(tex.operands[1].elements[0].kind == OperandKind::kAddress);
  CHECK(tex.operands[1].elements[1].elements.size() == 2);
}

TEST_CASE("ptx parser: registers get dense ids in order of first use") {
  const Function f = parse_kernel("add.s32 %r7, %r99, 1; add.s32 %r7, %r7, %r0; mov.f32 %f0, 0f00000000;");
  REQUIRE(f.registers.size() == 4);
  CHECK(f.registers[0] == Register{"%r7", Type::kB32});
  CHECK(f.registers[1] == Register{"%r99", Type::kB32});
  CHECK(f.registers[3] == Register{"%f0", Type::kF32});
  CHECK(f.instructions[1].operands[2].reg == 2);
}

TEST_CASE("ptx parser: inner scopes shadow registers, variables and labels") {
  const Function f = parse_kernel(R"(
    .reg .b32 t; .shared .b32 s;
    mov.b32 t, 1; mov.b32 %r1, s; bra L;
    { .reg .b64 t; .reg .f32 %r<4>; .local .b64 s;
      mov.b64 t, s; mov.f32 %r1, 0f00000000; mov.f32 %r50, %f1;
      bra L; bra M;
      L: mov.b64 t, 3;
      { .reg .pred t; @t bra L; } }
    mov.b32 t, %r1;
    L: M: ret;)");
  CHECK(f.registers[f.instructions[0].operands[0].reg] == Register{"t", Type::kB32});
  CHECK(f.registers[f.instructions[3].operands[0].reg] == Register{"t$1", Type::kB64});
  CHECK(f.registers[f.instructions[4].operands[0].reg] == Register{"%r1$1", Type::kF32});
  CHECK(f.registers[f.instructions[5].operands[0].reg] == Register{"%r50", Type::kB32});
  CHECK(f.registers[f.instructions[8].operands[0].reg].type == Type::kB64);
  CHECK(f.registers[f.instructions[9].guard->reg] == Register{"t$2", Type::kPred});
  CHECK(f.instructions[10].operands[0].reg == f.instructions[0].operands[0].reg);
  CHECK(f.instructions[10].operands[1].reg == f.instructions[1].operands[0].reg);
  const auto target = [&f](std::size_t i) {
    return f.labels[f.instructions[i].operands[0].index].instruction;
  };
  CHECK(target(2) == 11);
  CHECK(target(6) == 8);
  CHECK(target(7) == 11);
  CHECK(target(9) == 8);
  CHECK(f.variables[f.instructions[3].operands[1].symbol.id].space == Space::kLocal);
}

TEST_CASE("ptx parser: vector registers become scalar ones") {
  const Function f = parse_kernel(
      ".reg .v4 .f32 v<3>; mov.f32 v2.w, 0f00000000; ld.global.v4.f32 v2, [%d1]; mov.f32 v1.r, v2.x;");
  CHECK(f.registers[0] == Register{"v2$w", Type::kF32});
  REQUIRE(f.instructions[1].operands[0].elements.size() == 4);
  CHECK(f.instructions[1].operands[0].elements[3].reg == 0);
  CHECK(f.registers[f.instructions[2].operands[0].reg].name == "v1$x");
  CHECK(f.instructions[2].operands[1].reg == f.instructions[1].operands[0].elements[0].reg);
}

TEST_CASE("ptx parser: a function never falls off its end") {
  CHECK(parse_kernel("").instructions.size() == 1);
  CHECK(parse_kernel("").instructions[0].op() == Opcode::kRet);
  CHECK(parse_kernel("exit;").instructions.size() == 1);
  CHECK(parse_kernel("@%p1 exit;").instructions.size() == 2);
  CHECK(parse_kernel("bra L; L:").instructions.size() == 2);
}

TEST_CASE("ptx parser: calls, prototypes and tables") {
  const Module m = parse(module_text(R"(
    .extern .func (.param .b32 r) f (.param .b64 a, .param .align 8 .b8 b[24]);
    .func (.reg .u32 out) g(.reg .u32 in) { add.u32 out, in, 1; ret; }
    .visible .entry k() .maxntid 128, 2 .minnctapersm 3 .pragma "nounroll"; {
      .reg .b64 %d<4>; .reg .b32 %r<4>; .param .b32 r0; .param .b64 a0; .param .align 8 .b8 b0[24];
      P: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
      T: .branchtargets A, B, A;
      C: .calltargets f, later;
      call.uni (r0), f, (a0, b0);
      call (r0), %d1, (a0), P;
      call (%r1), %d1, (3), C;
      call later;
      brx.idx %r1, T;
      A: ret;
      B: exit;
    }
    .func later() { ret; })"),
                         "test.ptx");
  const Function& f = m.functions[0];
  CHECK_FALSE(f.has_body);
  CHECK(f.linkage == Linkage::kExtern);
  CHECK(f.parameters[1].offset == 8);
  CHECK(f.parameters[1].size == 24);
  CHECK(f.parameters[1].align == 8);
  CHECK(m.functions[1].parameters[0].in_register);
  const Function& k = m.functions[2];
  CHECK(k.directives.maxntid == std::array<std::uint32_t, 3>{128, 2, 1});
  CHECK(k.directives.minnctapersm == 3);
  CHECK(k.directives.pragmas == std::vector<std::string>{"nounroll"});
  CHECK(k.prototypes[0].noreturn);
  CHECK(k.instructions[0].operands[0].symbol == Symbol{SymbolKind::kFunction, 0});
  CHECK(k.instructions[0].operands[1].elements[0].symbol == Symbol{SymbolKind::kLocal, 0});
  CHECK(k.instructions[0].operands[2].elements.size() == 2);
  CHECK(k.instructions[1].operands[3].kind == OperandKind::kPrototype);
  CHECK(k.instructions[2].operands[3].kind == OperandKind::kCallTable);
  CHECK(k.call_tables[0].functions[1] == Symbol{SymbolKind::kFunction, 3});
  CHECK(k.instructions[3].operands[0].symbol == Symbol{SymbolKind::kFunction, 3});
  CHECK(k.instructions[3].operands.size() == 3);
  CHECK(k.branch_tables[0].labels == std::vector<std::uint32_t>{0, 1, 0});
}

TEST_CASE("ptx parser: parameters of kernels") {
  const Module m =
      parse(module_text(".entry k(.param .u64 .ptr .global .align 16 p, .param .u8 c, .param .f64 d, "
                        ".param .align 4 .b8 s[12]) { ret; }"),
            "test.ptx");
  const auto& p = m.functions[0].parameters;
  CHECK(p[0].pointer);
  CHECK(p[0].pointer_space == Space::kGlobal);
  CHECK(p[0].pointer_align == 16);
  CHECK(p[1].offset == 8);
  CHECK(p[2].offset == 16);
  CHECK(p[3].offset == 24);
  CHECK(p[3].size == 12);
}

TEST_CASE("ptx parser: variables and their initialisers") {
  const Variable a = variable(".visible .global .align 8 .s16 a[2][3] = {{1, -1}, {256}};");
  CHECK(a.size == 12);
  CHECK(a.initial == std::vector<std::uint8_t>{1, 0, 255, 255, 0, 0, 0, 1});
  const Variable open = variable(".const .f32 c[] = {0f3F800000, -2.0};");
  CHECK(open.dims == std::vector<std::uint64_t>{2});
  CHECK(open.initial == std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0});
  const Variable v = variable(".global .v2 .u8 v[2] = {{1, 2}, {3}};");
  CHECK(v.initial == std::vector<std::uint8_t>{1, 2, 3});
  CHECK(v.size == 4);
  CHECK(v.align == 2);
  const Variable dynamic = variable(".extern .shared .align 16 .b8 s[];");
  CHECK(dynamic.is_dynamic_shared());
  CHECK(variable(".global .attribute(.managed) .u32 m;").managed);
  const Variable r = variable(
      ".global .u32 x; .global .u64 t[4] = {x, generic(x)+8, x-4, f}; .func f() { ret; } .global .b8 b[3] = "
      "{7, 0xFF(x), 0xff00(generic(x))};");
  REQUIRE(r.relocations.size() == 2);
  CHECK(r.relocations[0] == Relocation{1, 1, 0, false, {SymbolKind::kVariable, 0}, 0});
  CHECK(r.relocations[1] == Relocation{2, 1, 8, true, {SymbolKind::kVariable, 0}, 0});
  const Variable t =
      parse(module_text(".global .u32 x; .global .u64 t[4] = {x, generic(x)+8, x-4, f}; .func f() {}"),
            "test.ptx")
          .variables[1];
  CHECK(t.relocations[1] == Relocation{8, 8, 0, true, {SymbolKind::kVariable, 0}, 8});
  CHECK(t.relocations[2].addend == -4);
  CHECK(t.relocations[3].symbol == Symbol{SymbolKind::kFunction, 0});
}

TEST_CASE("ptx parser: debug directives") {
  const Module m = parse(module_text(R"(
    .entry k() { .loc 2 11 3
      exit;
      .loc 1 20 1, function_name $L__info0, inlined_at 2 12 3
      exit; }
    .file 1 "a.cu"
    .file 2 "b.cu", 123, 456
    .section .debug_str { $L__info0: .b8 95, 0 })"),
                         "test.ptx");
  const Function& k = m.functions[0];
  CHECK(m.files[k.instructions[0].source.file] == "b.cu");
  CHECK(k.instructions[0].source.line == 11);
  CHECK(m.files[k.instructions[1].source.file] == "a.cu");
  CHECK(k.instructions[1].source.line == 20);
}

// What nvcc 13 -lineinfo writes for a kernel that calls outer(), which calls helper(), both inlined.
TEST_CASE("ptx parser: lines of inlined functions know where they were called") {
  const std::string text = module_text(R"(
    .entry k() { .reg .b32 r;
      .loc 1 8 3
      mov.u32 r, 1;
      .loc 1 9 5
      .loc 2 4 3, function_name $L0, inlined_at 1 9 5
      .loc 2 2 73, function_name $L1, inlined_at 2 4 3
      mov.u32 r, 2;
      mov.u32 r, 3;
      .loc 2 4 3, function_name $L0, inlined_at 1 9 5
      mov.u32 r, 4;
      .loc 1 9 5
      mov.u32 r, 5;
      .loc 2 4 3, inlined_at 1 20 1
      mov.u32 r, 6;
      ret; }
    .file 1 "/home/me/a.cu"
    .file 2 "b.cuh"
    .section .debug_str { $L0: .b8 95, 0
 $L1: .b8 95, 0 })");
  const Module m = parse(text, "test.ptx");
  const Function& k = m.functions[0];
  const auto source = [&](std::size_t i) { return source_text(k.instructions[i].source, k, m.files); };
  CHECK(source(0) == "a.cu:8");
  CHECK(source(1) == "b.cuh:2, inlined at b.cuh:4, inlined at a.cu:9");
  CHECK(source(2) == source(1));
  CHECK(source(3) == "b.cuh:4, inlined at a.cu:9");
  CHECK(source(4) == "a.cu:9");
  CHECK(source(5) == "b.cuh:4, inlined at a.cu:20");
  CHECK(k.callers.size() == 3);
  CHECK(difference(parse(print(m), "printed"), m) == "");
  CHECK(source_text({}, k, m.files) == "");
  // One that is its own caller ends somewhere.
  const Module loop = parse(
      module_text(".entry k() { .loc 1 1 1, inlined_at 1 1 1 .loc 1 1 1, inlined_at 1 1 1 ret; }"), "loop");
  CHECK(source_text(loop.functions[0].instructions[0].source, loop.functions[0], loop.files)
            .starts_with("?:1, inlined at ?:1"));
}

TEST_CASE("ptx parser: a zero byte ends the text") {
  std::string text = kernel_text("ret;");
  text += '\0';
  text += "garbage";
  CHECK(parse(text, "test.ptx").functions.size() == 1);
}

}  // namespace lockstep::ptx
