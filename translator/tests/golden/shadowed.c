#pragma omp requires reverse_offload
int print(const char *, ...);
int x = 4;
void f(int x){
#pragma omp target
{ { int x = 2;
#pragma omp target device(ancestor:1)
{ int y = x; { int x = y; print("%d\n", x); } }
}
}}
