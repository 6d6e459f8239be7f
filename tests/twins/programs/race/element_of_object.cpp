// with: openmp
// Each thread has an object of its own in a vector.
#include <cstdio>
#include <vector>

struct Cell {
    int count = 0;
    double sum = 0;
    void add(double v) { count++; sum += v; } // finds
};

int main()
{
    std::vector<Cell> cells(64);
    Cell *cell = cells.data();
#pragma omp target teams distribute parallel for map(tofrom: cell[0:64])
    for (int i = 0; i < 640; i++) {
#ifdef WRONG
        if (i % 10 == 0) cell[i / 20].add(i);
#else
        if (i % 10 == 0) cell[i / 10].add(i);
#endif
    }
    std::printf("%d %g\n", cells[3].count, cells[3].sum);
}
