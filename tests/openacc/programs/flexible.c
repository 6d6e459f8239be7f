// Structures that end with a flexible array: its elements stand on the device behind the structure.
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

/* The array begins before the structure's last byte. */
struct list {
  double factor;
  int n;
  int data[];
};

struct text {
  int n;
  char data[];
};

static struct list *list(int n) {
  struct list *p = malloc(sizeof *p + n * sizeof p->data[0]);
  p->n = n;
  p->factor = 3;
  for (int i = 0; i < n; i++) p->data[i] = i;
  return p;
}

/* The structure comes along with the array that a clause names, and nothing behind that. */
static int alone(int n) {
  struct list *p = list(n);
#pragma acc parallel loop copy(p->data[0 : n])
  for (int i = 0; i < p->n; i++) p->data[i] *= p->factor;
  for (int i = 0; i < n; i++) CHECK(p->data[i] == 3 * i);
  free(p);
  return 0;
}

static int both(int n) {
  struct list *p = list(n);
#pragma acc data copyin(p[0 : 1]) copy(p->data[0 : n])
  {
#pragma acc parallel loop present(p)
    for (int i = 0; i < p->n; i++) p->data[i] *= p->factor;
#pragma acc parallel loop
    for (int i = 0; i < p->n; i++) p->data[i] += p->factor;
    p->factor = 5;
#pragma acc update device(p->factor)
#pragma acc parallel loop copy(p[0 : 1])
    for (int i = 0; i < p->n; i++) p->data[i] *= p->factor;
#pragma acc update self(p->data[n - 1 : 1])
    CHECK(p->data[n - 1] == (3 * (n - 1) + 3) * 5);
  }
  for (int i = 0; i < n; i++) CHECK(p->data[i] == (3 * i + 3) * 5);
  free(p);
  return 0;
}

static int unstructured(int n) {
  struct list *p = list(n);
#pragma acc enter data create(p->data[0 : n]) copyin(p[0 : 1])
#pragma acc enter data copyin(p[0 : 1], p->data[0 : n])
#pragma acc update device(p->data[0 : n])
#pragma acc parallel loop present(p, p->data[0 : n])
  for (int i = 0; i < p->n; i++) p->data[i] *= p->factor;
#pragma acc exit data delete(p->data[0 : n])
#pragma acc exit data copyout(p->data[0 : n]) delete(p[0 : 1]) finalize
  for (int i = 0; i < n; i++) CHECK(p->data[i] == 3 * i);
  free(p);
  return 0;
}

#pragma acc routine seq
static char letter(int i) { return (char)('a' + i % 26); }

static int letters(int n) {
  struct text *p = malloc(sizeof *p + n);
  p->n = n;
#pragma acc parallel loop copyin(p[0 : 1]) copyout(p->data[0 : n])
  for (int i = 0; i < p->n; i++) p->data[i] = letter(i);
  for (int i = 0; i < n; i++) CHECK(p->data[i] == letter(i));
  free(p);
  return 0;
}

int main(void) {
  for (int n = 2; n < 200; n = n * 2 + 1)
    if (alone(n) || both(n) || unstructured(n) || letters(n)) return 1;
  puts("ok");
  return 0;
}
