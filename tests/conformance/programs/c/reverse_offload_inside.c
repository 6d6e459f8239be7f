// covers: what functions do that a region of device(ancestor: 1) calls: device constructs and routines, device numbers, ICVs, parallel regions
// stock: unusable because reverse offload is not in it
// translated: yes
// env: OMP_DEFAULT_DEVICE=1
// env: OMP_NUM_THREADS=3
// env: GANGWAY_VGPU_DEVICES=2
// env: GANGWAY_VGPU_WORKERS=1
#include <omp.h>
#include <stdio.h>

#pragma omp requires reverse_offload

#define N 4

static int mapped[N], own[N];

// The device waits for this region; another one runs on it meanwhile.
static void device_construct(int step) {
  int on_device = 0, seen = 0;
#pragma omp target map(tofrom : own) map(from : on_device, seen)
  {
    on_device = !omp_is_initial_device();
    for (int i = 0; i < N; i++)
      own[i] += step;
    seen = mapped[0];
  }
  printf("step %d: on a device %d, own %d, mapped there %d\n", step, on_device, own[N - 1], seen);
}

static void device_routines(void) {
  int device = omp_get_default_device(), host = omp_get_initial_device(), back[N] = {0};
#pragma omp target update from(mapped)
  printf("updated %d %d, present %d\n", mapped[0], mapped[1], omp_target_is_present(mapped, device));
  // A free may not wait for the device, which waits for this function.
  omp_target_free(omp_target_alloc(1 << 20, device), device);
  int *there = omp_target_alloc(sizeof mapped, device);
  int failed = omp_target_memcpy(there, mapped, sizeof mapped, 0, 0, device, host);
  failed |= omp_target_memcpy(back, there, sizeof back, 0, 0, host, device);
  omp_target_free(there, device);
  printf("copied %d %d, failed %d\n", back[0], back[1], failed);
  mapped[2] = 300;
#pragma omp target update to(mapped[2 : 1])
}

static void numbers(const char *where) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads++;
  printf("%s: initial device %d %d, devices %d, default %d, threads %d of %d, level %d\n", where,
         omp_is_initial_device(), omp_get_device_num() == omp_get_initial_device(), omp_get_num_devices() > 1,
         omp_get_default_device(), threads, omp_get_max_threads(), omp_get_level());
}

int main(void) {
  numbers("host");
#pragma omp target data map(tofrom : mapped)
  {
#pragma omp target
    {
      for (int i = 0; i < N; i++)
        mapped[i] = 10 + i;
#pragma omp target device(ancestor : 1)
      numbers("region");
      for (int step = 1; step < 4; step++) {
        mapped[0]++;
#pragma omp target device(ancestor : 1)
        device_construct(step);
      }
#pragma omp target device(ancestor : 1)
      device_routines();
      mapped[3] = mapped[2] + 1;
    }
  }
  printf("%d %d %d %d\n", mapped[0], mapped[1], mapped[2], mapped[3]);
  return 0;
}
