// covers: target regions in member functions: this, members, member arrays, member pointers, const members
#include <cstdio>

class Field {
 public:
  Field(int n, double value) : n_(n), data_(new double[n]) {
    for (int i = 0; i < n; i++) data_[i] = value + i;
  }
  ~Field() { delete[] data_; }
  void scale(double by) {
#pragma omp target map(tofrom : data_[0 : n_])
    for (int i = 0; i < n_; i++) data_[i] *= by;
  }
  double sum() const {
    double total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total) map(to : data_[0 : n_])
    for (int i = 0; i < n_; i++) total += data_[i];
    return total;
  }
  void count() {
#pragma omp target map(tofrom : this[0 : 1])
    {
      calls_++;
      recent_[calls_ % 4] = calls_ * 10;
    }
  }
  void on_device() {
#pragma omp target enter data map(to : this[0 : 1], data_[0 : n_])
  }
  void bump() {
#pragma omp target
    for (int i = 0; i < n_; i++) data_[i] += 1;
  }
  void off_device() {
#pragma omp target exit data map(from : data_[0 : n_]) map(delete : this[0 : 1])
  }
  void print() const { std::printf("%d %g %g %d %d\n", calls_, data_[0], data_[n_ - 1], recent_[1], recent_[2]); }

 private:
  int n_;
  double *data_;
  int calls_ = 0;
  int recent_[4] = {};
};

int main() {
  Field field(10, 1.5);
  field.scale(2);
  std::printf("%g\n", field.sum());
  field.count();
  field.count();
  field.print();
  field.on_device();
  field.bump();
  field.bump();
  field.print();
  field.off_device();
  field.print();
}
