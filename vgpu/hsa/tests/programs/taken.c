// Something else has the addresses that devices want: there are none, and whoever asks gets an error.
#include "hsa_api.h"

#include <sys/mman.h>

static int count;

static hsa_status_t visit(hsa_agent_t agent, void *data) {
  cpu = agent;
  ++count;
  return SUCCESS;
}

int main(void) {
  void *taken = mmap((void *)(40ull << 40), 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  CHECK(taken == (void *)(40ull << 40));
  OK(hsa_init());
  OK(hsa_iterate_agents(visit, NULL));
  CHECK(count == 1);
  hsa_signal_t signal;
  ANSWERS(OUT_OF_RESOURCES, hsa_signal_create(0, 0, NULL, &signal));
  OK(hsa_agent_iterate_regions(cpu, pick_region, NULL));
  void *memory;
  ANSWERS(OUT_OF_RESOURCES, hsa_memory_allocate(kernarg_region, 100, &memory));
  ANSWERS(OUT_OF_RESOURCES, hsa_queue_destroy((hsa_queue_t *)&memory));
  CHECK(hsa_signal_load_relaxed(NONE[2]) == 0);
  OK(hsa_shut_down());
  return 0;
}
