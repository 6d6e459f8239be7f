/* Since GCC 15: unique names of devices. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#include <string.h>

int main(void)
{
    int count = omp_get_num_devices();
    CHECK(count > 0);
    for (int device = 0; device < count; device++) {
        const char *name = omp_get_uid_from_device(device);
        CHECK(name && strlen(name) > 3 && omp_get_device_from_uid(name) == device);
    }
    const char *host = omp_get_uid_from_device(omp_initial_device);
    CHECK(host && strcmp(host, omp_get_uid_from_device(count)) == 0);
    CHECK(omp_get_device_from_uid(host) == omp_initial_device);
    CHECK(omp_get_device_from_uid("nothing") == omp_invalid_device);
    CHECK(omp_get_uid_from_device(count + 1) == NULL);
    DONE;
}
