"""Kernels that Triton compiles, run through libcuda.so.1 and checked against NumPy.

Most are what Triton's tutorials are about, written anew. Arrays are Array below: PyTorch, which
Triton mostly comes with, needs more than a driver.

Run by scripts/clients.sh; by hand: gangway run --device vgpu python kernels.py [TEST...]
"""

import ctypes
import math
import os
import sys
import unittest

# Kernels round as the sources say, whatever the version's default is.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

driver = ctypes.CDLL("libcuda.so.1")
# Makes the device's context the current one.
triton.runtime.driver.active.get_current_device()
CAPABILITY = triton.runtime.driver.active.get_current_target().arch

TYPES = {
    "float16": "fp16", "float32": "fp32", "float64": "fp64", "int8": "i8", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16",
}


def asked(result):
    if result != 0:
        raise RuntimeError(f"the driver answers {result}")


class Array:
    """An array in device memory: what Triton asks of one."""

    def __init__(self, values, dtype=None):
        values = np.ascontiguousarray(values)
        self.shape, self.host_type, self.size = values.shape, values.dtype, ctypes.c_size_t(values.nbytes)
        self.dtype = dtype or TYPES[values.dtype.name]
        pointer = ctypes.c_uint64()
        asked(driver.cuMemAlloc_v2(ctypes.byref(pointer), self.size))
        self.pointer = pointer.value
        asked(driver.cuMemcpyHtoD_v2(pointer, values.ctypes.data_as(ctypes.c_void_p), self.size))

    def __del__(self):
        driver.cuMemFree_v2(ctypes.c_uint64(self.pointer))

    def data_ptr(self):
        return self.pointer

    def host(self):
        values = np.empty(self.shape, self.host_type)
        pointer = ctypes.c_uint64(self.pointer)
        asked(driver.cuMemcpyDtoH_v2(values.ctypes.data_as(ctypes.c_void_p), pointer, self.size))
        return values


def zeros(*shape, dtype=np.float32):
    return Array(np.zeros(shape, dtype))


def to_bf16(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_e5m2(bits):
    return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float64)


