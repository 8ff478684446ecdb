#pragma once

// cuRAND's host functions, as NVIDIA's header declares them, or as far as they are used here.
#ifdef LOCKSTEP_NVIDIA_HEADERS
#include <curand.h>
#else
extern "C" {
using curandGenerator_t = struct curandGenerator_st*;
enum curandStatus_t : int {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
};
enum curandRngType_t : int {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_SOBOL32 = 201,
};
enum curandOrdering_t : int { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_QUASI_DEFAULT = 201 };
curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type);
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions);
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, size_t count);
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* out, size_t count);
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t count);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t count);
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                    float deviation);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t count, double mean,
                                          double deviation);
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                       float deviation);
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t count,
                                             double mean, double deviation);
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* out, size_t count, double mean);
}
#endif
