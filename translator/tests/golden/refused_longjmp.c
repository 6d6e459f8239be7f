#include <setjmp.h>

#pragma omp requires reverse_offload

extern void compute(void);
static jmp_buf out;

void inside(void) {
#pragma omp target
  {
#pragma omp target device(ancestor : 1)
    {
      jmp_buf again;
      if (setjmp(again) == 0)
        longjmp(again, 1);
    }
#pragma omp target device(ancestor : 1)
    {
      compute();
      longjmp(out, 1);
    }
  }
}
