// covers: pointer attachment: structure first and pointee later, pointee first, always, nested pointers
#include <stdio.h>

struct node {
  int *p;
  int n;
};

int main(void) {
  int x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, out = 0;
  struct node s = {x, 4};

  // The structure is mapped first; mapping the pointee attaches the pointer.
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.p[0 : 4])
#pragma omp target map(from : out)
  {
    out = 0;
    for (int i = 0; i < s.n; i++) out += s.p[i];
  }
  printf("structure first: %d\n", out);
#pragma omp target exit data map(release : s.p[0 : 4])
#pragma omp target exit data map(release : s)

  // The pointee is present already when the structure comes.
#pragma omp target enter data map(to : x)
#pragma omp target map(to : s, s.p[0 : 4]) map(from : out)
  out = s.p[3];
  printf("pointee first: %d\n", out);
#pragma omp target exit data map(delete : x)

  // A pointer that changes on the host is attached anew where it is mapped anew.
  s.p = y;
#pragma omp target map(to : s, s.p[1 : 2]) map(from : out)
  out = s.p[1] + s.p[2];
  printf("other pointee, from its middle: %d\n", out);

  int *table[3] = {x, y, x + 2};
#pragma omp target map(to : table) map(tofrom : table[1][0 : 4]) map(from : out)
  {
    out = table[1][2];
    table[1][2] = 31;
  }
  printf("pointer in an array: %d %d\n", out, y[2]);
  printf("host pointers kept: %d %d\n", s.p == y, table[1] == y);
  return 0;
}
