// NCCL's functions have a second name each, for profilers.
#pragma once

#define LOCKSTEP_NCCL_ALIAS(name) \
  extern "C" __attribute__((visibility("default"), alias("nccl" #name))) decltype(nccl##name) pnccl##name;
