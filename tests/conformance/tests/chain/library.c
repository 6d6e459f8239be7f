// A library with regions of its own, on data that the program has mapped. STEP is the name of its function.
// Without headers: those of the C library are not for every release's GPU.

// A variable of the library's own on the device.
#pragma omp declare target
double scale = 1;
#pragma omp end declare target

static double own[64];

// One step for each element, on the device's copy; what it computes besides, or -1.
__attribute__((visibility("default"))) double STEP(double *shared, int count) {
  double sum = 0, got = 0;
#pragma omp target teams distribute parallel for map(tofrom : shared[0 : count])
  for (int i = 0; i < count; ++i)
    shared[i] = 2 * shared[i] + 1;
#pragma omp target teams distribute parallel for map(tofrom : shared[0 : count]) map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < count; ++i)
    sum += shared[i];

  // Stays mapped from the first call on; each call adds to it on the device alone.
#pragma omp target enter data map(to : own)
#pragma omp target map(tofrom : own)
  for (int i = 0; i < 64; ++i)
    own[i] += i;
  scale = 3;
#pragma omp target update to(scale)
  scale = 0;
#pragma omp target map(tofrom : own, got)
  got = scale * own[63];
  return sum + got;
}

// The same step on memory of the device.
__attribute__((visibility("default"))) void STEP_ON(double *device, int count) {
#pragma omp target is_device_ptr(device)
  for (int i = 0; i < count; ++i)
    device[i] = 2 * device[i] + 1;
}
