// Opens a library with device code, uses it and closes it, three times.
#include <dlfcn.h>

int main(int count, char **arguments) {
  for (int i = 0; i < 3; ++i) {
    void *library = dlopen(arguments[count - 1], RTLD_NOW);
    if (!library)
      return 1;
    int (*twice)(int) = (int (*)(int))dlsym(library, "twice");
    if (twice(i) != 2 * i)
      return 2;
    dlclose(library);
  }
  return 0;
}
