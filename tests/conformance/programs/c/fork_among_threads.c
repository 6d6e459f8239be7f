// covers: children forked while other threads run regions: they run regions, also on new threads, and keep mapped data
// stock: unusable because its children wait for locks of threads that they do not have
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 60, THREADS = 3 };

static int stop, wrong, global = 7;
static int data[100];

__attribute__((noinline)) static int sum(int n) {
  int s = 0;
#pragma omp target map(tofrom : s)
  for (int i = 0; i < n; ++i)
    s += i;
  return s;
}

// A region with data that is not on the thread's stack.
static int next(void) {
  int seen;
#pragma omp target map(tofrom : global) map(from : seen)
  seen = global;
  return seen;
}

static void *run_regions(void *unused) {
  int done = 0;
  while (!done) {
    if (sum(100) != 4950 || next() != 7)
#pragma omp atomic
      ++wrong;
#pragma omp atomic read
    done = stop;
  }
  return unused;
}

static void *run_some_regions(void *result) {
  for (int i = 0; i < 20; ++i)
    *(int *)result |= sum(1000) != 499500;
  return NULL;
}

// What a child does: status 0 if all is right. The alarm ends a child that hangs.
static int child(void) {
  alarm(30);
  int failed = sum(1000) != 499500;
  global = 8;
  failed |= (next() != 8) << 1;
#pragma omp target map(data)
  data[0]++;
#pragma omp target update from(data)
  failed |= (data[0] != 6) << 2;
  // New threads get the stacks of those that the child does not have.
  pthread_t threads[THREADS];
  int results[THREADS] = {0};
  for (int i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, run_some_regions, &results[i]);
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    failed |= results[i] << 3;
  }
  int s = 0;
#pragma omp target device(1) map(tofrom : s)
  s += 5;
  return failed | (s != 5) << 4;
}

int main(void) {
  data[0] = 5;
#pragma omp target enter data map(to : data)
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, run_regions, NULL);
  int failed = 0;
  for (int i = 0; i < CHILDREN; ++i) {
    pid_t process = fork();
    if (process == 0)
      _exit(child());
    int status;
    waitpid(process, &status, 0);
    if (status != 0 && failed++ == 0)
      printf("a child ended with %#x\n", status);
  }
#pragma omp atomic write
  stop = 1;
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
#pragma omp target exit data map(from : data)
  printf("children that failed: %d, wrong in the parent: %d, data %d\n", failed, wrong, data[0]);
  return 0;
}
