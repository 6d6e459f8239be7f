/* See unload.c. */
#pragma omp declare target
static int counter;
#pragma omp end declare target

void begin(int *list, int length)
{
#pragma omp target enter data map(to : list[0 : length])
#pragma omp target map(tofrom : list[0 : length])
  for (int i = 0; i < length; i++)
    list[i]++;
}

int count(void)
{
  int value;
#pragma omp target map(from : value)
  value = ++counter;
  return value;
}
