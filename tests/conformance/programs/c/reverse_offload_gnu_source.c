// covers: target device(ancestor: 1) in a file that says before its headers which functions it wants
// stock: unusable because reverse offload is not in it
// translated: yes
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#pragma omp requires reverse_offload

int main(void) {
  int code = 0;
#pragma omp target map(tofrom : code)
  {
#pragma omp target device(ancestor : 1) map(always, tofrom : code)
    {
      char place[64];
      // POSIX's function of this name returns a number.
      const char *text = strerror_r(2, place, sizeof place);
      printf("%s\n", text);
      code = 2;
    }
  }
  printf("%d %s\n", code, strcasestr("HeLLo", "ll"));
  return 0;
}
