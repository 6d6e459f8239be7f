// The device image of these programs: any x86-64 shared object is one.
#include <stdint.h>

int table[4] = {1, 2, 3, 4};

// Kernels of today's compilers get a pointer of the runtime's first.
void increment(void *runtime, int *value) { ++*value; }

void sum(void *runtime, int *values, int64_t count, int *result) {
  *result = 0;
  for (int64_t i = 0; i < count; ++i)
    *result += values[i];
}

void read_table(void *runtime, int *result) { *result = table[0] + table[1] + table[2] + table[3]; }

// Kernels of older compilers do not.
void increment_without_pointer(int *value) { ++*value; }

// Kernels of clang 23 get the addresses of their arguments, of which the runtime's is the last.
void increment_by_address(void **arguments) { ++**(int **)arguments[0]; }

// Flang's of the same release have an environment, and get the arguments.
const char increment_of_flang_kernel_environment[40] = {0, 1, 2};
void increment_of_flang(int *value, void *runtime) { ++*value; }

void many_by_address(void **arguments) {
  int **result = arguments[0], power = 1;
  **result = 0;
  for (int i = 1; i < 9; ++i, power *= 10)
    **result += power * (int)*(int64_t *)arguments[i];
}

static int twice(int value) { return 2 * value; }
// Where the device keeps the address of an indirectly called function.
int (*twice_on_device)(int) = twice;

// Ten 64-bit arguments: beyond what registers hold.
void many(void *runtime, int *result, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
          int64_t g, int64_t h) {
  *result = (int)(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h);
}
