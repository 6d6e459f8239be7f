// covers: C library calls in device code: printf, malloc, free, string and mathematics functions
// flags: -lm
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char text[16] = "abc";
  double root = 0;
#pragma omp target map(tofrom : text, root)
  {
    char *copy = malloc(16);
    strcpy(copy, text);
    strcat(copy, "def");
    memcpy(text, copy, 7);
    free(copy);
    root = sqrt(2.0) + pow(2.0, 0.5) + sin(1.0) + fmod(7.5, 2);
    printf("from the device: %s %d\n", text, (int)strlen(text));
    fflush(stdout);
  }
  printf("%s %.12f\n", text, root);
  return 0;
}
