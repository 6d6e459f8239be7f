// Kernels of CUDA's language, compiled with -foffload-via-llvm.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" void *llvm_omp_target_alloc_shared(size_t, int);
extern "C" void llvm_omp_target_free_shared(void *, int);

#ifdef __CUDA_ARCH__
#define THREAD(dimension)                                                                                    \
  (__nvvm_read_ptx_sreg_ctaid_##dimension() * __nvvm_read_ptx_sreg_ntid_##dimension() +                      \
   __nvvm_read_ptx_sreg_tid_##dimension())
#else
#define THREAD(dimension) 0
#endif

struct odd {
  char text[5];
};

// Parameters of several sizes, the last of which fills no word.
__global__ void fill(int *to, char plus, double factor, short width, odd text) {
  int x = THREAD(x), y = THREAD(y), z = THREAD(z);
  to[(z * 6 + y) * width + x] = (int)(factor * x) + 100 * y + 10000 * z + plus + text.text[4];
}

__device__ int global = 4;
__global__ void tell(int *to) { *to = global; }

int main(int argc, char **argv) {
  const int width = 8;
  int *a = (int *)llvm_omp_target_alloc_shared(width * 6 * 2 * sizeof *a, 0);
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "large"))
    fill<<<1, 4096>>>(a, 1, 2.5, width, {"abc"});
  if (!strcmp(what, "empty"))
    fill<<<0, 32>>>(a, 1, 2.5, width, {"abc"});
  if (!strcmp(what, "shared"))
    fill<<<1, 1, (size_t)1 << 40>>>(a, 1, 2.5, width, {"abc"});
  dim3 grid(2), block(4);
  grid.y = 3;
  block.y = 2;
  block.z = 2;
  fill<<<grid, block>>>(a, 1, 2.5, width, {{0, 0, 0, 0, 3}});
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < width; ++x)
        if (a[(z * 6 + y) * width + x] != (int)(2.5 * x) + 100 * y + 10000 * z + 4) {
          printf("%d %d %d: %d\n", x, y, z, a[(z * 6 + y) * width + x]);
          return 1;
        }
  tell<<<1, 1>>>(a);
  printf("%d\n", *a);
  llvm_omp_target_free_shared(a, 0);
}
