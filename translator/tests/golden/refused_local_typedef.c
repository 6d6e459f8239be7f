#pragma omp requires reverse_offload
int print(const char *, ...);
void f(void){ typedef int T; 
#pragma omp target
{
#pragma omp target device(ancestor:1)
{ T x = 1; print("%d\n", x);}
}}
