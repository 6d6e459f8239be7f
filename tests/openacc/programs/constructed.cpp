// as without OpenACC
// Variables of gangs that are initialised in the ways of C++, and used by lanes.
#include <cstdio>

struct Sum {
  int total, part[4];
  Sum() : total(100), part{1, 2, 3, 4} {}
#pragma acc routine seq
  void add(int x) {
    total += x;
    part[x % 4] += x;
  }
};

struct Random {
  unsigned state;
  explicit Random(unsigned seed) : state(seed) {}
#pragma acc routine seq
  unsigned next() {
    state = state * 1664525u + 1013904223u;
    return state >> 16;
  }
};

struct Pair {
  int a, b;
};

static void show(const int *out) {
  int sum = 0;
  for (int i = 0; i < 32; i++) sum += out[i] * (i + 1);
  std::printf("%d\n", sum);
}

template <class T>
static void in_template(T first) {
  int out[32];
#pragma acc parallel loop gang num_gangs(4) copyout(out)
  for (int i = 0; i < 8; i++) {
    T k{first}, w(first * T(i));
#pragma acc loop vector
    for (int j = 0; j < 4; j++) out[i * 4 + j] = k + w + j;
  }
  show(out);
}

int main() {
  int out[32];
#pragma acc parallel loop gang num_gangs(4) copyout(out)
  for (int i = 0; i < 8; i++) {
    int k{i * 2}, z{}, w(i + 1), both((i + 2) * (i + 3));
    double d(0.5);
    int e = 3, f{e + i}, list[]{i, 2, 3, 4};
    Pair p{i, 2}, q = {3, i};
#pragma acc loop vector
    for (int j = 0; j < 4; j++) out[i * 4 + j] = k + z + w + both + int(d * 2) + f + list[j] + p.a + q.b;
  }
  show(out);
#pragma acc parallel loop gang num_gangs(4) copyout(out)
  for (int i = 0; i < 8; i++) {
    Sum sum;
    Random random(i), other{7u};
    sum.add(i);
    random.next();
    const int shift = i * 2;
    auto shifted = [shift](int x) { return x + shift; };
    auto all = [&](int x) { return x * shift; };
#pragma acc loop vector
    for (int j = 0; j < 4; j++)
      out[i * 4 + j] = sum.part[j] + sum.total + shifted(j) + all(j) + int(random.state % 1000) + int(other.state);
  }
  show(out);
  in_template(3);
  in_template(2.5);
  return 0;
}
