/* What the test programs share: a check that names its place. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)
