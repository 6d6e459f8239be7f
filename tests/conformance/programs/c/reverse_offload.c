// covers: target device(ancestor: 1): what is mapped, firstprivate, present and copied
// stock: unusable because reverse offload is not in it
// translated: yes
#include <omp.h>
#include <stdio.h>
#include <string.h>

#pragma omp requires reverse_offload

#define N 6

struct series {
  int count;
  double *values;
  int scale[3];
};

static int calls;
static int of_device = 11;
#pragma omp declare target to(of_device)

static void on_host(const char *what) {
  calls++;
  printf("%s: host %d\n", what, omp_is_initial_device());
}
#pragma omp declare target to(on_host) device_type(host)

static int sum(const int *list, int count) {
  int total = 0;
  for (int i = 0; i < count; i++)
    total += list[i];
  return total;
}

#pragma omp begin declare target
void from_device_function(int *list, int count) {
#pragma omp target device(ancestor : 1) map(tofrom : list[0 : count])
  {
    on_host("declare target function");
    for (int i = 0; i < count; i++)
      list[i] = list[i] * 10 + of_device;
  }
}
#pragma omp end declare target

static void scalars(void) {
  int mapped = 1, copied = 2, kept = 3;
#pragma omp target map(tofrom : mapped, kept) firstprivate(copied)
  {
    mapped = 10;
    copied = 20;
    kept = 30;
    // What is present is the host's original; only `always` copies.
#pragma omp target device(ancestor : 1) map(always, tofrom : mapped) map(tofrom : kept)
    {
      on_host("scalars");
      printf("mapped %d copied %d kept %d\n", mapped, copied, kept);
      mapped++;
      copied++;
      kept = 77;
    }
    mapped = mapped * 2 + copied;
  }
  printf("mapped %d copied %d kept %d\n", mapped, copied, kept);
}

static void arrays(void) {
  int all[N] = {1, 2, 3, 4, 5, 6};
  int *heap = all;
#pragma omp target map(tofrom : heap[0 : N])
  {
    int own[N];
    for (int i = 0; i < N; i++)
      own[i] = heap[i] = heap[i] + 100;
    // A local array of the device has no original: it is copied both ways.
#pragma omp target device(ancestor : 1) map(always, to : heap[1 : 3]) map(tofrom : own)
    {
      on_host("arrays");
      printf("heap %d %d %d %d, own %d\n", heap[0], heap[1], heap[3], heap[4], sum(own, N));
      for (int i = 0; i < N; i++)
        own[i] = i;
    }
    int total = 0;
    for (int i = 0; i < N; i++)
      total += own[i];
    heap[0] = total;
    from_device_function(own, N);
    heap[1] = own[5];
  }
  printf("%d %d %d\n", all[0], all[1], all[2]);
}

static void structures(void) {
  double values[N] = {0};
  struct series s = {N, values, {1, 2, 3}};
  // The pointer is attached on the device; on the host it leads to the host's values.
#pragma omp target map(tofrom : s) map(tofrom : s.values[0 : N])
  {
    for (int i = 0; i < s.count; i++)
      s.values[i] = i * 0.5;
    s.scale[1] = 40;
#pragma omp target device(ancestor : 1) map(always, tofrom : s) map(always, tofrom : s.values[0 : N])
    {
      on_host("structures");
      printf("%d %g %d\n", s.count, s.values[3], s.scale[1]);
      s.values[2] = 100;
      s.scale[2] = 5;
    }
    s.values[4] += s.scale[2] + s.values[2];
  }
  printf("%g %g %d own pointer %d\n", values[2], values[4], s.scale[2], s.values == values);

  // One that the device makes itself: both it and what it points to are copied.
  double result = 0;
#pragma omp target map(from : result)
  {
    double some[4] = {1, 2, 3, 4};
    struct series local = {4, some, {7, 8, 9}};
#pragma omp target device(ancestor : 1) map(tofrom : local) map(tofrom : local.values[0 : 4])
    {
      on_host("own structure");
      for (int i = 0; i < local.count; i++)
        local.values[i] += local.scale[0];
      local.count = 2;
    }
    result = some[0] + some[3] + local.count + (local.values == some ? 1000 : 0);
  }
  printf("%g\n", result);
}

static void pointers(void) {
  int list[N] = {0}, other[N] = {1, 2, 3, 4, 5, 6};
  int *p = list, *nowhere = NULL, *q = other;
  int same = 0, hosts = 0;
#pragma omp target data map(tofrom : list) map(to : other)
#pragma omp target map(p[:0]) map(from : same, hosts) firstprivate(nowhere) is_device_ptr(q)
  {
    // A pointer without a clause is translated if it leads to what is mapped.
#pragma omp target device(ancestor : 1) map(always, from : same, hosts)
    {
      on_host("pointers");
      p[2] = 9;
      same = nowhere == NULL;
      hosts = p == list;
    }
#pragma omp target device(ancestor : 1) is_device_ptr(q) map(p[1 : 0])
    printf("host's own %d, no elements %d\n", q[1], p == list);
  }
  printf("%d %d, mapped back %d\n", same, hosts, list[2]);
}

static void clauses(void) {
  int a = 1, b = 2, table[3] = {1, 2, 3};
#pragma omp target map(tofrom : a, b, table)
  {
    a = 5;
#pragma omp target device(ancestor : 1) defaultmap(firstprivate : aggregate) private(b) if (a > 100)
    {
      b = table[1];
      printf("private %d, firstprivate %d\n", b, a);
      table[1] = 50;
    }
    b += table[1];
  }
  printf("%d %d %d\n", a, b, table[1]);
  // On the host the region runs where it is, with the host's variables.
#pragma omp target device(ancestor : 1) map(tofrom : a)
  a++;
#pragma omp target device(omp_get_initial_device()) map(tofrom : a)
  {
#pragma omp target device(ancestor : 1) map(tofrom : a)
    a *= 2;
  }
  printf("on the host %d\n", a);
}

int main(void) {
  scalars();
  arrays();
  structures();
  pointers();
  clauses();
  printf("%d calls\n", calls);
  return 0;
}
