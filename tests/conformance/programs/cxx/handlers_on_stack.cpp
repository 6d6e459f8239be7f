// covers: a program with an alternate signal stack and detailed handlers put in before the device is used
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

static sigjmp_buf back;
static volatile sig_atomic_t good = 0;
static char *stack_begin, *stack_end;

static void on_fault(int, siginfo_t *details, void *) {
  const char here = 0;
  const bool on_own_stack = &here > stack_begin && &here < stack_end;
  good += on_own_stack && details->si_addr == reinterpret_cast<void *>(16);
  siglongjmp(back, 1);
}

static void fault() {
  if (!sigsetjmp(back, 1)) *reinterpret_cast<volatile int *>(16) = 1;
}

int main() {
  const std::size_t size = 256 << 10;
  stack_begin = static_cast<char *>(std::malloc(size));
  stack_end = stack_begin + size;
  stack_t stack{};
  stack.ss_sp = stack_begin;
  stack.ss_size = size;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  fault();
  int x = 1;
#pragma omp target map(tofrom : x)
  x++;
  fault();
#pragma omp target nowait map(tofrom : x)
  x++;
#pragma omp taskwait
  fault();
  stack_t now{};
  sigaltstack(nullptr, &now);
  std::printf("%d %d, stack kept %d\n", static_cast<int>(good), x, now.ss_sp == stack_begin);
}
