// The runtime, the system, agents, caches and instruction sets; wrong arguments included.
#include "hsa_api.h"

static int count;
static hsa_isa_t isa;
static hsa_cache_t cache;
static hsa_wavefront_t wavefront;

static hsa_status_t count_agents(hsa_agent_t agent, void *data) {
  CHECK(data == &count && agent.handle);
  ++count;
  return SUCCESS;
}

static hsa_status_t stop(hsa_agent_t agent, void *data) {
  (void)agent, (void)data;
  ++count;
  return INFO_BREAK;
}

static hsa_status_t take(hsa_handle_t handle, void *data) {
  *(hsa_handle_t *)data = handle;
  ++count;
  return SUCCESS;
}

static void not_initialised(void) {
  uint64_t value[16];
  hsa_signal_t signal;
  ANSWERS(NOT_INITIALIZED, hsa_shut_down());
  ANSWERS(NOT_INITIALIZED, hsa_system_get_info(0, value));
  ANSWERS(NOT_INITIALIZED, hsa_iterate_agents(count_agents, &count));
  ANSWERS(NOT_INITIALIZED, hsa_signal_create(0, 0, NULL, &signal));
}

static void texts(void) {
  const char *text = NULL;
  OK(hsa_status_string(INVALID_AGENT, &text));
  CHECK(strncmp(text, "HSA_STATUS_ERROR_INVALID_AGENT:", 31) == 0);
  OK(hsa_status_string(MEMORY_FAULT, &text));
  ANSWERS(INVALID_ARGUMENT, hsa_status_string(77, &text));
  ANSWERS(INVALID_ARGUMENT, hsa_status_string(SUCCESS, NULL));
}

static void system_info(void) {
  uint16_t major, minor;
  OK(hsa_system_get_info(0, &major));
  OK(hsa_system_get_info(1, &minor));
  CHECK(major == 1 && minor == 2);
  uint64_t frequency, first, then;
  OK(hsa_system_get_info(3, &frequency));
  OK(hsa_system_get_info(2, &first));
  OK(hsa_system_get_info(2, &then));
  CHECK(frequency == 1000000000 && first <= then);
  char extensions[128];
  OK(hsa_system_get_info(7, extensions));
  const char *build = NULL;
  OK(hsa_system_get_info(0x200, &build));
  CHECK(strstr(build, "gangway"));
  ANSWERS(INVALID_ARGUMENT, hsa_system_get_info(99, extensions));
  ANSWERS(INVALID_ARGUMENT, hsa_system_get_info(0, NULL));
  const char *name;
  OK(hsa_extension_get_name(1, &name));
  CHECK(strcmp(name, "HSA_EXTENSION_IMAGES") == 0);
  ANSWERS(INVALID_ARGUMENT, hsa_extension_get_name(50, &name));
  bool supported = true;
  OK(hsa_system_extension_supported(1, 1, 0, &supported));
  CHECK(!supported);
  OK(hsa_system_major_extension_supported(0x201, 1, &minor, &supported));
  CHECK(!supported);
  OK(hsa_agent_extension_supported(1, gpu, 1, 0, &supported));
  OK(hsa_agent_major_extension_supported(1, gpu, 1, &minor, &supported));
  ANSWERS(INVALID_ARGUMENT, hsa_system_extension_supported(50, 1, 0, &supported));
  ANSWERS(INVALID_ARGUMENT, hsa_system_extension_supported(1, 1, 0, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_system_get_extension_table(1, 1, 0, extensions));
  ANSWERS(INVALID_ARGUMENT, hsa_system_get_major_extension_table(1, 1, 8, extensions));
}

static void agent_info(void) {
  char name[64], uuid[21];
  OK(hsa_agent_get_info(gpu, 0, name));
  CHECK(strcmp(name, "gfx90a") == 0);
  OK(hsa_agent_get_info(gpu, 1, name));
  CHECK(strcmp(name, "AMD") == 0);
  OK(hsa_agent_get_info(cpu, 1, name));
  CHECK(strcmp(name, "CPU") == 0);
  uint32_t number, wave, type;
  OK(hsa_agent_get_info(gpu, 2, &number));
  OK(hsa_agent_get_info(gpu, 6, &wave));
  OK(hsa_agent_get_info(gpu, 15, &type));
  CHECK(number == 1 && wave == 64 && type == 0);
  OK(hsa_agent_get_info(cpu, 2, &number));
  CHECK(number == 0);
  uint16_t dimensions[3];
  OK(hsa_agent_get_info(gpu, 7, dimensions));
  CHECK(dimensions[2] == 1024);
  // All attributes that rocminfo and the plugins ask for, and what they do not write over.
  for (uint32_t attribute = 0; attribute <= 24; ++attribute) {
    unsigned char value[256];
    memset(value, 0xa5, sizeof value);
    OK(hsa_agent_get_info(gpu, attribute, value));
    OK(hsa_agent_get_info(cpu, attribute, value));
    CHECK(value[128] == 0xa5);
  }
  for (uint32_t attribute = 0xa000; attribute <= 0xa016; ++attribute) {
    unsigned char value[256];
    OK(hsa_agent_get_info(gpu, attribute, value));
  }
  OK(hsa_agent_get_info(gpu, 0xa011, uuid));
  CHECK(strncmp(uuid, "GPU-", 4) == 0 && strlen(uuid) == 20);
  char other[21];
  OK(hsa_agent_get_info(second_gpu, 0xa011, other));
  CHECK(strcmp(uuid, other) != 0);
  hsa_agent_t nearest;
  OK(hsa_agent_get_info(gpu, 0xa113, &nearest));
  CHECK(nearest.handle == cpu.handle);
  ANSWERS(INVALID_ARGUMENT, hsa_agent_get_info(gpu, 25, name));
  ANSWERS(INVALID_ARGUMENT, hsa_agent_get_info(gpu, 0xa0ff, name));
  ANSWERS(INVALID_ARGUMENT, hsa_agent_get_info(gpu, 0, NULL));
  for (unsigned at = 0; at < NONES; ++at) ANSWERS(INVALID_AGENT, hsa_agent_get_info(NONE[at], 0, name));
  uint16_t mask;
  OK(hsa_agent_get_exception_policies(gpu, 0, &mask));
  ANSWERS(INVALID_ARGUMENT, hsa_agent_get_exception_policies(gpu, 9, &mask));
  uint32_t coherency;
  OK(hsa_amd_coherency_get_type(gpu, &coherency));
  OK(hsa_amd_coherency_set_type(gpu, 1));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_coherency_set_type(gpu, 2));
}

