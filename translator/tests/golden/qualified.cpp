struct s { static int count; static constexpr int limit = 5; };
namespace n { int x; }
void f(int y) {
#pragma omp target map(tofrom: y)
  {
    [[omp::directive(target device(ancestor: 1) map(always, tofrom: y))]] {
      y = n::x + ::n::x + s::count + s::limit;
    }
  }
}
