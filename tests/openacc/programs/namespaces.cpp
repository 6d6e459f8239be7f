// as without OpenACC
// Variables of namespaces and classes, in clauses and without.
#include <cstdio>

namespace A {
namespace B {
static double v[10];
int s = 3;
double *p;
struct S {
  int a;
  double b[4];
};
S st;
constexpr double PI = 3.5;
}  // namespace B
inline void in() {
  using namespace B;
#pragma acc parallel loop copy(v)
  for (int i = 0; i < 10; i++) v[i] += s + PI;
}
}  // namespace A

struct C {
  static int count;
  static double t[8];
  double m[8];
  int k = 2;
  void f() {
#pragma acc parallel loop copy(t) copyin(m)
    for (int i = 0; i < 8; i++) t[i] += m[i] + count + k;
  }
  void g() {
#pragma acc parallel loop
    for (int i = 0; i < 8; i++) m[i] += count + k;
  }
  static void h(int n) {
#pragma acc parallel loop reduction(+ : count)
    for (int i = 0; i < n; i++) count += 1;
  }
  int both() {
    int r = 0;
#pragma acc parallel copyout(r)
    r = hidden + k;
    return r;
  }

 private:
  static int hidden;
};
int C::count = 4;
double C::t[8];
int C::hidden = 11;

template <class T>
struct D {
  static T z;
  T arr[6];
  T sum() {
    T s = 0;
#pragma acc parallel loop reduction(+ : s)
    for (int i = 0; i < 6; i++) s += arr[i] * z;
    return s;
  }
};
template <class T>
T D<T>::z = 2;

namespace {
int list[5];
int number = 6;
}  // namespace
using namespace A;

int main() {
#pragma acc parallel loop copy(A::B::v)
  for (int i = 0; i < 10; i++) A::B::v[i] = i + A::B::s + B::PI;
  printf("%g\n", A::B::v[9]);
#pragma acc parallel loop copy(A::B::v[0 : 10])
  for (int i = 0; i < 10; i++) A::B::v[i] += i;
  printf("%g\n", A::B::v[9]);
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) B::v[i] += i;
  printf("%g\n", A::B::v[9]);
  A::in();
  printf("%g\n", A::B::v[9]);
  double w[10];
  A::B::p = w;
#pragma acc parallel loop copyout(A::B::p[0 : 10])
  for (int i = 0; i < 10; i++) A::B::p[i] = i * 2;
  printf("%g\n", w[9]);
#pragma acc data copy(A::B::p[0 : 10], A::B::st)
  {
#pragma acc parallel loop present(A::B::p)
    for (int i = 0; i < 10; i++) A::B::p[i] *= 2;
#pragma acc parallel present(A::B::st)
    {
      A::B::st.a = 4;
      A::B::st.b[2] = 1;
    }
#pragma acc update self(A::B::st.a)
  }
  printf("%g %d\n", w[9], B::st.a);
#pragma acc parallel loop reduction(+ : A::B::s)
  for (int i = 0; i < 10; i++) A::B::s += i;
  printf("%d\n", A::B::s);
  C c;
  for (int i = 0; i < 8; i++) c.m[i] = i;
  c.f();
  c.g();
  C::h(5);
  printf("%g %g %d %d\n", C::t[7], c.m[7], C::count, c.both());
#pragma acc parallel loop copy(C::t) firstprivate(C::count)
  for (int i = 0; i < 8; i++) C::t[i] += C::count;
  printf("%g\n", C::t[7]);
  D<double> d;
  for (int i = 0; i < 6; i++) d.arr[i] = i;
  printf("%g\n", d.sum());
#pragma acc parallel loop copy(list)
  for (int i = 0; i < 5; i++) list[i] += number;
  printf("%d\n", list[4]);
  return 0;
}
