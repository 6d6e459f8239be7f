// Code objects, executables and symbols; wrong arguments and damaged images included.
#include "kernels.h"

#include <fcntl.h>
#include <unistd.h>

static int seen;

static hsa_status_t visit(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data) {
  CHECK(executable.handle == ((hsa_executable_t *)data)->handle);
  uint32_t length, kind;
  OK(hsa_executable_symbol_get_info(symbol, 1, &length));
  char name[length + 1];
  OK(hsa_executable_symbol_get_info(symbol, 2, name));
  name[length] = 0;
  OK(hsa_executable_symbol_get_info(symbol, 0, &kind));
  CHECK((kind == 1) == (strlen(name) > 3 && strcmp(name + length - 3, ".kd") == 0));
  ++seen;
  return SUCCESS;
}

static hsa_status_t visit_agents(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
                                 void *data) {
  CHECK(agent.handle == gpu.handle);
  return visit(executable, symbol, data);
}

static hsa_status_t stop(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data) {
  return INFO_BREAK;
}

static void symbols(hsa_executable_t executable) {
  hsa_executable_symbol_t symbol;
  OK(hsa_executable_get_symbol(executable, NULL, "saxpy.kd", gpu, 0, &symbol));
  uint32_t number;
  uint64_t object;
  hsa_agent_t agent;
  bool flag;
  OK(hsa_executable_symbol_get_info(symbol, 11, &number));
  CHECK(number == 24 || number > 24);
  OK(hsa_executable_symbol_get_info(symbol, 12, &number));
  CHECK(number == 8);
  OK(hsa_executable_symbol_get_info(symbol, 13, &number));
  CHECK(number == 0);
  OK(hsa_executable_symbol_get_info(symbol, 15, &flag));
  OK(hsa_executable_symbol_get_info(symbol, 17, &flag));
  CHECK(flag);
  OK(hsa_executable_symbol_get_info(symbol, 20, &agent));
  CHECK(agent.handle == gpu.handle);
  OK(hsa_executable_symbol_get_info(symbol, 22, &object));
  CHECK(object % 64 == 0);
  ANSWERS(INVALID_ARGUMENT, hsa_executable_symbol_get_info(symbol, 21, &object));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_symbol_get_info(symbol, 99, &object));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_symbol_get_info(symbol, 0, NULL));
  for (unsigned at = 0; at < NONES; ++at)
    ANSWERS(INVALID_EXECUTABLE_SYMBOL, hsa_executable_symbol_get_info(NONE[at], 0, &number));
  OK(hsa_executable_get_symbol_by_name(executable, "reduce.kd", NULL, &symbol));
  OK(hsa_executable_symbol_get_info(symbol, 13, &number));
  CHECK(number == 256);
  OK(hsa_executable_get_symbol_by_name(executable, "stack.kd", &gpu, &symbol));
  OK(hsa_executable_symbol_get_info(symbol, 14, &number));
  CHECK(number >= 1024);
  OK(hsa_executable_get_symbol_by_name(executable, "fixed", &gpu, &symbol));
  OK(hsa_executable_symbol_get_info(symbol, 9, &number));
  OK(hsa_executable_symbol_get_info(symbol, 10, &flag));
  CHECK(number == 16 && flag);
  OK(hsa_executable_symbol_get_info(symbol, 7, &number));
  CHECK(number == 1);
  int *address, value[4];
  OK(hsa_executable_symbol_get_info(symbol, 21, &address));
  OK(hsa_memory_copy(value, address, sizeof value));
  CHECK(value[3] == 4);
  ANSWERS(INVALID_ARGUMENT, hsa_executable_symbol_get_info(symbol, 22, &object));
  ANSWERS(INVALID_SYMBOL_NAME, hsa_executable_get_symbol_by_name(executable, "saxpy", &gpu, &symbol));
  ANSWERS(INVALID_SYMBOL_NAME, hsa_executable_get_symbol_by_name(executable, "saxpy.kd", &second_gpu, &symbol));
  ANSWERS(INVALID_AGENT, hsa_executable_get_symbol_by_name(executable, "saxpy.kd", NONE, &symbol));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_get_symbol_by_name(executable, NULL, &gpu, &symbol));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_get_symbol_by_name(executable, "saxpy.kd", &gpu, NULL));
  ANSWERS(INVALID_EXECUTABLE, hsa_executable_get_symbol_by_name(NONE[1], "saxpy.kd", &gpu, &symbol));
  OK(hsa_executable_iterate_symbols(executable, visit, &executable));
  int all = seen;
  CHECK(all > 12);
  OK(hsa_executable_iterate_agent_symbols(executable, gpu, visit_agents, &executable));
  CHECK(seen == 2 * all);
  OK(hsa_executable_iterate_program_symbols(executable, visit, &executable));
  CHECK(seen == 2 * all);
  ANSWERS(INFO_BREAK, hsa_executable_iterate_symbols(executable, stop, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_iterate_symbols(executable, NULL, NULL));
}

