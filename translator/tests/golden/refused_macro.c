#define HOST _Pragma("omp target device(ancestor: 1)")
void f(int x) {
  HOST x++;
}
