// covers: destructors of declare target objects run on the device before the process ends
#include <cstdio>
#include <unistd.h>

#pragma omp begin declare target
struct Farewell {
  int uses = 0;
  ~Farewell() {
    if (uses > 0) {
      const char text[] = "device object destroyed\n";
      (void)!write(1, text, sizeof text - 1);
    }
  }
};
Farewell farewell;
#pragma omp end declare target

int main() {
  std::printf("start\n");
  std::fflush(stdout);
#pragma omp target
  farewell.uses++;
}
