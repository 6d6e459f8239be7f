// functions: omp_get_num_devices omp_get_device_num omp_get_initial_device omp_get_uid_from_device
// functions: omp_get_device_from_uid omp_get_gprivate_limit __tgt_print_device_info
#include "abi.h"

extern const char *omp_get_uid_from_device(int);
extern int omp_get_device_from_uid(const char *);
extern size_t omp_get_gprivate_limit(int, int);

int main(int argc, char **argv) {
  CHECK(omp_get_num_devices() == 0 && omp_get_initial_device() == 0);
  CHECK(ABORTS(__tgt_print_device_info(0)));
  register_kernels(argv[1]);
  CHECK(omp_get_num_devices() == 4);
  CHECK(omp_get_initial_device() == 4);
  CHECK(omp_get_device_num() == 4);

  for (int device = 0; device <= 4; ++device) {
    const char *uid = omp_get_uid_from_device(device);
    CHECK(uid && *uid);
    CHECK(omp_get_device_from_uid(uid) == device);
    // The same text every time, and no other device's.
    CHECK(omp_get_uid_from_device(device) == uid);
    for (int other = 0; other < device; ++other)
      CHECK(strcmp(uid, omp_get_uid_from_device(other)) != 0);
  }
  CHECK(omp_get_device_from_uid(omp_get_uid_from_device(-1)) == 4);
  CHECK(omp_get_uid_from_device(5) == 0);
  CHECK(omp_get_uid_from_device(-2) == 0);
  CHECK(omp_get_device_from_uid("nobody's") == -2);
  CHECK(omp_get_device_from_uid("") == -2);
  CHECK(omp_get_device_from_uid(0) == -2);

  // CPU devices have no memory of teams.
  for (int device = -1; device <= 4; ++device)
    CHECK(omp_get_gprivate_limit(device, 0) == 0 && omp_get_gprivate_limit(device, 1) == 0);
  CHECK(ABORTS(omp_get_gprivate_limit(99, 0)));

  CHECK(__tgt_print_device_info(0) == 1);
  CHECK(ABORTS(__tgt_print_device_info(99)));
  CHECK(ABORTS(__tgt_print_device_info(-5)));
  return 0;
}
