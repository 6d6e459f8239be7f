// covers: an executable linked at a fixed address
// flags: -no-pie
#include <stdio.h>

#pragma omp declare target
int table[3] = {1, 2, 3};
#pragma omp end declare target

int main(void) {
  int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 3; i++) sum += table[i];
  printf("%d\n", sum);
  return 0;
}
