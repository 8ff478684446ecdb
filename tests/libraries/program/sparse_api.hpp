#pragma once

// cuSPARSE, as NVIDIA's header declares it, or as far as it is used here.
#ifdef LOCKSTEP_NVIDIA_HEADERS
#include <cusparse.h>
#else
#include <cstdint>

extern "C" {
using cusparseHandle_t = struct cusparseContext*;
using cusparseSpVecDescr_t = struct cusparseSpVecDescr*;
using cusparseDnVecDescr_t = struct cusparseDnVecDescr*;
using cusparseSpMatDescr_t = struct cusparseSpMatDescr*;
using cusparseDnMatDescr_t = struct cusparseDnMatDescr*;
using cusparseSpSVDescr_t = struct cusparseSpSVDescr*;
using cusparseSpSMDescr_t = struct cusparseSpSMDescr*;
using cusparseSpGEMMDescr_t = struct cusparseSpGEMMDescr*;
using cusparseMatDescr_t = struct cusparseMatDescr*;
using csrilu02Info_t = struct csrilu02Info*;
using csric02Info_t = struct csric02Info*;
enum cusparseStatus_t : int {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_ZERO_PIVOT = 9,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10,
};
enum cusparsePointerMode_t : int { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 };
enum cusparseOperation_t : int { CUSPARSE_OPERATION_NON_TRANSPOSE = 0 };
enum cusparseIndexType_t : int { CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };
enum cusparseIndexBase_t : int { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 };
enum cusparseMatrixType_t : int { CUSPARSE_MATRIX_TYPE_GENERAL = 0, CUSPARSE_MATRIX_TYPE_HERMITIAN = 2 };
enum cusparseFillMode_t : int { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 };
enum cusparseDiagType_t : int { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 };
enum cusparseSolvePolicy_t : int { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 };
enum cusparseDenseToSparseAlg_t : int { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 };
enum cusparseSpGEMMAlg_t : int { CUSPARSE_SPGEMM_DEFAULT = 0, CUSPARSE_SPGEMM_ALG3 = 5 };
enum cusparseSDDMMAlg_t : int { CUSPARSE_SDDMM_ALG_DEFAULT = 0 };
enum cusparseOrder_t : int { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseSpMatAttribute_t : int { CUSPARSE_SPMAT_FILL_MODE = 0, CUSPARSE_SPMAT_DIAG_TYPE = 1 };
enum cusparseSpMVAlg_t : int { CUSPARSE_SPMV_ALG_DEFAULT = 0 };
enum cusparseSpMMAlg_t : int { CUSPARSE_SPMM_ALG_DEFAULT = 0 };
enum cusparseSpSVAlg_t : int { CUSPARSE_SPSV_ALG_DEFAULT = 0 };
enum cusparseSpSMAlg_t : int { CUSPARSE_SPSM_ALG_DEFAULT = 0 };
enum cusparseSparseToDenseAlg_t : int { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 };
enum cusparseCsr2CscAlg_t : int { CUSPARSE_CSR2CSC_ALG1 = 1 };
enum cusparseAction_t : int { CUSPARSE_ACTION_NUMERIC = 1 };
enum cudaDataType : int { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_C_32F = 4, CUDA_C_64F = 5 };

cusparseStatus_t cusparseCreate(cusparseHandle_t*);
cusparseStatus_t cusparseDestroy(cusparseHandle_t);
cusparseStatus_t cusparseSetStream(cusparseHandle_t, cudaStream_t);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t, cusparsePointerMode_t);
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t*, int64_t, int64_t, void*, void*,
                                     cusparseIndexType_t, cusparseIndexBase_t, cudaDataType);
cusparseStatus_t cusparseDestroySpVec(const cusparseSpVecDescr*);
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t*, int64_t, void*, cudaDataType);
cusparseStatus_t cusparseDestroyDnVec(const cusparseDnVecDescr*);
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t*, int64_t, int64_t, int64_t, void*, cudaDataType,
                                     cusparseOrder_t);
cusparseStatus_t cusparseDestroyDnMat(const cusparseDnMatDescr*);
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t, int, int64_t);
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t*, int64_t, int64_t, int64_t, void*, void*, void*,
                                   cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t,
                                   cudaDataType);
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t*, int64_t, int64_t, int64_t, void*, void*, void*,
                                   cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t,
                                   cudaDataType);
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t*, int64_t, int64_t, int64_t, void*, void*, void*,
                                   cusparseIndexType_t, cusparseIndexBase_t, cudaDataType);
