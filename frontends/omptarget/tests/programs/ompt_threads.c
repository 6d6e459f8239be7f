/* Several host threads with constructs of all kinds, at once and in tasks. */
#include <omp.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 25, LENGTH = 64 };

static int work(int thread) {
  int data[LENGTH], wrong = 0;
  for (int i = 0; i < LENGTH; i++) data[i] = thread;
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp target teams num_teams(2) map(tofrom : data) device(thread % 2)
    if (omp_get_team_num() == 0) data[0]++;
#pragma omp target enter data map(to : data) device(thread % 2)
#pragma omp target map(data) device(thread % 2)
    data[1]++;
#pragma omp target update from(data[0 : LENGTH / 2]) device(thread % 2)
#pragma omp target exit data map(delete : data) device(thread % 2)
  }
  wrong += data[0] != thread + ROUNDS || data[1] != thread + ROUNDS;
  return wrong;
}

int main(void) {
  int wrong = 0, tasks = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
  wrong += work(omp_get_thread_num());

  int cells[ROUNDS] = {0};
#pragma omp parallel num_threads(THREADS)
#pragma omp single
  for (int i = 0; i < ROUNDS; i++) {
#pragma omp target nowait map(tofrom : cells[i : 1]) depend(inout : cells[i])
    cells[i] += i;
#pragma omp target nowait map(tofrom : cells[i : 1]) depend(inout : cells[i])
    cells[i] *= 2;
  }
  for (int i = 0; i < ROUNDS; i++) tasks += cells[i] == 2 * i;

  const int host = omp_get_initial_device();
  int *storage = omp_target_alloc(sizeof cells, 0);
  omp_target_memcpy(storage, cells, sizeof cells, 0, 0, 0, host);
  omp_target_memcpy_async(cells, storage, sizeof cells, 0, 0, host, 0, 0, NULL);
#pragma omp taskwait
  omp_target_free(storage, 0);
  printf("wrong %d, tasks %d\n", wrong, tasks);
  return wrong != 0 || tasks != ROUNDS;
}
