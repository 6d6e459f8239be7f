// covers: atexit handlers and static objects with destructors that device code makes while it runs
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#pragma omp begin declare target
struct Guard {
  const char *text;
  ~Guard() { (void)!write(1, text, 12); }
};
static void make() { static Guard guard{"static gone\n"}; }
#pragma omp end declare target

int main() {
  std::printf("start\n");
  std::fflush(stdout);
#pragma omp target
  {
    make();
    make();
  }
  std::printf("end\n");
  std::fflush(stdout);
}
