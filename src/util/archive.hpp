// State of a simulation as bytes, written and read by the same code.
//
// A component names its members once, in the order of their declaration:
//
//   template <class A>
//   void persist(A& a) {
//     a.members(*this, a.given(config_), tags_, next_);
//   }
//
// given() is for what its constructor makes from the configuration, and for what is empty or of no meaning
// where states are kept. Members that are left out change the layout that members() expects, so most
// omissions do not compile, or throw std::logic_error; a small member in what would be padding can slip
// through.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "util/archive_fields.hpp"

namespace lockstep {

/// Bytes that end too early or do not fit the state that is to be read. what() says how.
class ArchiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Either collects the bytes of the states that it is given, or fills these from bytes. Values are in the
/// host's representation: bytes are for the same build of the program.
class Archive {
 public:
  Archive() = default;                                                        // writes
  explicit Archive(std::string_view bytes) : reading_(true), left_(bytes) {}  // reads; not owned

  [[nodiscard]] bool reading() const { return reading_; }
  /// What was written.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  /// Whether everything has been read.
  [[nodiscard]] bool at_end() const { return left_.empty(); }

  template <class... T>
  void operator()(T&... values) {
    (item(values), ...);
  }

  /// A word that must be there again when the state is read: parts that do not fit are found where they
  /// begin.
  void section(std::string_view name);

  template <class T>
  [[nodiscard]] static ArchiveGiven<T> given(T& object) {
    return {&object};
  }
  [[nodiscard]] static ArchiveReference reference() { return {}; }

  /// A pointer to one of `all`.
  template <class T, class Range>
  void choice(const T*& chosen, const Range& all) {
    std::uint64_t index = 0;
    while (index < all.size() && all[index] != chosen) ++index;
    raw(&index, sizeof index);
    if (index >= all.size()) throw ArchiveError("a policy is not known");
    chosen = all[index];
  }

  /// All data members of `self`, in the order of their declaration.
  template <class Self, class... M>
  void members(Self& self, M&&... members) {
    static_assert(std::is_polymorphic_v<Self> || archive_detail::size_with<Self, M...>() == sizeof(Self),
                  "persist() does not name every member in the order of declaration");
    std::size_t offset = 0;
    (check(self, members, offset), ...);
    if (archive_detail::aligned(offset, alignof(Self)) != sizeof(Self)) complain();
    (member(members), ...);
  }

 private:
  /// In a polymorphic class, the first member shows where those of its bases end.
  template <class Self, class M>
  static void check(const Self& self, const M& member, std::size_t& offset) {
    using Type = typename archive_detail::MemberOf<M>::Type;
    offset = archive_detail::aligned(offset, alignof(Type));
    if constexpr (!std::is_same_v<M, ArchiveReference>) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(archive_detail::address_of(member)) -
                                               static_cast<const char*>(archive_detail::address_of(self)));
      if (std::is_polymorphic_v<Self> && offset == 0 && at <= 2 * sizeof(void*)) offset = at;
      if (at != offset) complain();
    }
    offset += sizeof(Type);
  }
  [[noreturn]] static void complain();

  template <class M>
  void member(M& member) {
    if constexpr (archive_detail::MemberOf<M>::kKept) item(member);
  }

  void raw(void* data, std::size_t bytes);
  [[nodiscard]] std::size_t count(std::size_t size, std::size_t min_bytes);

  template <class T>
  requires(is_plain<T>) void item(T& value) { raw(&value, sizeof value); }
  template <class T>
  requires(!is_plain<T>) void item(T& value) { value.persist(*this); }
  template <class T, std::size_t n>
  requires(!is_plain<T>) void item(T (&values)[n]) {
    for (T& value : values) item(value);
  }
  template <class T, std::size_t n>
  requires(!is_plain<std::array<T, n>>) void item(std::array<T, n>& values) {
    for (T& value : values) item(value);
  }
  template <class A, class B>
  void item(std::pair<A, B>& pair) {
    item(pair.first);
    item(pair.second);
  }
  template <class T>
  void item(std::optional<T>& value) {
    bool there = value.has_value();
    item(there);
    if constexpr (std::is_default_constructible_v<T>) {
      if (reading_ && there != value.has_value()) there ? (void)value.emplace() : value.reset();
    } else if (there != value.has_value()) {
      throw ArchiveError("a component is missing");
    }
    if (there) item(*value);
  }
  /// The object is there, or not, in both states, where it cannot be made.
  template <class T>
  void item(std::unique_ptr<T>& value) {
    bool there = value != nullptr;
    item(there);
    if (there != (value != nullptr)) {
      if constexpr (std::is_default_constructible_v<T>) {
        value = there ? std::make_unique<T>() : nullptr;
      } else {
        throw ArchiveError("a component is missing");
      }
    }
    if (there) item(*value);
  }
  void item(bool& value);
  void item(std::string& text);
  void item(std::vector<bool>& bits);
  template <class T, class Allocator>
  void item(std::vector<T, Allocator>& values) {
    if constexpr (std::is_default_constructible_v<T>) {
      values.resize(count(values.size(), is_plain<T> ? sizeof(T) : 1));
    } else if (count(values.size(), 1) != values.size()) {
      throw ArchiveError("a component is missing");
    }
    if constexpr (is_plain<T>) {
      raw(values.data(), values.size() * sizeof(T));
    } else {
      for (T& value : values) item(value);
    }
  }
  template <class T>
  void item(std::deque<T>& values) {
    const std::size_t size = count(values.size(), 1);
    if constexpr (std::is_default_constructible_v<T>) {
      values.resize(size);
    } else if (size != values.size()) {
      throw ArchiveError("a component is missing");
    }
    for (T& value : values) item(value);
  }
  template <class T, class Container, class Compare>
  void item(std::priority_queue<T, Container, Compare>& queue) {
    struct Open : std::priority_queue<T, Container, Compare> {
      static Container& of(std::priority_queue<T, Container, Compare>& q) { return q.*&Open::c; }
    };
    item(Open::of(queue));
  }
  template <class K, class V, class C>
  void item(std::map<K, V, C>& map) {
    keyed<K, V>(map);
  }
  template <class K, class V, class C>
  void item(std::multimap<K, V, C>& map) {
    keyed<K, V>(map);
  }
  template <class K, class V>
  void item(std::unordered_map<K, V>& map) {
    keyed<K, V>(map);
  }
  template <class K, class C>
  void item(std::set<K, C>& set) {
    keys<K>(set);
  }
  template <class K>
  void item(std::unordered_set<K>& set) {
    keys<K>(set);
  }
  template <class K, class V, class Map>
  void keyed(Map& map) {
    std::size_t left = count(map.size(), 1);
    if (!reading_) {
      for (auto& [key, value] : map) {
        K copy = key;
        (*this)(copy, value);
      }
      return;
    }
    for (map.clear(); left > 0; --left) {
      std::pair<K, V> entry;
      item(entry);
      map.insert(std::move(entry));
    }
  }
  template <class K, class Set>
  void keys(Set& set) {
    std::size_t left = count(set.size(), 1);
    if (!reading_) {
      for (K key : set) item(key);
      return;
    }
    for (set.clear(); left > 0; --left) {
      K key;
      item(key);
      set.insert(std::move(key));
    }
  }

  bool reading_ = false;
  std::string bytes_;
  std::string_view left_;
};

}  // namespace lockstep
