// covers: long random sequences of maps of structures and of what their pointers point to: what is attached when
#include <omp.h>
#include <stdio.h>

enum { STRUCTS = 3, BUFFERS = 4, LENGTH = 16, STEPS = 1500 };

static struct holder {
  int tag;
  int *p;
} s[STRUCTS];
static int b[BUFFERS][LENGTH];
static unsigned state;
static int host, device;

static unsigned next(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static int *device_pointer(int i) {
  struct holder copy;
  omp_target_memcpy(&copy, omp_get_mapped_ptr(&s[i], device), sizeof copy, 0, 0, host, device);
  return copy.p;
}

// Where the device's copy of a pointer points: to a host buffer (h), to a device buffer (d), elsewhere (x).
static void classify(int i, char *kind, int *buffer, int *offset) {
  int *p = device_pointer(i);
  *kind = 'x', *buffer = 0, *offset = 0;
  for (int j = 0; j < BUFFERS; j++) {
    int *on_device = omp_get_mapped_ptr(b[j], device);
    if (p >= b[j] && p < b[j] + LENGTH) *kind = 'h', *buffer = j, *offset = (int)(p - b[j]);
    if (on_device && p >= on_device && p < on_device + LENGTH)
      *kind = 'd', *buffer = j, *offset = (int)(p - on_device);
  }
}

// A pointer to a buffer that is gone could meet a new buffer at the old address; none is left.
static void drop_dangling(void) {
  for (int i = 0; i < STRUCTS; i++) {
    char kind;
    int buffer, offset;
    if (!omp_target_is_present(&s[i], device)) continue;
    classify(i, &kind, &buffer, &offset);
    if (kind == 'x') {
#pragma omp target exit data map(delete : s[i])
    }
  }
}

// A kernel may read through the device's copy of a pointer: it points to where the host's points,
// in device memory. Otherwise a host pointer that was never attached is there.
static int is_attached(int i) {
  char kind;
  int buffer, offset;
  if (!omp_target_is_present(&s[i], device)) return 0;
  classify(i, &kind, &buffer, &offset);
  return kind == 'd' && s[i].p == b[buffer] + offset;
}

static unsigned digest(void) {
  unsigned hash = 17;
  for (int i = 0; i < STRUCTS; i++) {
    char kind = '-';
    int buffer = 0, offset = 0;
    if (omp_target_is_present(&s[i], device)) classify(i, &kind, &buffer, &offset);
    hash = hash * 131 + (unsigned)kind;
    hash = hash * 131 + (unsigned)(buffer * 100 + offset);
    hash = hash * 131 + (unsigned)(s[i].p - &b[0][0]);
  }
  for (int j = 0; j < BUFFERS; j++) {
    hash = hash * 131 + (unsigned)omp_target_is_present(b[j], device);
    for (int k = 0; k < LENGTH; k++) hash = hash * 131 + (unsigned)b[j][k];
  }
  return hash;
}

static void step(void) {
  const int i = (int)next(STRUCTS), j = (int)next(BUFFERS), op = (int)next(16);
  const int offset = (int)next(LENGTH - 4);
  struct holder *h = &s[i];
  // A pointee that is mapped already has to be inside its mapping: buffers are mapped whole.
  const int whole = h->p == b[h->p - &b[0][0] < LENGTH * BUFFERS ? (h->p - &b[0][0]) / LENGTH : 0];
  const int pointee_present = omp_target_is_present(h->p, device);
  // The stock library puts the pointer that it attached back into the host's copy, also where
  // the host has changed it since; so the host changes pointers only while it has the only copy.
  const int only_here = !omp_target_is_present(h, device);
  // Mapping attaches only where the structure or what it points to is new.
  const int attaches = only_here || !pointee_present;
  switch (op) {
  case 0:
  case 1:
    if (only_here) h->p = b[j];
    break;
  case 2:
    if (only_here) h->p = b[j] + offset;
    break;
  case 3:;
#pragma omp target enter data map(to : h[0 : 1])
    break;
  case 4:;
#pragma omp target enter data map(to : b[j])
    break;
  case 5:
    if (whole) {
#pragma omp target enter data map(to : h->p[0 : LENGTH])
    } else if (pointee_present) {
#pragma omp target enter data map(to : h->p[0 : 3])
    }
    break;
  case 6:
    if (whole) {
#pragma omp target enter data map(to : h[0 : 1], h->p[0 : LENGTH])
    } else if (pointee_present) {
#pragma omp target enter data map(to : h[0 : 1], h->p[0 : 3])
    }
    break;
  case 7:
    if ((whole || pointee_present) && (attaches || is_attached(i))) {
#pragma omp target map(tofrom : h[0 : 1]) map(tofrom : h->p[0 : whole ? LENGTH : 3])
      {
        h->tag++;
        h->p[1] += h->tag;
      }
    }
    break;
  case 8:
    // Without a map of the structure it has to be there, as `h` is looked up.
    if ((whole || pointee_present) && !only_here && (attaches || is_attached(i))) {
#pragma omp target map(tofrom : h->p[0 : whole ? LENGTH : 3])
      h->p[2] += 5;
    }
    break;
  case 9:;
#pragma omp target update to(h[0 : 1])
    break;
  case 10:;
#pragma omp target update from(h[0 : 1])
    break;
  case 11:;
#pragma omp target exit data map(from : h[0 : 1])
    break;
  case 12:;
#pragma omp target exit data map(from : b[j])
    break;
  case 13:
    if (pointee_present) {
#pragma omp target exit data map(from : h->p[0 : whole ? LENGTH : 3])
    }
    break;
  case 14:;
#pragma omp target exit data map(delete : b[j])
    break;
  case 15:
    if (whole) {
#pragma omp target enter data map(always, to : h->p[0 : LENGTH])
    }
    break;
  }
  drop_dangling();
}

int main(void) {
  host = omp_get_initial_device();
  device = omp_get_default_device();
  for (unsigned seed = 1; seed <= 10; seed++) {
    state = seed * 104729u;
    for (int i = 0; i < STRUCTS; i++) s[i] = (struct holder){i, b[i]};
    for (int i = 0; i < BUFFERS * LENGTH; i++) (&b[0][0])[i] = i;
    unsigned hash = 0;
    for (int i = 0; i < STEPS; i++) {
      step();
      hash = hash * 31 + digest();
      if (i % 500 == 499) printf("seed %u step %d: %08x\n", seed, i + 1, hash);
    }
    for (int i = 0; i < STRUCTS; i++) {
#pragma omp target exit data map(delete : s[i])
    }
    for (int j = 0; j < BUFFERS; j++) {
#pragma omp target exit data map(delete : b[j])
    }
  }
  return 0;
}
