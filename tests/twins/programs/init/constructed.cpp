// Objects of a class that its constructor fills, or fills but for one member.
// with: openmp
#include <cstdio>

#pragma omp declare target
struct particle {
  float mass;
  int kind;
  explicit particle(float m) : mass(m)
  {
#ifndef WRONG
    kind = 0;
#endif
  }
};
#pragma omp end declare target

int main()
{
  int count = 0;
#pragma omp target map(tofrom: count)
  {
    particle *all[20];
    for (int i = 0; i < 20; ++i)
      all[i] = new particle(i);
    for (int i = 0; i < 20; ++i)
      if (all[i]->kind == 0) // finds: a branch
        ++count;
    for (int i = 0; i < 20; ++i)
      delete all[i];
  }
  std::printf("%d\n", count);
}
