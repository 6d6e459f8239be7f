// covers: regions in constructors and destructors of global objects, which map their data for the whole run
#include <cstdio>

class Store {
 public:
  Store() {
    for (int i = 0; i < 8; i++) data_[i] = i;
#pragma omp target enter data map(to : this[0 : 1])
  }
  void work() {
#pragma omp target
    for (int i = 0; i < 8; i++) data_[i] *= 3;
  }
  ~Store() {
    int last = 0;
#pragma omp target map(tofrom : last)
    last = data_[7];
#pragma omp target exit data map(from : this[0 : 1])
    std::printf("destroyed with %d %d\n", last, data_[7]);
  }

 private:
  int data_[8];
};

static int before_main() {
  int x = 20;
#pragma omp target map(tofrom : x)
  x++;
  return x;
}

static const int early = before_main();
static Store store;

int main() {
  std::printf("%d\n", early);
  store.work();
}
