// covers: target nowait with firstprivate objects and captured this in a class that pipelines work
#include <cstdio>
#include <vector>

class Pipeline {
 public:
  explicit Pipeline(int stages) : values_(stages) {}
  void run() {
    int *v = values_.data();
    const int n = static_cast<int>(values_.size());
#pragma omp target enter data map(to : v[0 : n])
    for (int i = 0; i < n; i++) {
#pragma omp target nowait depend(inout : token_) firstprivate(i)
      v[i] = (i ? v[i - 1] : 1) * 2 + i;
    }
#pragma omp target exit data nowait depend(inout : token_) map(from : v[0 : n])
#pragma omp taskwait
  }
  void print() const {
    for (int v : values_) std::printf("%d ", v);
    std::printf("\n");
  }

 private:
  std::vector<int> values_;
  int token_ = 0;
};

int main() {
  Pipeline pipeline(12);
#pragma omp parallel
#pragma omp single
  pipeline.run();
  pipeline.print();
  Pipeline other(5);
  other.run();
  other.print();
}
