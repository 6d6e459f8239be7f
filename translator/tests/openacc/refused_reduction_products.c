void f(int n, double _Complex *z) {
#pragma acc parallel loop reduction(* : z[0 : n])
  for (int i = 0; i < n; i++) z[i % 7] *= i;
}
