void f(int x) {
#pragma omp tar\
get device(anc\
estor: 1) /* , */ firstprivate(x) // end
  {
    (void)x;
  }
}
