// FlashAttention-3's forward kernels of one width (-DWIDTH=64 or 128): fp16, causal and full, without clusters.
#include "flash_fwd_launch_template.h"

template void run_mha_fwd_<90, cutlass::half_t, WIDTH, WIDTH, false, false, false, false>(Flash_fwd_params&, cudaStream_t);
