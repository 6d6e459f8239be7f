#pragma omp requires reverse_offload
void f(int x){
#pragma omp target
{
#pragma omp target device(ancestor:1)
{ again: if (x++ < 3) goto again; switch (x) { case 1: break; default: x = 2; } }
}}
