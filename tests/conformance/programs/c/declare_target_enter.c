// covers: declare target globals (enter), functions, const data, update of globals
// flags: -fopenmp-version=52
#include <omp.h>
#include <stdio.h>

#pragma omp begin declare target
int counter = 5;
double table[4] = {0.5, 1.5, 2.5, 3.5};
const char word[] = "device";
struct {
  int x, y;
} point = {1, 2};
int bump(int by) { return counter += by; }
static double look(int i) { return table[i] * point.y; }
#pragma omp end declare target

int also = 11;
#pragma omp declare target enter(also)

int main(void) {
  int out[4];
  double real = 0;
#pragma omp target map(from : out, real)
  {
    out[0] = bump(2);
    out[1] = also;
    out[2] = word[3];
    out[3] = point.x;
    real = look(3);
    also = 12;
  }
  printf("%d %d %c %d %g\n", out[0], out[1], out[2], out[3], real);
  printf("host: %d %d\n", counter, also);
#pragma omp target update from(counter, also)
  printf("updated: %d %d\n", counter, also);
  counter = 50;
  table[3] = 10;
#pragma omp target update to(counter, table)
#pragma omp target map(from : out[0 : 1], real)
  {
    out[0] = bump(1);
    real = look(3);
  }
  printf("%d %g\n", out[0], real);
  printf("present: %d %d\n", omp_target_is_present(&counter, 0), omp_target_is_present(&also, 0));
#pragma omp target map(always, tofrom : also)
  also++;
  printf("always: %d\n", also);
#pragma omp target exit data map(delete : counter)
  printf("globals stay: %d\n", omp_target_is_present(&counter, 0));
  return 0;
}
