// Compiled with -g: what clang adds for the descriptions of variables must not change what a program does.
#include <complex.h>
#include <omp.h>

#include "check.h"

int main(void) {
  long sum = 0;
#pragma omp target teams num_teams(3) thread_limit(64) map(tofrom : sum) reduction(+ : sum)
  {
    int local[4];
    for (int i = 0; i < 4; i++)
      local[i] = i + omp_get_team_num();
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 64; i++)
      sum += local[i % 4];
  }
  CHECK(sum, 3 * 16 * 6 + 64 * 3);

  long most = 0, product = 1;
#pragma omp target teams num_teams(2) thread_limit(64) map(tofrom : most, product) reduction(max : most) \
    reduction(* : product)
  {
    int own = omp_get_team_num() + 2;
#pragma omp parallel for reduction(max : most) reduction(* : product)
    for (int i = 0; i < 5; i++) {
      most = i * own > most ? i * own : most;
      product *= own;
    }
  }
  CHECK(most, 12);
  CHECK(product, 32 * 243);

  float _Complex z = 1 + 2 * I;
  float parts[2];
#pragma omp target map(from : parts)
  {
    parts[0] = crealf(z);
    parts[1] = cimagf(z);
  }
  CHECK(parts[0], 1);
  CHECK(parts[1], 2);
  return finish();
}
