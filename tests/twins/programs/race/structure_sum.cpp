// with: openmp
// A structure is reduced as its declaration says.
#include <cstdio>

struct Moments {
    double sum = 0, squares = 0;
    int count = 0;
    void add(const Moments &other) { sum += other.sum; squares += other.squares; count += other.count; }
};
#pragma omp declare reduction(+: Moments: omp_out.add(omp_in)) initializer(omp_priv = Moments())

int main()
{
    const int n = 4096;
    double *a = new double[n];
    for (int i = 0; i < n; i++) a[i] = i % 7;
    Moments m;
#ifdef WRONG
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: m)
#else
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: m) reduction(+: m)
#endif
    for (int i = 0; i < n; i++) {
        m.sum += a[i]; // finds
        m.squares += a[i] * a[i];
        m.count++;
    }
    std::printf("%g %g %d\n", m.sum, m.squares, m.count);
    delete[] a;
}
