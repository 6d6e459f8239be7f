// covers: a library with device code opened from a thread, never closed, with mappings left behind at exit
// library: device_library.c
// flags: -pthread
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *open_and_run(void *argument) {
  void *library = dlopen(getenv("CONFORMANCE_LIBRARY"), RTLD_NOW);
  int (*run)(int *, int) = (int (*)(int *, int))dlsym(library, "library_run");
  *(int *)argument = run((int[]){1, 1, 1}, 3);
  return library;
}

int main(void) {
  static int kept[32];
  int calls = 0;
  pthread_t thread;
#pragma omp target enter data map(to : kept)
  pthread_create(&thread, NULL, open_and_run, &calls);
  pthread_join(thread, NULL);
  printf("%d\n", calls);
#pragma omp target
  kept[0] = 1;
#pragma omp target update from(kept)
  printf("%d\n", kept[0]);
  return 0;
}
