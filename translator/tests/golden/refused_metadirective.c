#pragma omp requires reverse_offload
int print(const char *, ...);
void f(int x){
#pragma omp target
{
#pragma omp metadirective when(device={kind(nohost)}: target device(ancestor:1)) default(nothing)
print("%d\n", x);
}}
