// Members of the object at `this`, with the arrow and without, of bases and of templates; data that comes and goes with
// the object; and what clauses say of a member stays so when the construct uses more of the object.
#include <openacc.h>
#include <cstdio>
#include <vector>

#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

enum { N = 50 };
static bool shared;

template <class T> static bool is_there(const T &item) {
  return shared || acc_is_present(const_cast<T *>(&item), sizeof item);
}

template <class T> static bool is_gone(const T &item) { return shared || !is_there(item); }

struct base {
  long factor = 2;
};

template <class T> class list : base {
public:
  list() : data(new T[N]), length(N) {
    for (int i = 0; i < N; i++) data[i] = i;
#pragma acc enter data copyin(factor, this->data[0 : N], length)
  }
  ~list() {
#pragma acc exit data delete(this->data[0 : N]) delete(length) delete(factor)
    delete[] data;
  }

  void scale() {
#pragma acc parallel loop present(factor, data[0 : N], length)
    for (int i = 0; i < length; i++) data[i] *= factor;
  }

  // Without a word of the members: they are on the device, and the object as a whole is not.
  void shift() {
#pragma acc parallel loop
    for (int i = 0; i < length; i++) data[i] += static_cast<T>(this->factor);
  }

  int members() {
    CHECK(is_there(factor) && is_there(length) && is_there(data));
#pragma acc exit data delete(length)
    CHECK(is_there(factor) && is_gone(length) && is_there(data) && is_gone(*this));
#pragma acc parallel loop present(factor, data[0 : N])
    for (int i = 0; i < N; i++) data[i] += factor;
#pragma acc update self(data[0 : N])
    CHECK(data[N - 1] == static_cast<T>((N - 1) * 2 + 4));
    return 0;
  }

  T *data;
  int length;
};

struct plain {
  int in, out, rest;
  int *values;
};

// A member of copyin is not copied back, what no clause names is.
static int clauses() {
  plain p = {1, 2, 3, nullptr};
#pragma acc parallel copyin(p.in) copyout(p.out)
  {
    p.out = p.in + p.rest;
    p.in = 70;
    p.rest = 80;
  }
  CHECK(p.out == 4 && p.rest == 80 && (shared || p.in == 1));
  p = {1, 2, 3, nullptr};
#pragma acc parallel copyin(p.in) copyout(p.out) copy(p.rest)
  {
    p.out = p.in + p.rest;
    p.in = 70;
    p.rest = 80;
  }
  CHECK(p.out == 4 && p.rest == 80 && (shared || p.in == 1));
  std::vector<int> values(N, 1);
  p.values = values.data();
  plain *q = &p;
  int *v = values.data();
#pragma acc parallel loop copy(q->values[0 : N])
  for (int i = 0; i < N; i++) q->values[i] += q->rest;
  CHECK(v[0] == 81 && q->values == v);
  // Nothing is there that is asked for.
  int found = 5;
#pragma acc parallel no_create(q->in, q->out) copy(found) if (shared)
  found = q->in;
  CHECK(found == 70 || found == 1);
  return 0;
}

int main() {
  shared = acc_get_device_type() == acc_device_host;
  {
    list<double> one;
    one.scale();
    one.shift();
    if (one.members()) return 1;
  }
  {
    list<int> two;
    two.scale();
    two.shift();
    if (two.members()) return 1;
  }
  if (clauses()) return 1;
  puts("ok");
}
