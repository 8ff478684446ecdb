#include "ptx/words.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace lockstep::ptx {
namespace {

using std::string_view;

struct TypeRow {
  string_view text;
  std::uint16_t bits;
  TypeKind kind;
};
constexpr TypeRow kTypes[] = {
#define TYPE(name, text, bits, kind) {text, bits, TypeKind::kind},
#include "ptx/table_types.inc"
#undef TYPE
};

constexpr string_view kSpaces[] = {
    "generic",
#define SPACE(name, text) text,
#include "ptx/table_spaces.inc"
#undef SPACE
};

constexpr string_view kOpcodes[] = {
#define OPCODE(name, text, destinations) text,
#include "ptx/table_opcodes.inc"
#undef OPCODE
};

constexpr string_view kMods[] = {
#define MOD(name, text) text,
#include "ptx/table_mods.inc"
#undef MOD
};

struct SpecialRow {
  string_view text;
  Type type;
  SpecialKind kind;
  std::uint8_t limit;
};
constexpr SpecialRow kSpecials[] = {
#define SPECIAL(name, text, type, kind, limit) {text, Type::type, SpecialKind::kind, limit},
#include "ptx/table_special.inc"
#undef SPECIAL
};

template <class E>
constexpr std::size_t at(E e) {
  return static_cast<std::size_t>(e);
}

string_view text_of(string_view row) { return row; }
string_view text_of(const TypeRow& row) { return row.text; }
string_view text_of(const SpecialRow& row) { return row.text; }

/// Words of one table; the value is the row's number.
template <class E, class Table>
std::optional<E> look_up(const Table& table, string_view word, std::size_t first = 0) {
  static const auto index = [&] {
    std::unordered_map<string_view, E> map;
    for (std::size_t i = first; i < std::size(table); ++i) map.emplace(text_of(table[i]), static_cast<E>(i));
    return map;
  }();
  const auto found = index.find(word);
  return found == index.end() ? std::nullopt : std::optional<E>(found->second);
}

/// Decimal number at the start of `text`, cut off it; nullopt without digits, with a leading zero or above
/// 999.
std::optional<unsigned> cut_number(string_view& text) {
  unsigned value = 0;
  std::size_t n = 0;
  for (; n < text.size() && text[n] >= '0' && text[n] <= '9'; ++n) {
    if (n == 3 || (n == 0 && text[0] == '0')) return std::nullopt;
    value = 10 * value + static_cast<unsigned>(text[n] - '0');
  }
  if (n == 0) return std::nullopt;
  text.remove_prefix(n);
  return value;
}

std::optional<std::uint16_t> cut_extent(string_view& text, char letter) {
  if (text.empty() || text[0] != letter) return std::nullopt;
  text.remove_prefix(1);
  const auto value = cut_number(text);
  return value ? std::optional(static_cast<std::uint16_t>(*value)) : std::nullopt;
}

/// wmma, mma, ldmatrix ("PTX ISA 9.0", sections 9.7.14.1-9.7.14.5).
constexpr Shape kShapes[] = {{8, 8, 0},   {8, 16, 0},  {16, 16, 0},  {16, 8, 0},  {16, 16, 16},
                             {32, 8, 16}, {8, 32, 16}, {8, 8, 4},    {8, 8, 16},  {8, 8, 32},
                             {8, 8, 128}, {16, 16, 8}, {16, 8, 4},   {16, 8, 8},  {16, 8, 16},
                             {16, 8, 32}, {16, 8, 64}, {16, 8, 128}, {16, 8, 256}};

/// wgmma: m64, n a multiple of 8 to 256, k by element size (section 9.7.15.2).
bool is_warpgroup_shape(const Shape& s) {
  constexpr unsigned kDepths[] = {8, 16, 32, 64, 128, 256};
  return s.m == 64 && s.n > 0 && s.n % 8 == 0 && s.n <= 256 &&
         std::find(std::begin(kDepths), std::end(kDepths), s.k) != std::end(kDepths);
}

unsigned edit_distance(string_view a, string_view b) {
  std::vector<unsigned> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<unsigned>(j);
  for (std::size_t i = 0; i < a.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = static_cast<unsigned>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const unsigned changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// Keeps in `best` the word of `table` nearest to `word` within `distance`, which it lowers.
template <class Table>
void nearest_in(const Table& table, string_view word, string_view& best, unsigned& distance) {
  if (word.size() > 64) return;
  for (const auto& row : table) {
    const unsigned d = edit_distance(word, text_of(row));
    if (d < distance) {
      distance = d;
      best = text_of(row);
    }
  }
}

}  // namespace

unsigned bits(Type type) { return kTypes[at(type)].bits; }
TypeKind kind(Type type) { return kTypes[at(type)].kind; }
string_view name(Type type) { return kTypes[at(type)].text; }
string_view name(Space space) { return kSpaces[at(space)]; }
string_view name(Opcode opcode) { return kOpcodes[at(opcode)]; }
string_view name(Mod mod) { return kMods[at(mod)]; }
string_view name(Special special) { return kSpecials[at(special)].text; }
Type type(Special special) { return kSpecials[at(special)].type; }
SpecialKind kind(Special special) { return kSpecials[at(special)].kind; }

std::optional<Type> find_type(string_view word) { return look_up<Type>(kTypes, word); }
std::optional<Space> find_space(string_view word) { return look_up<Space>(kSpaces, word, 1); }
std::optional<Opcode> find_opcode(string_view word) { return look_up<Opcode>(kOpcodes, word); }
std::optional<Mod> find_mod(string_view word) { return look_up<Mod>(kMods, word); }

std::optional<Shape> find_shape(string_view word) {
  Shape shape;
  const auto m = cut_extent(word, 'm');
  const auto n = m ? cut_extent(word, 'n') : std::nullopt;
  if (!n) return std::nullopt;
  shape.m = *m;
  shape.n = *n;
  if (!word.empty()) {
    const auto k = cut_extent(word, 'k');
    if (!k || !word.empty()) return std::nullopt;
    shape.k = *k;
  }
  const bool known = std::find(std::begin(kShapes), std::end(kShapes), shape) != std::end(kShapes);
  return known || is_warpgroup_shape(shape) ? std::optional(shape) : std::nullopt;
}

std::optional<SpecialName> find_special(string_view word) {
  if (const auto whole = look_up<Special>(kSpecials, word)) {
    if (kind(*whole) == SpecialKind::kIndexed) return std::nullopt;
    return SpecialName{*whole, 0};
  }
  std::size_t digits = word.size();
  while (digits > 0 && word[digits - 1] >= '0' && word[digits - 1] <= '9') --digits;
  const auto family = look_up<Special>(kSpecials, word.substr(0, digits));
  if (!family || kind(*family) != SpecialKind::kIndexed) return std::nullopt;
  string_view number = word.substr(digits);
  const auto index = number == "0" ? std::optional(0u) : cut_number(number);
  if (!index || *index >= kSpecials[at(*family)].limit) return std::nullopt;
  return SpecialName{*family, static_cast<std::uint8_t>(*index)};
}

string_view nearest_opcode(string_view word) {
  string_view best;
  unsigned distance = word.size() < 4 ? 2 : 3;
  nearest_in(kOpcodes, word, best, distance);
  return best;
}

string_view nearest_suffix(string_view word) {
  string_view best;
  unsigned distance = word.size() < 4 ? 2 : 3;
  nearest_in(kTypes, word, best, distance);
  nearest_in(kSpaces, word, best, distance);
  nearest_in(kMods, word, best, distance);
  return best;
}

}  // namespace lockstep::ptx
