// covers: references to scalars, arrays, structs and pointers in maps; reference parameters and members
#include <cstdio>

struct Pair {
  int a, b;
};

static void add(int &x, const int &y, int (&list)[3], Pair &p) {
#pragma omp target map(tofrom : x, list, p) map(to : y)
  {
    x += y;
    for (int &v : list) v += x;
    p.a = p.b + x;
  }
}

static void pointer(double *&p, int n) {
#pragma omp target map(tofrom : p[0 : n])
  for (int i = 0; i < n; i++) p[i] += 0.5;
}

struct Holder {
  int &ref;
  int extra = 2;
  void work() {
#pragma omp target map(tofrom : ref) map(to : extra)
    ref *= extra;
  }
};

int main() {
  int x = 1, y = 10, list[3] = {1, 2, 3};
  Pair p{5, 6};
  add(x, y, list, p);
  std::printf("%d %d %d %d %d %d\n", x, list[0], list[1], list[2], p.a, p.b);
  double data[2] = {1, 2}, *q = data;
  pointer(q, 2);
  std::printf("%g %g %d\n", data[0], data[1], q == data);
  Holder holder{x};
  holder.work();
  std::printf("%d\n", x);
  int &alias = y;
#pragma omp target data map(tofrom : alias)
  {
#pragma omp target
    alias++;
#pragma omp target map(alloc : y)
    y++;
  }
  std::printf("%d\n", y);
#pragma omp target firstprivate(alias) map(tofrom : x)
  {
    x = alias;
    alias = 0;
  }
  std::printf("%d %d\n", x, y);
}
