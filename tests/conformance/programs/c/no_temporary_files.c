// covers: device images are not kept in files of the temporary directory
// stock: differs(-22) because it writes each image to a file in /tmp that nobody removes
#include <stdio.h>
#include <string.h>

int main(void) {
  int x = 1, mapped = 0;
#pragma omp target map(tofrom : x)
  x++;
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) mapped += strstr(line, " /tmp/tmpfile") != NULL;
  fclose(maps);
  printf("%d, images in files: %d\n", x, mapped > 0);
  return 0;
}
