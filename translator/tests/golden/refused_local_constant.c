#pragma omp requires reverse_offload
int print(const char *, ...);
void f(void){ enum {K=3}; 
#pragma omp target
{
#pragma omp target device(ancestor:1)
print("%d\n", K);
}}
