// Which values an Archive may keep as the bytes that they are in memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace lockstep {

class Archive;

namespace archive_detail {

template <class T>
[[nodiscard]] consteval bool plain();

/// Stands for the initialiser of any field; throws, as far as the compiler knows, where the field is not
/// plain.
struct AnyField {
  template <class T>
  operator T() const noexcept(plain<T>());  // NOLINT(google-explicit-constructor): that is what it is for
};

inline constexpr std::size_t kMaxFields = 128;

template <class T, std::size_t... i>
[[nodiscard]] consteval bool takes(std::index_sequence<i...>) {
  return requires { T{(static_cast<void>(i), AnyField{})...}; };
}
template <class T, std::size_t... i>
[[nodiscard]] consteval bool all_plain(std::index_sequence<i...>) {
  return noexcept(T{(static_cast<void>(i), AnyField{})...});
}
/// Initialisers that an aggregate takes.
template <class T, std::size_t n = 0>
[[nodiscard]] consteval std::size_t fields() {
  if constexpr (n > kMaxFields || !takes<T>(std::make_index_sequence<n + 1>())) {
    return n;
  } else {
    return fields<T, n + 1>();
  }
}

template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t n>
struct IsArray<std::array<T, n>> : std::true_type {};

template <class T>
[[nodiscard]] consteval bool plain() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return true;
  } else if constexpr (std::is_array_v<T>) {
    return plain<std::remove_extent_t<T>>();
  } else if constexpr (IsArray<T>::value) {
    return plain<typename T::value_type>();
  } else if constexpr (!std::is_class_v<T> || !std::is_trivially_copyable_v<T>) {
    return false;
  } else if constexpr (requires { T::kPlain; }) {
    return T::kPlain;
  } else if constexpr (requires(T & value, Archive & a) { value.persist(a); }) {
    return false;
  } else if constexpr (std::is_empty_v<T>) {
    return true;
  } else if constexpr (std::is_aggregate_v<T>) {
    return fields<T>() <= kMaxFields && all_plain<T>(std::make_index_sequence<fields<T>()>());
  } else {
    return false;
  }
}

}  // namespace archive_detail

/// Numbers, and what is made of numbers alone: arrays, aggregates, and classes that say so (kPlain, a
/// constant). Nothing with a pointer.
template <class T>
inline constexpr bool is_plain = archive_detail::plain<T>();

/// A member of a class that is not kept: its constructor makes it.
template <class T>
struct ArchiveGiven {
  T* object;
};
/// A member that is a reference.
struct ArchiveReference {};

namespace archive_detail {

template <class M>
struct Member {
  using Type = M;
  static constexpr bool kKept = true;
};
template <class T>
struct Member<ArchiveGiven<T>> {
  using Type = T;
  static constexpr bool kKept = false;
};
template <>
struct Member<ArchiveReference> {
  using Type = void*;
  static constexpr bool kKept = false;
};
template <class M>
using MemberOf = Member<std::remove_cvref_t<M>>;

[[nodiscard]] constexpr std::size_t aligned(std::size_t offset, std::size_t to) {
  return (offset + to - 1) / to * to;
}
/// The size of a class that has these members and nothing else.
template <class Self, class... M>
[[nodiscard]] consteval std::size_t size_with() {
  std::size_t offset = 0;
  ((offset = aligned(offset, alignof(typename MemberOf<M>::Type)) + sizeof(typename MemberOf<M>::Type)), ...);
  return aligned(offset, alignof(Self));
}

template <class T>
[[nodiscard]] const void* address_of(const T& object) {
  return std::addressof(object);
}
template <class T>
[[nodiscard]] const void* address_of(const ArchiveGiven<T>& given) {
  return given.object;
}

}  // namespace archive_detail
}  // namespace lockstep
