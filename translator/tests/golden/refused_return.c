int f(int x) {
#pragma omp target device(ancestor: 1)
  {
    if (x)
      return 1;
  }
  return 0;
}
