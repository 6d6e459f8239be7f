struct s { int total[2]; };
#define ADD total[0] += 1
void f(struct s s) {
  int total[2] = {0, 0};
#pragma omp target device(ancestor: 1) map(total) map(s)
  {
    ADD;
    s.total[1]++;
  }
}
