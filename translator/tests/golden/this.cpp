struct base {
  int inherited;
  void tell(int);
};
class solver : base {
  int count;
  double *values;
  template <class T> T twice(T v) { return v + v; }
#define COUNT count
  void f(int n) {
#pragma omp target device(ancestor: 1) map(always, tofrom: values[0:n], this->count)
    {
      struct inner {
        int count;
        int get() { return count + this->count; }
      } other = {1};
      count += other.get() + other.count;
      base::tell(twice<int>(inherited));
      auto g = [this] { return this->values[0] + count; };
      values[n - 1] = g();
    }
  }
};
