#pragma once

// cuFFT, as NVIDIA's header declares it, or as far as it is used here.
#ifdef LOCKSTEP_NVIDIA_HEADERS
#include <cufft.h>
#else
extern "C" {
using cufftHandle = int;
struct cufftComplex {
  float x, y;
};
struct cufftDoubleComplex {
  double x, y;
};
enum cufftResult : int {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INVALID_SIZE = 8,
};
enum cufftType : int {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69,
};
cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch);
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist,
                          int* onembed, int ostride, int odist, cufftType type, int batch);
cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes);
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist,
                              int* onembed, int ostride, int odist, cufftType type, int batch, size_t* bytes);
cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* bytes);
cufftResult cufftGetSize(cufftHandle plan, size_t* bytes);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
cufftResult cufftSetWorkArea(cufftHandle plan, void* area);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, float* in, cufftComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, float* out);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
cufftResult cufftExecD2Z(cufftHandle plan, double* in, cufftDoubleComplex* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, double* out);
}
#endif
