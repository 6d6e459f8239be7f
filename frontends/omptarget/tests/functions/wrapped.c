// What `gangway cc --check` has the linker put in the place of functions of the C library (--wrap): without a check they do
// what those do.
// functions: __wrap_memcpy __wrap_memmove __wrap_memset
#include <stddef.h>
#include <string.h>

void *__wrap_memcpy(void *, const void *, size_t);
void *__wrap_memmove(void *, const void *, size_t);
void *__wrap_memset(void *, int, size_t);

int main(void) {
  char place[16] = "0123456789", other[16] = "";
  if (__wrap_memcpy(other, place, 4) != other || strcmp(other, "0123")) return 1;
  // The ranges overlap, one way and the other.
  if (__wrap_memmove(place + 2, place, 5) != place + 2 || strcmp(place, "0101234789")) return 2;
  if (__wrap_memmove(place, place + 2, 5) != place || strcmp(place, "0123434789")) return 3;
  if (__wrap_memset(place, 'x' + 256, 3) != place || strcmp(place, "xxx3434789")) return 4;
  __wrap_memcpy(NULL, NULL, 0);
  __wrap_memset(NULL, 0, 0);
  return 0;
}
