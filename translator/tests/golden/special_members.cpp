#pragma omp requires reverse_offload
int printf(const char *, ...);
struct S { int x; S(int v) : x(v) {
#pragma omp target device(ancestor:1)
 x++; } ~S() {
#pragma omp target device(ancestor:1)
 x--; } operator int() const {
#pragma omp target device(ancestor:1)
 printf("%d\n", x); return x; } static void st(int y) {
#pragma omp target device(ancestor:1)
 y++; } };
