#include "libraries/sparse/legacy.hpp"

#include "libraries/sparse/descriptors.hpp"

#define LOCKSTEP_SPARSE_GETTER extern "C" __attribute__((visibility("default"))) int

namespace lockstep::libraries::sparse {
namespace {

using Field = int MatrixDescription::*;

Status set(const void* description, Field field, int value, int last) {
  return guarded(&status_of, [&] {
    require(value >= 0 && value <= last);
    described<MatrixDescription>(description).*field = value;
  });
}
/// The default where there is no description: there is no status to give.
int get(const void* description, Field field) {
  int value = MatrixDescription{}.*field;
  (void)guarded(&status_of, [&] { value = described<MatrixDescription>(description).*field; });
  return value;
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseCreateMatDescr(void** description) {
  return guarded(&status_of, [&] {
    require(description != nullptr);
    *description = handles<MatrixDescription>().create();
  });
}
LOCKSTEP_SPARSE_API cusparseDestroyMatDescr(void* description) {
  return guarded(&status_of, [&] {
    (void)described<MatrixDescription>(description);
    handles<MatrixDescription>().destroy(description);
  });
}
LOCKSTEP_SPARSE_API cusparseSetMatType(void* description, int type) {
  return set(description, &MatrixDescription::type, type, kLastMatrixType);
}
LOCKSTEP_SPARSE_API cusparseSetMatIndexBase(void* description, int base) {
  return set(description, &MatrixDescription::base, base, 1);
}
LOCKSTEP_SPARSE_API cusparseSetMatFillMode(void* description, int fill_mode) {
  return set(description, &MatrixDescription::fill_mode, fill_mode, kUpper);
}
LOCKSTEP_SPARSE_API cusparseSetMatDiagType(void* description, int diagonal_type) {
  return set(description, &MatrixDescription::diagonal_type, diagonal_type, kUnit);
}
LOCKSTEP_SPARSE_GETTER cusparseGetMatType(const void* description) {
  return get(description, &MatrixDescription::type);
}
LOCKSTEP_SPARSE_GETTER cusparseGetMatIndexBase(const void* description) {
  return get(description, &MatrixDescription::base);
}
LOCKSTEP_SPARSE_GETTER cusparseGetMatFillMode(const void* description) {
  return get(description, &MatrixDescription::fill_mode);
}
LOCKSTEP_SPARSE_GETTER cusparseGetMatDiagType(const void* description) {
  return get(description, &MatrixDescription::diagonal_type);
}

}  // namespace lockstep::libraries::sparse
