/* A stream of blocks through the device, overlapped by `nowait` and `depend`.
 *
 * Each block is filtered and its energy is summed on the device. Copying in,
 * the two kernels and copying out are separate target tasks, chained by
 * dependences through the block they work on; blocks are independent, so the
 * runtime may copy one while it computes another. A host task at the end of
 * each chain consumes the result. The check is the same arithmetic on the
 * host. GPUs fuse multiplications and additions, so that a sample may differ
 * in its last bits (docs/arithmetic.md).
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 24, SAMPLES = 1 << 15, TAPS = 16 };

/* Sixteen products of at most a half, each rounded to 24 bits or not. */
static const float tolerance = 1e-6f;

#pragma omp begin declare target
/* A low-pass filter over the samples up to `at`; zero before the first. */
static inline float filtered(const float *input, const float *taps, int at) {
  float sum = 0.0f;
  for (int tap = 0; tap < TAPS && tap <= at; ++tap)
    sum += taps[tap] * input[at - tap];
  return sum;
}
#pragma omp end declare target

static void fill(float *block, unsigned number) {
  unsigned random = 12345u + 977u * number;
  for (int i = 0; i < SAMPLES; ++i) {
    random = random * 1664525u + 1013904223u;
    block[i] = (float)(random >> 8) / (float)(1 << 24) - 0.5f;
  }
}

/* In whole numbers, so that the order of the sum does not matter; of the
 * samples that the device has computed, so that it is the same sum. */
static long energy_on_host(const float *output) {
  long energy = 0;
  for (int i = 0; i < SAMPLES; ++i)
    energy += (long)(output[i] * output[i] * 1e6f);
  return energy;
}

int main(void) {
  static float input[BLOCKS][SAMPLES], output[BLOCKS][SAMPLES];
  static long energy[BLOCKS], expected[BLOCKS];
  float taps[TAPS];
  for (int tap = 0; tap < TAPS; ++tap)
    taps[tap] = 2.0f * (float)(TAPS - tap) / (float)(TAPS * (TAPS + 1));
  for (int b = 0; b < BLOCKS; ++b)
    fill(input[b], (unsigned)b);

  int consumed = 0, wrong = 0;
  double start = omp_get_wtime();
#pragma omp target data map(to : taps)
#pragma omp parallel
#pragma omp single
  for (int b = 0; b < BLOCKS; ++b) {
    float *in = input[b], *out = output[b];
    long *sum = &energy[b];
#pragma omp target enter data map(to : in[0 : SAMPLES], sum[0 : 1])            \
    map(alloc : out[0 : SAMPLES]) depend(out : in[0]) nowait

#pragma omp target teams distribute parallel for map(to : taps)                \
    map(alloc : in[0 : SAMPLES], out[0 : SAMPLES]) depend(in : in[0])          \
    depend(out : out[0]) nowait
    for (int i = 0; i < SAMPLES; ++i)
      out[i] = filtered(in, taps, i);

    /* Reads what the filter wrote; the copy out may run beside it. */
#pragma omp target map(alloc : out[0 : SAMPLES], sum[0 : 1])                   \
    depend(in : out[0]) depend(out : sum[0]) nowait
    for (int i = 0; i < SAMPLES; ++i)
      sum[0] += (long)(out[i] * out[i] * 1e6f);

#pragma omp target exit data map(release : in[0 : SAMPLES])                    \
    map(from : out[0 : SAMPLES], sum[0 : 1]) depend(inout : in[0], out[0], sum[0]) \
    nowait

#pragma omp task depend(in : out[0], sum[0]) firstprivate(b)                   \
    shared(consumed, wrong, input, output, energy, expected, taps)
    {
      int bad = 0;
      for (int i = 0; i < SAMPLES; ++i)
        bad += !(fabsf(output[b][i] - filtered(input[b], taps, i)) <= tolerance);
      expected[b] = energy_on_host(output[b]);
      bad += energy[b] != expected[b];
#pragma omp atomic
      wrong += bad;
#pragma omp atomic
      consumed += 1;
    }
  }
  double seconds = omp_get_wtime() - start;

  printf("%d blocks of %d samples in %.1f ms, energy of the first %ld\n", consumed,
         SAMPLES, seconds * 1e3, energy[0]);
  int good = wrong == 0 && consumed == BLOCKS && energy[0] > 0;
  if (!good)
    printf("%d wrong values, %d of %d blocks consumed\n", wrong, consumed, BLOCKS);
  printf("pipeline: %s\n", good ? "OK" : "FAILED");
  return good ? 0 : 1;
}