static void executables(char *bytes, size_t size) {
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  hsa_loaded_code_object_t loaded;
  ANSWERS(INVALID_ARGUMENT, hsa_code_object_reader_create_from_memory(NULL, size, &reader));
  ANSWERS(INVALID_ARGUMENT, hsa_code_object_reader_create_from_memory(bytes, 0, &reader));
  ANSWERS(INVALID_ARGUMENT, hsa_code_object_reader_create_from_memory(bytes, size, NULL));
  OK(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_create_alt(2, 0, NULL, &executable));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_create_alt(1, 3, NULL, &executable));
  ANSWERS(INVALID_ARGUMENT, hsa_executable_create_alt(1, 0, NULL, NULL));
  OK(hsa_executable_create_alt(0, 2, NULL, &executable));
  uint32_t number;
  OK(hsa_executable_get_info(executable, 1, &number));
  CHECK(number == 0);
  OK(hsa_executable_get_info(executable, 3, &number));
  CHECK(number == 2);
  ANSWERS(INVALID_ARGUMENT, hsa_executable_get_info(executable, 4, &number));
  ANSWERS(INVALID_AGENT, hsa_executable_load_agent_code_object(executable, cpu, reader, NULL, &loaded));
  ANSWERS(INVALID_AGENT, hsa_executable_load_agent_code_object(executable, NONE[3], reader, NULL, &loaded));
  ANSWERS(INVALID_CODE_OBJECT_READER, hsa_executable_load_agent_code_object(executable, gpu, gpu, NULL, &loaded));
  ANSWERS(INVALID_EXECUTABLE, hsa_executable_load_agent_code_object(NONE[4], gpu, reader, NULL, &loaded));
  // The program has a variable that the code asks for.
  int *elsewhere = device_memory(4), value = 123;
  OK(hsa_memory_copy(elsewhere, &value, 4));
  OK(hsa_executable_agent_global_variable_define(executable, gpu, "elsewhere", elsewhere));
  ANSWERS(VARIABLE_ALREADY_DEFINED, hsa_executable_agent_global_variable_define(executable, gpu, "elsewhere", elsewhere));
  OK(hsa_executable_global_variable_define(executable, "more", elsewhere));
  ANSWERS(VARIABLE_ALREADY_DEFINED, hsa_executable_readonly_variable_define(executable, gpu, "more", elsewhere) ? VARIABLE_ALREADY_DEFINED : SUCCESS);
  ANSWERS(INVALID_ARGUMENT, hsa_executable_global_variable_define(executable, NULL, elsewhere));
  OK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, &loaded));
  CHECK(loaded.handle);
  ANSWERS(VARIABLE_ALREADY_DEFINED, hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  ANSWERS(VARIABLE_ALREADY_DEFINED, hsa_executable_agent_global_variable_define(executable, gpu, "counter", elsewhere));
  OK(hsa_executable_load_agent_code_object(executable, second_gpu, reader, NULL, NULL));
  OK(hsa_executable_freeze(executable, NULL));
  ANSWERS(FROZEN_EXECUTABLE, hsa_executable_freeze(executable, NULL));
  ANSWERS(FROZEN_EXECUTABLE, hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  ANSWERS(FROZEN_EXECUTABLE, hsa_executable_global_variable_define(executable, "x", elsewhere));
  OK(hsa_executable_get_info(executable, 2, &number));
  CHECK(number == 1);
  OK(hsa_executable_validate(executable, &number));
  OK(hsa_executable_validate_alt(executable, NULL, &number));
  CHECK(number == 0);
  hsa_queue_t *queue;
  OK(hsa_queue_create(gpu, 64, 0, NULL, NULL, 0, 0, &queue));
  int back[2], *out = device_memory(8);
  run(queue, executable, "variables", 1, &out, sizeof out);
  OK(hsa_memory_copy(back, out, 8));
  CHECK(back[1] == 123);
  OK(hsa_queue_destroy(queue));
  OK(hsa_executable_destroy(executable));
  ANSWERS(INVALID_EXECUTABLE, hsa_executable_destroy(executable));
  OK(hsa_code_object_reader_destroy(reader));
  ANSWERS(INVALID_CODE_OBJECT_READER, hsa_code_object_reader_destroy(reader));
}

static void files(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/kernels.gfx90a.so", getenv("KERNELS"));
  int file = open(path, O_RDONLY);
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  OK(hsa_code_object_reader_create_from_file(file, &reader));
  close(file);
  ANSWERS(INVALID_FILE, hsa_code_object_reader_create_from_file(file, &reader));
  ANSWERS(INVALID_FILE, hsa_code_object_reader_create_from_file(-1, &reader));
  OK(hsa_executable_create_alt(1, 0, NULL, &executable));
  OK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  OK(hsa_executable_destroy(executable));
  OK(hsa_code_object_reader_destroy(reader));
}

static void older(char *bytes, size_t size) {
  hsa_code_object_t object;
  hsa_executable_t executable;
  ANSWERS(INVALID_ARGUMENT, hsa_code_object_deserialize(NULL, size, NULL, &object));
  ANSWERS(INVALID_CODE_OBJECT, hsa_code_object_deserialize(bytes, size / 2, NULL, &object));
  OK(hsa_code_object_deserialize(bytes, size, NULL, &object));
  char version[64];
  hsa_isa_t isa;
  OK(hsa_code_object_get_info(object, 0, version));
  CHECK(atoi(version) >= 4);
  OK(hsa_code_object_get_info(object, 2, &isa));
  bool compatible;
  hsa_isa_t own;
  OK(hsa_agent_get_info(gpu, 19, &own));
  OK(hsa_isa_compatible(isa, own, &compatible));
  CHECK(compatible);
  ANSWERS(INVALID_ARGUMENT, hsa_code_object_get_info(object, 9, version));
  OK(hsa_executable_create(1, 0, "", &executable));
  OK(hsa_executable_load_code_object(executable, gpu, object, ""));
  OK(hsa_executable_freeze(executable, ""));
  OK(hsa_code_object_destroy(object));
  ANSWERS(INVALID_CODE_OBJECT, hsa_code_object_destroy(object));
  ANSWERS(INVALID_CODE_OBJECT, hsa_executable_load_code_object(executable, gpu, object, ""));
  OK(hsa_executable_destroy(executable));
  OK(hsa_executable_create(1, 1, "", &executable));
  ANSWERS(FROZEN_EXECUTABLE, hsa_executable_freeze(executable, ""));
  OK(hsa_executable_destroy(executable));
}

// Code for another processor, and thousands of damaged images: refused, or loaded, but nothing else.
static void damaged(const char *bytes, size_t size) {
  size_t other_size;
  void *other = read_code("gfx906", &other_size);
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  OK(hsa_executable_create_alt(1, 0, NULL, &executable));
  OK(hsa_code_object_reader_create_from_memory(other, other_size, &reader));
  ANSWERS(INCOMPATIBLE_ARGUMENTS, hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  OK(hsa_code_object_reader_destroy(reader));
  OK(hsa_executable_destroy(executable));
  // What is wrong is told each time.
  freopen("/dev/null", "w", stderr);
  char *copy = malloc(size);
  unsigned seed = 1;
  for (int round = 0; round < 3000; ++round) {
    memcpy(copy, bytes, size);
    for (int count = 0; count < 4; ++count) {
      seed = seed * 1664525 + 1013904223;
      size_t at = (seed >> 8) % (round % 2 ? size : 4096 < size ? 4096 : size);
      copy[at] ^= (char)(1 << (seed & 7));
    }
    OK(hsa_code_object_reader_create_from_memory(copy, round % 5 ? size : (seed >> 8) % size + 1, &reader));
    OK(hsa_executable_create_alt(1, 0, NULL, &executable));
    hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL);
    OK(hsa_executable_destroy(executable));
    OK(hsa_code_object_reader_destroy(reader));
  }
  free(copy);
  free(other);
}

int main(void) {
  start();
  size_t size;
  char *bytes = read_code("gfx90a", &size);
  hsa_executable_t executable = load(gpu);
  symbols(executable);
  executables(bytes, size);
  files();
  older(bytes, size);
  damaged(bytes, size);
  OK(hsa_shut_down());
  free(bytes);
  return 0;
}
