// Every form of PTX that real programs have (tests/ptx/forms.inc): translated for execution, apart from a
// list of those that are not there, which are errors before the launch.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

struct Sample {
  std::string_view form, operands;
};
constexpr Sample kSamples[] = {
#define FORM(form, operands) {form, operands},
#include "tests/ptx/forms.inc"
#undef FORM
};

/// Instructions that need a later GPU than sm_90 or several GPUs, by the words they begin with.
constexpr std::string_view kNotThere[] = {
    "add.rz.sat.f32.bf16",                                       // sm_100
    "clusterlaunchcontrol.",                                     // sm_100
    "cp.async.bulk.global.shared::cta.bulk_group.cp_mask",       // sm_100
    "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4",  // sm_100
    "cvt.rn.bf16x2.ue8m0x2",                                     // sm_100
    "cvt.rs.",                                                   // sm_100
    "cvt.rz.satfinite.ue8m0x2",                                  // sm_100
    "fma.rn.oob",                                     // what the filling with NaN gives is not documented
    "ldmatrix.sync.aligned.m16n16",                   // sm_100
    "ldmatrix.sync.aligned.m8n16",                    // sm_100
    "mma.sync.aligned.m16n8k64.row.col.kind",         // sm_120
    "st.bulk",                                        // sm_100
    "tcgen05.",                                       // sm_100
    "sust.p",                                         // no program has formatted stores
    "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|",  // nor offsets of texels
};

bool is_there(const Sample& sample) {
  const std::string form = fmt::format("{} {}", sample.form, sample.operands);
  return std::none_of(std::begin(kNotThere), std::end(kNotThere),
                      [&](std::string_view word) { return form.starts_with(word); });
}

std::string module_of_all() {
  std::string text = ".func callee() { ret; }\n";
  for (std::size_t i = 0; i < std::size(kSamples); ++i)
    text += fmt::format(
        ".visible .entry k{}(.param .u64 arg) {{\n.reg .b32 %r<100>; .reg .b64 %d<100>; .reg .f32 %f<100>;\n"
        ".reg .b16 %h<100>; .reg .b128 %q<10>; .reg .pred %p<100>;\nL:\n{} {};\nret;\n}}\n",
        i, kSamples[i].form, kSamples[i].operands);
  return text;
}

TEST_CASE("every form that programs have up to sm_90 can be executed, others are errors before the launch") {
  const Device device(module_of_all());
  for (std::size_t i = 0; i < std::size(kSamples); ++i) {
    INFO(kSamples[i].form << ' ' << kSamples[i].operands);
    const auto translate = [&] { return device.kernel(fmt::format("k{}", i)); };
    if (is_there(kSamples[i])) {
      CHECK_NOTHROW(translate());
    } else {
      CHECK_THROWS_AS(translate(), InputError);
    }
  }
}

}  // namespace
}  // namespace lockstep::exec::test
