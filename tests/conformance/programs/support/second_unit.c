// The second translation unit of two_units.
#pragma omp begin declare target
int shared_counter = 7;
static int hidden = 1000;
int second_add(int x) { return x + hidden + shared_counter; }
#pragma omp end declare target

int second_region(int x) {
#pragma omp target map(tofrom : x)
  {
    hidden++;
    shared_counter++;
    x = second_add(x);
  }
  return x;
}
