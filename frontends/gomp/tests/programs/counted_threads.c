/* Threads that map the same structures and sections through their pointers, which others give up
 * meanwhile: in the end nothing is left, and what stayed throughout has its pointers attached. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 16, THREADS = 8, STEPS = 3000 };

static struct structure {
  double a, b;
  double *p, *q;
} stays, goes;

static int present(const void *address) { return omp_target_is_present(address, omp_get_default_device()); }

int main(void) {
  struct structure *both[] = {&stays, &goes};
  for (int index = 0; index < 2; ++index) {
    both[index]->p = calloc(LENGTH, sizeof(double));
    both[index]->q = calloc(LENGTH, sizeof(double));
  }
#pragma omp target enter data map(to : stays)
#pragma omp target enter data map(to : stays.p[0 : LENGTH])
  int wrong = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
  for (int step = 0; step < STEPS; ++step) {
    switch ((step + omp_get_thread_num()) % 4) {
    case 0: {
#pragma omp target enter data map(to : stays.a, stays.b, stays.p[0 : LENGTH], stays.q[0 : LENGTH])
      wrong += !present(stays.q);
#pragma omp target exit data map(from : stays.a, stays.b, stays.p[0 : LENGTH], stays.q[0 : LENGTH])
      break;
    }
    case 1:
#pragma omp target data map(tofrom : stays.p[0 : LENGTH], stays.q[0 : LENGTH])
      wrong += !present(stays.q) || !present(stays.p);
      break;
    case 2: {
#pragma omp target enter data map(to : goes.p, goes.q, goes.p[0 : LENGTH], goes.q[0 : LENGTH])
      wrong += !present(&goes.q) || !present(goes.p);
#pragma omp target exit data map(from : goes.p, goes.q, goes.p[0 : LENGTH], goes.q[0 : LENGTH])
      break;
    }
    default:
      if (step % 64 == 3) {
        double sum = 1;
#pragma omp target map(tofrom : sum)
        sum += stays.p[LENGTH - 1];
        wrong += sum != 1;
      }
    }
  }
  wrong += present(&goes.p) || present(goes.p) || present(goes.q) || present(stays.q) || !present(stays.p);
  double sum = 1;
#pragma omp target map(tofrom : sum)
  sum += stays.p[LENGTH - 1];
#pragma omp target exit data map(from : stays.p[0 : LENGTH])
#pragma omp target exit data map(from : stays)
  wrong += present(&stays) || present(stays.p);
  puts(wrong == 0 && sum == 1 ? "passed" : "failed");
  return wrong != 0;
}
