// covers: long random sequences of map, unmap, update and launch on sections of one array, on two devices
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { N = 64, ENTRIES = 24, STEPS = 1200 };

static int a[N];
static unsigned state;

// What is mapped where, to choose only sections that the specification allows:
// wholly inside one mapping, or clear of all of them.
static struct entry {
  int from, count, device;
} entries[ENTRIES];
static int used;

static unsigned next(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static void forget_removed(void) {
  for (int i = 0; i < used;) {
    if (omp_target_is_present(&a[entries[i].from], entries[i].device)) {
      i++;
    } else {
      entries[i] = entries[--used];
    }
  }
}

// 1: inside an entry, 0: clear of all, -1: neither.
static int where(int from, int count, int device) {
  for (int i = 0; i < used; i++) {
    struct entry e = entries[i];
    if (e.device != device) continue;
    if (from >= e.from && from + count <= e.from + e.count) return 1;
    if (from < e.from + e.count && e.from < from + count) return -1;
  }
  return 0;
}

static void fill(int from, int count, int device, int value) {
#pragma omp target map(present, alloc : a[from : count]) device(device)
  for (int i = 0; i < count; i++) a[from + i] = value + i;
}

static unsigned digest(void) {
  unsigned hash = 2166136261u;
  for (int i = 0; i < N; i++) {
    hash = (hash ^ (unsigned)a[i]) * 16777619u;
    for (int d = 0; d < 2; d++) hash = (hash ^ (unsigned)omp_target_is_present(&a[i], d)) * 16777619u;
  }
  // Device copies, read back without touching the host's.
  for (int i = 0; i < used; i++) {
    int copy[N];
    omp_target_memcpy(copy, omp_get_mapped_ptr(&a[entries[i].from], entries[i].device),
                      entries[i].count * sizeof(int), 0, 0, omp_get_initial_device(), entries[i].device);
    for (int k = 0; k < entries[i].count; k++) hash = (hash ^ (unsigned)copy[k]) * 16777619u;
  }
  return hash;
}

static void step(int nested) {
  const int device = (int)next(2), from = (int)next(N), most = N - from < 12 ? N - from : 12;
  const int count = 1 + (int)next((unsigned)most), value = (int)next(1000), op = (int)next(17);
  const int place = where(from, count, device);
  if (place < 0 || (place == 0 && used >= ENTRIES - 4)) return;
  for (int i = 0; i < N; i++)
    if (next(16) == 0) a[i] = (int)next(100000);
  switch (op) {
  case 0:;
#pragma omp target enter data map(to : a[from : count]) device(device)
    break;
  case 1:;
#pragma omp target enter data map(alloc : a[from : count]) device(device)
    fill(from, count, device, value);
    break;
  case 2:;
#pragma omp target enter data map(always, to : a[from : count]) device(device) nowait
#pragma omp taskwait
    break;
  case 3:;
  case 4:;
#pragma omp target exit data map(from : a[from : count]) device(device)
    break;
  case 5:;
#pragma omp target exit data map(release : a[from : count]) device(device)
    break;
  case 6:;
#pragma omp target exit data map(delete : a[from : count]) device(device)
    break;
  case 7:;
#pragma omp target exit data map(always, from : a[from : count]) device(device)
    break;
  case 8:;
#pragma omp target update to(a[from : count]) device(device)
    break;
  case 9:;
#pragma omp target update from(a[from : count]) device(device)
    break;
  case 10:;
#pragma omp target map(tofrom : a[from : count]) device(device)
    for (int i = 0; i < count; i++) a[from + i] = a[from + i] * 3 + value;
    break;
  case 11:;
#pragma omp target map(from : a[from : count]) device(device) nowait
    for (int i = 0; i < count; i++) a[from + i] = value - i;
#pragma omp taskwait
    break;
  case 12:;
#pragma omp target map(always, tofrom : a[from : count]) device(device)
    for (int i = 0; i < count; i += 2) a[from + i] ^= value;
    break;
  case 13: {
    int sum = 0;
#pragma omp target map(to : a[from : count]) map(tofrom : sum) device(device)
    for (int i = 0; i < count; i++) sum += a[from + i] * i;
    a[value % N] = sum;
    break;
  }
  case 14:;
#pragma omp target map(alloc : a[from : 0]) device(device)
    {
    }
    break;
  case 15:;
    if (nested < 3) {
#pragma omp target data map(tofrom : a[from : count]) device(device)
      {
        if (!place) entries[used++] = (struct entry){from, count, device};
        step(nested + 1);
        forget_removed();
        step(nested + 1);
        forget_removed();
      }
    }
    break;
  case 16:;
    if (nested < 3) {
#pragma omp target data map(ompx_hold, to : a[from : count]) device(device)
      {
        if (!place) entries[used++] = (struct entry){from, count, device};
        step(nested + 1);
        forget_removed();
      }
    }
    break;
  }
  if (place == 0 && op < 15 && omp_target_is_present(&a[from], device))
    entries[used++] = (struct entry){from, count, device};
  forget_removed();
}

int main(void) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    state = seed * 7919u;
    for (int i = 0; i < N; i++) a[i] = i;
    unsigned hash = 0, most = 0;
    for (int i = 0; i < STEPS; i++) {
      step(0);
      hash = hash * 31 + digest();
      if ((unsigned)used > most) most = (unsigned)used;
      if (i % 400 == 399) printf("seed %u step %d: %08x, at most %u mappings\n", seed, i + 1, hash, most);
    }
    // Leave nothing behind for the next seed.
    while (used) {
      struct entry e = entries[0];
#pragma omp target exit data map(delete : a[e.from : e.count]) device(e.device)
      forget_removed();
    }
  }
  return 0;
}
