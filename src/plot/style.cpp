// Colours of charts.
#include <fmt/format.h>

#include "plot/chart.hpp"

namespace lockstep::plot {
namespace {

struct Colour {
  std::string_view light, dark;
};

// Neighbours differ in hue and in lightness; every colour has a contrast of at least 2.5 to its paper (the
// test checks it). The first ten follow Tableau 10 (2016), darkened or lightened for the paper.
constexpr std::array<Colour, kPaletteSize> kPalette = {{{"#4269b0", "#7aa2e3"},
                                                        {"#d9711c", "#f0a35e"},
                                                        {"#2e8b57", "#66c28d"},
                                                        {"#c8403f", "#ef7d7b"},
                                                        {"#7d5fb2", "#b39ddb"},
                                                        {"#8c6239", "#c49c78"},
                                                        {"#c254a0", "#e59ccd"},
                                                        {"#6b7280", "#a3aab8"},
                                                        {"#8a8a1a", "#cfcf5f"},
                                                        {"#1f8f9e", "#63c5d2"},
                                                        {"#a0522d", "#d98a63"},
                                                        {"#2f5d3a", "#8fbf9a"},
                                                        {"#5b3f8c", "#9c84cf"},
                                                        {"#b8860b", "#e6bd52"},
                                                        {"#3b5f78", "#86aec8"},
                                                        {"#8b2f57", "#d47a9f"}}};

constexpr Colour kInk{"#1f2328", "#e6e6e6"}, kFaint{"#656d76", "#9aa0a6"}, kGrid{"#d8dce1", "#3a3f45"},
    kPaper{"#ffffff", "#15181c"};

std::string variables(bool dark, std::string_view indent) {
  const auto shade = [dark](const Colour& colour) { return dark ? colour.dark : colour.light; };
  std::string text = fmt::format("{}.plot {{ --ink: {}; --faint: {}; --grid: {}; --paper: {};", indent,
                                 shade(kInk), shade(kFaint), shade(kGrid), shade(kPaper));
  for (unsigned i = 0; i < kPaletteSize; ++i) text += fmt::format(" --p{}: {};", i, shade(kPalette[i]));
  return text + " }\n";
}

/// Readers of SVG that know no variables (librsvg, LaTeX packages) take the light colour in front.
std::string rule(std::string_view css_class, std::string_view property, std::string_view variable,
                 const Colour& colour, std::string_view more = "") {
  return fmt::format(".plot .{} {{ {}: {}; {}: var(--{});{} }}\n", css_class, property, colour.light,
                     property, variable, more);
}

}  // namespace

std::string style_sheet() {
  std::string text = variables(false, "");
  text += "@media screen and (prefers-color-scheme: dark) {\n" + variables(true, "  ") + "}\n";
  text += rule("ink", "fill", "ink", kInk) + rule("faint", "fill", "faint", kFaint) +
          rule("paper", "fill", "paper", kPaper) + rule("on", "fill", "paper", kPaper) +
          rule("grid", "stroke", "grid", kGrid, " stroke-width: 1;") +
          rule("axis", "stroke", "faint", kFaint, " stroke-width: 1;") +
          rule("diagonal", "stroke", "faint", kFaint, " stroke-width: 1; stroke-dasharray: 5 4;");
  text += ".plot [class^=\"l\"] { fill: none; stroke-width: 2; stroke-linejoin: round; }\n";
  for (unsigned i = 0; i < kPaletteSize; ++i) {
    const std::string variable = fmt::format("p{}", i);
    text += rule(fmt::format("f{}", i), "fill", variable, kPalette[i]) +
            rule(fmt::format("l{}", i), "stroke", variable, kPalette[i]);
  }
  return text;
}

}  // namespace lockstep::plot
