#pragma omp requires reverse_offload
int print(const char *, ...);
#define P(x) _Pragma(#x)
void f(int x){
#pragma omp target
{
P(omp target device(ancestor:1))
print("%d\n", x);
}}
