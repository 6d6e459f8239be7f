/* clang builds this; see mixed.c. */
#include <omp.h>

int library_devices(void) { return omp_get_num_devices(); }

int library_sees(int device, void *address) { return omp_target_is_present(address, device); }

void library_add(int device, int *list, int length, int summand)
{
#pragma omp target teams distribute parallel for map(tofrom : list[0 : length]) device(device)
  for (int i = 0; i < length; i++)
    list[i] += summand;
}

void library_map(int device, int *list, int length)
{
#pragma omp target enter data map(to : list[0 : length]) device(device)
}

void library_unmap(int device, int *list, int length)
{
#pragma omp target exit data map(from : list[0 : length]) device(device)
}
