// with: openmp
// Complex numbers whose parts are set one after the other.
#include <complex>
#include <cstdio>

int main()
{
    std::complex<double> z[256];
    int inside = 0;
#pragma omp target teams distribute parallel for map(alloc: z) reduction(+: inside) map(tofrom: inside)
    for (int i = 0; i < 256; i++) {
        z[i].real(i * 0.01);
#ifndef WRONG
        z[i].imag(1);
#endif
        std::complex<double> square = z[i] * z[i];
        if (square.real() < 0) inside++; // finds
    }
    std::printf("%d\n", inside);
}
