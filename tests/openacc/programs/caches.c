// as without OpenACC
/* Sections of arrays that are copied into shared memory where a loop's body begins, and some that are not. */
#include <stdio.h>

enum { N = 70, WIDTH = 5, TILE = 16 };
static float in[N * TILE], matrix[N][TILE], weights[WIDTH];
static short bytes[N + 3];
static long sums[N], rows[N][4];
static int changed[N];

static void windows(void) {
#pragma acc parallel loop gang num_workers(3) vector_length(64) copyin(in, weights, bytes) copyout(sums)
  for (int i = 0; i < N; i++) {
    /* Goes beyond both ends of the array; nothing is read there. */
#pragma acc cache(readonly : in[(i - 1) * TILE : 3 * TILE], weights[0 : WIDTH])
    long sum = 0;
#pragma acc loop worker vector reduction(+ : sum)
    for (int j = 0; j < TILE; j++)
      for (int k = 0; k < WIDTH; k++) {
        int at = i * TILE + j + k - 2;
        if (at >= 0 && at < N * TILE) sum += in[at] * weights[k];
      }
    /* Again in a loop that all go through, with a section that moves. */
    for (int first = 0; first < 3; first++) {
#pragma acc cache(bytes[i + first : 1])
#pragma acc loop vector reduction(+ : sum)
      for (int j = 0; j < 9; j++) sum += j * bytes[i + first];
    }
    sums[i] = sum;
  }
}

/* Two dimensions, for the lanes of each worker. */
static void tiles(void) {
#pragma acc parallel loop gang num_workers(4) vector_length(32) copyin(matrix) copyout(rows)
  for (int i = 0; i < N; i++) {
#pragma acc loop worker
    for (int w = 0; w < 4; w++) {
#pragma acc cache(readonly : matrix[i : 2][w * 4 : 4])
      long sum = 0;
#pragma acc loop vector reduction(+ : sum)
      for (int j = 0; j < 40; j++) {
        sum += j * matrix[i][w * 4 + j % 4];
        if (i + 1 < N) sum -= matrix[(int)matrix[i][4 * w] * 0 + i + 1][w * 4 + (j & 3)];
      }
      rows[i][w] = sum;
    }
  }
}

/* What the loop changes has no copy. */
static void changes(void) {
#pragma acc parallel loop gang vector_length(64) copy(changed)
  for (int i = 0; i < N; i++) {
#pragma acc cache(changed[i : 1])
    changed[i] += 5;
#pragma acc loop vector
    for (int j = 0; j < 10; j++)
#pragma acc atomic update
      changed[i] += j;
  }
}

int main(void) {
  for (int i = 0; i < N * TILE; i++) in[i] = i % 13;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < TILE; j++) matrix[i][j] = i * j % 11;
  for (int i = 0; i < WIDTH; i++) weights[i] = i + 1;
  for (int i = 0; i < N + 3; i++) bytes[i] = (short)(3 * i);
  windows();
  tiles();
  changes();
  for (int i = 0; i < N; i++) printf("%ld %ld %ld %ld %d\n", sums[i], rows[i][0], rows[i][1], rows[i][3], changed[i]);
  return 0;
}
