// Maps data, has libraries of other compilers change it on the device, and then becomes the next program of the
// chain: ARGUMENTS are the libraries, as FILE:NAME of the step; CHAIN_NEXT has the programs to come.
// Without headers: those of the C library are not for every release's GPU.
typedef __SIZE_TYPE__ size_t;
int printf(const char *, ...), snprintf(char *, size_t, const char *, ...), fflush(void *);
void *malloc(size_t), exit(int), *dlopen(const char *, int), *dlsym(void *, const char *);
char *dlerror(void), *getenv(const char *), *strchr(const char *, int), *strrchr(const char *, int);
char *strdup(const char *), *strndup(const char *, size_t);
int strncmp(const char *, const char *, size_t), setenv(const char *, const char *, int);
int execv(const char *, char *const *);
enum { RTLD_NOW = 2 };

enum { COUNT = 1000 };
typedef double step(double *, int);
typedef void step_on(double *, int);

static void *function(void *library, const char *name, const char *suffix) {
  char full[100];
  snprintf(full, sizeof full, "%s%s", name, suffix);
  void *found = dlsym(library, full);
  if (!found) {
    printf("%s: there is no %s\n", BY, full);
    exit(1);
  }
  return found;
}

static void expect(double got, double wanted, const char *what, const char *by) {
  if (got == wanted)
    return;
  printf("%s: %s of %s is %.17g, not %.17g\n", BY, what, by, got, wanted);
  exit(1);
}

int main(int count, char **arguments) {
  double *shared = malloc(COUNT * sizeof *shared), *expected = malloc(COUNT * sizeof *expected);
  for (int i = 0; i < COUNT; ++i)
    shared[i] = expected[i] = i % 7;
#pragma omp target enter data map(to : shared[0 : COUNT])
  // Nobody can have read the host's values any more who sees the device's.
  for (int i = 0; i < COUNT; ++i)
    shared[i] = -5;
  for (int round = 1; round <= 2; ++round)
    for (int at = 1; at < count; ++at) {
      char file[4096];
      snprintf(file, sizeof file, "%s", arguments[at]);
      char *name = strrchr(file, ':');
      *name++ = 0;
      // GCC's regions share the device's data where they have devices.
      int on_device = strncmp(name, "gcc", 3) == 0 && !getenv("CHAIN_GPU");
      void *library = dlopen(file, RTLD_NOW);
      if (!library) {
        printf("%s: %s\n", BY, dlerror());
        return 1;
      }
      step *do_step;
      step_on *do_step_on;
      *(void **)&do_step = function(library, name, "");
      *(void **)&do_step_on = function(library, name, "_on");
      double sum = 0;
      for (int i = 0; i < COUNT; ++i) {
        expected[i] = 2 * expected[i] + 1;
        sum += expected[i];
      }
      if (!on_device)
        expect(do_step(shared, COUNT), sum + 3.0 * 63 * round, "the sum", name);
      else
        for (int i = 0; i < COUNT; ++i)
          expected[i] = (expected[i] - 1) / 2;
#pragma omp target data use_device_ptr(shared)
      do_step_on(shared, COUNT);
      for (int i = 0; i < COUNT; ++i)
        expected[i] = 2 * expected[i] + 1;
      for (int i = 0; i < COUNT; ++i)
        expect(shared[i], -5, "the host's copy after a step", name);
#pragma omp target map(tofrom : shared[0 : COUNT])
      for (int i = 0; i < COUNT; ++i)
        shared[i] -= 1;
      for (int i = 0; i < COUNT; ++i)
        expected[i] -= 1;
    }
#pragma omp target exit data map(from : shared[0 : COUNT])
  for (int i = 0; i < COUNT; ++i)
    expect(shared[i], expected[i], "the result", "all");
  printf("%s: right with %d libraries\n", BY, count - 1);
  // What is not written before the process becomes another program is lost.
  fflush(0);

  char *next = getenv("CHAIN_NEXT");
  if (!next || !*next)
    return 0;
  char *rest = strchr(next, ':');
  char *program = rest ? strndup(next, (size_t)(rest - next)) : strdup(next);
  setenv("CHAIN_NEXT", rest ? strdup(rest + 1) : "", 1);
  execv(program, arguments);
  printf("%s: cannot execute %s\n", BY, program);
  return 1;
}
