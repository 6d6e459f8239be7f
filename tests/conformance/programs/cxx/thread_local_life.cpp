// covers: thread_local objects whose destructors offload when their threads end
// flags: -pthread
#include <cstdio>
#include <thread>

static int ended = 0;

struct PerThread {
  int value = 0;
  void touch() {
#pragma omp target enter data map(to : this[0 : 1])
#pragma omp target
    value += 5;
  }
  ~PerThread() {
#pragma omp target exit data map(from : this[0 : 1])
    ended += value;
  }
};

int main() {
  for (int i = 0; i < 4; i++) {
    std::thread([] {
      thread_local PerThread mine;
      mine.touch();
    }).join();
  }
  std::printf("%d\n", ended);
}
