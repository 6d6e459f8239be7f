// covers: declare target objects with constructors and destructors, run on the host and on each device used
// status: 0
#include <cstdio>

#pragma omp begin declare target
struct Log {
  int made, extra[3];
  Log(int m) : made(m + 1) {
    for (int i = 0; i < 3; i++) extra[i] = m * 10 + i;
  }
  ~Log() { made = -1; }
};
static int order = 0;
struct Counted {
  int number;
  Counted() : number(++order) {}
};
Log first(41);
Counted one, two, three;
static int computed = first.made * 2;
#pragma omp end declare target

int main() {
  for (int device = 0; device < 2; device++) {
    int out[6];
#pragma omp target map(from : out) device(device)
    {
      out[0] = first.made;
      out[1] = first.extra[2];
      out[2] = one.number;
      out[3] = three.number;
      out[4] = computed;
      first.made += 1000;
      out[5] = order;
    }
    for (int v : out) std::printf("%d ", v);
    std::printf("\n");
  }
  std::printf("%d %d %d %d\n", first.made, two.number, computed, order);
#pragma omp target update from(first)
  std::printf("%d\n", first.made);
}
