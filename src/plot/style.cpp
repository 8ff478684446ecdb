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

std::string variables(bool dark, std::string_view indent) {
  std::string text = fmt::format("{}.plot {{ --ink: {}; --faint: {}; --grid: {}; --paper: {};", indent,
                                 dark ? "#e6e6e6" : "#1f2328", dark ? "#9aa0a6" : "#656d76",
                                 dark ? "#3a3f45" : "#d8dce1", dark ? "#15181c" : "#ffffff");
  for (unsigned i = 0; i < kPaletteSize; ++i)
    text += fmt::format(" --p{}: {};", i, dark ? kPalette[i].dark : kPalette[i].light);
  return text + " }\n";
}

}  // namespace

std::string style_sheet() {
  std::string text = variables(false, "");
  text += "@media screen and (prefers-color-scheme: dark) {\n" + variables(true, "  ") + "}\n";
  text +=
      ".plot .ink { fill: var(--ink); }\n.plot .faint { fill: var(--faint); }\n.plot .paper { fill: "
      "var(--paper); }\n"
      ".plot .on { fill: var(--paper); }\n"
      ".plot .grid { stroke: var(--grid); stroke-width: 1; }\n.plot .axis { stroke: var(--faint); "
      "stroke-width: 1; }\n"
      ".plot .diagonal { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 5 4; }\n"
      ".plot [class^=\"l\"] { fill: none; stroke-width: 2; stroke-linejoin: round; }\n";
  for (unsigned i = 0; i < kPaletteSize; ++i)
    text += fmt::format(".plot .f{0} {{ fill: var(--p{0}); }} .plot .l{0} {{ stroke: var(--p{0}); }}\n", i);
  return text;
}

}  // namespace lockstep::plot
