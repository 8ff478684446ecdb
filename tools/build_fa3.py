#!/usr/bin/env python3
"""Builds fa3_forward, FlashAttention-3's forward kernel with a small main program (tools/results/fa3_forward.cu).

  tools/build_fa3.py FLASH_ATTENTION CUTLASS OUT [--nvcc NVCC] [--commands]

FLASH_ATTENTION: a checkout of Dao-AILab/flash-attention; CUTLASS: one of NVIDIA/cutlass, at the commit that the former
names as its submodule. OUT: folder that gets the program. --commands: only print what would be run. Each of the two
widths takes a compiler some minutes and 5 GB. The versions that docs/results/kernels.md has figures of: d80a7710 and
71275920 (4.3.4).
"""
import os
import subprocess

import command_line

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
# What hopper/setup.py builds with, and without what these kernels do not need. Clusters are left out as in the build whose
# times were published (FlashGPU-Sim's fa3_fwd_hdim128_fp16_case.cuh).
FLAGS = ["-O3", "-std=c++17", "--use_fast_math", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-DNDEBUG",
         "-DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED", "-DCUTLASS_ENABLE_GDC_FOR_SM90", "-DCUTLASS_DEBUG_TRACE_LEVEL=0",
         "-gencode", "arch=compute_90a,code=[compute_90a,sm_90a]"]
WITHOUT = ["BACKWARD", "PAGEDKV", "SPLIT", "APPENDKV", "LOCAL", "SOFTCAP", "PACKGQA", "FP8", "VARLEN", "CLUSTER", "SM8x"]


def commands(flash_attention, cutlass, out, nvcc):
    includes = ["-I" + os.path.join(flash_attention, "hopper"), "-I" + os.path.join(cutlass, "include")]
    disabled = [f"-DFLASHATTENTION_DISABLE_{what}" for what in WITHOUT]
    objects = []
    for width in (64, 128):
        objects.append(os.path.join(out, f"fa3_{width}.o"))
        yield [nvcc, "-c", *FLAGS, *disabled, f"-DWIDTH={width}", *includes, os.path.join(HERE, "fa3_kernel.cu"), "-o", objects[-1]]
    objects.append(os.path.join(out, "fa3_forward.o"))
    yield [nvcc, "-c", "-O2", "-std=c++17", *includes, os.path.join(HERE, "fa3_forward.cu"), "-o", objects[-1]]
    yield [nvcc, *objects, "-lcuda", "-o", os.path.join(out, "fa3_forward")]


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("flash_attention", metavar="FLASH_ATTENTION", type=command_line.folder, help="checkout of flash-attention")
    parser.add_argument("cutlass", metavar="CUTLASS", type=command_line.folder, help="checkout of CUTLASS")
    parser.add_argument("out", metavar="OUT", type=command_line.folder, help="where fa3_forward goes")
    parser.add_argument("--nvcc", default="nvcc", help="CUDA 13's compiler")
    parser.add_argument("--commands", action="store_true", help="print the commands instead")
    arguments = parser.parse_args()
    for command in commands(arguments.flash_attention, arguments.cutlass, arguments.out, arguments.nvcc):
        print(" ".join(command))
        if not arguments.commands:
            subprocess.run(command, check=True)


if __name__ == "__main__":
    command_line.run(main)
