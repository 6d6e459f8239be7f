// covers: the program's own signal handlers: host faults, signals that arrive around regions, masks
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf back;
static volatile sig_atomic_t faults, signals;

static void on_fault(int number) {
  (void)number;
  faults++;
  siglongjmp(back, 1);
}
static void on_signal(int number) {
  (void)number;
  signals++;
}
static void on_fault_with_details(int number, siginfo_t *details, void *context) {
  (void)context;
  faults += number == SIGSEGV && details->si_addr == (void *)8 ? 10 : 1000;
  siglongjmp(back, 1);
}

static void fault_and_return(void) {
  if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, NULL);
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, NULL);
  fault_and_return();
  int x = 1;
#pragma omp target map(tofrom : x)
  x++;
  raise(SIGUSR1);
  fault_and_return();
  sigset_t mask, old;
  sigfillset(&mask);
  sigprocmask(SIG_BLOCK, &mask, &old);
#pragma omp target map(tofrom : x)
  x++;
  raise(SIGUSR1);
  sigprocmask(SIG_SETMASK, &old, NULL);
#pragma omp target map(tofrom : x)
  x++;
  fault_and_return();
  // Another handler, put in after the device was used, with details of the fault.
  action.sa_sigaction = on_fault_with_details;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  fault_and_return();
#pragma omp target device(1) map(tofrom : x)
  x++;
  fault_and_return();
  printf("%d faults, %d signals, %d\n", (int)faults, (int)signals, x);
  return 0;
}
