// with: openmp
// Members with padding between them, each mapped by itself.
#include <cstdio>

struct Sample { char name; double value; short kind; int *list; int length; };

int main()
{
    Sample s{'a', 1, 2, new int[1000], 1000};
    for (int i = 0; i < 1000; i++) s.list[i] = i;
#pragma omp target data map(to: s.kind, s.length) map(tofrom: s.value) map(tofrom: s.list[0:1000])
    {
#ifdef WRONG
        s.kind = 5;
#endif
        s.name = 'b';
#pragma omp target map(s.value, s.kind, s.length) map(s.list[0:1000])
        for (int i = 0; i < s.length; i++) {
            s.list[i] += s.kind; // finds
            s.value += 1;
        }
    }
    std::printf("%c %g %d %d\n", s.name, s.value, s.kind, s.list[999]);
    delete[] s.list;
}
