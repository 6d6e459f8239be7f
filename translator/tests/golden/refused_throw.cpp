#pragma omp requires reverse_offload

void inside(int x) {
#pragma omp target
  {
#pragma omp target device(ancestor : 1)
    {
      auto fails = [](int y) { throw y; };
      try {
        if (x > 1)
          throw x;
        fails(x);
      } catch (int) {
        throw;
      }
    }
  }
}
