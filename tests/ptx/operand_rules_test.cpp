// Operands of every form: each left out, and one too many, are errors; apart from what PTX lets be left out.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

constexpr FormSample kAllForms[] = {
#define FORM(form, operands) {form, operands},
#include "tests/ptx/forms.inc"
#include "tests/ptx/forms_rare.inc"
#undef FORM
};

struct TableRow {
  std::string_view mnemonic, words, operands;
};
constexpr TableRow kTable[] = {
#define OPERANDS(mnemonic, words, operands) {mnemonic, words, operands},
#include "ptx/table_operands.inc"
#undef OPERANDS
};

/// Forms that begin so have from `least` to `most` operands ("PTX ISA 9.0", section 9.7); all others as many
/// as their sample.
struct Count {
  std::string_view form;
  std::size_t least, most;
};
constexpr Count kVariable[] = {
    {"alloca.", 2, 3},
    {"bar.sync", 1, 2},
    {"barrier.sync", 1, 2},
    {"bar.red.", 3, 4},
    {"bar.cta.red.", 3, 4},
    {"barrier.red.", 3, 4},
    {"barrier.cta.red.", 3, 4},
    {"barrier.cta.sync", 1, 2},
    {"cp.async.ca.shared.global.L2::cache_hint", 4, 5},  // src-size or ignore-src
    {"cp.async.ca.", 3, 4},
    {"cp.async.cg.", 3, 4},
    {"createpolicy.fractional.", 1, 2},
    {"cvt.pack.", 3, 4},
    {"max.f32", 3, 4},  // three inputs since PTX 8.8
    {"min.f32", 3, 4},
    {"max.NaN.f32", 3, 4},
    {"max.ftz.f32", 3, 4},
    {"min.NaN.xorsign.abs.f32", 3, 4},
    {"mbarrier.arrive.expect_tx.", 3, 3},
    {"mbarrier.arrive.noComplete.", 3, 3},
    {"mbarrier.arrive_drop.expect_tx.", 3, 3},
    {"mbarrier.arrive.", 2, 3},
    {"mbarrier.arrive_drop.", 2, 3},
    {"mbarrier.try_wait.", 3, 4},
    {"tcgen05.mma.sp.cta_group::1.kind::f16", 6, 8},  // lanes not written, scale of the accumulator
    {"tcgen05.mma.cta_group::1.kind::f16", 5, 7},
    {"tcgen05.mma.ws.sp.", 6, 7},
    {"tcgen05.mma.ws.", 5, 6},
    {"tex.level.", 3, 5},  // offsets of texels, value to compare with
    {"tex.grad.", 4, 6},
    {"tex.", 2, 4},
    {"tld4.", 2, 4},
    {"vabsdiff.s32.s32.s32", 3, 4},  // what the result is merged into
    {"vadd.s32.s32.s32", 3, 4},
    {"vadd.s32.u32.s32.sat", 3, 4},
    {"vmax.s32.s32.s32", 3, 4},
    {"vmin.s32.s32.s32", 3, 4},
    {"vset.s32.s32.lt", 3, 4},
    {"vshl.s32.s32.u32.clamp", 3, 4},
    {"vshr.u32.u32.u32.wrap", 3, 4},
    {"vsub.s32.s32.s32", 3, 4},
    {"wgmma.mma_async.sync.aligned.m64n8k16.", 7,
     8},  // A in registers is not transposed; the executor looks at that
    {"wmma.load.", 2, 3},
    {"wmma.store.", 2, 3},
    {"st.bulk", 3, 3},
};
/// In these a second operation needs its operand.
constexpr std::string_view kSecondOperations[] = {".add", ".min", ".max"};

/// Operands as commas outside brackets and braces separate them.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  for (const char c : text) {
    if (parts.empty()) parts.emplace_back();
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else if (c != ' ' || depth > 0)
      parts.back() += c;
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

bool is_call(const FormSample& s) { return s.form.starts_with("call"); }

Count allowed(const FormSample& s) {
  const std::size_t given = split(s.operands).size();
  const bool second = s.form[0] == 'v' && std::ranges::any_of(kSecondOperations, [&](std::string_view word) {
                        return s.form.ends_with(word);
                      });
  if (second) return {s.form, given, given};
  for (const Count& v : kVariable)
    if (s.form.starts_with(v.form)) return v;
  return {s.form, given, given};
}

/// The message, or nothing where it is accepted.
std::string error_of(std::string_view form, const std::string& operands) {
  const std::string text = kernel_text(".shared .align 128 .b8 sh[64];\ntable: .branchtargets L, L;\nL:\n" +
                                       std::string(form) + " " + operands + ";");
  try {
    (void)parse(".version 8.0\n.target sm_90\n.address_size 64\n.func callee() { ret; }\n" +
                    text.substr(module_text("").size()),
                "test.ptx");
  } catch (const ParseError& e) {
    return e.what();
  }
  return {};
}

bool says_what_is_expected(const std::string& message) {
  return message.starts_with("test.ptx:11: column 1: ") && message.find("; expected ") != message.npos;
}

