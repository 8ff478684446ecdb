// Register layouts of mma.sync as the PTX ISA's section 9.7.14.5 writes them, shape by shape.
#pragma once

#include <functional>

namespace lockstep::test {

struct Place {
  int row, column;
};
/// The ISA's formulas: element i of lane 4 g + t.
using Layout = std::function<Place(int g, int t, int i)>;
struct Layouts {
  const char* shape;
  int bits, m, n, k;
  Layout a, b, c;
};
inline const Layout kC16 = [](int g, int t, int i) { return Place{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
inline const Layout kC8 = [](int g, int t, int i) { return Place{g, t * 2 + i}; };
inline const Layouts kLayouts[] = {
    {"m16n8k8", 16, 16, 8, 8,
     [](int g, int t, int i) {
       return Place{i < 2 ? g : g + 8, t * 2 + (i & 1)};
     },
     [](int g, int t, int i) {
       return Place{t * 2 + i, g};
     },
     kC16},
    {"m16n8k16", 16, 16, 8, 16,
     [](int g, int t, int i) {
       return Place{i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
     },
     [](int g, int t, int i) {
       return Place{t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
     },
     kC16},
    {"m16n8k4", 32, 16, 8, 4,
     [](int g, int t, int i) {
       return Place{i == 0 ? g : g + 8, t};
     },
     [](int g, int t, int) {
       return Place{t, g};
     },
     kC16},
    {"m16n8k8", 32, 16, 8, 8,
     [](int g, int t, int i) {
       return Place{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4};
     },
     [](int g, int t, int i) {
       return Place{i == 0 ? t : t + 4, g};
     },
     kC16},
    {"m8n8k4", 64, 8, 8, 4,
     [](int g, int t, int) {
       return Place{g, t};
     },
     [](int g, int t, int) {
       return Place{t, g};
     },
     kC8},
    {"m16n8k16", 64, 16, 8, 16,
     [](int g, int t, int i) {
       return Place{i % 2 == 0 ? g : g + 8, t + i / 2 * 4};
     },
     [](int g, int t, int i) {
       return Place{t + i * 4, g};
     },
     kC16},
    {"m8n8k16", 8, 8, 8, 16,
     [](int g, int t, int i) {
       return Place{g, t * 4 + i};
     },
     [](int g, int t, int i) {
       return Place{t * 4 + i, g};
     },
     kC8},
    {"m16n8k16", 8, 16, 8, 16,
     [](int g, int t, int i) {
       return Place{i < 4 ? g : g + 8, t * 4 + (i & 3)};
     },
     [](int g, int t, int i) {
       return Place{t * 4 + i, g};
     },
     kC16},
    {"m16n8k32", 8, 16, 8, 32,
     [](int g, int t, int i) {
       return Place{i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
     },
     [](int g, int t, int i) {
       return Place{t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
     },
     kC16},
    {"m8n8k32", 4, 8, 8, 32,
     [](int g, int t, int i) {
       return Place{g, t * 8 + i};
     },
     [](int g, int t, int i) {
       return Place{t * 8 + i, g};
     },
     kC8},
    {"m16n8k64", 4, 16, 8, 64,
     [](int g, int t, int i) {
       return Place{i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
     },
     [](int g, int t, int i) {
       return Place{t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g};
     },
     kC16},
    {"m8n8k128", 1, 8, 8, 128,
     [](int g, int t, int i) {
       return Place{g, t * 32 + i};
     },
     [](int g, int t, int i) {
       return Place{t * 32 + i, g};
     },
     kC8},
    {"m16n8k256", 1, 16, 8, 256,
     [](int g, int t, int i) {
       return Place{i < 32 || (i >= 64 && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i >= 64 ? 128 : 0)};
     },
     [](int g, int t, int i) {
       return Place{t * 32 + (i & 31) + (i >= 32 ? 128 : 0), g};
     },
     kC16},
};

}  // namespace lockstep::test
