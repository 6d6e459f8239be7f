// Eight threads with regions on one device. Without nowait: libomp 22 fails an assertion of its
// own (kmp_tasking.cpp) when threads that it has not started use that, under any offload library.
#include "device.h"
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

static void work(int id) {
  std::vector<int> large(1 << 15, id);
  int *data = large.data(), size = (int)large.size();
  for (int round = 0; round < 50; ++round) {
    int small[16] = {id}, sum = 0;
#pragma omp target map(tofrom : small, sum) map(to : data[0 : size]) firstprivate(round)
    {
      small[15] = small[0] + round;
      sum = data[0] + data[size - 1];
    }
    assert(small[15] == id + round && sum == 2 * id);
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; ++id)
    threads.emplace_back(work, id);
  for (auto &thread : threads)
    thread.join();
  puts("right");
}
