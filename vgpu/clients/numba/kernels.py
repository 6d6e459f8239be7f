"""Kernels that numba-cuda compiles, run through libcuda.so.1 and checked against NumPy.

Run by scripts/clients.sh; by hand: LD_LIBRARY_PATH=FOLDER python kernels.py [TEST...]
"""

import math
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
from numba import cuda, float32, float64, int32, vectorize
from numba.cuda.cudadrv.driver import CudaAPIError
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

# Of small grids, arrays that are copied, and the driver that links.
warnings.simplefilter("ignore")

TILE = 16
FULL = 0xFFFFFFFF


@cuda.jit
def vector_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def mathematics(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        y[i] = math.sin(v) * math.exp(-v) + math.sqrt(v) + math.pow(v, 1.5) + math.atan2(v, 2.0)


@cuda.jit
def matmul(a, b, c):
    ours = cuda.shared.array((TILE, TILE), float32)
    theirs = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        column, row = tile * TILE + tx, tile * TILE + ty
        ours[ty, tx] = a[y, column] if y < a.shape[0] and column < a.shape[1] else 0
        theirs[ty, tx] = b[row, x] if row < b.shape[0] and x < b.shape[1] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += ours[ty, k] * theirs[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def sum_by_shuffles(values, result):
    partial = cuda.shared.array(32, float64)
    total = 0.0
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        total += values[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(FULL, total, offset)
        offset //= 2
    warp, lane = cuda.threadIdx.x // 32, cuda.laneid
    if lane == 0:
        partial[warp] = total
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = 0.0
        for i in range(cuda.blockDim.x // 32):
            total += partial[i]
        cuda.atomic.add(result, 0, total)


@cuda.jit
def atomics(values, histogram, extremes, chain):
    counts = cuda.shared.array(16, int32)
    if cuda.threadIdx.x < 16:
        counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i] % 16, 1)
        cuda.atomic.max(extremes, 0, values[i])
        cuda.atomic.min(extremes, 1, values[i])
        cuda.atomic.cas(chain, i % 8, 0, i + 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        cuda.atomic.add(histogram, cuda.threadIdx.x, counts[cuda.threadIdx.x])


@cuda.jit
def votes(result):
    lane = cuda.laneid
    result[lane, 0] = cuda.ballot_sync(FULL, lane % 3 == 0)
    result[lane, 1] = cuda.any_sync(FULL, lane == 31) and not cuda.all_sync(FULL, lane < 31)
    result[lane, 2] = cuda.match_any_sync(FULL, lane % 4)
    result[lane, 3] = cuda.shfl_xor_sync(FULL, lane, 5) + cuda.popc(lane) + cuda.clz(lane)


@cuda.jit
def relaxation(grid, steps):
    # Every block waits for every other between two steps.
    everybody = cuda.cg.this_grid()
    i = cuda.grid(1)
    for step in range(steps):
        source, target = step % 2, (step + 1) % 2
        left = grid[source, i - 1] if i > 0 else 0.0
        right = grid[source, i + 1] if i + 1 < grid.shape[1] else 1.0
        grid[target, i] = 0.5 * (left + right)
        everybody.sync()


@cuda.jit
def talk(n):
    i = cuda.grid(1)
    if i < n:
        print("thread", i, "says", i * 0.5)


@cuda.jit(debug=True, opt=False)
def complain(values):
    i = cuda.grid(1)
    if values[i] < 0:
        raise ValueError("negative")
    values[i] = math.sqrt(values[i])


@cuda.jit(device=True)
def fibonacci(n):
    before, now = 0, 1
    for _ in range(n):
        before, now = now, before + now
    return before


TABLE = np.arange(8, dtype=np.float32) ** 2


@cuda.jit
def constants_and_locals(result):
    table = cuda.const.array_like(TABLE)
    mine = cuda.local.array(8, float32)
    i = cuda.grid(1)
    for k in range(8):
        mine[k] = table[(k + i) % 8]
    total = float32(0)
    for k in range(8):
        total += mine[k] * (k + 1)
    result[i] = total + fibonacci(i % 20)


@cuda.jit
def dynamic_reverse(values):
    room = cuda.shared.array(0, int32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    room[i] = values[cuda.grid(1)]
    cuda.syncthreads()
    values[cuda.grid(1)] = room[n - 1 - i]


@cuda.jit
def pi(states, inside, tries):
    i = cuda.grid(1)
    hits = 0
    for _ in range(tries):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1.0:
            hits += 1
    inside[i] = hits


@cuda.jit
def sum_by_blocks(values, partial):
    # Only to be launched where `values` lies in managed or mapped memory.
    i = cuda.grid(1)
    cuda.atomic.add(partial, i % partial.size, values[i])


@vectorize(["float32(float32, float32)"], target="cuda")
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


@cuda.reduce
def total(a, b):
    return a + b


@cuda.jit
def stray(values, index):
    values[index] = 1


class Kernels(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def test_vector_add(self):
        n = 100_003
        a, b = self.random.random(n, dtype=np.float32), self.random.random(n, dtype=np.float32)
        c = np.zeros_like(a)
        vector_add[(n + 255) // 256, 256](a, b, c)
        np.testing.assert_array_equal(c, a + b)

    def test_mathematics(self):
        for kind, tolerance in ((np.float32, 2e-6), (np.float64, 1e-14)):
            x = self.random.random(10_000).astype(kind) * 10
            y = np.zeros_like(x)
            mathematics[8, 128](x, y)
            wide = x.astype(np.float64)
            wanted = np.sin(wide) * np.exp(-wide) + np.sqrt(wide) + wide**1.5 + np.arctan2(wide, 2)
            np.testing.assert_allclose(y, wanted, rtol=tolerance)

    def test_matmul(self):
        for rows, inner, columns in ((64, 64, 64), (50, 70, 33)):
            a = self.random.random((rows, inner), dtype=np.float32)
            b = self.random.random((inner, columns), dtype=np.float32)
            c = cuda.device_array((rows, columns), np.float32)
            blocks = ((columns + TILE - 1) // TILE, (rows + TILE - 1) // TILE)
            matmul[blocks, (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
            np.testing.assert_allclose(c.copy_to_host(), a @ b, rtol=1e-5)

    def test_reduction(self):
        values = self.random.random(50_000)
        result = np.zeros(1)
        sum_by_shuffles[16, 256](values, result)
        np.testing.assert_allclose(result[0], values.sum(), rtol=1e-12)

    def test_atomics(self):
        values = self.random.integers(-1000, 1000, 20_000, dtype=np.int32)
        histogram = np.zeros(16, np.int32)
        extremes, chain = np.zeros(2, np.int32), np.zeros(8, np.int32)
        atomics[(values.size + 127) // 128, 128](values, histogram, extremes, chain)
        np.testing.assert_array_equal(histogram, np.bincount(values % 16, minlength=16))
        self.assertEqual(extremes.tolist(), [values.max(), values.min()])
        self.assertTrue(((chain > 0) & ((chain - 1) % 8 == np.arange(8))).all())

    def test_votes(self):
        result = np.zeros((32, 4), np.int64)
        votes[1, 32](result)
        lanes = np.arange(32)
        third = sum(1 << lane for lane in range(0, 32, 3))
        self.assertEqual(set(result[:, 0] & FULL), {third})
        self.assertEqual(set(result[:, 1]), {1})
        same = [sum(1 << other for other in range(lane % 4, 32, 4)) for lane in lanes]
        np.testing.assert_array_equal(result[:, 2] & FULL, same)
        ones = np.array([bin(lane).count("1") for lane in lanes])
        leading = np.array([32 - int(lane).bit_length() for lane in lanes])
        np.testing.assert_array_equal(result[:, 3], (lanes ^ 5) + ones + leading)

    def test_grid_synchronisation(self):
        grid = np.zeros((2, 512))
        steps = 40
        relaxation[8, 64](grid, steps)
        wanted = np.zeros((2, 512))
        for step in range(steps):
            source = wanted[step % 2]
            left, right = np.r_[0.0, source[:-1]], np.r_[source[1:], 1.0]
            wanted[(step + 1) % 2] = 0.5 * (left + right)
        np.testing.assert_allclose(grid, wanted, rtol=1e-12)

    def test_printing(self):
        sys.stdout.flush()
        with tempfile.TemporaryFile() as file:
            before = os.dup(1)
            os.dup2(file.fileno(), 1)
            try:
                talk[2, 32](40)
                cuda.synchronize()
            finally:
                os.dup2(before, 1)
                os.close(before)
            file.seek(0)
            lines = file.read().decode().splitlines()
        wanted = sorted(f"thread {i} says {i * 0.5:f}" for i in range(40))
        self.assertEqual(sorted(lines), wanted)

    def test_exceptions(self):
        values = np.array([4.0, 9.0, 16.0, 25.0] * 8)
        complain[1, 32](values)
        np.testing.assert_array_equal(values, [2.0, 3.0, 4.0, 5.0] * 8)
        values[7] = -1
        with self.assertRaisesRegex(ValueError, "negative"):
            complain[1, 32](values)

    def test_constants_and_locals(self):
        result = np.zeros(64, np.float32)
        constants_and_locals[2, 32](result)
        numbers = [0, 1]
        while len(numbers) < 20:
            numbers.append(numbers[-1] + numbers[-2])
        wanted = [
            sum(TABLE[(k + i) % 8] * (k + 1) for k in range(8)) + numbers[i % 20] for i in range(64)
        ]
        np.testing.assert_array_equal(result, np.float32(wanted))

    def test_dynamic_shared_memory(self):
        values = np.arange(256, dtype=np.int32)
        dynamic_reverse[2, 128, 0, 128 * 4](values)
        np.testing.assert_array_equal(values, np.r_[127:-1:-1, 255:127:-1])

    def test_random_numbers(self):
        threads, tries = 256, 200
        states = create_xoroshiro128p_states(threads, seed=1)
        inside = np.zeros(threads, np.int32)
        pi[2, 128](states, inside, tries)
        self.assertAlmostEqual(4 * inside.sum() / (threads * tries), math.pi, delta=0.05)
        self.assertGreater(len(set(inside)), 10)

    def test_array_functions(self):
        a, b = self.random.random(5000, dtype=np.float32), self.random.random(5000, dtype=np.float32)
        np.testing.assert_allclose(hypotenuse(a, b), np.hypot(a, b), rtol=1e-6)
        values = self.random.integers(0, 1000, 12_345)
        self.assertEqual(total(values), values.sum())

    def test_streams_and_events(self):
        n = 1 << 16
        streams = [cuda.stream() for _ in range(3)]
        begin, end = cuda.event(), cuda.event()
        begin.record()
        results, wanted = [], []
        for number, stream in enumerate(streams):
            a, c = cuda.pinned_array(n, np.float32), cuda.pinned_array(n, np.float32)
            a[:] = number + 1
            on_device = cuda.to_device(a, stream=stream)
            there = cuda.device_array(n, np.float32, stream=stream)
            for _ in range(4):
                vector_add[n // 256, 256, stream](on_device, on_device, there)
            there.copy_to_host(c, stream=stream)
            results.append(c)
            wanted.append(2 * (number + 1))
        for stream in streams:
            stream.synchronize()
        end.record()
        end.synchronize()
        self.assertGreater(cuda.event_elapsed_time(begin, end), 0)
        for result, value in zip(results, wanted):
            np.testing.assert_array_equal(result, np.full(n, value, np.float32))

    def test_managed_and_mapped_memory(self):
        for make in (cuda.managed_array, cuda.mapped_array):
            values = make(1024, dtype=np.int32)
            values[:] = np.arange(1024)
            partial = make(4, dtype=np.int32)
            partial[:] = 0
            sum_by_blocks[8, 128](values, partial)
            cuda.synchronize()
            np.testing.assert_array_equal(partial, [np.arange(start, 1024, 4).sum() for start in range(4)])

    def test_a_stray_access_is_an_error(self):
        # The error stays with the context, so a process of its own has it.
        program = (
            "import kernels, numpy as np; from numba import cuda\n"
            "values = cuda.to_device(np.zeros(4, np.int32))\n"
            "try:\n"
            "    kernels.stray[1, 1](values, 1 << 40); cuda.synchronize()\n"
            "except kernels.CudaAPIError as error: print(error)\n"
        )
        folder = os.path.dirname(os.path.abspath(__file__))
        result = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=120)
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", result.stdout, result.stderr)
        self.assertIn("stray", result.stderr)


if __name__ == "__main__":
    result = unittest.main(verbosity=2, warnings="ignore", exit=False).result
    bad, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    word = "ok" if bad == 0 and result.testsRun > 0 else "FAILED"
    print(f"test result: {word}. {result.testsRun - bad - skipped} passed; {bad} failed; {skipped} ignored")
    sys.exit(word != "ok")
