// covers: offloading from plain POSIX threads that OpenMP did not make, one after another and at once
// flags: -pthread
#include <pthread.h>
#include <stdio.h>

struct job {
  int id, result;
};

static void *work(void *argument) {
  struct job *job = argument;
  int id = job->id, sum = 0;
  for (int r = 0; r < 20; r++) {
#pragma omp target teams distribute parallel for reduction(+ : sum) firstprivate(id)
    for (int i = 0; i < 10; i++) sum += i * id;
  }
  job->result = sum;
  return NULL;
}

int main(void) {
  struct job jobs[5];
  pthread_t threads[5];
  for (int i = 0; i < 5; i++) {
    jobs[i].id = i + 1;
    pthread_create(&threads[i], NULL, work, &jobs[i]);
  }
  for (int i = 0; i < 5; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 5; i++) printf("%d\n", jobs[i].result);
  struct job late = {9, 0};
  pthread_create(&threads[0], NULL, work, &late);
  pthread_join(threads[0], NULL);
  printf("%d\n", late.result);
  return 0;
}
