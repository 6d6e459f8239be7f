// as without OpenACC
/* Shared memory that variables use in turn: of blocks that follow each other, of loops that go round, of workers, and
   what reductions and conditions put there for a moment. */
#include <stdio.h>

enum { GANGS = 9, WORKERS = 5, N = 97 };
static long gangs[GANGS], workers[GANGS][WORKERS], total;
static double halves[GANGS];

/* Blocks of one gang, with types that have nothing to do with each other. */
static void blocks(void) {
#pragma acc parallel loop gang num_workers(4) vector_length(64) copyout(gangs, halves)
  for (int g = 0; g < GANGS; g++) {
    long all = 0;
    {
      int a[N];
      for (int i = 0; i < N; i++) a[i] = g + i;
#pragma acc loop worker vector reduction(+ : all)
      for (int i = 0; i < N; i++) all += a[N - 1 - i];
    }
    {
      double b[N];
      b[0] = all;
      for (int i = 1; i < N; i++) b[i] = b[i - 1] / 2;
#pragma acc loop vector
      for (int i = 0; i < N; i++) b[i] += i;
      halves[g] = b[N / 2] + b[3];
      all += (long)b[7];
    }
    for (int round = 0; round < 5; round++) {
      if (((all + round) & 1) != 0) {
        char c[N];
        for (int i = 0; i < N; i++) c[i] = (char)(i + round);
#pragma acc loop worker vector reduction(+ : all)
        for (int i = 0; i < N; i++) all += c[i];
      } else {
        short d[N];
#pragma acc loop worker vector
        for (int i = 0; i < N; i++) d[i] = (short)(3 * i + round);
        long most = 0;
#pragma acc loop vector reduction(max : most) reduction(^ : all)
        for (int i = 0; i < N; i++) {
          if (d[i] > most) most = d[i];
          all ^= d[i];
        }
        all += most;
      }
    }
    gangs[g] = all;
  }
}

/* The same of workers, which do not wait for each other: conditions take them different ways. */
static void of_workers(void) {
#pragma acc parallel loop gang num_workers(5) vector_length(64) copyout(workers) copy(total) reduction(+ : total)
  for (int g = 0; g < GANGS; g++) {
    long before[WORKERS];
#pragma acc loop worker
    for (int w = 0; w < WORKERS; w++) {
      int a[N];
      for (int i = 0; i < N; i++) a[i] = w * i;
      long sum = 0;
#pragma acc loop vector reduction(+ : sum)
      for (int i = 0; i < N; i++) sum += a[i];
      before[w] = sum;
    }
#pragma acc loop worker reduction(+ : total)
    for (int w = 0; w < WORKERS; w++) {
      long sum = before[WORKERS - 1 - w];
      for (int round = 0; round < w + 2; round++) {
        if ((sum + round) % 3 == 0) {
          long a[N];
#pragma acc loop vector
          for (int i = 0; i < N; i++) a[i] = sum + i * w;
#pragma acc loop vector reduction(+ : sum)
          for (int i = 0; i < N; i++) sum += a[N - 1 - i];
        } else {
          int b[2 * N], c[3] = {round, w, g};
          for (int i = 0; i < 2 * N; i++) b[i] = i + c[i % 3];
#pragma acc loop vector reduction(+ : sum)
          for (int i = 0; i < 2 * N; i++) sum += b[2 * N - 1 - i] + c[i % 3];
        }
      }
      workers[g][w] = sum;
      total += sum;
    }
    {
      int last[WORKERS];
#pragma acc loop worker
      for (int w = 0; w < WORKERS; w++) last[w] = w + g;
      for (int w = 0; w < WORKERS; w++) total += last[w];
    }
  }
}

/* A gang's loop with bounds in memory, and code behind it that uses that memory again. */
static void bounds(void) {
#pragma acc parallel num_gangs(3) num_workers(4) vector_length(32) copyout(gangs)
  {
    {
      int ends[2];
      ends[0] = 0;
      ends[1] = GANGS;
#pragma acc loop gang
      for (int g = ends[0]; g < ends[1]; g++) {
        int own[4] = {g, g + 1, g + 2, g + 3};
        long sum = 0;
#pragma acc loop worker vector reduction(+ : sum)
        for (int i = 0; i < N; i++) sum += own[i & 3];
        gangs[g] = sum;
      }
    }
    {
      int other[4] = {-1, -1, -1, -1};
#pragma acc loop vector
      for (int i = 0; i < 4; i++) other[i] += 1;
    }
  }
}

int main(void) {
  blocks();
  for (int g = 0; g < GANGS; g++) printf("%ld %.3f\n", gangs[g], halves[g]);
  of_workers();
  for (int g = 0; g < GANGS; g++)
    for (int w = 0; w < WORKERS; w++) printf("%ld ", workers[g][w]);
  printf("%ld\n", total);
  bounds();
  for (int g = 0; g < GANGS; g++) printf("%ld\n", gangs[g]);
  return 0;
}