cusparseStatus_t cusparseDestroySpMat(const cusparseSpMatDescr*);
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t, cusparseSpMatAttribute_t, void*, size_t);
cusparseStatus_t cusparseSpMatGetSize(const cusparseSpMatDescr*, int64_t*, int64_t*, int64_t*);
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                         const cusparseSpMatDescr*, const cusparseDnVecDescr*, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, size_t*);
cusparseStatus_t cusparseSpMV(cusparseHandle_t, cusparseOperation_t, const void*, const cusparseSpMatDescr*,
                              const cusparseDnVecDescr*, const void*, cusparseDnVecDescr_t, cudaDataType,
                              cusparseSpMVAlg_t, void*);
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                         const void*, const cusparseSpMatDescr*, const cusparseDnMatDescr*,
                                         const void*, cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t,
                                         size_t*);
cusparseStatus_t cusparseSpMM(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                              const cusparseSpMatDescr*, const cusparseDnMatDescr*, const void*,
                              cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, void*);
cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t*);
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t);
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                         const cusparseSpMatDescr*, const cusparseDnVecDescr*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                         cusparseSpSVDescr_t, size_t*);
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t, cusparseOperation_t, const void*,
                                       const cusparseSpMatDescr*, const cusparseDnVecDescr*,
                                       cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                       cusparseSpSVDescr_t, void*);
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t, cusparseOperation_t, const void*,
                                    const cusparseSpMatDescr*, const cusparseDnVecDescr*,
                                    cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                    cusparseSpSVDescr_t);
cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t*);
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t);
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                       const void*, const cusparseSpMatDescr*, const cusparseDnMatDescr*,
                                       cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                       cusparseSpSMDescr_t, void*);
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                    const cusparseSpMatDescr*, const cusparseDnMatDescr*,
                                    cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t);
cusparseStatus_t cusparseAxpby(cusparseHandle_t, const void*, const cusparseSpVecDescr*, const void*,
                               cusparseDnVecDescr_t);
cusparseStatus_t cusparseGather(cusparseHandle_t, const cusparseDnVecDescr*, cusparseSpVecDescr_t);
cusparseStatus_t cusparseScatter(cusparseHandle_t, const cusparseSpVecDescr*, cusparseDnVecDescr_t);
cusparseStatus_t cusparseSpVV(cusparseHandle_t, cusparseOperation_t, const cusparseSpVecDescr*,
                              const cusparseDnVecDescr*, void*, cudaDataType, void*);
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t, const int*, int, int, int*, cusparseIndexBase_t);
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t, const int*, int, int, int*, cusparseIndexBase_t);
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t, int, int, int, int*, int*, int*, void*);
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t, int, int, int, int*, int*, int*, void*);
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t, int, int, int, const void*, const int*, const int*,
                                    void*, int*, int*, cudaDataType, cusparseAction_t, cusparseIndexBase_t,
                                    cusparseCsr2CscAlg_t, void*);
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t, const cusparseSpMatDescr*, cusparseDnMatDescr_t,
                                       cusparseSparseToDenseAlg_t, void*);
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t, void**);
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t, void*, void*, void*);
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t, void*, void*, void*);
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t, void*, void*, void*);
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t, int, int64_t, int64_t);
cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t*);
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t);
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t, cusparseMatrixType_t);
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t, cusparseIndexBase_t);
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t, cusparseFillMode_t);
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t, cusparseDiagType_t);
cusparseMatrixType_t cusparseGetMatType(cusparseMatDescr_t);
cusparseIndexBase_t cusparseGetMatIndexBase(cusparseMatDescr_t);
cusparseFillMode_t cusparseGetMatFillMode(cusparseMatDescr_t);
cusparseDiagType_t cusparseGetMatDiagType(cusparseMatDescr_t);
#define LOCKSTEP_FACTORS(letter, name, T)                                                                  \
  cusparseStatus_t cusparse##letter##name##_bufferSize(cusparseHandle_t, int, int, cusparseMatDescr_t, T*, \
                                                       const int*, const int*, name##Info_t, int*);        \
  cusparseStatus_t cusparse##letter##name##_analysis(cusparseHandle_t, int, int, cusparseMatDescr_t,       \
                                                     const T*, const int*, const int*, name##Info_t,       \
                                                     cusparseSolvePolicy_t, void*);                        \
  cusparseStatus_t cusparse##letter##name(cusparseHandle_t, int, int, cusparseMatDescr_t, T*, const int*,  \
                                          const int*, name##Info_t, cusparseSolvePolicy_t, void*);