static void caches(void) {
  count = 0;
  OK(hsa_agent_iterate_caches(gpu, take, &cache));
  CHECK(count == 2);
  uint32_t length, size;
  uint8_t level;
  char name[16];
  OK(hsa_cache_get_info(cache, 0, &length));
  OK(hsa_cache_get_info(cache, 1, name));
  OK(hsa_cache_get_info(cache, 2, &level));
  OK(hsa_cache_get_info(cache, 3, &size));
  CHECK(strlen(name) == length && level == 2 && size > 0);
  ANSWERS(INVALID_ARGUMENT, hsa_cache_get_info(cache, 4, name));
  ANSWERS(INVALID_CACHE, hsa_cache_get_info(gpu, 0, name));
  ANSWERS(INVALID_ARGUMENT, hsa_agent_iterate_caches(gpu, NULL, NULL));
}

static void instruction_sets(void) {
  count = 0;
  OK(hsa_agent_iterate_isas(cpu, take, &isa));
  CHECK(count == 0);
  OK(hsa_agent_iterate_isas(gpu, take, &isa));
  CHECK(count == 1);
  uint32_t length;
  OK(hsa_isa_get_info_alt(isa, 0, &length));
  char name[length];
  OK(hsa_isa_get_info_alt(isa, 1, name));
  CHECK(strcmp(name, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-") == 0 && strlen(name) + 1 == length);
  hsa_isa_t same, other;
  OK(hsa_isa_from_name(name, &same));
  CHECK(same.handle == isa.handle);
  OK(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx90a", &other));
  bool compatible = false;
  OK(hsa_isa_compatible(other, isa, &compatible));
  CHECK(compatible);
  OK(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx906", &other));
  OK(hsa_isa_compatible(other, isa, &compatible));
  CHECK(!compatible);
  ANSWERS(INVALID_ISA_NAME, hsa_isa_from_name("amdgcn-amd-amdhsa--gfx1", &other));
  ANSWERS(INVALID_ARGUMENT, hsa_isa_from_name(NULL, &other));
  uint64_t value[8];
  static const uint32_t attributes[] = {0, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16, 17};
  for (unsigned at = 0; at < sizeof attributes / sizeof *attributes; ++at) {
    OK(hsa_isa_get_info_alt(isa, attributes[at], value));
    OK(hsa_isa_get_info(isa, attributes[at], 0, value));
  }
  ANSWERS(INVALID_INDEX, hsa_isa_get_info(isa, 0, 1, value));
  ANSWERS(INVALID_ARGUMENT, hsa_isa_get_info_alt(isa, 10, value));
  ANSWERS(INVALID_ARGUMENT, hsa_isa_get_info_alt(isa, 0, NULL));
  for (unsigned at = 0; at < NONES; ++at) ANSWERS(INVALID_ISA, hsa_isa_get_info_alt(NONE[at], 0, value));
  uint16_t mask;
  uint32_t method, size;
  OK(hsa_isa_get_exception_policies(isa, 0, &mask));
  OK(hsa_isa_get_round_method(isa, 2, 1, &method));
  CHECK(method == 1);
  ANSWERS(INVALID_ARGUMENT, hsa_isa_get_round_method(isa, 3, 1, &method));
  OK(hsa_isa_iterate_wavefronts(isa, take, &wavefront));
  OK(hsa_wavefront_get_info(wavefront, 0, &size));
  CHECK(size == 64);
  ANSWERS(INVALID_WAVEFRONT, hsa_wavefront_get_info(isa, 0, &size));
}

int main(void) {
  not_initialised();
  start();
  OK(hsa_iterate_agents(count_agents, &count));
  CHECK(count == 3);
  count = 0;
  ANSWERS(INFO_BREAK, hsa_iterate_agents(stop, NULL));
  CHECK(count == 1);
  ANSWERS(INVALID_ARGUMENT, hsa_iterate_agents(NULL, NULL));
  texts();
  system_info();
  agent_info();
  caches();
  instruction_sets();
  ANSWERS(ERROR, hsa_ext_image_create());
  // Each initialisation is taken back by itself.
  OK(hsa_init());
  OK(hsa_shut_down());
  OK(hsa_iterate_agents(count_agents, &count));
  OK(hsa_shut_down());
  not_initialised();
  OK(hsa_init());
  OK(hsa_shut_down());
  return 0;
}
