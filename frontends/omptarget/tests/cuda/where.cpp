// Says which image runs.
#include "device.h"
#include <cstdio>
#include <cstring>

int main() {
  int where = 0;
#pragma omp target map(from : where)
  {
#ifdef __NVPTX__
    where = 1;
#else
    where = 2;
#endif
  }
  // Whether the driver has been opened.
  char line[512];
  bool opened = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    opened |= strstr(line, "libcuda") != nullptr;
  fclose(maps);
  printf("%s, driver %s\n", where == 1 ? "gpu" : "cpu", opened ? "opened" : "untouched");
}
