#include "exec/alu_sparse.hpp"

namespace lockstep::exec::alu {

using ptx::Type;

namespace {

constexpr int kRows = 16;

/// Elements of A that four bits of metadata speak of.
int group_of(Type type) {
  if (type == Type::kTf32) return 2;
  return ptx::bits(type) == 4 ? 8 : 4;
}

/// 16-bit and tf32 rows g and g + 8 share a word, each with four groups; of the others each has its own, with
/// eight.
bool shares_word(Type type) { return ptx::bits(type) >= 16; }

/// Lanes of a quad that give metadata.
int lanes_used(const Sparsity& s) {
  const int groups = s.depth / group_of(s.type);
  return shares_word(s.type) ? groups / 4 : 2 * (groups / 8);
}

unsigned metadata_bits(const Sparsity& s, const LaneValues& metadata, int row, int group) {
  const int low = row % 8, half = row / 8, first = s.selector * lanes_used(s);
  if (shares_word(s.type)) {
    const auto word = static_cast<std::uint32_t>(metadata.lane[4 * low + first + group / 4]);
    return word >> (16 * half + 4 * (group % 4)) & 15;
  }
  const auto word = static_cast<std::uint32_t>(metadata.lane[4 * low + first + 2 * (group / 8) + half]);
  return word >> (4 * (group % 8)) & 15;
}

}  // namespace

std::uint64_t sparse_selectors(const Sparsity& s) { return static_cast<std::uint64_t>(4 / lanes_used(s)); }

SparsePlaces sparse_places(const Sparsity& s, const LaneValues& metadata) {
  SparsePlaces out{};
  const int group = group_of(s.type), groups = s.depth / group;
  for (int row = 0; row < kRows; ++row)
    for (int g = 0; g < groups; ++g) {
      const unsigned bits = metadata_bits(s, metadata, row, g);
      std::uint8_t* const to = out.row[row] + g * group / 2;
      const auto put = [&](int i, unsigned place) {
        to[i] = static_cast<std::uint8_t>(static_cast<unsigned>(g * group) + place);
      };
      const unsigned low = bits & 3, high = bits >> 2;
      switch (group) {
        case 2:  // 0b0100 the first of two, 0b1110 the second
          put(0, low >> 1);
          break;
        case 4:
          put(0, low);
          put(1, high);
          break;
        default:  // pairs of neighbours
          for (unsigned i = 0; i < 2; ++i) {
            put(static_cast<int>(i), 2 * low + i);
            put(static_cast<int>(2 + i), 2 * high + i);
          }
      }
    }
  return out;
}

}  // namespace lockstep::exec::alu
