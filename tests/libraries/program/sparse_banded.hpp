#pragma once

// Systems with three or five diagonals: each matrix times its solution is the right-hand side.
#include <memory>

#include "sparse_support.hpp"

#define LOCKSTEP_BANDED_CALLS(structure, letter, T)                                      \
  struct structure {                                                                     \
    using Value = T;                                                                     \
    static constexpr auto& size3 = cusparse##letter##gtsvInterleavedBatch_bufferSizeExt; \
    static constexpr auto& solve3 = cusparse##letter##gtsvInterleavedBatch;              \
    static constexpr auto& size5 = cusparse##letter##gpsvInterleavedBatch_bufferSizeExt; \
    static constexpr auto& solve5 = cusparse##letter##gpsvInterleavedBatch;              \
  };
LOCKSTEP_BANDED_CALLS(BandedFloat, S, float)
LOCKSTEP_BANDED_CALLS(BandedDouble, D, double)
#undef LOCKSTEP_BANDED_CALLS

template <class Calls>
void check_banded(const Library& library, Random& random) {
  using T = typename Calls::Value;
  set_mode(library, random);
  const int side = 1 + random.below(2), width = 2 * side + 1;
  const int size = 1 + random.below(60), systems = 1 + random.below(300);
  const auto count = static_cast<std::size_t>(size) * static_cast<std::size_t>(systems);
  // Small main diagonals ask for row exchanges. What is outside of the matrix must not matter.
  std::vector<std::vector<T>> diagonals;
  for (int k = 0; k < width; ++k) {
    diagonals.push_back(random_vector<T>(static_cast<int>(count), random));
    for (T& value : diagonals.back()) value *= k == side ? T(0.01) : k == 0 ? T(2) : T(1);
  }
  const auto b = random_vector<T>(static_cast<int>(count), random);
  std::vector<std::unique_ptr<Device<T>>> memory;
  for (const std::vector<T>& one : diagonals) memory.push_back(std::make_unique<Device<T>>(one));
  const Device<T> x(b);
  const auto at = [&](int k) { return memory[static_cast<std::size_t>(k)]->data(); };
  std::size_t bytes = 77;
  expect_success(side == 1
                     ? Calls::size3(library.handle, 0, size, at(0), at(1), at(2), x.data(), systems, &bytes)
                     : Calls::size5(library.handle, 0, size, at(0), at(1), at(2), at(3), at(4), x.data(),
                                    systems, &bytes),
                 "the size for banded systems");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(side == 1 ? Calls::solve3(library.handle, random.below(3), size, at(0), at(1), at(2),
                                           x.data(), systems, buffer.data())
                           : Calls::solve5(library.handle, 0, size, at(0), at(1), at(2), at(3), at(4),
                                           x.data(), systems, buffer.data()),
                 "banded systems");
  const std::vector<T> solution = x.get();
  double off = 0;
  for (int s = 0; s < systems; ++s) {
    const auto place = [&](int i) {
      return static_cast<std::size_t>(i) * static_cast<std::size_t>(systems) + static_cast<std::size_t>(s);
    };
    double largest = 1;
    for (int i = 0; i < size; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(solution[place(i)])));
    for (int i = 0; i < size; ++i) {
      double sum = -static_cast<double>(b[place(i)]);
      for (int k = 0; k < width; ++k)
        if (const int j = i + k - side; j >= 0 && j < size)
          sum += static_cast<double>(diagonals[static_cast<std::size_t>(k)][place(i)]) *
                 static_cast<double>(solution[place(j)]);
      // Elimination with row exchanges is backward stable: the remainder is small beside the solution.
      off = std::max(off, std::abs(sum) / largest);
    }
  }
  expect(off < precision<T>(), "banded systems: off by " + std::to_string(off));
}
