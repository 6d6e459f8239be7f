// covers: target enter/exit data, reference counts, map(release), map(delete), omp_target_is_present
#include <omp.h>
#include <stdio.h>

static int a[16];

static int present(void) { return omp_target_is_present(a, omp_get_default_device()); }

int main(void) {
  for (int i = 0; i < 16; i++) a[i] = i;
  printf("start %d\n", present());
#pragma omp target enter data map(to : a)
#pragma omp target enter data map(to : a)
#pragma omp target enter data map(alloc : a)
  printf("three references %d\n", present());
#pragma omp target exit data map(release : a)
  printf("two references %d\n", present());
#pragma omp target
  for (int i = 0; i < 16; i++) a[i] += 100;
  printf("host copy untouched %d\n", a[3]);
#pragma omp target exit data map(from : a)
  printf("one reference %d, no copy back yet %d\n", present(), a[3]);
#pragma omp target exit data map(from : a)
  printf("none %d, copied %d\n", present(), a[3]);

#pragma omp target enter data map(to : a)
#pragma omp target enter data map(to : a)
#pragma omp target map(present, alloc : a)
  a[0] = 12345;
#pragma omp target exit data map(delete : a)
  printf("deleted %d, not copied %d\n", present(), a[0]);

  // Neither releasing nor deleting what is not there does anything.
#pragma omp target exit data map(release : a)
#pragma omp target exit data map(delete : a)
#pragma omp target exit data map(from : a)
  printf("end %d %d\n", present(), a[0]);
  return 0;
}
