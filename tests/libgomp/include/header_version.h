/* Tests look for the number of OpenACC 2.6, which callbacks of GCC's programs are told. Those of programs that are compiled
   with Gangway's header are told the number in that. */
#include <acc_prof.h>
#define version version - _ACC_PROF_INFO_VERSION + 201711
