// covers: pointers to members and to member functions, placement new, operator overloads on the device
#include <cstdio>
#include <new>

#pragma omp begin declare target
struct Machine {
  int a = 1, b = 2;
  int up() { return a += 10; }
  int down() { return a -= 3; }
  int operator()(int x) const { return a * x + b; }
  int &operator[](int i) { return i ? b : a; }
};
#pragma omp end declare target

int main() {
  int out[5] = {};
#pragma omp target map(from : out)
  {
    alignas(Machine) unsigned char raw[sizeof(Machine)];
    Machine *m = new (raw) Machine;
    int (Machine::*steps[2])() = {&Machine::up, &Machine::down};
    out[0] = (m->*steps[0])();
    out[1] = (m->*steps[1])();
    int Machine::*field = &Machine::b;
    m->*field = 7;
    out[2] = (*m)(3);
    (*m)[1] = 100;
    out[3] = m->b;
    m->~Machine();
    out[4] = 5;
  }
  for (int v : out) std::printf("%d ", v);
  std::printf("\n");
}
