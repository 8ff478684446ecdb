// Which of Lockstep's libraries has a function of CUDA's.
#pragma once

#include <string_view>

namespace lockstep::cuda {

struct Replacement {
  std::string_view prefix;          // of the functions' names
  std::string_view cuda13, cuda12;  // file names
};

/// The first that fits counts.
inline constexpr Replacement kReplacements[] = {
    {"cuda", "libcudart.so.13", "libcudart.so.12"},
    {"__cuda", "libcudart.so.13", "libcudart.so.12"},
    {"cublasLt", "libcublasLt.so.13", "libcublasLt.so.12"},
    {"cublas", "libcublas.so.13", "libcublas.so.12"},
    {"cufft", "libcufft.so.12", "libcufft.so.11"},
    {"curand", "libcurand.so.10", "libcurand.so.10"},
    {"cusolver", "libcusolver.so.12", "libcusolver.so.11"},
    {"cusparse", "libcusparse.so.12", "libcusparse.so.12"},
    {"cudnn", "libcudnn.so.9", "libcudnn.so.9"},
};

/// What is behind the prefix: cublas_kernel and cudartError are no functions of CUDA's.
[[nodiscard]] constexpr bool starts_word(std::string_view rest) {
  return !rest.empty() && rest.front() >= 'A' && rest.front() <= 'Z';
}

/// The file name of the library that has `function`, for an object of the file name `object`: a program, or
/// NVIDIA's library. Empty: there is none.
[[nodiscard]] constexpr std::string_view replacement_of(std::string_view function, std::string_view object) {
  for (const Replacement& one : kReplacements)
    if (function.starts_with(one.prefix) && starts_word(function.substr(one.prefix.size())))
      return one.cuda12 != one.cuda13 && object.starts_with(one.cuda12) ? one.cuda12 : one.cuda13;
  return {};
}

/// Is the file one of NVIDIA's libraries, whose exported functions are replaced? NCCL and the image libraries
/// are among them, too, but have no functions that are.
[[nodiscard]] constexpr bool is_nvidias(std::string_view object) {
  constexpr std::string_view kLibraries[] = {"libcudart.so", "libcublas",   "libcudnn",    "libcufft",
                                             "libcurand",    "libcusolver", "libcusparse", "libnccl",
                                             "libnpp",       "libnvjpeg"};
  for (const std::string_view name : kLibraries)
    if (object.starts_with(name)) return true;
  return false;
}

}  // namespace lockstep::cuda
