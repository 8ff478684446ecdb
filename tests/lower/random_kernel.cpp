#include "tests/lower/random_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace lockstep::lower::test {
namespace {

using Names = std::vector<std::string>;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string text() {
    begin();
    for (int part = 0; part < 6; ++part) {
      straight(3 + below(14));
      const unsigned kind = below(4);
      if (kind == 0) branch(false);
      if (kind == 1) branch(true);
      if (kind == 2) chance(50) ? loop() : open_loop();
    }
    for (std::size_t i = 0; i < words_.size(); i += 1 + below(3))
      line(fmt::format("st.global.u32 [%d0+{}], {};", 1024 + 4 * i, words_[i]));
    for (std::size_t i = 0; i < longs_.size(); i += 1 + below(3))
      line(fmt::format("st.global.u64 [%d0+{}], {};", 4096 + 8 * i, longs_[i]));
    return fmt::format(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {{\n"
        ".reg .b32 %r<{}>;\n.reg .b64 %d<{}>;\n.reg .pred %p<{}>;\n{}ret;\n}}\n",
        r_, d_, p_, body_);
  }

 private:
  unsigned below(std::size_t bound) { return static_cast<unsigned>(random_() % bound); }
  bool chance(unsigned percent) { return below(100) < percent; }
  const std::string& any(const Names& names) { return names[below(names.size())]; }
  void line(const std::string& text) { body_ += text + "\n"; }
  std::string new_word() { return fmt::format("%r{}", r_++); }
  std::string new_long() { return fmt::format("%d{}", d_++); }
  std::string new_predicate() { return fmt::format("%p{}", p_++); }
  std::string word_or_number() { return chance(25) ? std::to_string(below(1000)) : any(words_); }

  void begin() {
    line("ld.param.u64 %d0, [p];\nld.param.u64 %d1, [q];");
    d_ = 2;
    for (int i = 0; i < 6; ++i) {
      words_.push_back(new_word());
      line(fmt::format("ld.global.u32 {}, [%d0+{}];", words_.back(), 4 * i));
    }
    for (int i = 0; i < 3; ++i) {
      longs_.push_back(new_long());
      line(fmt::format("ld.global.u64 {}, [%d1+{}];", longs_.back(), 8 * i));
    }
    for (int i = 0; i < 2; ++i) {
      words_.push_back(new_word());
      line(fmt::format("mov.u32 {}, {};", words_.back(), 3 + below(90)));
    }
    predicates_.push_back(new_predicate());
    line(fmt::format("setp.lt.u32 {}, {}, {};", predicates_[0], words_[0], words_[1]));
  }

  /// A register for a result: most have but one write, as compilers make them.
  std::string target(Names& names, std::string (Generator::*fresh)()) {
    if (names.size() > 4 && chance(25)) return names[below(4)];
    return (this->*fresh)();
  }
  void done(Names& names, const std::string& name) {
    for (const std::string& known : names)
      if (known == name) return;
    names.push_back(name);
  }
  /// A guard for an instruction that writes a register which has a value already, or none.
  std::string guard(const Names& names, const std::string& to) {
    const bool old = std::find(names.begin(), names.end(), to) != names.end();
    if (!old || inside_ || !chance(50)) return "";
    return fmt::format("@{}{} ", chance(50) ? "!" : "", any(predicates_));
  }

  void straight(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) instruction();
  }
  void instruction() {
    switch (below(12)) {
      case 10:
        return row(fmt::format("and.b32 {{}}, {}, 48;", any(words_)));
      case 0:
      case 1:
        return load();
      case 2:
        return store();
      case 3:
        return of_64();
      case 4:
        return compare();
      case 5:
        return chance(50) ? convert() : halves();
      default:
        return of_32();
    }
  }
  void of_32() {
    static const char* const kTwo[] = {"add.s32", "sub.s32",    "and.b32", "or.b32",
                                       "xor.b32", "mul.lo.s32", "add.u32", "sub.u32"};
    static const char* const kShift[] = {"shl.b32", "shr.u32", "shr.s32"};
    const std::string to = target(words_, &Generator::new_word), by = guard(words_, to);
    switch (below(8)) {
      case 0:
        line(fmt::format("{}{} {}, {}, {};", by, kShift[below(3)], to, any(words_), below(31)));
        break;
      case 1:
        line(fmt::format("{}mad.lo.s32 {}, {}, {}, {};", by, to, any(words_), any(words_), any(words_)));
        break;
      case 2:
        line(fmt::format("{}selp.b32 {}, {}, {}, {};", by, to, any(words_), any(words_), any(predicates_)));
        break;
      case 3:
        line(fmt::format("{}{} {}, {};", by,
                         chance(50)   ? "mov.b32"
                         : chance(50) ? "neg.s32"
                                      : "not.b32",
                         to, any(words_)));
        break;
      default:
        line(fmt::format("{}{} {}, {}, {};", by, kTwo[below(8)], to, any(words_), word_or_number()));
    }
    done(words_, to);
  }
  void of_64() {
    static const char* const kTwo[] = {"add.s64", "sub.s64", "xor.b64", "mul.lo.s64"};
    const std::string to = target(longs_, &Generator::new_long), by = guard(longs_, to);
    if (chance(30))
      line(fmt::format("{}shl.b64 {}, {}, {};", by, to, any(longs_), below(60)));
    else if (chance(20))
      line(fmt::format("{}mov.b64 {}, {};", by, to, any(longs_)));
    else if (chance(20))
      line(fmt::format("{}mul.wide.u32 {}, {}, 8;", by, to, any(words_)));
    else
      line(fmt::format("{}{} {}, {}, {};", by, kTwo[below(4)], to, any(longs_), any(longs_)));
    done(longs_, to);
  }
  void compare() {
    static const char* const kHow[] = {"lt.s32", "lt.u32", "eq.s32", "ne.u32"};
    const std::string to = target(predicates_, &Generator::new_predicate);
    if (chance(70)) {
      line(fmt::format("setp.{} {}, {}, {};", kHow[below(4)], to, any(words_), word_or_number()));
    } else {
      line(fmt::format("{}.pred {}, {}, {};", chance(50) ? "and" : "or", to, any(predicates_),
                       any(predicates_)));
    }
    done(predicates_, to);
  }
  void convert() {
    if (chance(50)) {
      const std::string to = target(longs_, &Generator::new_long);
      line(fmt::format("cvt.{} {}, {};", chance(50) ? "s64.s32" : "u64.u32", to, any(words_)));
      done(longs_, to);
    } else {
      const std::string to = target(words_, &Generator::new_word);
      line(fmt::format("cvt.u32.u64 {}, {};", to, any(longs_)));
      done(words_, to);
    }
  }
  void halves() {
    if (chance(50)) {
      const std::string to = target(longs_, &Generator::new_long);
      line(fmt::format("mov.b64 {}, {{{}, {}}};", to, any(words_), any(words_)));
      done(longs_, to);
    } else {
      const std::string a = target(words_, &Generator::new_word), b = new_word();
      line(fmt::format("mov.b64 {{{}, {}}}, {};", a, b, any(longs_)));
      done(words_, a);
      words_.push_back(b);
    }
  }
  /// The text of an address, after what computes it.
  std::string address(bool& shared) {
    shared = chance(40);
    const std::size_t offset = 16 * below(8);
    if (shared) {
      const std::string low = new_word();
      line(fmt::format("and.b32 {}, {}, 48;", low, any(words_)));
      if (chance(40)) return fmt::format("[{}+{}]", low, offset);
      const std::string scaled = new_word();
      line(chance(50) ? fmt::format("add.s32 {}, {}, {};", scaled, low, 16 * below(4))
                      : fmt::format("shl.b32 {}, {}, {};", scaled, low, 1 + below(3)));
      return fmt::format("[{}+{}]", scaled, offset);
    }
    if (chance(60)) return fmt::format("[%d{}+{}]", below(2), offset);
    const std::string index = new_word(), wide = new_long(), sum = new_long();
    line(fmt::format("and.b32 {}, {}, 28;", index, any(words_)));
    line(fmt::format("mul.wide.u32 {}, {}, 4;", wide, index));
    line(fmt::format("add.s64 {}, %d{}, {};", sum, below(2), wide));
    return fmt::format("[{}+{}]", sum, offset);
  }
  std::string space(bool shared) { return shared ? "shared" : "global"; }
  void load() {
    bool shared = false;
    const std::string from = address(shared);
    if (chance(25)) {
      const std::string a = new_word(), b = new_word(), c = new_word(), d = new_word();
      line(fmt::format("ld.{}.v4.u32 {{{}, {}, {}, {}}}, {};", space(shared), a, b, c, d, from));
      words_.insert(words_.end(), {a, b, c, d});
    } else if (chance(25)) {
      const std::string to = target(longs_, &Generator::new_long);
      line(fmt::format("ld.{}.u64 {}, {};", space(shared), to, from));
      done(longs_, to);
    } else {
      const std::string to = target(words_, &Generator::new_word), by = guard(words_, to);
      line(fmt::format("{}ld.{}.u32 {}, {};", by, space(shared), to, from));
      done(words_, to);
    }
  }
  void store() {
    bool shared = false;
    const std::string to = address(shared);
    const std::string by = !inside_ && chance(20) ? fmt::format("@{} ", any(predicates_)) : "";
    if (chance(25))
      line(fmt::format("{}st.{}.v2.u32 {}, {{{}, {}}};", by, space(shared), to, any(words_), any(words_)));
    else if (chance(25))
      line(fmt::format("{}st.{}.u64 {}, {};", by, space(shared), to, any(longs_)));
    else
      line(fmt::format("{}st.{}.u32 {}, {};", by, space(shared), to, any(words_)));
  }
  /// Accesses to neighbouring words of shared memory, and others between them. `base`: writes their address.
  void row(const std::string& base) {
    const std::string low = new_word();
    line(fmt::format(fmt::runtime(base), low));
    const bool store = chance(40);
    const std::size_t first = 4 * below(5), step = chance(70) ? 4 : 8;
    Names loaded;
    for (std::size_t n = 0, turn = below(2), count = 2 + below(4); n < count; ++n) {
      const std::size_t offset = first + step * (turn != 0 ? count - 1 - n : n);
      if (store) {
        line(fmt::format("st.shared.u32 [{}+{}], {};", low, offset, any(words_)));
      } else {
        loaded.push_back(new_word());
        line(fmt::format("ld.shared.u32 {}, [{}+{}];", loaded.back(), low, offset));
      }
      if (chance(30)) of_32();
      if (chance(10)) this->store();
    }
    words_.insert(words_.end(), loaded.begin(), loaded.end());
  }
  /// What is first written under a branch is not known behind it.
  void side() {
    const auto kept = std::tuple(words_, longs_, predicates_);
    inside_ = true;
    straight(1 + below(4));
    inside_ = false;
    std::tie(words_, longs_, predicates_) = kept;
  }
  void branch(bool with_else) {
    const unsigned number = label_++;
    line(fmt::format("@{} bra ELSE{};", any(predicates_), number));
    side();
    if (with_else) line(fmt::format("bra.uni JOIN{};", number));
    line(fmt::format("ELSE{}:", number));
    if (with_else) side();
    if (with_else) line(fmt::format("JOIN{}:", number));
  }
  void loop() {
    const unsigned number = label_++;
    const std::string count = new_word(), more = new_predicate();
    line(fmt::format("mov.u32 {}, {};\nLOOP{}:", count, 1 + below(4), number));
    const auto kept = std::tuple(words_, longs_, predicates_);
    straight(2 + below(8));
    if (chance(60)) row(fmt::format("shl.b32 {{}}, {}, {};", count, 2 + below(3)));
    if (chance(20)) words_.push_back(count);
    straight(below(4));
    std::tie(words_, longs_, predicates_) = kept;
    line(fmt::format("{0} {1}, {1}, {2};\nsetp.ne.s32 {3}, {1}, 0;\n@{3} bra LOOP{4};",
                     number % 4 == 0 ? "sub.s32" : "add.s32", count, number % 4 == 0 ? 1 : -1, more, number));
  }

  /// A loop whose number of iterations depends on what was loaded, or that has many.
  void open_loop() {
    const unsigned number = label_++, step = chance(70) ? 1 : 4;
    const std::string count = new_word(), limit = new_word(), more = new_predicate();
    line(fmt::format("and.b32 {0}, {1}, {2};", limit, any(words_), 15 * step));
    static const char* const kUp[] = {"lt.s32", "le.s32", "ne.s32", "lt.u32"};
    static const char* const kDown[] = {"gt.s32", "ge.s32", "ne.s32", "gt.s32"};
    const unsigned how = below(4);
    const bool up = chance(60), differs = how == 2, many = chance(30);
    if (differs && up) line(fmt::format("add.s32 {0}, {0}, {1};", limit, step));
    if (many)
      line(fmt::format("mov.u32 {}, 0;", count));
    else if (up)
      line(fmt::format("mov.u32 {}, {};", count, differs ? 0 : below(6)));
    else
      line(fmt::format("add.s32 {}, {}, {};", count, limit, step * (1 + below(9))));
    line(fmt::format("LOOP{}:", number));
    const auto kept = std::tuple(words_, longs_, predicates_);
    straight(1 + below(6));
    if (chance(60)) row(fmt::format("shl.b32 {{}}, {}, {};", count, 2 + below(3)));
    if (chance(20)) words_.push_back(count);
    straight(below(3));
    std::tie(words_, longs_, predicates_) = kept;
    const int by = up || many ? static_cast<int>(step) : -static_cast<int>(step);
    line(fmt::format("add.s32 {0}, {0}, {1};", count, by));
    if (many)
      line(fmt::format("setp.lt.s32 {}, {}, {};", more, count, 300 + below(500)));
    else
      line(fmt::format("setp.{} {}, {}, {};", up ? kUp[how] : kDown[how], more, count, limit));
    line(fmt::format("@{} bra LOOP{};", more, number));
  }

  std::mt19937 random_;
  std::string body_;
  Names words_, longs_, predicates_;
  unsigned r_ = 0, d_ = 0, p_ = 0, label_ = 0;
  bool inside_ = false;
};

}  // namespace

std::string random_kernel(unsigned seed) { return Generator(seed).text(); }

}  // namespace lockstep::lower::test