LOCKSTEP_FACTORS(S, csrilu02, float)
LOCKSTEP_FACTORS(D, csrilu02, double)
LOCKSTEP_FACTORS(S, csric02, float)
LOCKSTEP_FACTORS(D, csric02, double)
#undef LOCKSTEP_FACTORS
cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t*);
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t);
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t, csrilu02Info_t, int*);
cusparseStatus_t cusparseDcsrilu02_numericBoost(cusparseHandle_t, csrilu02Info_t, int, double*, double*);
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t*);
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t);
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t, csric02Info_t, int*);
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t, const cusparseDnMatDescr*,
                                                  cusparseSpMatDescr_t, cusparseDenseToSparseAlg_t, size_t*);
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t, const cusparseDnMatDescr*,
                                                cusparseSpMatDescr_t, cusparseDenseToSparseAlg_t, void*);
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t, const cusparseDnMatDescr*,
                                               cusparseSpMatDescr_t, cusparseDenseToSparseAlg_t, void*);
cusparseStatus_t cusparseSDDMM(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                               const cusparseDnMatDescr*, const cusparseDnMatDescr*, const void*,
                               cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t, void*);
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t*);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t);
#define LOCKSTEP_SPGEMM(name, ...)                                                                        \
  cusparseStatus_t cusparseSpGEMM_##name(                                                                 \
      cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*, const cusparseSpMatDescr*, \
      const cusparseSpMatDescr*, const void*, cusparseSpMatDescr_t, cudaDataType, cusparseSpGEMMAlg_t,    \
      cusparseSpGEMMDescr_t __VA_OPT__(, ) __VA_ARGS__);
LOCKSTEP_SPGEMM(workEstimation, size_t*, void*)
LOCKSTEP_SPGEMM(estimateMemory, float, size_t*, void*, size_t*)
LOCKSTEP_SPGEMM(compute, size_t*, void*)
LOCKSTEP_SPGEMM(copy)
#undef LOCKSTEP_SPGEMM
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t, int64_t*);
#define LOCKSTEP_SPGEMM_REUSE(name, ...)                                                                  \
  cusparseStatus_t cusparseSpGEMMreuse_##name(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, \
                                              const cusparseSpMatDescr*, const cusparseSpMatDescr*,       \
                                              cusparseSpMatDescr_t, cusparseSpGEMMAlg_t,                  \
                                              cusparseSpGEMMDescr_t, __VA_ARGS__);
LOCKSTEP_SPGEMM_REUSE(workEstimation, size_t*, void*)
LOCKSTEP_SPGEMM_REUSE(nnz, size_t*, void*, size_t*, void*, size_t*, void*)
LOCKSTEP_SPGEMM_REUSE(copy, size_t*, void*)
#undef LOCKSTEP_SPGEMM_REUSE
cusparseStatus_t cusparseSpGEMMreuse_compute(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                             const void*, const cusparseSpMatDescr*,
                                             const cusparseSpMatDescr*, const void*, cusparseSpMatDescr_t,
                                             cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t);
#define LOCKSTEP_BANDED(letter, T)                                                                           \
  cusparseStatus_t cusparse##letter##gtsvInterleavedBatch_bufferSizeExt(                                     \
      cusparseHandle_t, int, int, const T*, const T*, const T*, const T*, int, size_t*);                     \
  cusparseStatus_t cusparse##letter##gtsvInterleavedBatch(cusparseHandle_t, int, int, T*, T*, T*, T*, int,   \
                                                          void*);                                            \
  cusparseStatus_t cusparse##letter##gpsvInterleavedBatch_bufferSizeExt(                                     \
      cusparseHandle_t, int, int, const T*, const T*, const T*, const T*, const T*, const T*, int, size_t*); \
  cusparseStatus_t cusparse##letter##gpsvInterleavedBatch(cusparseHandle_t, int, int, T*, T*, T*, T*, T*,    \
                                                          T*, int, void*);
LOCKSTEP_BANDED(S, float)
LOCKSTEP_BANDED(D, double)
#undef LOCKSTEP_BANDED
}
#endif
