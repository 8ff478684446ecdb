#include "libraries/rand/generator.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "libraries/common/kernels.hpp"
#include "libraries/rand/directions.hpp"
#include "libraries/rand/seeding.hpp"
#include "libraries/rand/sobol.hpp"

namespace lockstep::libraries::rand {

std::string_view embedded_ptx(std::string_view file);

namespace {

constexpr Word kThreads = 256;
constexpr Long kBlocks = 1024;  // at most, of kernels that count

Kernels& kernels() {
  static auto& all = *new Kernels(embedded_ptx("rand"));
  return all;
}
Kernels& sobol_kernels() {
  static auto& all = *new Kernels(embedded_ptx("sobol"));
  return all;
}

void upload(void** memory, const void* values, std::size_t bytes, Stream stream) {
  if (*memory == nullptr) check(runtime().cudaMalloc(memory, bytes), "curand: memory for a generator");
  check(runtime().cudaMemcpyAsync(*memory, values, bytes, kHostToDevice, stream),
        "curand: copying a generator's state");
  check(runtime().cudaStreamSynchronize(stream), "curand: copying a generator's state");
}

template <class D>
constexpr DistributionTraits make_traits(const char* name) {
  return {name, D::kWords, D::kValues};
}
template <class D, class Words>
void fill(const Job& job, Words&& words_of) {
  auto* const out = static_cast<typename D::Value*>(job.out);
  for (Long group = 0; group * D::kValues < job.count; ++group) {
    Word words[4] = {};
    words_of(group, words);
    typename D::Value values[D::kValues];
    D::make(job, words, values);
    for (Long i = 0; i < D::kValues && group * D::kValues + i < job.count; ++i)
      out[group * D::kValues + i] = values[i];
  }
}

template <class Words>
void fill(Distribution distribution, const Job& job, Words&& words_of) {
  switch (distribution) {
#define X(name, type)      \
  case Distribution::name: \
    return fill<type>(job, words_of);
    LOCKSTEP_RAND_DISTRIBUTIONS(X)
#undef X
  }
}

/// Points of all dimensions, those of the first one first.
template <class D>
void fill_points(const Job& job, Word first, Long points) {
  auto* const out = static_cast<typename D::Value*>(job.out);
  for (Long i = 0; i < job.count; ++i) {
    const Word word =
        sobol_point(&sobol_directions()[i / points * kWordBits], first + static_cast<Word>(i % points));
    D::make(job, &word, out + i);
  }
}

void fill_points(Distribution distribution, const Job& job, Word first, Long points) {
  switch (distribution) {
#define X(name, type)      \
  case Distribution::name: \
    return fill_points<type>(job, first, points);
    LOCKSTEP_RAND_QUASI_DISTRIBUTIONS(X)
#undef X
  }
}

int resolved(int type) { return type == kDefault ? kXorwow : type == kQuasiDefault ? kSobol32 : type; }

}  // namespace

DistributionTraits traits_of(Distribution distribution) {
  static constexpr DistributionTraits traits[] = {
#define X(name, distribution) make_traits<distribution>(#name),
      LOCKSTEP_RAND_DISTRIBUTIONS(X)
#undef X
  };
  return traits[static_cast<int>(distribution)];
}

Generator::Generator(int type, bool on_host) : type_(resolved(type)), on_host_(on_host) {
  if (type_ != kXorwow && type_ != kMrg32k3a && type_ != kPhilox && type_ != kMt19937 && type_ != kSobol32)
    refuse("curandCreateGenerator: generator type " + std::to_string(type));
  if (!on_host_) check(runtime().cudaGetDevice(&device_), "cudaGetDevice");
}

Generator::~Generator() {
  if (states_ != nullptr) runtime().cudaFree(states_);
  if (device_table_ != nullptr) runtime().cudaFree(device_table_);
}

void Generator::set_seed(Long seed) {
  const std::lock_guard lock(mutex_);
  if (is_quasi()) throw Refused{kTypeError};
  seed_ = seed;
  ready_ = false;
}

void Generator::set_offset(Long offset) {
  if (type_ == kMt19937) throw Refused{kTypeError};
  const std::lock_guard lock(mutex_);
  offset_ = offset;
  ready_ = false;
}

void Generator::set_dimensions(Word dimensions) {
  const std::lock_guard lock(mutex_);
  if (!is_quasi()) throw Refused{kTypeError};
  require(dimensions >= 1 && dimensions <= kLastDimension);
  if (dimensions > kSobolDimensions)
    refuse("curandSetQuasiRandomGeneratorDimensions: " + std::to_string(dimensions) + " dimensions");
  dimensions_ = dimensions;
  ready_ = false;
}

void Generator::set_stream(Stream stream) {
  const std::lock_guard lock(mutex_);
  stream_ = stream;
}

void Generator::prepare() {
  const std::lock_guard lock(mutex_);
  restart();
}

void Generator::restart() {
  position_ = offset_;
  cursor_ = type_ == kMt19937 ? Twister::kWords : static_cast<Word>(offset_ % kStreams);
  if (type_ != kPhilox) prepare_states();
  ready_ = true;
}

void Generator::prepare_states() {
  if (is_quasi()) {
    if (on_host_ || states_ != nullptr) return;
    const OnDevice on(device_);
    const std::vector<Word>& directions = sobol_directions();
    return upload(&states_, directions.data(), directions.size() * sizeof(Word), stream_);
  }
  if (type_ == kXorwow) {
    xorwow_ = xorwow_streams(seed_, offset_);
  } else if (type_ == kMt19937) {
    twister_ = twister_block(seed_);
  } else {
    mrg32k3a_ = mrg32k3a_streams(seed_, offset_);
  }
  if (on_host_) return;
  static_assert(sizeof(Xorwow) == sizeof(Mrg32k3a));
  const OnDevice on(device_);
  if (type_ == kMt19937) return upload(&states_, twister_.data(), twister_.size() * sizeof(Word), stream_);
  const void* const states = type_ == kXorwow ? static_cast<const void*>(xorwow_.data()) : mrg32k3a_.data();
  upload(&states_, states, kStreams * sizeof(Xorwow), stream_);
}

void Generator::generate(Distribution distribution, Job job) {
  const std::lock_guard lock(mutex_);
  if (job.count == 0) return;
  if (job.out == nullptr) throw Refused{kOutOfRange};
  if (is_quasi() && job.count % dimensions_ != 0) throw Refused{kLengthNotMultiple};
  if (!ready_) restart();
  if (is_quasi()) return generate_points(distribution, job);
  const DistributionTraits traits = traits_of(distribution);
  const Long groups = (job.count + traits.values - 1) / traits.values;
  if (on_host_) {
    generate_on_host(distribution, job);
  } else {
    generate_on_device(distribution, job);
  }
  advance(groups, traits.words);
}

void Generator::advance(Long groups, Word words) {
  position_ += groups * words;
  if (type_ != kMt19937) {
    cursor_ = static_cast<Word>((cursor_ + groups) % kStreams);
  } else if (!on_host_) {
    const Long end = cursor_ + groups * words;  // in the block that its last word is of
    cursor_ = static_cast<Word>((end - 1) % Twister::kWords + 1);
  }
}

Word Generator::next_of_twister() {
  constexpr Word kCount = Twister::kWords;
  if (cursor_ == kCount) {
    for (Word i = 0; i < kCount; ++i)
      twister_[i] =
          Twister::step(twister_[i], twister_[(i + 1) % kCount], twister_[(i + Twister::kDistance) % kCount]);
    cursor_ = 0;
  }
  return Twister::temper(twister_[cursor_++]);
}

void Generator::generate_on_host(Distribution distribution, const Job& job) {
  const Word words = traits_of(distribution).words;
  fill(distribution, job, [&](Long group, Word(&into)[4]) {
    const auto stream = static_cast<std::size_t>((cursor_ + group) % kStreams);
    if (type_ == kPhilox) {
      Philox::four(seed_, position_ + group * words, into);
    } else if (type_ == kMt19937) {
      for (Word i = 0; i < words; ++i) into[i] = next_of_twister();
    } else {
      for (Word i = 0; i < words; ++i)
        into[i] = type_ == kXorwow ? xorwow_[stream].next() : mrg32k3a_[stream].next();
    }
  });
}

void Generator::generate_on_device(Distribution distribution, const Job& job) {
  const OnDevice on(device_);
  const DistributionTraits traits = traits_of(distribution);
  const std::string kernel = std::string("lockstep_rand_") +
                             (type_ == kPhilox    ? "philox_"
                              : type_ == kXorwow  ? "xorwow_"
                              : type_ == kMt19937 ? "mt19937_"
                                                  : "mrg32k3a_") +
                             traits.name;
  if (type_ == kPhilox) {
    const Long threads = (job.count * traits.words / traits.values + 3) / 4 + 1;
    const auto blocks = static_cast<Word>(std::min(kBlocks, (threads + kThreads - 1) / kThreads));
    kernels().launch(kernel.c_str(), {blocks, 1, 1}, {kThreads, 1, 1}, 0, stream_, job, seed_, position_);
  } else if (type_ == kMt19937) {
    kernels().launch(kernel.c_str(), {1, 1, 1}, {kThreads, 1, 1}, 0, stream_, job, states_, cursor_);
  } else {
    kernels().launch(kernel.c_str(), {kStreams / kThreads, 1, 1}, {kThreads, 1, 1}, 0, stream_, job, states_,
                     cursor_);
  }
}

void Generator::generate_points(Distribution distribution, const Job& job) {
  const Long points = job.count / dimensions_;
  const auto first = static_cast<Word>(position_);
  position_ += points;
  if (on_host_) return fill_points(distribution, job, first, points);
  const OnDevice on(device_);
  constexpr Word kLargestRow = 64;
  Word blocks = 1;
  while (blocks < kLargestRow && Long{blocks} * kThreads < points) blocks *= 2;
  const std::string kernel = std::string("lockstep_rand_sobol_") + traits_of(distribution).name;
  sobol_kernels().launch(kernel.c_str(), {blocks, dimensions_, 1}, {kThreads, 1, 1}, 0, stream_, job, states_,
                         first, points);
}

const double* Generator::table_for(double mean) {
  if (tabulated_ != mean) {
    table_ = poisson_table(mean);
    tabulated_ = mean;
    if (device_table_ != nullptr) check(runtime().cudaFree(device_table_), "curand: freeing a table");
    device_table_ = nullptr;
    const OnDevice on(device_);
    if (!on_host_)
      upload(&device_table_, table_.cumulative.data(), table_.cumulative.size() * sizeof(double), stream_);
  }
  return on_host_ ? table_.cumulative.data() : static_cast<const double*>(device_table_);
}

void Generator::generate_poisson(Word* out, Long count, double mean) {
  constexpr double kLargestMean = 400000;
  if (!(mean > 0) || mean > kLargestMean) throw Refused{kOutOfRange};
  if (mean > kLargestTabulatedMean)
    return generate(Distribution::poisson_normal, {out, count, mean, std::sqrt(mean), nullptr, 0, 0});
  const double* table = nullptr;
  {
    const std::lock_guard lock(mutex_);
    table = table_for(mean);
  }
  generate(Distribution::poisson,
           {out, count, mean, 0, table, table_.first, static_cast<Word>(table_.cumulative.size())});
}

}  // namespace lockstep::libraries::rand
