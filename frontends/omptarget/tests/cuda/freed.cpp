// Frees memory of the device twice.
#include "device.h"
#include <omp.h>

int main() {
  void *memory = omp_target_alloc(800, 0);
#pragma omp target is_device_ptr(memory)
  *static_cast<int *>(memory) = 1;
  omp_target_free(memory, 0);
  omp_target_free(memory, 0);
}
