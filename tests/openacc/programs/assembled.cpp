// Members that clauses bring of the object at `this`, while constructs use others of it as well.
#include <cstdio>
#include <vector>

#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

class list {
public:
  explicit list(int n) : length(n), data(new double[n]) {
    for (int i = 0; i < n; i++) data[i] = i;
  }
  ~list() { delete[] data; }

  // A data construct names a pointer alone.
  double total(double by) {
    double sum = 0;
#pragma acc data copy(data[:length])
    {
#pragma acc parallel loop
      for (int i = 0; i < length; i++) data[i] += by * factor;
      // The host changes a member that the next construct uses.
      factor = 3;
#pragma acc parallel loop reduction(+ : sum)
      for (int i = 0; i < length; i++) sum += data[i] * factor;
      // Another one changes members, and calls a function of the object.
#pragma acc serial
      {
        calls += 1;
        data[0] = scaled(length);
      }
#pragma acc parallel loop async(2)
      for (int i = 1; i < length; i++) this->data[i] = rows[i % 4];
#pragma acc wait
    }
    return sum + calls;
  }

  int length, calls = 0;
  double factor = 2;

private:
  double scaled(int n) const { return n * factor; }
  double rows[4] = {4, 5, 6, 7};

public:
  double *data;
};

// Data comes with the object, and the object does not.
template <class T> class field {
public:
  field(int n, T first) : size(n), values(new T[n]), others(new T[n]), first(first) {
#pragma acc enter data create(values[0 : size])
#pragma acc enter data create(others[0 : size])
  }
  ~field() {
#pragma acc exit data delete(values[0 : size], others[0 : size])
    delete[] values;
    delete[] others;
  }
  void fill() {
#pragma acc parallel loop present(values[0 : size])
    for (int i = 0; i < size; i++) values[i] = first + i;
#pragma acc parallel loop
    for (int i = 0; i < size; i++) others[i] = values[i] * 2;
  }
  T last() {
    T found = 0;
#pragma acc serial copy(found)
    found = others[size - 1] + values[0];
    return found;
  }
  void fetch() {
#pragma acc update self(values[0 : size], others[0 : size])
  }
  int size;
  T *values, *others;
  T first;
};

int main() {
  list one(50);
  CHECK(one.total(1) == 3 * (50 * 49 / 2 + 50 * 2) + 1);
  CHECK(one.calls == 1 && one.factor == 3 && one.data[0] == 150 && one.data[5] == 5 && one.data[49] == 5);
  field<float> two(30, 7);
  two.fill();
  CHECK(two.last() == 2 * 36 + 7);
  two.fetch();
  CHECK(two.values[29] == 36 && two.others[29] == 72 && two.size == 30 && two.first == 7);
  std::puts("ok");
}
