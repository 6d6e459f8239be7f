struct pair { int a, b; };
int free_standing; 
int on_device;
#pragma omp declare target to(on_device)
void f(int n, int *p, struct pair q) {
#pragma omp target
  {
#pragma omp target device(ancestor: 1) defaultmap(tofrom: scalar) defaultmap(firstprivate: aggregate)
    { n += q.a + p[0] + free_standing + on_device; }
#pragma omp target device(ancestor: 1) private(n) is_device_ptr(p)
    { n = p[0] + q.b; }
  }
}
