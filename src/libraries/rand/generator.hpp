// What a curandGenerator_t stands for.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "libraries/common/driver.hpp"
#include "libraries/rand/abi.hpp"
#include "libraries/rand/distributions.hpp"
#include "libraries/rand/poisson.hpp"

namespace lockstep::libraries::rand {

/// An error that has a status of cuRAND's own.
struct Refused {
  Status status;
};

enum class Distribution {
#define X(name, distribution) name,
  LOCKSTEP_RAND_DISTRIBUTIONS(X)
#undef X
};

/// As the distribution's kernels and functions are called, and what they turn into what.
struct DistributionTraits {
  const char* name;
  Word words, values;
};
[[nodiscard]] DistributionTraits traits_of(Distribution distribution);

class Generator {
 public:
  /// Throws Error for a type that is not supported.
  Generator(int type, bool on_host);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  void set_seed(Long seed);
  void set_offset(Long offset);
  void set_dimensions(Word dimensions);
  void set_stream(Stream stream);
  [[nodiscard]] bool is_quasi() const { return type_ == kSobol32; }
  /// As at the first use.
  void prepare();
  void generate(Distribution distribution, Job job);
  void generate_poisson(Word* out, Long count, double mean);

 private:
  void restart();
  void prepare_states();
  [[nodiscard]] Word next_of_twister();
  void advance(Long groups, Word words);
  void generate_on_host(Distribution distribution, const Job& job);
  void generate_on_device(Distribution distribution, const Job& job);
  void generate_points(Distribution distribution, const Job& job);
  const double* table_for(double mean);

  std::mutex mutex_;
  const int type_;
  const bool on_host_;
  int device_ = 0;
  Stream stream_ = nullptr;
  Long seed_ = 0, offset_ = 0;
  bool ready_ = false;
  Long position_ = 0;  // Philox: the next word; Sobol: the next point
  Word cursor_ = 0;    // others: the next stream, or of MT19937 the next word of the block
  Word dimensions_ = 1;
  std::vector<Xorwow> xorwow_;
  std::vector<Mrg32k3a> mrg32k3a_;
  std::vector<Word> twister_;
  void* states_ = nullptr;  // on the device; Sobol: direction numbers
  double tabulated_ = 0;    // the mean of the table, or 0
  PoissonTable table_;
  void* device_table_ = nullptr;
};

}  // namespace lockstep::libraries::rand
