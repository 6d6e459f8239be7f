// What `loading` opens: its constructor begins to use the driver while it has the loader's lock.
#include "../cuda_api.h"
#include <unistd.h>

void begin_in_another_thread(void);

__attribute__((constructor)) static void begin(void) {
    begin_in_another_thread();
    // The other thread is at the driver's beginning by then, as far as it gets.
    usleep(300 * 1000);
    if (cuInit(0) != 0) _exit(3);
}
