/* Since GCC 15: objects of the runtime under a device. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    omp_interop_t object = omp_interop_none;
    int device = omp_get_default_device();
    omp_interop_rc_t code;
    #pragma omp interop init(prefer_type("cuda_driver"), targetsync: object) device(device)
    CHECK(object != omp_interop_none);
    CHECK(omp_get_interop_int(object, omp_ipr_fr_id, &code) == omp_ifr_cuda_driver && code == omp_irc_success);
    CHECK(omp_get_interop_int(object, omp_ipr_device_num, NULL) == device);
    CHECK(omp_get_interop_int(object, omp_ipr_vendor, NULL) == 11);
    CHECK(omp_get_interop_int(object, omp_ipr_device, &code) == 0 && code == omp_irc_success);
    CHECK(omp_get_interop_ptr(object, omp_ipr_targetsync, &code) && code == omp_irc_success);
    CHECK(omp_get_interop_ptr(object, omp_ipr_device_context, &code) && code == omp_irc_success);
    CHECK(omp_get_interop_str(object, omp_ipr_vendor_name, NULL)[0] == 'n');
    CHECK(omp_get_interop_str(object, omp_ipr_vendor, &code) == NULL && code == omp_irc_type_int);
    CHECK(omp_get_interop_int(object, (omp_interop_property_t) -12, &code) == 0 && code == omp_irc_out_of_range);
    CHECK(omp_get_interop_rc_desc(object, omp_irc_success) && omp_get_num_interop_properties(object) == 0);
    CHECK(omp_get_interop_name(omp_interop_none, omp_ipr_fr_id) != NULL);
    #pragma omp interop use(object)
    #pragma omp interop destroy(object)
    CHECK(object == omp_interop_none);
    CHECK(omp_get_interop_int(object, omp_ipr_fr_id, &code) == 0 && code == omp_irc_empty);
    int x = 0;
    #pragma omp target map(tofrom: x) depend(out: x) nowait
    x = 5;
    #pragma omp interop init(targetsync: object) depend(inout: x)
    CHECK(x == 5);
    #pragma omp interop destroy(object)
    #pragma omp interop init(target: object)
    CHECK(omp_get_interop_ptr(object, omp_ipr_targetsync, &code) == NULL && code == omp_irc_no_value);
    #pragma omp interop destroy(object)
    #pragma omp interop init(targetsync: object) device(omp_initial_device)
    CHECK(object == omp_interop_none);
    DONE;
}
