// What `openmp/libraries` opens: a region and a variable of the device.
static int counter = 7;
#pragma omp declare target(counter)

int work(int *values, int count);

int work(int *values, int count) {
    int sum = 0;
#pragma omp target teams distribute parallel for map(to : values[0 : count]) map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < count; i++) sum += values[i] + counter;
#pragma omp target
    counter++;
    return sum;
}
