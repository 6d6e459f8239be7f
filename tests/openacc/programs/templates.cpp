// as without OpenACC
// Objects in templates come back from constructs, whatever their arguments are.
#include <cstdio>

template <class T, int N>
struct Matrix {
  T m[N][N];
  Matrix times(const Matrix &other) const {
    Matrix r;
#pragma acc parallel loop collapse(2) copyin(other)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int k = 0; k < N; k++) sum += m[i][k] * other.m[k][j];
        r.m[i][j] = sum;
      }
    return r;
  }
};

template <class T>
struct Pair {
  T a, b;
};

template <class T>
static T objects(T x, int n) {
  Pair<T> p{x, x};
  Matrix<T, 2> q{};
  T list[3] = {x, x, x};
#pragma acc parallel
  {
    p.a += n;
    q.m[1][1] = p.a;
    list[2] += 4;
  }
  return p.a + q.m[1][1] + list[2];
}

template <class S>
static double named(S &s) {
  S t = s;
#pragma acc parallel copy(s)
  {
    s.a += 2;
    s.b += s.a + t.a;
  }
  return s.a + s.b;
}

template <class T>
static T extremes(T *v, int n) {
  T low = v[0], high{};
#pragma acc parallel loop reduction(min : low) reduction(max : high) copyin(v[0 : n])
  for (int i = 0; i < n; i++) {
    T t = v[i];
    if (t < low) low = t;
    if (t > high) high = t;
  }
  return high - low;
}

template <class T>
static int written(T x) {
  int out[40], sum = 0;
#pragma acc parallel num_gangs(1) copyout(out)
  {
    x += 2;
#pragma acc loop vector
    for (int i = 0; i < 40; i++) out[i] = x + i;
  }
  for (int i = 0; i < 40; i++) sum += out[i];
  return sum;
}

/* What `auto` is nobody knows in the template. */
template <template <class> class C, class T>
struct Wrap {
  C<T> *all;
  T sum(int n) {
    T sum{};
    auto list = all;
#pragma acc parallel loop reduction(+ : sum) copyin(list[0 : n])
    for (int i = 0; i < n; i++) sum += list[i].a;
    return sum;
  }
};

template <class T>
struct Held {
  T *list;
  int n;
  explicit Held(int n) : list(new T[n]), n(n) {
#pragma acc enter data copyin(this [0:1]) create(list[0 : n])
  }
  ~Held() {
#pragma acc exit data delete (list[0 : n])
#pragma acc exit data delete (this [0:1])
    delete[] list;
  }
  T filled() {
#pragma acc parallel loop present(this, list)
    for (int i = 0; i < n; i++) list[i] = i;
#pragma acc update self(list[0 : n])
    return list[n - 1];
  }
};

int main() {
  Matrix<float, 5> m{};
  for (int i = 0; i < 5; i++) m.m[i][i] = i + 1;
  auto r = m.times(m);
  std::printf("%g %g %g\n", r.m[0][0], r.m[4][4], r.m[1][0]);
  std::printf("%d %g\n", objects(1, 2), objects(1.5, 3));
  Pair<double> q{1, 2};
  std::printf("%g %g\n", named(q), q.b);
  int v[5] = {3, -1, 4, 7, 2};
  std::printf("%d\n", extremes(v, 5));
  std::printf("%d\n", written(3) + written(4.5));
  Pair<int> pairs[4] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
  std::printf("%d\n", Wrap<Pair, int>{pairs}.sum(4));
  std::printf("%g\n", Held<double>(10).filled());
  return 0;
}
