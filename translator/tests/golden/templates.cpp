template <class T> struct box {
  T kept;
  template <class U, int N, class... V> void f(T *list, U x, V... more) {
    constexpr int size = N + 1;
    enum { three = 3 };
#pragma omp target device(ancestor : 1) map(tofrom : list[0 : N]) firstprivate(x)
    {
      T own[size] = {three};
      list[0] = own[0] + x + kept + sizeof...(more);
    }
  }
};
static void g() {
  auto f = [](auto x) {
#pragma omp target device(ancestor : 1) map(tofrom : x)
    x++;
  };
  f(1);
}
