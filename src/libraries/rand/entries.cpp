#include "libraries/common/handles.hpp"
#include "libraries/rand/generator.hpp"

#define LOCKSTEP_RAND_API extern "C" __attribute__((visibility("default"))) lockstep::libraries::rand::Status

namespace lockstep::libraries::rand {
namespace {

template <class Body>
Status entry(Body&& body) {
  Status refused = kSuccess;
  const Status status = guarded(&status_of, [&] {
    try {
      body();
    } catch (const Refused& reason) {
      refused = reason.status;
    }
  });
  return status != kSuccess ? status : refused;
}

template <class Body>
Status with_generator(const void* generator, Body&& body) {
  return entry([&] { body(handles<Generator>().get(generator)); });
}

Status create(void** generator, int type, bool on_host) {
  return entry([&] {
    require(generator != nullptr);
    *generator = handles<Generator>().create(type, on_host);
  });
}

Status generate(const void* generator, Distribution distribution, void* out, std::size_t count,
                double mean = 0, double deviation = 0) {
  return with_generator(generator, [&](Generator& on) {
    const bool pairs = !on.is_quasi() && traits_of(distribution).values == 2;
    if (pairs && count % 2 != 0) throw Refused{kLengthNotMultiple};
    on.generate(distribution, {out, count, mean, deviation, nullptr, 0, 0});
  });
}

}  // namespace

LOCKSTEP_RAND_API curandCreateGenerator(void** generator, int type) { return create(generator, type, false); }
LOCKSTEP_RAND_API curandCreateGeneratorHost(void** generator, int type) {
  return create(generator, type, true);
}
LOCKSTEP_RAND_API curandDestroyGenerator(void* generator) {
  return entry([&] { handles<Generator>().destroy(generator); });
}
LOCKSTEP_RAND_API curandSetPseudoRandomGeneratorSeed(void* generator, unsigned long long seed) {
  return with_generator(generator, [&](Generator& on) { on.set_seed(seed); });
}
LOCKSTEP_RAND_API curandSetGeneratorOffset(void* generator, unsigned long long offset) {
  return with_generator(generator, [&](Generator& on) { on.set_offset(offset); });
}
/// Results are in the same order in all of them.
LOCKSTEP_RAND_API curandSetGeneratorOrdering(void* generator, int order) {
  return with_generator(generator, [&](Generator& on) {
    require(on.is_quasi() ? order == kQuasiOrdering : order >= kFirstOrdering && order <= kLastOrdering);
  });
}
LOCKSTEP_RAND_API curandSetStream(void* generator, Stream stream) {
  return with_generator(generator, [&](Generator& on) { on.set_stream(stream); });
}
LOCKSTEP_RAND_API curandSetQuasiRandomGeneratorDimensions(void* generator, unsigned dimensions) {
  return with_generator(generator, [&](Generator& on) { on.set_dimensions(dimensions); });
}
LOCKSTEP_RAND_API curandGenerateSeeds(void* generator) {
  return with_generator(generator, [](Generator& on) { on.prepare(); });
}

LOCKSTEP_RAND_API curandGenerate(void* generator, unsigned* out, std::size_t count) {
  return generate(generator, Distribution::bits, out, count);
}
/// Only quasirandom generators have 64 bits.
LOCKSTEP_RAND_API curandGenerateLongLong(void* generator, unsigned long long*, std::size_t) {
  return with_generator(generator, [](Generator&) { throw Refused{kTypeError}; });
}
LOCKSTEP_RAND_API curandGenerateUniform(void* generator, float* out, std::size_t count) {
  return generate(generator, Distribution::uniform, out, count);
}
LOCKSTEP_RAND_API curandGenerateUniformDouble(void* generator, double* out, std::size_t count) {
  return generate(generator, Distribution::uniform_double, out, count);
}
LOCKSTEP_RAND_API curandGenerateNormal(void* generator, float* out, std::size_t count, float mean,
                                       float deviation) {
  return generate(generator, Distribution::normal, out, count, mean, deviation);
}
LOCKSTEP_RAND_API curandGenerateNormalDouble(void* generator, double* out, std::size_t count, double mean,
                                             double deviation) {
  return generate(generator, Distribution::normal_double, out, count, mean, deviation);
}
LOCKSTEP_RAND_API curandGenerateLogNormal(void* generator, float* out, std::size_t count, float mean,
                                          float deviation) {
  return generate(generator, Distribution::log_normal, out, count, mean, deviation);
}
LOCKSTEP_RAND_API curandGenerateLogNormalDouble(void* generator, double* out, std::size_t count, double mean,
                                                double deviation) {
  return generate(generator, Distribution::log_normal_double, out, count, mean, deviation);
}
LOCKSTEP_RAND_API curandGeneratePoisson(void* generator, unsigned* out, std::size_t count, double mean) {
  return with_generator(generator, [&](Generator& on) { on.generate_poisson(out, count, mean); });
}

LOCKSTEP_RAND_API curandGetVersion(int* version) {
  return entry([&] {
    require(version != nullptr);
    *version = 1000 * kVersion[0] + 100 * kVersion[1] + kVersion[2];
  });
}
LOCKSTEP_RAND_API curandGetProperty(int property, int* value) {
  return entry([&] {
    require(value != nullptr && property >= 0 && property <= 2);
    *value = kVersion[property];
  });
}

}  // namespace lockstep::libraries::rand
