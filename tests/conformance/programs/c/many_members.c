// covers: more members of one structure, mapped singly, than a launch has inline slots
#include <stdio.h>

#define TEN(m, t) m(t##0), m(t##1), m(t##2), m(t##3), m(t##4), m(t##5), m(t##6), m(t##7), m(t##8), m(t##9)
#define NAME(n) m##n
#define MEMBER(n) s.m##n

struct {
  int TEN(NAME, 0), TEN(NAME, 1), TEN(NAME, 2), TEN(NAME, 3), rest[2];
} s;
int first[64];

/* Leaves the arguments of another region behind. */
static void other_region(void) {
#pragma omp target map(tofrom : first)
  first[0]++;
}

static void show(const char *what) {
  printf("%s: %d %d %d %d %d %d, first %d\n", what, s.m00, s.m05, s.m29, s.m30, s.m31, s.m39, first[0]);
}

/* One item for the structure and one for each member; one argument of the kernel. */
static void thirty(void) {
#pragma omp target map(tofrom : TEN(MEMBER, 0), TEN(MEMBER, 1), TEN(MEMBER, 2))
  s.m05 += 7, s.m29 += 1;
}

static void thirty_one(void) {
#pragma omp target map(tofrom : TEN(MEMBER, 0), TEN(MEMBER, 1), TEN(MEMBER, 2), s.m30)
  s.m05 += 7, s.m30 += 2;
}

static void thirty_two(void) {
#pragma omp target map(tofrom : TEN(MEMBER, 0), TEN(MEMBER, 1), TEN(MEMBER, 2), s.m30, s.m31)
  s.m05 += 7, s.m31 += 3;
}

static void forty(void) {
#pragma omp target map(tofrom : TEN(MEMBER, 0), TEN(MEMBER, 1), TEN(MEMBER, 2), TEN(MEMBER, 3))
  s.m05 += 7, s.m39 += 4;
}

int main(void) {
  forty();
  show("at first");
  void (*const regions[])(void) = {thirty, thirty_one, thirty_two, forty};
  for (int i = 0; i < 4; i++) {
    regions[i]();
    show("alone");
    other_region();
    regions[i]();
    show("behind another");
  }
  return 0;
}
