// Pointers that keep the host's address: told by name where a region gets one itself, and
// caught where a kernel follows one to a variable that is mapped.
// run: told args=told GANGWAY_CHECK=1 exit=0
// run: quiet args=told exit=0
// run: device args=device GANGWAY_CHECK=1 exit=0
// run: not_seen args=read GANGWAY_CHECK=1 exit=0
// run: read args=read GANGWAY_CHECK=2 signal=SEGV
// run: write args=write GANGWAY_CHECK=2 signal=SEGV
// run: worker args=worker GANGWAY_CHECK=2 OMP_NUM_THREADS=4 signal=SEGV
// run: library args=library GANGWAY_CHECK=2 signal=SEGV
// run: global args=global GANGWAY_CHECK=2 signal=SEGV
// run: read_without_debug_information args=read flags=-g0 GANGWAY_CHECK=2 signal=SEGV
// run: neighbours args=neighbours GANGWAY_CHECK=2 exit=0
// run: meanwhile args=meanwhile GANGWAY_CHECK=2 exit=0
// run: switched_off args=read GANGWAY_CHECK=2 GANGWAY_CPU_CATCH_SIGNALS=0 exit=0
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma omp declare target
double table[5000];
#pragma omp end declare target

static double *touched;
static enum { NOT_BEGUN, RUNS, REACHED, NO_CHILDREN } step;

// Threads of the program, and processes that it starts, reach its data while a region runs.
static void *meanwhile(void *nothing) {
  while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != RUNS) usleep(1000);
  touched[2500] += 1;
  __atomic_store_n(&step, system("exit 3") == 3 << 8 ? REACHED : NO_CHILDREN, __ATOMIC_RELEASE);
  return nothing;
}

struct list {
  int length;
  double *elements;
};

int main(int argc, char **argv) {
  const char *which = argv[argc - 1];
  int result = 0;
  double *a = calloc(5000, sizeof(double)), *b = calloc(5000, sizeof(double));
  // The pointer inside is a copy of the host's.
  struct list list = {5000, a};
  if (strcmp(which, "told") == 0) {
    for (int i = 0; i < 3; ++i) {
#pragma omp target map(tofrom : a[0 : 5000])
      a[0] += b[0];
    }
  } else if (strcmp(which, "device") == 0) {
    double *device = omp_target_alloc(80, 0);
    double *nothing = 0;
    // All of these are as they should be.
#pragma omp target
    if (!nothing)
      device[0] = 1;
    omp_target_free(device, 0);
  } else if (strcmp(which, "read") == 0) {
#pragma omp target map(from : result) map(to : list, a[0 : 5000])
    result = (int)list.elements[2500];
  } else if (strcmp(which, "write") == 0) {
#pragma omp target map(to : list, a[0 : 5000])
    list.elements[2500] = 1;
  } else if (strcmp(which, "worker") == 0) {
#pragma omp target data map(to : a[0 : 5000])
#pragma omp target parallel for map(to : list)
    for (int i = 0; i < 5000; ++i)
      if (i >= 4000)
        list.elements[2500] = 1;
  } else if (strcmp(which, "library") == 0) {
#pragma omp target map(to : list, a[0 : 5000])
    memset(list.elements + 2500, 1, 8);
  } else if (strcmp(which, "global") == 0) {
    list.elements = table;
#pragma omp target map(to : list)
    list.elements[2500] = 1;
  } else if (strcmp(which, "meanwhile") == 0) {
    pthread_t thread;
    touched = a;
    pthread_create(&thread, 0, meanwhile, 0);
    // Kernels reach it by its address, as no variable is mapped there.
    unsigned long at = (unsigned long)&step;
#pragma omp target map(to : a[0 : 5000]) firstprivate(at)
    {
      __atomic_store_n((int *)at, RUNS, __ATOMIC_RELEASE);
      while (__atomic_load_n((int *)at, __ATOMIC_ACQUIRE) == RUNS)
        usleep(1000);
      a[2500] = 7;
    }
    pthread_join(thread, 0);
    result = a[2500] != 1 || step != REACHED;
  } else {
    // What shares pages with mapped data stays in reach of everybody.
    char stack[20000], *heap = malloc(20000), *next = malloc(100);
    memset(stack, 1, sizeof stack);
    memset(heap, 1, 20000);
#pragma omp target map(tofrom : stack, heap[0 : 20000]) map(from : result)
    {
      char *own = malloc(300);
      own[0] = stack[9000] + heap[9000];
      result = own[0] - 2;
      free(own);
      heap[10000] = 5;
    }
    result += heap[10000] - 5 + (next == heap);
    free(next);
  }
  return result;
}
