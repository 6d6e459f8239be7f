/* A program of GCC's and a library of clang's (mixed_library.c): they have the same devices, and
   what one of them maps is present for the other. */
#include "check.h"
#include <omp.h>

enum { LENGTH = 1000 };

int library_devices(void);
int library_sees(int device, void *address);
void library_add(int device, int *list, int length, int summand);
void library_map(int device, int *list, int length);
void library_unmap(int device, int *list, int length);

static int list[LENGTH], other[LENGTH];

int main(void)
{
  CHECK(omp_get_num_devices() == DEVICES && library_devices() == DEVICES);
  for (int device = 0; device < DEVICES; device++) {
    for (int i = 0; i < LENGTH; i++)
      list[i] = i;
#pragma omp target enter data map(to : list) device(device)
    CHECK(library_sees(device, list) && !library_sees(device, other));
    /* The library's region has them mapped: they are present, and nothing is copied. */
    library_add(device, list, LENGTH, 5);
    CHECK(list[10] == 10);
#pragma omp target device(device)
    for (int i = 0; i < LENGTH; i++)
      list[i] *= 2;
#pragma omp target exit data map(from : list) device(device)
    CHECK(list[0] == 10 && list[10] == 30 && list[LENGTH - 1] == 2 * (LENGTH + 4));

    other[3] = 3;
    library_map(device, other, LENGTH);
    CHECK(omp_target_is_present(other, device));
    other[3] = 4;
#pragma omp target map(tofrom : other) device(device)
    other[3] += 20;
    CHECK(other[3] == 4);
    library_unmap(device, other, LENGTH);
    CHECK(other[3] == 23 && !omp_target_is_present(other, device));
  }
  puts("passed");
}
