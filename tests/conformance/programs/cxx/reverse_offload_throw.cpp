// covers: exceptions in a region of device(ancestor: 1): caught inside, and one that leaves it
// stock: unusable because reverse offload is not in it
// translated: yes
// status: signal 6
#include <cstdio>
#include <stdexcept>

#pragma omp requires reverse_offload

static void check(int step) {
  if (step > 1)
    throw std::runtime_error("step " + std::to_string(step));
}

int main() {
  try {
#pragma omp target
    for (int step = 0; step < 4; step++) {
#pragma omp target device(ancestor : 1)
      {
        try {
          check(step + 1);
          std::printf("step %d\n", step);
        } catch (const std::exception &error) {
          std::printf("step %d: %s\n", step, error.what());
        }
        std::fflush(stdout);
      }
#pragma omp target device(ancestor : 1)
      check(step);
    }
  } catch (...) {
    std::printf("not reached: what a device waits for has no callers on the host\n");
  }
}
