// Misuse of the device memory routines.
// run: free_wild args=wild signal=ABRT
// run: free_twice args=twice signal=ABRT
// run: disassociate args=disassociate exit=0
// run: associate args=associate exit=0
#include <omp.h>
#include <string.h>

static int mapped[8], held[8], associated[8], nothing[8];

int main(int argc, char **argv) {
  const char *which = argv[argc - 1];
  int *device = omp_target_alloc(sizeof associated, 0);
#pragma omp target enter data map(to : mapped)
  if (strcmp(which, "wild") == 0) {
    omp_target_free((void *)0x1234560, 0);
  } else if (strcmp(which, "twice") == 0) {
    omp_target_free(device, 0);
    omp_target_free(device, 0);
  } else if (strcmp(which, "disassociate") == 0) {
    if (omp_target_associate_ptr(associated, device, sizeof associated, 0, 0) != 0)
      return 1;
    // Not its beginning, not associated, nothing at all.
    if (omp_target_disassociate_ptr(associated + 1, 0) == 0)
      return 2;
    if (omp_target_disassociate_ptr(mapped, 0) == 0)
      return 3;
    if (omp_target_disassociate_ptr(nothing, 0) == 0)
      return 4;
    int while_held = 0;
#pragma omp target data map(ompx_hold, to : associated)
    while_held = omp_target_disassociate_ptr(associated, 0);
    if (while_held == 0)
      return 5;
    return omp_target_disassociate_ptr(associated, 0);
  } else {
    if (omp_target_associate_ptr(mapped, device, sizeof mapped, 0, 0) == 0)
      return 1;
    if (omp_target_associate_ptr(associated, device, sizeof associated, 0, 0) != 0)
      return 2;
    // Again, with another size.
    if (omp_target_associate_ptr(associated, device, 8, 0, 0) == 0)
      return 3;
  }
  return 0;
}
