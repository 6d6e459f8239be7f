// with: openmp
// One plane of a box comes back.
#include <stdio.h>

static float box[16][32][32];

int main(void)
{
    float sum = 0;
#pragma omp target data map(to: box)
    {
#pragma omp target teams distribute parallel for collapse(3)
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 32; j++)
                for (int k = 0; k < 32; k++) box[i][j][k] += i + j + k;
#ifdef WRONG
#pragma omp target update from(box[7:1])
#else
#pragma omp target update from(box[7:2])
#endif
        for (int j = 0; j < 32; j++)
            for (int k = 0; k < 32; k++) sum += box[7][j][k] + box[8][j][k]; // finds
    }
    printf("%g\n", sum);
    return 0;
}
