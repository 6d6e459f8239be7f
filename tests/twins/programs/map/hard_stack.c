// Arrays of a stack, of a thread's stack and of a thread alone: what is called later uses the same pages.
// with: openmp
// options: -O1 -g -pthread
// device: cpu
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 14 };
static _Thread_local int own[N];
static const int table[N] = {1, 2, 3};

__attribute__((noinline)) static void work(int *a)
{
#pragma omp target teams distribute parallel for map(to : a[0:N], table)
  for (int i = 0; i < N; ++i)
    a[i] = table[i];
}

__attribute__((noinline)) static void on_stack(void)
{
  int a[N];
  memset(a, 0, sizeof a);
  work(a);
}

__attribute__((noinline)) static int later(int depth)
{
  volatile char room[3000];
  memset((char *)room, depth, sizeof room);
  return depth ? later(depth - 1) + room[5] : 0;
}

static void *all(void *none)
{
  on_stack();
  int sum = later(25);
  work(own);
  own[6000] = 4;
  printf("%d %d %d\n", sum, own[6000], table[1]);
  return 0;
}

int main(void)
{
  pthread_t thread;
  int *a = calloc(N, sizeof *a);
  all(0);
  pthread_create(&thread, 0, all, 0);
  pthread_join(thread, 0);
  pthread_create(&thread, 0, all, 0);
  pthread_join(thread, 0);
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifndef WRONG
#pragma omp target update from(a[0:N])
#endif
  printf("%d\n", a[5000]); // finds: the host reads
#pragma omp target exit data map(delete : a[0:N])
  return 0;
}
