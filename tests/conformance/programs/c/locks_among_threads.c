// covers: locks in functions of their own, given back at several places, tried, nested, in two orders, hand over hand, by index
#include <omp.h>
#include <stdio.h>

enum { N = 200, THREADS = 96, ACCOUNTS = 8, NODES = 5, BINS = 4 };

struct node {
  int value;
  struct node *next;
  omp_lock_t lock;
};

#pragma omp begin declare target
static void take(omp_lock_t *lock) { omp_set_lock(lock); }
static void give(omp_lock_t *lock) { omp_unset_lock(lock); }

static int count_up(omp_lock_t *lock, int *count, int by) {
  omp_set_lock(lock);
  if (by == 13) {
    omp_unset_lock(lock);
    return 1;
  }
  for (int i = 0; i < by; i++) {
    if (*count < 0) {
      omp_unset_lock(lock);
      return 2;
    }
    ++*count;
  }
  omp_unset_lock(lock);
  return 0;
}
#pragma omp end declare target

static void functions(void) {
  int sum = 0, count = 0, how[3] = {0};
#pragma omp target map(tofrom : sum, count, how)
  {
    omp_lock_t a, b;
    omp_init_lock(&a);
    omp_init_lock(&b);
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < N; i++) {
      take(&a);
      sum += i;
      give(&a);
      int end = count_up(&b, &count, i % 17);
#pragma omp atomic
      how[end]++;
    }
  }
  printf("functions: %d, %d, %d %d %d\n", sum, count, how[0], how[1], how[2]);
}

static void loops(void) {
  int turns = 0, tried = 0, again = 0, nested = 0;
#pragma omp target map(tofrom : turns, tried, again, nested)
  {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < N; i++) {
      for (int k = 0;; k++) {
        omp_set_lock(&lock);
        if (k == i % 5) {
          omp_unset_lock(&lock);
          break;
        }
        turns++;
        omp_unset_lock(&lock);
      }
      while (!omp_test_lock(&lock))
        ;
      tried++;
      omp_unset_lock(&lock);
      int done = 0;
      while (!done) {
        if (omp_test_lock(&lock)) {
          again++;
          omp_unset_lock(&lock);
          done = 1;
        }
      }
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      nested++;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
    }
  }
  printf("loops: %d %d %d %d\n", turns, tried, again, nested);
}

static void several(void) {
  int accounts[ACCOUNTS], sum = 0, bins[BINS] = {0}, passed = 0;
  for (int i = 0; i < ACCOUNTS; i++)
    accounts[i] = 1000;
#pragma omp target map(tofrom : accounts, bins, passed)
  {
    omp_lock_t locks[ACCOUNTS];
    struct node nodes[NODES];
    for (int i = 0; i < ACCOUNTS; i++)
      omp_init_lock(&locks[i]);
    for (int i = 0; i < NODES; i++) {
      omp_init_lock(&nodes[i].lock);
      nodes[i].value = 0;
      nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : NULL;
    }
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < N; i++) {
      int from = i % ACCOUNTS, to = (i * 3 + 1) % ACCOUNTS;
      if (from != to) {
        if (from < to) {
          omp_set_lock(&locks[from]);
          omp_set_lock(&locks[to]);
        } else {
          omp_set_lock(&locks[to]);
          omp_set_lock(&locks[from]);
        }
        accounts[from] -= i;
        accounts[to] += i;
        omp_unset_lock(&locks[from]);
        omp_unset_lock(&locks[to]);
      }
      int bin = i * 31 % 97 % BINS;
      omp_set_lock(&locks[bin]);
      bins[bin] += i;
      omp_unset_lock(&locks[bin]);
      struct node *at = &nodes[0];
      omp_set_lock(&at->lock);
      while (at->next) {
        struct node *next = at->next;
        omp_set_lock(&next->lock);
        at->value++;
        omp_unset_lock(&at->lock);
        at = next;
      }
      at->value++;
      omp_unset_lock(&at->lock);
    }
    for (int i = 0; i < NODES; i++)
      passed += nodes[i].value;
  }
  for (int i = 0; i < ACCOUNTS; i++)
    sum += accounts[i] * (i + 1);
  printf("several: %d, %d %d %d %d, %d\n", sum, bins[0], bins[1], bins[2], bins[3], passed);
}

int main(void) {
  functions();
  loops();
  several();
  return 0;
}
