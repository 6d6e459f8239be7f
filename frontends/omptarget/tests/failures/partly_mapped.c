// A structure of which members are mapped, and a region that names all of it: GANGWAY_CHECK
// tells. Sections of arrays are often mapped alone.
// run: told GANGWAY_CHECK=1 exit=0
// run: quiet exit=0
struct pair {
  int *data;
  int count;
};

int main(void) {
  int data[4] = {1, 2, 3, 4}, sum = 0;
  struct pair s = {data, 4};
#pragma omp target data map(to : s.count) map(to : data[1 : 2])
  {
#pragma omp target map(tofrom : sum)
    sum += s.count + data[1];
  }
  return sum != 6;
}
