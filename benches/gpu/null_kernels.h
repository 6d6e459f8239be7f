/* A part of interposer.c: programs get a kernel that does nothing, whichever they ask HSA for. GANGWAY_BENCH_NULL is
 * the file of its code object. */

#include <unistd.h>

enum { KERNEL_OBJECT = 22, BASE_PROFILE = 0, NEAREST = 1 };

/* Where the program loads its code. */
static long agent;
static function *load_code, *old_load_code, *symbol_info;

static void must(long code, const char *what) {
  if ((int)code) {
    fprintf(stderr, "GANGWAY_BENCH_NULL: %s: status %#x\n", what, (unsigned)code);
    /* Not by way of the runtime's handlers: it is in the middle of something. */
    _exit(1);
  }
}

static long call(int index, long a, long b, long c, long d, long e) {
  return functions[index](a, b, c, d, e, 0, 0, 0, 0, 0, 0);
}

/* Loads the code object once. */
static long null_kernel(void) {
  static long object;
  static char bytes[1 << 16];
  if (object)
    return object;
  FILE *file = fopen(getenv("GANGWAY_BENCH_NULL"), "rb");
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  must(size == 0, "it cannot be read");
  long reader = 0, executable = 0, symbol = 0;
  must(call(INDEX_hsa_code_object_reader_create_from_memory, (long)bytes, (long)size, (long)&reader, 0, 0), "reader");
  must(call(INDEX_hsa_executable_create_alt, BASE_PROFILE, NEAREST, 0, (long)&executable, 0), "executable");
  must(load_code(executable, agent, reader, 0, 0, 0, 0, 0, 0, 0, 0), "load");
  must(call(INDEX_hsa_executable_freeze, executable, 0, 0, 0, 0), "freeze");
  must(call(INDEX_hsa_executable_get_symbol_by_name, executable, (long)"nothing.kd", (long)&agent, (long)&symbol, 0),
       "symbol");
  must(symbol_info(symbol, KERNEL_OBJECT, (long)&object, 0, 0, 0, 0, 0, 0, 0, 0), "kernel");
  fclose(file);
  return object;
}

static long load_and_note(long executable, long device, long c, long d, long e, long f, long g, long h, long i, long j,
                          long k) {
  agent = device;
  return load_code(executable, device, c, d, e, f, g, h, i, j, k);
}

/* The way of loading before HSA 1.1, which libgomp's plugin goes. */
static long old_load_and_note(long executable, long device, long c, long d, long e, long f, long g, long h, long i,
                              long j, long k) {
  agent = device;
  return old_load_code(executable, device, c, d, e, f, g, h, i, j, k);
}

static long info_of_null(long symbol, long attribute, long value, long d, long e, long f, long g, long h, long i, long j,
                         long k) {
  long code = symbol_info(symbol, attribute, value, d, e, f, g, h, i, j, k);
  if ((int)code == 0 && (int)attribute == KERNEL_OBJECT)
    *(uint64_t *)value = (uint64_t)null_kernel();
  return code;
}

static void replace_kernels(void) {
  load_code = functions[INDEX_hsa_executable_load_agent_code_object];
  old_load_code = functions[INDEX_hsa_executable_load_code_object];
  symbol_info = functions[INDEX_hsa_executable_symbol_get_info];
  functions[INDEX_hsa_executable_load_agent_code_object] = load_and_note;
  functions[INDEX_hsa_executable_load_code_object] = old_load_and_note;
  functions[INDEX_hsa_executable_symbol_get_info] = info_of_null;
}