@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(out, x, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        at = tl.arange(0, BLOCK)
        values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def matmul(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    PRECISION: tl.constexpr, SUM: tl.constexpr, RESULT: tl.constexpr,
):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile = tl.program_id(0)
    group = tile // (GROUP * tiles_n)
    rows = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (tile % (GROUP * tiles_n)) % rows
    tile_n = (tile % (GROUP * tiles_n)) // rows
    m = (tile_m * BM + tl.arange(0, BM)) % M
    n = (tile_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    at_a = a + m[:, None] * K + k[None, :]
    at_b = b + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), SUM)
    for step in range(0, tl.cdiv(K, BK)):
        left = tl.load(at_a, mask=k[None, :] < K - step * BK, other=0)
        right = tl.load(at_b, mask=k[:, None] < K - step * BK, other=0)
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=SUM)
        at_a += BK
        at_b += BK * N
    m = tile_m * BM + tl.arange(0, BM)
    n = tile_n * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * N + n[None, :], total.to(RESULT), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def dropout(x, y, n, probability, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    kept = tl.rand(seed, at) > probability
    tl.store(y + at, tl.where(kept, tl.load(x + at, mask=inside) / (1 - probability), 0.0), mask=inside)


@triton.jit
def normalise(x, y, weights, biases, means, deviations, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        distance = tl.load(x + row * columns + at, mask=at < columns, other=0.0) - mean
        total += tl.where(at < columns, distance * distance, 0.0)
    deviation = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + 1e-5)
    tl.store(means + row, mean)
    tl.store(deviations + row, deviation)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < columns
        values = (tl.load(x + row * columns + at, mask=inside) - mean) * deviation
        values = values * tl.load(weights + at, mask=inside) + tl.load(biases + at, mask=inside)
        tl.store(y + row * columns + at, values, mask=inside)


@triton.jit
def normalise_backward(
    x, dy, dx, dw, db, weights, means, deviations, locks, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    mean, deviation = tl.load(means + row), tl.load(deviations + row)
    values = (tl.load(x + row * columns + at, mask=inside, other=0.0) - mean) * deviation
    values = tl.where(inside, values, 0.0)
    slope = tl.load(dy + row * columns + at, mask=inside, other=0.0)
    weighted = slope * tl.load(weights + at, mask=inside, other=0.0)
    first, second = tl.sum(values * weighted, axis=0) / columns, tl.sum(weighted, axis=0) / columns
    tl.store(dx + row * columns + at, (weighted - values * first - second) * deviation, mask=inside)
    # Rows of a group add up under a lock.
    group = row % GROUPS
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    filled = tl.load(locks + GROUPS + group)
    partial_w, partial_b = slope * values, slope
    if filled == 0:
        tl.atomic_xchg(locks + GROUPS + group, 1)
    else:
        partial_w += tl.load(dw + group * columns + at, mask=inside)
        partial_b += tl.load(db + group * columns + at, mask=inside)
    tl.store(dw + group * columns + at, partial_w, mask=inside)
    tl.store(db + group * columns + at, partial_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def attention(
    queries, keys, values, out, scale, length, WIDTH: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    block, head = tl.program_id(0), tl.program_id(1) * length * WIDTH
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, WIDTH)
    query = tl.load(queries + head + m[:, None] * WIDTH + d[None, :])
    most = tl.full([BM], -float("inf"), tl.float32)
    powers = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, WIDTH], tl.float32)
    end = (block + 1) * BM if CAUSAL else length
    for first in range(0, end, BN):
        key = tl.load(keys + head + (first + n)[None, :] * WIDTH + d[:, None])
        scores = tl.dot(query, key) * scale * 1.44269504
        if CAUSAL:
            scores = tl.where(m[:, None] >= (first + n)[None, :], scores, -1.0e6)
        higher = tl.maximum(most, tl.max(scores, 1))
        share = tl.math.exp2(scores - higher[:, None])
        before = tl.math.exp2(most - higher)
        powers = powers * before + tl.sum(share, 1)
        value = tl.load(values + head + (first + n)[:, None] * WIDTH + d[None, :])
        total = tl.dot(share.to(value.dtype), value, total * before[:, None])
        most = higher
    tl.store(out + head + m[:, None] * WIDTH + d[None, :], (total / powers[:, None]).to(tl.float16))


@triton.jit
def functions(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    tl.store(y + at, libdevice.asin(value), mask=inside)
    tl.store(y + n + at, libdevice.tgamma(value + 1.5), mask=inside)
    tl.store(y + 2 * n + at, libdevice.erf(value), mask=inside)
    tl.store(y + 3 * n + at, libdevice.pow(value + 2.0, value), mask=inside)
    tl.store(y + 4 * n + at, libdevice.atan2(value, value + 2.0), mask=inside)
    tl.store(y + 5 * n + at, libdevice.fmod(value, 0.3), mask=inside)


@triton.jit
def grouped(all_a, all_b, all_c, sizes, groups, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for group in range(groups):
        M, N, K = tl.load(sizes + group * 3), tl.load(sizes + group * 3 + 1), tl.load(sizes + group * 3 + 2)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * tiles_n
        while tile >= last and tile < last + tiles:
            a = tl.load(all_a + group).to(tl.pointer_type(tl.float16))
            b = tl.load(all_b + group).to(tl.pointer_type(tl.float16))
            c = tl.load(all_c + group).to(tl.pointer_type(tl.float16))
            m = (tile - last) // tiles_n * BM + tl.arange(0, BM)
            n = (tile - last) % tiles_n * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            total = tl.zeros((BM, BN), tl.float32)
            for first in range(0, K, BK):
                left = tl.load(a + m[:, None] * K + (first + k)[None, :])
                total += tl.dot(left, tl.load(b + (first + k)[:, None] * N + n[None, :]))
            tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))
            tile += PROGRAMS
        last += tiles


@triton.jit
def persistent(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr,
    FLATTEN: tl.constexpr,
):
    tiles_n, steps = tl.cdiv(N, BN), tl.cdiv(K, BK)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, PROGRAMS, flatten=FLATTEN):
        m = tile // tiles_n * BM + tl.arange(0, BM)
        n = tile % tiles_n * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for step in range(steps):
            k = step * BK + tl.arange(0, BK)
            left = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            right = tl.load(b + k[:, None] * N + n[None, :], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
            total = tl.dot(left, right, total)
        tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def block_scaled(
    a, scales_a, b, scales_b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr,
    PER: tl.constexpr,
):
    m, n = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for first in range(0, K, BK):
        k = first // PER + tl.arange(0, BK // PER)
        scale = first // 32 + tl.arange(0, BK // 32)
        left = tl.load(a + m[:, None] * (K // PER) + k[None, :])
        right = tl.load(b + k[:, None] * N + n[None, :])
        left_scales = tl.load(scales_a + m[:, None] * (K // 32) + scale[None, :])
        right_scales = tl.load(scales_b + n[:, None] * (K // 32) + scale[None, :])
        total = tl.dot_scaled(left, left_scales, KIND, right, right_scales, KIND, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def atomics(x, counts, sums, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside, other=0)
    tl.atomic_add(counts + value % 8, 1, mask=inside)
    tl.atomic_max(counts + 8 + value * 0, value, mask=inside)
    tl.atomic_min(counts + 9 + value * 0, value, mask=inside)
    tl.atomic_xor(counts + 10 + value * 0, value, mask=inside)
    tl.atomic_or(counts + 11 + value * 0, value, mask=inside)
    tl.atomic_and(counts + 12 + value * 0, value, mask=inside)
    tl.atomic_add(sums + value % 4, value.to(tl.float32), mask=inside)
    tl.atomic_max(sums + 4 + value * 0, value.to(tl.float32), mask=inside)
    tl.atomic_add(total + value * 0, value.to(tl.int64), mask=inside)


@triton.jit
def reductions(x, most, least, total, bits, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    values = tl.load(x + row * COLUMNS + tl.arange(0, COLUMNS))
    tl.store(most + row, tl.argmax(values, 0))
    tl.store(least + row, tl.argmin(values, 0))
    tl.store(total + row, tl.sum(values, 0))
    tl.store(bits + row, tl.xor_sum((values * 1000).to(tl.int32), 0))


@triton.jit
def order(x, ordered, top, flipped, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    values = tl.load(x + rows * COLUMNS + columns)
    tl.store(ordered + rows * COLUMNS + columns, tl.sort(values, 1))
    tl.store(top + rows * 4 + tl.arange(0, 4)[None, :], tl.topk(values, 4))
    tl.store(flipped + rows * COLUMNS + columns, tl.flip(values, 1))


@triton.jit
def decay(factor_a, sum_a, factor_b, sum_b):
    return factor_a * factor_b, sum_a * factor_b + sum_b


@triton.jit
def scans(x, along, down, products, decayed, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    values = tl.load(x + at)
    tl.store(along + at, tl.cumsum(values, 1))
    tl.store(down + at, tl.cumsum(values, 0, reverse=True))
    tl.store(products + at, tl.cumprod(values * 0.1 + 1, 1))
    _, total = tl.associative_scan((values * 0.5, values), 1, decay)
    tl.store(decayed + at, total)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(bins + tl.arange(0, BINS), tl.histogram(values, BINS, mask=at < n))


@triton.jit
def transpose(x, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    values = tl.load(x + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(y + columns[:, None] * ROWS + rows[None, :], tl.trans(values))


def random_of_philox(seed, count):
    """What tl.rand(seed, number) is: the first word of Philox 4x32 in ten rounds."""
    low = np.uint64(0xFFFFFFFF)
    words = [np.arange(count, dtype=np.uint64)] + [np.zeros(count, np.uint64)] * 3
    key = [np.uint64(seed), np.uint64(0)]
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            (second >> np.uint64(32)) ^ words[1] ^ key[0], second & low,
            (first >> np.uint64(32)) ^ words[3] ^ key[1], first & low,
        ]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    numbers = words[0].astype(np.uint32).view(np.int32)
    return np.where(numbers < 0, -numbers - 1, numbers).astype(np.float32) * np.float32(4.6566127342e-10)


class Kernels(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def halves(self, *shape):
        return self.random.standard_normal(shape).astype(np.float16)

    def singles(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def near(self, found, wanted, error):
        wanted = np.asarray(wanted, np.float64)
        np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=error, atol=error * np.abs(wanted).max())

    def test_vector_add(self):
        n = 98_432
        x, y, z = self.singles(n), self.singles(n), zeros(n)
        vector_add[(triton.cdiv(n, 1024),)](Array(x), Array(y), z, n, BLOCK=1024)
        np.testing.assert_array_equal(z.host(), x + y)

    def test_softmax(self):
        x, out = self.singles(183, 781), zeros(183, 781)
        softmax[(32,)](out, Array(x), 183, 781, BLOCK=1024, STAGES=4, num_warps=8)
        powers = np.exp(x - x.max(1, keepdims=True))
        self.near(out.host(), powers / powers.sum(1, keepdims=True), 2e-5)

    def multiply(self, a, b, result, total=tl.float32, precision="ieee", tile=(64, 64, 32), types=None, **options):
        (rows, inner), columns = a.shape, b.shape[1]
        kinds = {tl.float16: np.float16, tl.float32: np.float32, tl.float64: np.float64, tl.int32: np.int32}
        c = zeros(rows, columns, dtype=kinds[result])
        grid = (triton.cdiv(rows, tile[0]) * triton.cdiv(columns, tile[1]),)
        sizes = (rows, columns, inner, *tile)
        matmul[grid](Array(a, types), Array(b, types), c, *sizes, 8, precision, total, result, **options)
        return c.host()

    def test_products_of_halves(self):
        a, b = self.halves(200, 136), self.halves(136, 168)
        wanted = a.astype(np.float64) @ b.astype(np.float64)
        for options in (
            {}, {"num_warps": 8}, {"num_stages": 1}, {"tile": (128, 128, 64)}, {"tile": (16, 32, 16), "num_warps": 2}
        ):
            with self.subTest(options):
                self.near(self.multiply(a, b, tl.float16, **options), wanted, 2e-3)
        a, b = self.halves(64, 64), self.halves(64, 64)
        found = self.multiply(a, b, tl.float16, total=tl.float16)
        self.near(found, a.astype(np.float64) @ b.astype(np.float64), 1e-2)

    def test_products_of_singles(self):
        a, b = self.singles(128, 64), self.singles(64, 128)
        wanted = a.astype(np.float64) @ b
        for precision, error in (("ieee", 1e-5), ("tf32", 2e-3), ("tf32x3", 1e-5)):
            with self.subTest(precision):
                self.near(self.multiply(a, b, tl.float32, precision=precision), wanted, error)

    def test_products_of_other_types(self):
        a, b = to_bf16(self.singles(128, 64)), to_bf16(self.singles(64, 64))
        wanted = from_bf16(a).astype(np.float64) @ from_bf16(b)
        self.near(self.multiply(a, b, tl.float32, types="bf16"), wanted, 1e-5)
        a, b = self.random.standard_normal((32, 32)), self.random.standard_normal((32, 32))
        self.near(self.multiply(a, b, tl.float64, total=tl.float64, tile=(32, 32, 16)), a @ b, 1e-12)

    @unittest.skipIf(CAPABILITY < 80, "Triton has no products of bytes for earlier processors")
    def test_products_of_bytes(self):
        a, b = (self.random.integers(-128, 128, shape, np.int8) for shape in ((64, 128), (128, 64)))
        found = self.multiply(a, b, tl.int32, total=tl.int32)
        np.testing.assert_array_equal(found, a.astype(np.int32) @ b.astype(np.int32))

    def test_dropout(self):
        n = 5000
        y = zeros(n)
        dropout[(triton.cdiv(n, 512),)](Array(np.ones(n, np.float32)), y, n, 0.5, 123, BLOCK=512)
        np.testing.assert_array_equal(y.host(), np.where(random_of_philox(123, n) > 0.5, 2.0, 0.0))

    def test_layer_norm(self):
        rows, columns, groups = 48, 500, 8
        x, dy, weights, biases = (self.singles(*shape) for shape in ((rows, columns),) * 2 + ((columns,),) * 2)
        on_device, device_weights = Array(x), Array(weights)
        y, means, deviations = zeros(rows, columns), zeros(rows), zeros(rows)
        normalise[(rows,)](on_device, y, device_weights, Array(biases), means, deviations, columns, BLOCK=256)
        wide = x.astype(np.float64)
        deviation = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
        values = (wide - wide.mean(1, keepdims=True)) * deviation
        self.near(y.host(), values * weights + biases, 1e-5)
        dx, dw, db = zeros(rows, columns), zeros(groups, columns), zeros(groups, columns)
        locks = zeros(2 * groups, dtype=np.int32)
        normalise_backward[(rows,)](
            on_device, Array(dy), dx, dw, db, device_weights, means, deviations, locks, columns, groups, BLOCK=512
        )
        weighted = weights * dy
        first, second = (values * weighted).mean(1, keepdims=True), weighted.mean(1, keepdims=True)
        self.near(dx.host(), (weighted - values * first - second) * deviation, 1e-4)
        self.near(dw.host().sum(0), (dy * values).sum(0), 1e-4)
        self.near(db.host().sum(0), dy.astype(np.float64).sum(0), 1e-4)

    def test_attention(self):
        heads, length, width = 2, 128, 64
        q, k, v = (self.halves(heads, length, width) for _ in range(3))
        for causal in (False, True):
            for warps in (4, 8):
                with self.subTest(causal=causal, warps=warps):
                    out = zeros(heads, length, width, dtype=np.float16)
                    attention[(length // 64, heads)](
                        Array(q), Array(k), Array(v), out, 0.125, length, width, 64, 32, causal, num_warps=warps
                    )
                    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.125
                    if causal:
                        scores = np.where(np.tril(np.ones((length, length))) > 0, scores, -np.inf)
                    powers = np.exp(scores - scores.max(2, keepdims=True))
                    powers /= powers.sum(2, keepdims=True)
                    self.near(out.host(), powers @ v.astype(np.float64), 2e-3)

    def test_functions_of_libdevice(self):
        n = 1000
        x, y = self.random.uniform(-1, 1, n).astype(np.float32), zeros(6, n)
        functions[(4,)](Array(x), y, n, BLOCK=256)
        wide, each = x.astype(np.float64), np.vectorize
        wanted = (
            np.arcsin(wide), each(math.gamma)(wide + 1.5), each(math.erf)(wide), (wide + 2) ** wide,
            np.arctan2(wide, wide + 2), np.fmod(x, np.float32(0.3)),
        )
        for found, expected in zip(y.host(), wanted):
            self.near(found, expected, 1e-5)

    def test_grouped_products(self):
        sizes = [(64, 64, 32), (128, 64, 64), (64, 128, 96)]
        all_a, all_b = [self.halves(m, k) for m, _, k in sizes], [self.halves(k, n) for _, n, k in sizes]
        device_a, device_b = [Array(a) for a in all_a], [Array(b) for b in all_b]
        device_c = [zeros(m, n, dtype=np.float16) for m, n, _ in sizes]
        pointers = [Array(np.array([x.pointer for x in arrays])) for arrays in (device_a, device_b, device_c)]
        grouped[(4,)](*pointers, Array(np.array(sizes, np.int32)), 3, PROGRAMS=4, BM=64, BN=64, BK=32)
        for a, b, c in zip(all_a, all_b, device_c):
            self.near(c.host(), a.astype(np.float64) @ b.astype(np.float64), 2e-3)

    def test_persistent_products(self):
        a, b = self.halves(200, 96), self.halves(96, 136)
        for flatten in (False, True):
            c = zeros(200, 136, dtype=np.float16)
            persistent[(3,)](Array(a), Array(b), c, 200, 136, 96, 64, 64, 32, PROGRAMS=3, FLATTEN=flatten)
            self.near(c.host(), a.astype(np.float64) @ b.astype(np.float64), 2e-3)

    def test_block_scaled_products(self):
        inner = 128
        quarters = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
        scales = [self.random.integers(120, 132, (64, inner // 32)).astype(np.uint8) for _ in range(2)]
        left, right = (np.repeat(2.0 ** (scale.astype(np.float64) - 127), 32, axis=1) for scale in scales)
        a, b = (self.random.integers(0x30, 0x42, shape).astype(np.uint8) for shape in ((64, inner), (inner, 64)))
        a4, b4 = (
            self.random.integers(0, 256, shape).astype(np.uint8) for shape in ((64, inner // 2), (inner // 2, 64))
        )
        wide_a4 = np.stack([quarters[a4 & 15], quarters[a4 >> 4]], 2).reshape(64, inner)
        wide_b4 = np.stack([quarters[b4 & 15], quarters[b4 >> 4]], 1).reshape(inner, 64)
        cases = (("e5m2", a, b, from_e5m2(a), from_e5m2(b), 1), ("e2m1", a4, b4, wide_a4, wide_b4, 2))
        for kind, x, y, wide_x, wide_y, per in cases:
            with self.subTest(kind):
                c = zeros(64, 64)
                block_scaled[(1,)](
                    Array(x), Array(scales[0]), Array(y), Array(scales[1]), c, inner, 64, 64, 64, kind, per
                )
                self.near(c.host(), (wide_x * left) @ (wide_y * right.T), 1e-3)

    def test_atomics(self):
        n = 3000
        x = self.random.integers(1, 1 << 20, n).astype(np.int32)
        begin = np.zeros(16, np.int32)
        begin[9], begin[12] = 1 << 30, -1
        counts, sums, total = Array(begin), zeros(8), zeros(1, dtype=np.int64)
        atomics[(6,)](Array(x), counts, sums, total, n, BLOCK=512)
        found, added = counts.host(), sums.host()
        np.testing.assert_array_equal(found[:8], np.bincount(x % 8, minlength=8))
        bits = [np.bitwise_xor.reduce(x), np.bitwise_or.reduce(x), np.bitwise_and.reduce(x)]
        self.assertEqual(list(found[8:13]), [x.max(), x.min(), *bits])
        self.near(added[:4], [x[x % 4 == rest].sum() for rest in range(4)], 1e-4)
        self.assertEqual((added[4], total.host()[0]), (x.max(), x.sum()))

    def test_reductions(self):
        x = self.singles(20, 512)
        most, least, bits = (zeros(20, dtype=np.int32) for _ in range(3))
        total = zeros(20)
        reductions[(20,)](Array(x), most, least, total, bits, COLUMNS=512)
        np.testing.assert_array_equal(most.host(), x.argmax(1))
        np.testing.assert_array_equal(least.host(), x.argmin(1))
        self.near(total.host(), x.sum(1), 1e-4)
        whole = (x * np.float32(1000)).astype(np.int32)
        np.testing.assert_array_equal(bits.host(), np.bitwise_xor.reduce(whole, 1))

    def test_order(self):
        x = self.singles(8, 128)
        ordered, top, flipped = zeros(8, 128), zeros(8, 4), zeros(8, 128)
        order[(1,)](Array(x), ordered, top, flipped, 8, 128)
        np.testing.assert_array_equal(ordered.host(), np.sort(x, 1))
        np.testing.assert_array_equal(top.host(), -np.sort(-x, 1)[:, :4])
        np.testing.assert_array_equal(flipped.host(), x[:, ::-1])

    def test_scans(self):
        x = self.singles(16, 128)
        along, down, products, decayed = (zeros(16, 128) for _ in range(4))
        scans[(1,)](Array(x), along, down, products, decayed, 16, 128)
        self.near(along.host(), np.cumsum(x, 1), 1e-5)
        self.near(down.host(), np.cumsum(x[::-1], 0)[::-1], 1e-5)
        self.near(products.host(), np.cumprod(x * 0.1 + 1, 1), 1e-5)
        total, wanted = np.zeros(16), np.zeros((16, 128))
        for column in range(128):
            total = total * (x[:, column] * 0.5) + x[:, column]
            wanted[:, column] = total
        self.near(decayed.host(), wanted, 1e-5)

    def test_histogram(self):
        n = 3000
        x, bins = self.random.integers(0, 64, n).astype(np.int32), zeros(64, dtype=np.int32)
        histogram[(3,)](Array(x), bins, n, BLOCK=1024, BINS=64)
        np.testing.assert_array_equal(bins.host(), np.bincount(x, minlength=64))

    def test_transposition(self):
        for x in (self.halves(64, 128), self.singles(64, 64)):
            y = zeros(*x.shape[::-1], dtype=x.dtype)
            transpose[(1,)](Array(x), y, *x.shape)
            np.testing.assert_array_equal(y.host(), x.T)


if __name__ == "__main__":
    print(f"Triton {triton.__version__} compiles for sm_{CAPABILITY}")
    result = unittest.main(verbosity=2, warnings="ignore", exit=False).result
    bad, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    word = "ok" if bad == 0 and result.testsRun > 0 else "FAILED"
    print(f"test result: {word}. {result.testsRun - bad - skipped} passed; {bad} failed; {skipped} ignored")
    sys.exit(word != "ok")
