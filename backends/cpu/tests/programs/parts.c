/* What the loader does for a shared object, all in one: initialisers and
   finalisers, thread-local storage, a function that is chosen at load time. */
#include <stdio.h>
#include <stdlib.h>

__thread int counted = 3;
static __thread char local[100];
static int first(void) { return 1; }
static int (*choose(void))(void) { return first; }
int chosen(void) __attribute__((ifunc("choose")));
int (*pointer)(void) = chosen;
const char *const words[] = {"one", "two", "three"};
int total;

__attribute__((constructor)) static void begin(void) {
  local[5] = (char)pointer();
  counted += local[5];
  total = counted + words[1][0];
}

__attribute__((destructor)) static void finish(void) { total -= counted; }

int kernel(int *to) {
  *to = total + chosen() + atoi(words[2]);
  return printf("%s", "");
}
