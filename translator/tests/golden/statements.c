#pragma omp requires reverse_offload
int print(const char *, ...);
void f(int x){
#pragma omp target
{ if (x)
#pragma omp target device(ancestor:1)
 print("a\n");
 else
#pragma omp target device(ancestor:1)
 while (x--) print("b\n");
 do
#pragma omp target device(ancestor:1)
 x++; while (x < 2);
}}
