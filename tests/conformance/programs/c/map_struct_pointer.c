// covers: struct member that is a pointer, mapped with its pointee (pointer-and-pointee, MEMBER_OF)
#include <stdio.h>
#include <stdlib.h>

struct vector {
  int n;
  double *data;
  double scale;
};

int main(void) {
  struct vector v = {6, malloc(6 * sizeof(double)), 2.0};
  double *host = v.data;
  for (int i = 0; i < v.n; i++) v.data[i] = i;

#pragma omp target map(tofrom : v.data[0 : v.n]) map(to : v.n, v.scale)
  for (int i = 0; i < v.n; i++) v.data[i] *= v.scale;
  printf("members: %g %d\n", v.data[5], v.data == host);

#pragma omp target map(tofrom : v, v.data[0 : v.n])
  {
    for (int i = 0; i < v.n; i++) v.data[i] += 1;
    v.scale = 10;
  }
  printf("whole and pointee: %g %g, pointer kept %d\n", v.data[5], v.scale, v.data == host);

  struct vector *p = &v;
#pragma omp target enter data map(to : p[0 : 1], p->data[0 : p->n])
#pragma omp target
  for (int i = 0; i < p->n; i++) p->data[i] -= p->scale;
#pragma omp target update from(p->data[0 : 6])
  printf("through a pointer: %g %g\n", p->data[0], p->data[5]);
#pragma omp target exit data map(release : p->data[0 : p->n]) map(from : p[0 : 1])
  printf("pointer kept %d, n %d\n", v.data == host, v.n);
  free(host);
  return 0;
}
