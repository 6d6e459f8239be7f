// Language features in one program: virtual functions, reductions of classes, loop with each binding, taskloop,
// dependences, declare variant and mapper, members, templates and lambdas, and launches of many shapes.
#include "check.h"

#pragma omp begin declare target
struct Shape {
  virtual double area(int k) const = 0;
  virtual ~Shape() {}
};
struct Sq : Shape {
  double s;
  Sq(double s):s(s){}
  double area(int k) const override {
    return s*s+k;
  }
};
struct Ci : Shape {
  double r;
  Ci(double r):r(r){}
  double area(int k) const override {
    return 3*r*r-k;
  }
};
struct V3 {
  double x, y, z;
  V3():x(0), y(0), z(0){}
  V3(double a):x(a), y(2*a), z(3*a){}
  V3&operator += (const V3&o) {
    x += o.x;
    y += o.y;
    z += o.z;
    return *this;
  }
};
#pragma omp declare reduction(+:V3: omp_out += omp_in) initializer(omp_priv=V3())
template<class T> struct Acc {
  T total;
  int n;
  Acc():total(), n(0){}
  void add(T v) {
    total += v;
    ++n;
  }
};
template<class F> double apply(F f, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += f(i);
  return s;
}
int gpu_fn(int x) {
  return x+100;
}
#pragma omp end declare target
#pragma omp declare variant(gpu_fn) match(construct={target})
int var_fn(int x) {
  return x+1;
}
struct Vec {
  int n;
  double *d;
};
#pragma omp declare mapper(deep: Vec v) map(v, v.d[0:v.n])
struct Cls {
  int n;
  double a[64];
  double run() {
    double s = 0;
#pragma omp target teams distribute parallel for reduction(+:s) map(tofrom:this[:1])
    for (int i = 0; i < n; ++i) {
      a[i] *= 2;
      s += a[i];
    }
    return s;
  }
};
int main() {
  // virtual functions of objects made on device
  {
    double s = 0;
#pragma omp target map(tofrom:s)
    {
      Sq q(3);
      Ci c(2);
      Shape*p[2] = {&q, &c};
      double t = 0;
#pragma omp parallel for reduction(+:t)
      for (int i = 0; i < 100; ++i) t += p[i&1]->area(i);
      s = t;
    }
    double e = 0;
    for (int i = 0; i < 100; ++i) e += (i&1)? 12-i : 9+i;
    CHECK(s, e);
  }
  // UDR in target parallel, teams, teams distribute parallel for
  {
    V3 v(1);
#pragma omp target parallel for reduction(+:v) map(tofrom:v)
    for (int i = 0; i < 333; ++i) v += V3(i);
    CHECK(v.x, 1+333*332/2);
    CHECK(v.z, 3+3.0*333*332/2);
#pragma omp target teams distribute parallel for reduction(+:v) map(tofrom:v) num_teams(5)
    for (int i = 0; i < 1000; ++i) v += V3(1);
    CHECK(v.y, 2+2*333.0*332/2+2000);
#pragma omp target teams distribute reduction(+:v) map(tofrom:v) num_teams(5)
    for (int i = 0; i < 17; ++i) v += V3(1);
    CHECK(v.y, 2+2*333.0*332/2+2034);
  }
  // loop bind
  {
    static int a[5000];
#pragma omp target teams loop map(tofrom:a)
    for (int i = 0; i < 5000; ++i) a[i] += i;
#pragma omp target teams map(tofrom:a) num_teams(4)
#pragma omp loop bind(teams)
    for (int i = 0; i < 5000; ++i) a[i] += i;
#pragma omp target parallel map(tofrom:a)
#pragma omp loop bind(parallel)
    for (int i = 0; i < 5000; ++i) a[i] += i;
    int s = 0;
#pragma omp target teams loop reduction(+:s) map(tofrom:s)
    for (int i = 0; i < 5000; ++i) {
      int t = 0;
#pragma omp loop bind(thread)
      for (int j = 0; j < 3; ++j) t += j;
      s += t;
    }
    CHECK(s, 15000);
    for (int i = 0; i < 5000; ++i) CHECK(a[i], 3*i);
  }
  // taskloop & in_reduction & reduction(task)
  {
    int s = 0, c = 0;
#pragma omp target map(tofrom:s,c)
    {
#pragma omp parallel num_threads(8)
#pragma omp single
      {
#pragma omp taskloop grainsize(7)
        for (int i = 0; i < 100; ++i)
#pragma omp atomic
        s += i;
#pragma omp taskgroup
        for (int i = 0; i < 10; ++i)
#pragma omp task depend(inout:c) firstprivate(i)
        c = c*2%1009+i;
      }
    }
    int e = 0;
    for (int i = 0; i < 10; ++i) e = e*2%1009+i;
    CHECK(s, 4950);
    CHECK(c, e);
  }
  // declare variant
  {
    int r = 0;
#pragma omp target map(tofrom:r)
    r = var_fn(1);
    CHECK(r, 101);
  }
  // mapper
  {
    Vec v[3];
    double buf[3][10];
    for (int k = 0; k < 3; ++k) {
      v[k].n = 10;
      v[k].d = buf[k];
      for (int i = 0; i < 10; ++i) buf[k][i] = k*10+i;
    }
#pragma omp target teams distribute parallel for collapse(2) map(mapper(deep),tofrom:v[0:3])
    for (int k = 0; k < 3; ++k) for (int i = 0; i < 10; ++i) v[k].d[i] += 1000;
    for (int k = 0; k < 3; ++k) for (int i = 0; i < 10; ++i) CHECK(buf[k][i], k*10+i+1000);
  }
  {
    Cls c;
    c.n = 64;
    for (int i = 0; i < 64; ++i)c.a[i] = i;
    CHECK(c.run(), 64*63);
    CHECK(c.a[5], 10);
  }
  // templates, lambdas in generic
  {
    double r = 0;
    int k = 3;
#pragma omp target map(tofrom:r)
    {
      auto f = [=](int i) {
        return i*k;
      };
      Acc<double> acc;
      double arr[16];
#pragma omp parallel for
      for (int i = 0; i < 16; ++i) arr[i] = apply(f, i+1);
      for (int i = 0; i < 16; ++i) acc.add(arr[i]);
      Acc<double> copy=acc;
#pragma omp parallel for reduction(+:r)
      for (int i = 0; i < 16; ++i) r += copy.n+arr[i];
      r += acc.total;
    }
    double e = 0;
    for (int i = 0; i < 16; ++i) e += 3.0*(i*(i+1)/2);
    CHECK(r, 16*16+2*e);
  }
  // geometry
  {
    const int ns[] = {0, 1, 31, 33, 100000};
    const int tms[] = {1, 3, 0};
    const int tls[] = {1, 32, 100, 0};
    const int nts[] = {1, 17, 64, 0};
    static int cnt[100000];
    for (int in = 0; in < 5; ++in) for (int it = 0; it < 3; ++it) for (int il = 0; il < 4; ++il) {
      int n = ns[in], nt = tms[it]?tms[it]:7, tl = tls[il]?tls[il]:128, th = nts[(il+it)%4]?nts[(il+it)%4]:128;
      if (n>1000&&it == 0)continue;
      for (int i = 0; i < n; ++i)cnt[i] = 0;
      long s = 0;
      int last = -1;
#pragma omp target teams distribute parallel for num_teams(nt) thread_limit(tl) num_threads(th) \
    map(tofrom:cnt[0:n]) reduction(+:s) lastprivate(last) map(tofrom:last)
      for (int i = 0; i < n; ++i) {
        cnt[i] += i;
        s += i;
        last = i;
      }
#pragma omp target teams distribute parallel for num_teams(nt) thread_limit(tl) dist_schedule(static,13) \
    schedule(dynamic,3) map(tofrom:cnt[0:n])
      for (int i = 0; i < n; ++i) cnt[i] += 1;
#pragma omp target parallel for num_threads(th) schedule(guided,5) map(tofrom:cnt[0:n])
      for (int i = 0; i < n; ++i) cnt[i] += 2;
#pragma omp target teams distribute num_teams(nt) dist_schedule(static,4) map(tofrom:cnt[0:n])
      for (int i = 0; i < n; i += 3) {
        int e = i+3 < n?i+3:n;
#pragma omp parallel for num_threads(th) schedule(static,1)
        for (int j = i; j < e; ++j) cnt[j] += 4;
      }
      if (n) CHECK(last, n-1);
      CHECK(s, (double)n*(n-1)/2);
      for (int i = 0; i < n; ++i) CHECK(cnt[i], i+7);
      if (n>1000) break;
    }
    int h = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(+:h) map(tofrom:h)
    for (int i = 0; i < 7; ++i) for (int j = 2; j < 11; j += 2) for (int k = 9; k>0; --k) h += i*100+j*10+k;
    int e = 0;
    for (int i = 0; i < 7; ++i) for (int j = 2; j < 11; j += 2) for (int k = 9; k>0; --k) e += i*100+j*10+k;
    CHECK(h, e);
  }
  return finish();
}
