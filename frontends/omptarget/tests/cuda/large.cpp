// A variable that is too large for the device.
#include "device.h"

#pragma omp begin declare target
char much_too_large[64 << 20];
#pragma omp end declare target

int main(int argc, char **) {
#pragma omp target
  much_too_large[argc] = 1;
}
