// Kernels of templates that take lambda expressions, where the functions around have others on the host and in
// constructs.
#include <cstdio>

enum { COUNT = 64 };

template <class F> static void each(int *list, F f) {
#pragma acc parallel loop copy(list[0 : COUNT])
  for (int i = 0; i < COUNT; i++) list[i] = f(i, list[i]);
}

struct Worker {
  int factor;
  Worker();
  int work(int *list) const;
  virtual ~Worker() = default;
};

Worker::Worker() : factor([] { return 3; }()) {}

int Worker::work(int *list) const {
  auto host = [](int value) { return value + 1; };
  int added = host(4), factor = this->factor;
  each(list, [=](int i, int value) { return value * factor + added + i; });
  return host(list[1]);
}

namespace {
int twice(int *list) {
  auto none = [] { return 0; };
  each(list, [](int, int value) { return value * 2; });
  return none() + list[2];
}
} // namespace

int main(int argc, char *argv[]);
int main(int argc,
         char *argv[]) {
  int list[COUNT];
  auto name = [=] { return argv[0]; };
  auto tens = [](int i) { return i * 10; };
  if (argc < 1 || !name()) return 1;
  each(list, [](int i, int) { return i; });
  if (list[9] != 9) return std::printf("%d\n", list[9]), 1;
#pragma acc parallel loop copy(list)
  for (int i = 0; i < COUNT; i++) list[i] += [&](int value) { return value + i; }(3) + tens(i);
  if (list[9] != 111) return std::printf("%d\n", list[9]), 1;
  each(list, [](int, int value) { return value - 1; });
  each(list, [=](int, int value) { return value + argc; });
  if (list[9] != 110 + argc) return std::printf("%d\n", list[9]), 1;
  if (Worker().work(list) != 3 * 14 + 3 * argc + 7) return std::printf("%d\n", list[1]), 1;
  if (twice(list) != 2 * (3 * (26 + argc) + 7)) return std::printf("%d\n", list[2]), 1;
  std::puts("ok");
}
