// covers: switch tables, string constants, static locals and computed gotos in device code
#include <stdio.h>
#include <string.h>

#pragma omp begin declare target
static const char *const names[] = {"zero", "one", "two", "three"};
static int calls(void) {
  static int count = 0;
  return ++count;
}
static int choose(int x) {
  switch (x) {
  case 0: return 5;
  case 1: return -3;
  case 2: return calls();
  case 3: return (int)strlen(names[x]);
  case 7: return 70;
  default: return x * 2;
  }
}
static int walk(const char *program) {
  static void *const steps[] = {&&add, &&negate, &&stop};
  int value = 1;
  goto *steps[*program++ - 'a'];
add:
  value += 10;
  goto *steps[*program++ - 'a'];
negate:
  value = -value;
  goto *steps[*program++ - 'a'];
stop:
  return value;
}
#pragma omp end declare target

int main(void) {
  int out[10], walked = 0;
  for (int round = 0; round < 2; round++) {
#pragma omp target map(from : out, walked)
    {
      for (int i = 0; i < 10; i++) out[i] = choose(i);
      walked = walk("aabac");
    }
    for (int i = 0; i < 10; i++) printf("%d ", out[i]);
    printf("%d\n", walked);
  }
  printf("host: %d\n", choose(2));
  return 0;
}
