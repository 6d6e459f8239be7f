// Objects that lie beside each other, and one that all change.
// with: openmp openacc
#include <cstdio>

struct Point { float x, y; };

int main()
{
  Point points[128] = {};
#ifdef _OPENACC
#pragma acc parallel loop copy(points)
#else
#pragma omp target teams distribute parallel for map(tofrom: points)
#endif
  for (int i = 0; i < 128; ++i) {
    points[i].x = i;
#ifdef WRONG
    points[(i + 1) % 128].x += 1; // finds
#else
    points[(i + 1) % 128].y += 1;
#endif
  }
  std::printf("%g\n", points[0].y);
}
