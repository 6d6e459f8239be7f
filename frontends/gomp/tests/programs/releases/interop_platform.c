/* Since GCC 15: there is no platform under an object of NVIDIA's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    omp_interop_t object = omp_interop_none;
    omp_interop_rc_t code = omp_irc_success;
    #pragma omp interop init(prefer_type("cuda"), targetsync: object) device(0)
    CHECK(object != omp_interop_none);
    CHECK(omp_get_interop_int(object, omp_ipr_platform, &code) == 0 && code == omp_irc_no_value);
    code = omp_irc_success;
    CHECK(omp_get_interop_ptr(object, omp_ipr_platform, &code) == NULL && code == omp_irc_no_value);
    code = omp_irc_success;
    CHECK(omp_get_interop_str(object, omp_ipr_platform, &code) == NULL && code == omp_irc_no_value);
    code = omp_irc_success;
    CHECK(omp_get_interop_ptr(object, omp_ipr_device_context, &code) == NULL && code == omp_irc_no_value);
    #pragma omp interop destroy(object)
    DONE;
}
