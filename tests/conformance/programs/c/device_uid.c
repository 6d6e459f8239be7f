// covers: omp_get_uid_from_device and omp_get_device_from_uid: every device has its own, and it leads back
// flags: -fopenmp-version=60
#include <omp.h>
#include <stdio.h>
#include <string.h>

extern const char *omp_get_uid_from_device(int);
extern int omp_get_device_from_uid(const char *);

int main(void) {
  int n = omp_get_num_devices();
  for (int i = 0; i <= n; i++) {
    const char *uid = omp_get_uid_from_device(i);
    printf("%d: %d, leads back %d\n", i, uid && *uid, uid && omp_get_device_from_uid(uid) == i);
    for (int j = 0; j < i; j++)
      if (!strcmp(omp_get_uid_from_device(j), uid)) printf("equal: %d %d\n", i, j);
  }
  printf("no such uid: %d\n", omp_get_device_from_uid("nothing") == omp_invalid_device);
  return 0;
}