std::vector<std::string_view> words_of(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// The table's row for a form: the first of its mnemonic whose words it all has.
const TableRow* row_of(std::string_view form) {
  const auto have = words_of(form, '.');
  for (const TableRow& row : kTable) {
    const auto words = words_of(row.words, ' ');
    if (row.mnemonic == have.front() && std::ranges::all_of(words, [&](std::string_view word) {
          return std::find(have.begin() + 1, have.end(), word) != have.end();
        }))
      return &row;
  }
  return nullptr;
}

/// Registers that a text names, each once.
std::set<std::string> registers_in(std::string_view text) {
  std::set<std::string> names;
  while ((text = text.substr(std::min(text.find('%'), text.size()))) != "") {
    const std::size_t digits = text.find_first_of("0123456789"),
                      end = text.find_first_not_of("0123456789", digits);
    const std::string_view prefix = text.substr(0, digits);
    if (prefix.size() == 2) names.emplace(text.substr(0, end));  // others are special registers
    text.remove_prefix(2);
  }
  return names;
}

std::set<std::string> names_of(const Function& f, const std::vector<RegisterId>& ids) {
  std::set<std::string> names;
  for (const RegisterId id : ids) names.insert(f.registers[id].name);
  return names;
}

}  // namespace

TEST_CASE("ptx operands: rare forms are accepted") {
  for (const FormSample& s : kAllForms) CHECK(error_of(s.form, std::string(s.operands)) == "");
}

TEST_CASE("ptx operands: an operand left out is an error that says what is expected") {
  for (const FormSample& s : kAllForms) {
    if (is_call(s)) continue;
    const auto operands = split(s.operands);
    const Count range = allowed(s);
    if (operands.size() < range.least || operands.size() > range.most) FAIL("wrong range for " << s.form);
    if (operands.size() - 1 >= range.least && operands.size() - 1 <= range.most) continue;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      auto fewer = operands;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const std::string message = error_of(s.form, join(fewer));
      const bool label = s.form.starts_with("bra");  // the parser asks for it by itself
      if (message.empty() || !(label || says_what_is_expected(message)))
        FAIL_CHECK(s.form << ' ' << join(fewer) << ": " << message);
    }
    if (!operands.empty()) {
      const std::string message = error_of(s.form, "");
      if (message.empty()) FAIL_CHECK(s.form << " without operands is accepted");
    }
  }
}

TEST_CASE("ptx operands: one too many is an error that says what is expected") {
  for (const FormSample& s : kAllForms) {
    if (is_call(s)) continue;
    const Count range = allowed(s);
    auto operands = split(s.operands);
    while (operands.size() <= range.most) operands.emplace_back("7");
    const std::string message = error_of(s.form, join(operands));
    const bool label = s.form.starts_with("bra");
    if (message.empty() || !(label || says_what_is_expected(message)))
      FAIL_CHECK(s.form << ' ' << join(operands) << ": " << message);
  }
}

TEST_CASE("ptx operands: what an instruction writes is a register or '_'") {
  for (const FormSample& s : kAllForms) {
    if (is_call(s) || s.operands.empty()) continue;
    const TableRow* const row = row_of(s.form);
    if (row == nullptr || !(row->operands.starts_with("to") || row->operands.starts_with("parts_to")))
      continue;
    for (const char* const other : {"7", "[%d9]", "sh", "{%r1, 7}", "!%p1", "%tid.x"}) {
      auto operands = split(s.operands);
      operands[0] = other;
      if (!says_what_is_expected(error_of(s.form, join(operands))))
        FAIL_CHECK(s.form << ' ' << join(operands));
    }
  }
}

TEST_CASE(
    "ptx operands: destinations are those that the table lets be written, all other registers are read") {
  for (const FormSample& s : kAllForms) {
    const TableRow* const row = row_of(s.form);
    if (is_call(s) || row == nullptr) continue;
    INFO(s.form << ' ' << s.operands);
    std::size_t written = 0;
    for (const std::string_view word : words_of(row->operands, ' '))
      written += word.starts_with("to") || word.starts_with("parts_to") ? 1 : 0;
    const Function f =
        parse(".version 8.0\n.target sm_90\n.address_size 64\n.func callee() { ret; }\n" +
                  kernel_text(".shared .align 128 .b8 sh[64];\ntable: .branchtargets L, L;\nL:\n" +
                              std::string(s.form) + " " + std::string(s.operands) + ";")
                      .substr(module_text("").size()),
              "test.ptx")
            .functions.back();
    const Instruction& instruction = f.instructions.front();
    CHECK(destination_count(instruction.form) == written);
    const auto operands = split(s.operands);
    std::set<std::string> writes, reads;
    for (std::size_t i = 0; i < operands.size(); ++i)
      (i < written ? writes : reads).merge(registers_in(operands[i]));
    if (s.form.starts_with("wgmma.mma_async")) reads.insert(writes.begin(), writes.end());  // accumulates
    const RegisterUse use = register_use(instruction);
    CHECK(names_of(f, use.writes) == writes);
    CHECK(names_of(f, use.reads) == reads);
  }
}

TEST_CASE("ptx operands: every mnemonic and every row of the table has a sample") {
  for (unsigned i = 0; i <= static_cast<unsigned>(Opcode::kWmma); ++i) {
    const std::string_view mnemonic = name(static_cast<Opcode>(i));
    INFO(mnemonic);
    CHECK(std::ranges::any_of(
        kAllForms, [&](const FormSample& s) { return words_of(s.form, '.').front() == mnemonic; }));
    if (static_cast<Opcode>(i) != Opcode::kCall)
      CHECK(std::ranges::any_of(kTable, [&](const TableRow& row) { return row.mnemonic == mnemonic; }));
  }
  for (const TableRow& row : kTable) {
    INFO(row.mnemonic << " with " << row.words);
    CHECK(std::ranges::any_of(kAllForms, [&](const FormSample& s) { return row_of(s.form) == &row; }));
  }
}

}  // namespace lockstep::ptx
