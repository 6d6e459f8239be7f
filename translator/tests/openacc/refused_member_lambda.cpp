// clang-22 crashes on device code of what a member begins with.
struct sums {
  int one = [] {
    int sum = 0;
#pragma acc parallel loop reduction(+ : sum)
    for (int i = 0; i < 5; i++) sum += i;
    return sum;
  }();
};
int main() { return sums().one; }
