// with: openmp
// A vector's elements are mapped; its room changes behind that.
#include <cstdio>
#include <vector>

int main()
{
    std::vector<double> v(3000, 1);
    double *data = v.data();
    long n = v.size();
#pragma omp target enter data map(to: data[0:n])
#pragma omp target teams distribute parallel for
    for (long i = 0; i < n; i++) data[i] += i;
#ifndef WRONG
#pragma omp target update from(data[0:n])
#endif
    double sum = 0;
    for (double x : v) sum += x; // finds
#pragma omp target exit data map(release: data[0:n])
    v.push_back(sum);
    std::printf("%g\n", v.back());
}
