#include "libraries/blas/kernels/factor.cuh"

#define LOCKSTEP_FACTORS(suffix, T)                                     \
  LOCKSTEP_FACTOR(lu_panel_##suffix, PanelArguments, lu_panel<T>)       \
  LOCKSTEP_FACTOR(swap_rows_##suffix, SwapArguments, swap_rows<T>)      \
  LOCKSTEP_FACTOR(cholesky_##suffix, PanelArguments, cholesky_block<T>) \
  LOCKSTEP_FACTOR(find_zero_##suffix, PanelArguments, find_zero<T>)     \
  LOCKSTEP_FACTOR(identity_##suffix, FillArguments, identity<T>)

LOCKSTEP_FACTORS(f32, float)
LOCKSTEP_FACTORS(f64, double)
LOCKSTEP_FACTORS(c32, Complex64)
LOCKSTEP_FACTORS(c64, Complex128)
