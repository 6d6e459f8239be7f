// covers: classes that hold classes with pointers: members of members, arrays of objects, base class data
#include <cstdio>

struct Buffer {
  int n;
  int *data;
};
struct Base {
  int kind = 3;
  Buffer input{};
};
struct Job : Base {
  Buffer output{};
  double weight = 2;
  void run() {
#pragma omp target map(to : input.data[0 : input.n], kind, weight, output.n) \
    map(from : output.data[0 : output.n])
    for (int i = 0; i < output.n; i++) output.data[i] = static_cast<int>(input.data[i] * weight) + kind;
  }
};

int main() {
  int in[4] = {1, 2, 3, 4}, out[4] = {};
  Job job;
  job.input = {4, in};
  job.output = {4, out};
  job.run();
  for (int v : out) std::printf("%d ", v);
  std::printf("%d %d\n", job.input.data == in, job.output.data == out);
  Job *jobs[2] = {&job, &job};
  Job *p = jobs[1];
#pragma omp target map(to : p[0 : 1]) map(tofrom : p->output.data[1 : 2])
  p->output.data[2] = 500;
  for (int v : out) std::printf("%d ", v);
  std::printf("\n");
  Buffer many[3] = {{1, in}, {2, out}, {3, in + 1}};
  int total = 0;
#pragma omp target map(to : many[0 : 3]) map(tofrom : many[1].data[0 : 4]) map(from : total)
  {
    total = many[1].data[2] + many[2].n;
    many[1].data[0] = -1;
  }
  std::printf("%d %d\n", total, out[0]);
}
