// with: openmp
// The atomic type of the C++ library, in mapped memory.
#include <atomic>
#include <cstdio>

int main()
{
#ifdef WRONG
    int count = 0;
#else
    std::atomic<int> count{0};
#endif
#pragma omp target teams distribute parallel for map(tofrom: count)
    for (int i = 0; i < 2000; i++)
        if (i % 3 == 0) count++; // finds
    std::printf("%d\n", int(count));
}
