// The kernels of this client, compiled by NVRTC when a test starts.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define TILE 16

__constant__ float coefficients[4];
__device__ int launches;

struct Pair {
  int index;
  double value;
};

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float ours[TILE][TILE], theirs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n; tile += TILE) {
    ours[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    theirs[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) sum += ours[threadIdx.y][k] * theirs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// The sum of all values: lanes by shuffles, warps by dynamic shared memory, blocks by an atomic.
extern "C" __global__ void reduce(const int *values, unsigned long long *sum, int n) {
  extern __shared__ long long partial[];
  long long own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += values[i];
  for (int offset = 16; offset > 0; offset /= 2) own += __shfl_down_sync(0xffffffffu, own, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < blockDim.x / 32; warp++) own += partial[warp];
    atomicAdd(sum, (unsigned long long)own);
  }
}

// Heat along a rod: all blocks wait for each other between two steps.
extern "C" __global__ void heat(double *now, double *next, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int step = 0; step < steps; step++) {
    if (i < n) next[i] = 0.5 * ((i > 0 ? now[i - 1] : 0) + (i + 1 < n ? now[i + 1] : 1));
    grid.sync();
    double *swapped = now;
    now = next;
    next = swapped;
  }
}

extern "C" __global__ void talk(int n) {
  if (threadIdx.x < n) printf("lane %d of %s: %.2f %c %5u%%\n", threadIdx.x, "the warp", threadIdx.x * 0.25, 'a' + threadIdx.x, threadIdx.x);
}

// A structure by value, a variable of the module, constant memory.
extern "C" __global__ void polynomial(Pair pair, double *result) {
  double sum = 0;
  for (int i = 3; i >= 0; i--) sum = sum * pair.value + coefficients[i];
  result[pair.index] = sum;
  atomicAdd(&launches, 1);
}

struct Shape {
  __device__ virtual double area() const = 0;
};
struct Square : Shape {
  double side;
  __device__ Square(double side) : side(side) {}
  __device__ double area() const override { return side * side; }
};
struct Circle : Shape {
  double radius;
  __device__ Circle(double radius) : radius(radius) {}
  __device__ double area() const override { return 3.0 * radius * radius; }
};

// Virtual functions, and objects from the device's heap.
extern "C" __global__ void shapes(double *areas) {
  Shape *shape = threadIdx.x % 2 ? (Shape *)new Square(threadIdx.x) : (Shape *)new Circle(threadIdx.x);
  areas[threadIdx.x] = shape->area();
  delete shape;
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int *result) { result[threadIdx.x] = ackermann(2, threadIdx.x); }

// A lock within a warp: with lanes in lockstep, and no fairness, it would never end.
extern "C" __global__ void locked(int *lock, int *count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *(volatile int *)count += 1;
  __threadfence();
  atomicExch(lock, 0);
}

extern "C" __global__ void stray(int *where) { where[1u << 30] = 1; }
