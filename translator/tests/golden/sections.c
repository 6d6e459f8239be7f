struct vector { int n; double *data; struct { float w[4]; } inner; };
void g(struct vector *v, int n, int *p) {
  int table[8][4] = {{0}};
  struct vector own = *v;
#pragma omp target map(tofrom: table)
  {
#pragma omp target device(ancestor: 1) map(to: v->data[0:n], own.inner.w[1:2]) map(from: p[n:2 * n]) \
    map(always, from: table[2:][0:4]) map(*v)
    {
      table[2][0] = (int)own.inner.w[1];
      p[n] = v->n + (int)v->data[0];
    }
  }
}
