// Translation units that disagree about `requires`. Today's compilers leave one
// entry for a whole program; the other unit is one of an older compiler, which
// registered its clauses by a call.
// run: disagree args=1 signal=ABRT
// run: agree args=8 exit=0
#include <stdint.h>
#include <stdlib.h>

#pragma omp requires unified_shared_memory

void __tgt_register_requires(int64_t clauses);

int main(int argc, char **argv) {
  int value = 0;
  __tgt_register_requires(atoi(argv[argc - 1]));
#pragma omp target map(tofrom : value)
  value = 1;
  return value != 1;
}
