// covers: long random graphs of host tasks and target nowait tasks on several devices, ordered by depend
#include <omp.h>
#include <stdio.h>

enum { BUFFERS = 6, LENGTH = 8, TASKS = 250 };

static int buffers[BUFFERS][LENGTH], expected[BUFFERS][LENGTH];
static unsigned state;

static unsigned next(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

#pragma omp begin declare target
static void combine(int *to, const int *from, int value) {
  for (int i = 0; i < LENGTH; i++) to[i] = (to[i] * 5 + from[(i + value) % LENGTH] + value) % 10007;
}
#pragma omp end declare target

int main(void) {
  const int devices = omp_get_num_devices();
  for (unsigned seed = 1; seed <= 6; seed++) {
    state = seed * 31337u;
    for (int i = 0; i < BUFFERS * LENGTH; i++) (&buffers[0][0])[i] = (&expected[0][0])[i] = i;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int t = 0; t < TASKS; t++) {
      const int from = (int)next(BUFFERS), value = (int)next(100), kind = (int)next(5);
      const int to = (from + 1 + (int)next(BUFFERS - 1)) % BUFFERS, device = (int)next(devices);
      int *out = buffers[to], *in = buffers[from];
      combine(expected[to], expected[from], value);
      switch (kind) {
      case 0:;
#pragma omp task depend(in : in[0]) depend(inout : out[0]) firstprivate(in, out, value)
        combine(out, in, value);
        break;
      case 1:;
#pragma omp target data map(to : value) device(device)
        {
        }
      case 2:
      case 3:;
#pragma omp target nowait device(device) map(to : in[0 : LENGTH]) map(tofrom : out[0 : LENGTH]) \
    depend(in : in[0]) depend(inout : out[0]) firstprivate(value)
        combine(out, in, value);
        break;
      case 4:;
        // Three target tasks that hold together through their dependences.
#pragma omp target enter data nowait device(device) map(to : out[0 : LENGTH]) depend(inout : out[0])
#pragma omp target nowait device(device) map(to : in[0 : LENGTH]) map(alloc : out[0 : LENGTH]) \
    depend(in : in[0]) depend(inout : out[0]) firstprivate(value)
        combine(out, in, value);
#pragma omp target exit data nowait device(device) map(from : out[0 : LENGTH]) depend(inout : out[0])
        break;
      }
    }
    int wrong = 0;
    unsigned hash = 0;
    for (int i = 0; i < BUFFERS * LENGTH; i++) {
      wrong += (&buffers[0][0])[i] != (&expected[0][0])[i];
      hash = hash * 31 + (unsigned)(&buffers[0][0])[i];
    }
    printf("seed %u: %d wrong, %08x\n", seed, wrong, hash);
  }
  return 0;
}
