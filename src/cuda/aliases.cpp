// Further names of functions: a jump behind each, since what is called is defined in other files.
#if !defined(__x86_64__)
#error "written for x86-64, as CUDA programs are"
#endif

#define X(name, target)                                                                     \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  jmp " #target \
          "@PLT\n"                                                                          \
          ".size " #name ", . - " #name "\n");
#include "cuda/aliases.inc"
#undef X
