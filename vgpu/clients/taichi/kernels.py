"""Taichi's kernels on the virtual GPU, compared with the same kernels on the host.

Taichi compiles Python with its own LLVM to PTX and drives the GPU through libcuda alone, so what
it calls differs from what numba and cudarc call: memory pools, asynchronous copies and
fills, modules with JIT options, one stream.
"""

import sys

import numpy as np
import taichi as ti

SIZE = 128


def results(arch):
    """Everything that the kernels compute, on one kind of device."""
    options = {"device_memory_GB": 0.25} if arch == ti.cuda else {}
    ti.init(arch=arch, log_level=ti.WARN, offline_cache=False, random_seed=1, **options)
    if arch == ti.cuda and ti.cfg.arch != ti.cuda:
        sys.exit("Taichi does not see a GPU")
    heat, next_heat = ti.field(ti.f32, (SIZE, SIZE)), ti.field(ti.f32, (SIZE, SIZE))
    bins, highest = ti.field(ti.i32, 16), ti.field(ti.f32, ())
    rotations = ti.Matrix.field(3, 3, ti.f32, SIZE)
    steps = ti.field(ti.i32, 1000)

    @ti.kernel
    def warm():
        for i, j in heat:
            heat[i, j] = ti.sin(i * 0.1) * ti.cos(j * 0.07) + ti.exp(-0.01 * (i - j) ** 2)

    @ti.kernel
    def diffuse():
        for i, j in heat:
            around = 0.0
            for k in ti.static(range(4)):
                di, dj = ti.static([(0, 1), (1, 0), (0, -1), (-1, 0)])[k]
                around += heat[(i + di + SIZE) % SIZE, (j + dj + SIZE) % SIZE]
            next_heat[i, j] = 0.6 * heat[i, j] + 0.1 * around
        for i, j in heat:
            heat[i, j] = next_heat[i, j]

    @ti.kernel
    def summarise() -> ti.f64:
        total = ti.cast(0.0, ti.f64)
        for i, j in heat:
            total += ti.cast(heat[i, j], ti.f64)
            ti.atomic_max(highest[None], heat[i, j])
            bins[ti.min(15, ti.max(0, ti.cast((heat[i, j] + 1) * 5, ti.i32)))] += 1
        return total

    @ti.kernel
    def rotate():
        for i in rotations:
            bent = ti.Matrix([[1.0 + 0.01 * i, 0.3, 0.0], [0.1, 2.0, 0.2 * ti.sin(0.5 * i)], [0.0, 0.4, 1.5]])
            u, _, v = ti.svd(bent)
            rotations[i] = u @ v.transpose()

    @ti.kernel
    def collatz():
        for i in steps:
            n, count = i + 1, 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                count += 1
            steps[i] = count

    warm()
    for _ in range(20):
        diffuse()
    total = summarise()
    rotate()
    collatz()
    found = {
        "heat": heat.to_numpy(),
        "total": np.array(total),
        "highest": highest.to_numpy(),
        "bins": bins.to_numpy(),
        "rotations": rotations.to_numpy(),
        "steps": steps.to_numpy(),
    }
    ti.reset()
    return found


def main():
    wanted, found = results(ti.cpu), results(ti.cuda)
    failed = 0
    for name, expected in wanted.items():
        got = found[name]
        exact = expected.dtype.kind == "i"
        # An element on the border of two bins may go either way.
        tolerance = {"atol": 2} if name == "bins" else {"rtol": 1e-4, "atol": 1e-4}
        fine = np.allclose(got, expected, **tolerance) if name == "bins" or not exact else np.array_equal(got, expected)
        print(f"{'ok' if fine else 'FAILED':6} {name}")
        failed += not fine
    # Nobody would notice if nothing had been computed at all.
    assert wanted["steps"][26] == 111 and wanted["bins"].sum() == SIZE * SIZE
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
