// What all programs share: a check that says what was expected, and the end of main.
#pragma once
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

#define CHECK(got, expected)                                                                 \
  do {                                                                                       \
    long got_ = (long)(got), expected_ = (long)(expected);                                   \
    if (got_ != expected_ && ++failures <= 10)                                               \
      printf("line %d: %s is %ld, not %ld\n", __LINE__, #got, got_, expected_);              \
  } while (0)

static int finish(void) {
  printf("%s\n", failures ? "failed" : "passed");
  return failures != 0;
}
