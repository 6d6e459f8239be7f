struct s { int a; void f() {
#pragma omp target device(ancestor: 1)
    { int b = 0;
      b = a; }
  } };
