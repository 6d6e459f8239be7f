// covers: omp_get_device_num in target regions, their threads, functions they call and pointers to it
// stock: differs because omp_get_device_num in a region answers the host's number
#include <omp.h>
#include <stdio.h>

#pragma omp begin declare target
static int (*asked)(void) = omp_get_device_num;
__attribute__((noinline)) static int ask(void) { return omp_get_device_num(); }
#pragma omp end declare target

int main(void) {
  int devices = omp_get_num_devices(), initial = omp_get_initial_device(), wrong = 0;
  for (int device = 0; device < devices; ++device) {
    int number = -7, called = -7, pointed = -7, host = -7, per_thread[4] = {-7, -7, -7, -7};
#pragma omp target device(device) map(from : number, called, pointed, host)
    {
      number = omp_get_device_num();
      called = ask();
      pointed = asked();
      host = omp_get_initial_device();
    }
#pragma omp target parallel num_threads(4) device(device) map(tofrom : per_thread)
    per_thread[omp_get_thread_num()] = omp_get_device_num();
    wrong += number != device || called != device || pointed != device || host != initial;
    for (int thread = 0; thread < 4; ++thread)
      wrong += per_thread[thread] != device && per_thread[thread] != -7;
    printf("device %d: %d %d %d\n", device, number, called, pointed);
  }
  printf("wrong: %d\n", wrong);
  int on_host = -7;
#pragma omp target device(initial) map(from : on_host)
  on_host = omp_get_device_num();
  printf("host %d %d\n", omp_get_device_num() == initial, on_host == initial);
  return 0;
}
