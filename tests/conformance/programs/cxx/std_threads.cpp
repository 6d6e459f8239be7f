// covers: std::thread and std::async that offload at the same time, with data on different devices
// flags: -pthread
#include <cstdio>
#include <future>
#include <omp.h>
#include <thread>
#include <vector>

static long work(int seed, int device) {
  std::vector<int> v(200, seed);
  int *p = v.data();
  long sum = 0;
  for (int r = 0; r < 25; r++) {
#pragma omp target map(tofrom : p[0 : 200]) device(device)
    for (int i = 0; i < 200; i++) p[i] += i % 7;
#pragma omp target data map(tofrom : p[100 : 50]) device(device)
    {
#pragma omp target device(device)
      p[100] += 1;
    }
  }
  for (int x : v) sum += x;
  return sum;
}

int main() {
  const int devices = omp_get_num_devices();
  std::vector<long> out(6);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; t++) threads.emplace_back([&, t] { out[t] = work(t, t % devices); });
  for (auto &t : threads) t.join();
  for (long v : out) std::printf("%ld ", v);
  std::printf("\n");
  auto a = std::async(std::launch::async, work, 100, 0);
  auto b = std::async(std::launch::async, work, 200, 1);
  const long first = a.get(), second = b.get();
  std::printf("%ld %ld\n", first, second);
}
