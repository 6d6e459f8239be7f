struct list {
  int n;
  double data[];
};

static struct list numbers = {2, {1, 2}};

void f(void) {
#pragma acc parallel loop copy(numbers)
  for (int i = 0; i < 2; i++) numbers.data[i] += i;
}
