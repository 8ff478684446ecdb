// Kernel names for people: demangled, and shortened so that different kernels stay different.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lockstep::stats {

/// The function behind a kernel's name, mangled or not, without its result type and parameters:
/// "_Z5scaleIfEvPT_" and "void scale<float>(float*)" are "scale<float>". Printable.
[[nodiscard]] std::string function_name(std::string_view name);

/// One label of at most `width` characters (at least 8) for each of `names`. What is too long loses its
/// namespaces first, then a function that only calls its template argument ("~ParallelFor<Alpha>" for Kokkos'
/// launches), then parts that others have too; "~" marks what is left out. Different names have different
/// labels: those of overloaded functions show parameters, and where nothing else helps a number follows
/// ("scale#2").
[[nodiscard]] std::vector<std::string> kernel_labels(std::span<const std::string> names, std::size_t width);

/// The same for names that may be there several times, by name.
[[nodiscard]] std::unordered_map<std::string, std::string> labels_by_name(std::span<const std::string> names,
                                                                          std::size_t width);

/// The label of one name by itself.
[[nodiscard]] std::string short_name(std::string_view name, std::size_t width);

}  // namespace lockstep::stats
