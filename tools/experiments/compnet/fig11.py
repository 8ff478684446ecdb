#!/usr/bin/env python3
"""Fig. 11, a projection: training by eight nodes, with what the all-reduces of gradients take from runs (fig10.py's), and what computing
takes from the models' sizes.

Models are those of CNTK's examples (microsoft/CNTK, Examples; the paper names AN4 LSTM and CIFAR of its five): of each parameter tensor an
all-reduce of its gradient, in each minibatch. Computing: each layer has three products (forward, gradients of data and of weights), each
as long as the longest of its arithmetic, its parameters from memory, and one kernel. The GPU is Stampede's, a Tesla K20 (3.52 TFLOP/s,
208 GB/s: NVIDIA's data sheet); a kernel is 10 us at least (ComP-Net: launch and teardown). No efficiency is assumed."""
import bisect

import fig10
import lab

NODES = 8
RINGS = (1, 8, 32)  # the fastest for each size and design: ComP-Net has that the number depends on the size
SIZES = [4096, 32768, 262144, 1048576]  # bytes; beyond: as from the last but one to the last
DESIGNS = ("compnet", "apu", "dgpu", "dgpu_host", "inter_kernel", "cpu")
FLOPS, BYTES, KERNEL_US = 3.52e6, 208e3, 10.0  # of a us
COPY_BYTES = 13.1e3  # of a us, between GPU and host: PCI Express 3.0 with its headers (systems/compnet_8.ini)


def dense(inputs, outputs):
    """Elements of the parameters, multiplications of a sample, how often one after the other."""
    return [inputs * outputs, outputs], inputs * outputs, 1


def convolution(inputs, outputs, width, places):
    return [inputs * outputs * width ** 2, outputs], inputs * outputs * width ** 2 * places, 1


def lstm(inputs, outputs, cells, steps):
    """With projection and peepholes; a sample is one step."""
    tensors = [4 * cells * inputs, 4 * cells, 4 * cells * outputs, cells, cells, cells, outputs * cells]
    return tensors, tensors[0] + tensors[2] + tensors[6], steps


# Layers and samples of a minibatch, from the examples' configurations.
MODELS = {
    "AN4 LSTM": ([lstm(363, 512, 1024, 16), lstm(512, 512, 1024, 16), lstm(512, 512, 1024, 16), dense(512, 132)], 16 * 16),
    "MNIST, one hidden layer": ([dense(784, 200), dense(200, 10)], 64),
    "MNIST, convolutions": ([convolution(1, 32, 5, 28 ** 2), convolution(32, 48, 3, 11 ** 2), convolution(48, 64, 3, 3 ** 2), dense(576, 96),
                             dense(96, 10)], 64),
    "AlexNet": ([convolution(3, 96, 11, 55 ** 2), convolution(96, 192, 5, 27 ** 2), convolution(192, 384, 3, 13 ** 2),
                 convolution(384, 384, 3, 13 ** 2), convolution(384, 256, 3, 13 ** 2), dense(9216, 4096), dense(4096, 4096), dense(4096, 1000)], 256),
    "CIFAR": ([convolution(3, 64, 3, 32 ** 2), convolution(64, 64, 3, 32 ** 2), convolution(64, 64, 3, 15 ** 2), convolution(64, 64, 3, 15 ** 2),
               dense(3136, 256), dense(256, 128), dense(128, 10)], 64),
}


def compute_us(layers, samples):
    us = 0
    for tensors, products, steps in layers:
        each = samples / NODES / steps  # samples at a time
        us += 3 * steps * max(KERNEL_US, 2 * products * each / FLOPS, 4 * sum(tensors) / BYTES)
    return us


def reduction_us(times, size):
    """times: of SIZES. Straight lines between them; what is smaller takes as long as the smallest."""
    at = min(max(bisect.bisect_left(SIZES, size), 1), len(SIZES) - 1)
    slope = (times[at] - times[at - 1]) / (SIZES[at] - SIZES[at - 1])
    return times[at - 1] + max(size - SIZES[at - 1], 0) * slope


def step_us(design, times, layers, samples):
    """us of a minibatch, of its reductions."""
    sizes = [4 * n for tensors, _, _ in layers for n in tensors]
    us = sum(reduction_us(times, size) + (2 * size / COPY_BYTES if design == "cpu" else 0) for size in sizes)
    return compute_us(layers, samples) + us, us


def verdicts(gain, speed):
    percent = {model: 100 * (g - 1) for model, g in gain.items()}
    mean = sum(percent.values()) / len(percent)
    text = ", ".join(f"{model} {p:.1f}" for model, p in percent.items())
    return [lab.verdict(f"ComP-Net 8 to 14 % faster than dGPU with AN4 LSTM ({percent['AN4 LSTM']:.1f}); the paper has 11", 8 <= percent["AN4 LSTM"] <= 14),
            lab.verdict(f"1 to 4 % with CIFAR ({percent['CIFAR']:.1f}); the paper has 2", 1 <= percent["CIFAR"] <= 4),
            lab.verdict(f"3 to 8 % on average of five ({mean:.1f}); the paper has 5", 3 <= mean <= 8),
            lab.verdict(f"most with AN4 LSTM, least with CIFAR ({text} %)",
                        max(percent, key=percent.get) == "AN4 LSTM" and min(percent, key=percent.get) == "CIFAR"),
            lab.verdict("reductions by the CPU are the slowest", all(min(row.values()) == row["cpu"] for row in speed.values()))]


def main(lab_):
    rings = lambda d: (fig10.RINGS,) if d in lab.HOSTS else RINGS  # a host's processes make one ring anyway
    times = {d: [min(fig10.run(lab_, d, NODES, size, r)[0] for r in rings(d)) for size in SIZES] for d in DESIGNS}
    names = {**lab.NAMES, **lab.HOSTS}
    lab_.table("fig11_reductions", [f"An all-reduce of {NODES} nodes"], ["bytes", *(f"{names[d]}, us" for d in DESIGNS)],
               [[f"{size:,}", *(f"{times[d][i]:,.0f}" for d in DESIGNS)] for i, size in enumerate(SIZES)])
    rows, speed, gain = [], {}, {}
    for model, (layers, samples) in MODELS.items():
        steps = {d: step_us(d, times[d], layers, samples) for d in DESIGNS}
        speed[model] = {d: steps["dgpu"][0] / us for d, (us, _) in steps.items()}
        gain[model] = speed[model]["compnet"]
        megabytes = 4 * sum(sum(tensors) for tensors, _, _ in layers) / 1e6
        rows.append([model, f"{megabytes:.1f}", sum(len(tensors) for tensors, _, _ in layers), f"{compute_us(layers, samples):,.0f}",
                     f"{100 * steps['dgpu'][1] / steps['dgpu'][0]:.0f}", *(f"{speed[model][d]:.2f}" for d in DESIGNS if d != "dgpu")])
    lab_.table("fig11", verdicts(gain, speed), ["model", "MB", "reductions", "computing, us", "of dGPU's time in reductions, %",
                                                *(f"{names[d]}, speed-up over dGPU" for d in DESIGNS if d != "dgpu")], rows)
    lab_.lines("fig11", "Training by eight nodes, a projection", "speed-up over dGPU", "model", {names[d]: list(enumerate(s[d] for s in speed.values())) for d in DESIGNS})


if __name__ == "__main__":
    lab.start(main, __doc__)
