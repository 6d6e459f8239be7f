// covers: target device(ancestor: 1) in C++: references, lambdas, members of namespaces, standard containers of the host
// stock: unusable because reverse offload is not in it
// translated: yes
#include <cstdio>
#include <map>
#include <omp.h>
#include <string>

#pragma omp requires reverse_offload

namespace records {
struct point {
  double x, y;
  double norm() const { return x * x + y * y; }
};

static std::map<int, double> journal;

template <class T> T larger(T a, T b) { return a > b ? a : b; }

static void note(int step, const point &p) {
#pragma omp target device(ancestor : 1) map(to : p)
  {
    // What the device cannot have: the host's containers and library.
    journal[step] = p.norm();
    std::string text = "step " + std::to_string(step);
    std::printf("%s: %g\n", text.c_str(), larger(p.x, p.y));
  }
}
#pragma omp declare target to(note)
} // namespace records

struct solver {
  int steps;
  double *values;

  double run(int n) {
    double sum = 0;
    int count = steps, *out = &count;
    double *list = values;
    (void)out;
#pragma omp target map(tofrom : sum, list[0 : n]) map(to : count)
    {
      for (int step = 0; step < count; step++) {
        records::point p{step * 1.0, 2.0};
        records::note(step, p);
        auto add = [&](double more) {
          double &total = sum;
#pragma omp target device(ancestor : 1) map(always, tofrom : total)
          total += more;
        };
        add(p.norm());
        list[step] = sum;
      }
#pragma omp target device(ancestor : 1) map(always, to : list[0 : n]) firstprivate(n)
      {
        for (int i = 0; i < n; i++)
          std::printf("%g%c", list[i], i + 1 < n ? ' ' : '\n');
      }
    }
    return sum;
  }
};

int main() {
  double values[4] = {-1, -1, -1, -1};
  solver s{3, values};
  std::printf("%g\n", s.run(4));
  double all = 0;
  for (const auto &entry : records::journal)
    all += entry.second;
  std::printf("%zu entries, %g\n", records::journal.size(), all);

  // In the region the host is as it is outside of device code.
  int inside[4] = {0};
#pragma omp target map(tofrom : inside)
  {
#pragma omp target device(ancestor : 1) map(always, tofrom : inside)
    {
      inside[0] = omp_is_initial_device();
      inside[1] = omp_get_device_num() == omp_get_initial_device();
      inside[2] = omp_get_num_devices() > 0;
      inside[3] = omp_get_default_device() == 0;
    }
  }
  std::printf("%d %d %d %d\n", inside[0], inside[1], inside[2], inside[3]);
}
