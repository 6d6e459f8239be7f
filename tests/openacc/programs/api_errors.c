// What routines and constructs say of wrong arguments, and the callbacks for errors. Each is tried in a process of its own,
// which an error ends.
#include <acc_prof.h>
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int list[100];
static int wrong_in_callback;

static void tell(acc_prof_info *info, acc_event_info *event, acc_api_info *api) {
  acc_error_event_info *error = &event->error_event;
  (void)api;
  fprintf(stderr, "callback: event %d, %d and %d bytes, version %d, construct %d, code %d: %s\n", info->event_type,
          info->valid_bytes, error->valid_bytes, info->version, error->parent_construct, error->error_code,
          error->error_message);
  // Allowed in such a callback.
  acc_get_property_string(0, acc_device_host, acc_property_name);
  if (wrong_in_callback) acc_wait(-77);
}

static void unregistered(acc_prof_info *info, acc_event_info *event, acc_api_info *api) {
  (void)info, (void)event, (void)api;
  fprintf(stderr, "callback that was unregistered\n");
}

static void set_device_num(void) { acc_set_device_num(99, acc_device_default); }
static void init_device(void) { acc_init_device(99, acc_device_default); }
static void shutdown_device(void) { acc_shutdown_device(99, acc_device_default); }
static void init_again(void) {
  acc_init(acc_device_default);
  acc_init(acc_device_default);
}
static void shutdown_before(void) { acc_shutdown(acc_device_default); }
static void copyin_nothing(void) { acc_copyin(list, 0); }
static void property(void) { acc_get_property(99, acc_device_not_host, acc_property_memory); }
static void wait_device(void) { acc_wait_device(1, 99); }
static void negative_device(void) { acc_wait_all_device(-1); }
static void test_device(void) { acc_async_test_device(1, 99); }
static void any_device(void) { acc_wait_any_device(1, list, 99); }
static void to_device(void) { acc_memcpy_d2d(list, list, 4, 99, 0); }
static void from_device(void) { acc_memcpy_d2d_async(list, list, 4, 0, 99, 1); }
static void device_type(void) { acc_get_num_devices((acc_device_t)77); }
static void other_maker(void) {
  int is_radeon = acc_get_device_type() == acc_device_radeon;
  acc_set_device_type(is_radeon ? acc_device_nvidia : acc_device_radeon);
}
static void wait_queue(void) { acc_wait(-9); }
static void default_queue(void) { acc_set_default_async(-9); }
static void any_queue(void) {
  int queues[] = {1, -9};
  acc_wait_any(2, queues);
}
static void any_count(void) { acc_wait_any(-1, list); }
static void any_null(void) { acc_wait_any(1, 0); }
static void second_queue(void) { acc_wait_async(1, -9); }
static void copy_queue(void) {
  void *device = acc_malloc(8);
  acc_memcpy_to_device_async(device, list, 8, -9);
}
static void async_clause(void) {
#pragma acc parallel async(-9)
  ;
}
static void async_update(void) {
#pragma acc update self(list) if_present async(-9)
}
static void wait_directive(void) {
#pragma acc wait(devnum : 99 : queues : 1)
}
static void set_queue(void) {
#pragma acc set default_async(-9)
}
static void copyin_null(void) { acc_copyin(0, 8); }
static void create_null(void) { acc_create_async(0, 8, 1); }
static void attach_null(void) { acc_attach(0); }
static void detach_null(void) { acc_detach_finalize(0); }
static void memcpy_null(void) { acc_memcpy_to_device(0, list, 8); }
static void memcpy_host_null(void) { acc_memcpy_from_device(0, list, 8); }
static void d2d_null(void) { acc_memcpy_d2d(0, list, 8, 0, 0); }
static void map_null(void) { acc_map_data(0, list, 8); }
static void map_on_host(void) {
  acc_set_device_type(acc_device_host);
  acc_map_data(list, list + 1, 8);
}
static void update_absent(void) { acc_update_self(list, sizeof list); }
static void d2d_absent(void) { acc_memcpy_d2d(list, list + 50, 8, 0, 0); }
static void update_part(void) {
  acc_copyin(list, 40);
  acc_update_device(list, sizeof list);
}
static void copyin_part(void) {
  acc_copyin(list, 40);
  acc_copyin(list, sizeof list);
}
static void delete_part(void) {
  acc_copyin(list, 40);
  acc_delete(list, sizeof list);
}
static void map_present(void) {
  acc_copyin(list, 40);
  acc_map_data(list, acc_malloc(40), 40);
}
static void unmap_absent(void) { acc_unmap_data(list); }
static void unmap_copied(void) {
  acc_copyin(list, 40);
  acc_unmap_data(list);
}
static void unmap_held(void) {
  void *device = acc_malloc(sizeof list);
  acc_map_data(list, device, sizeof list);
#pragma acc data copy(list)
  acc_unmap_data(list);
}
static void free_wild(void) { acc_free(list); }
static void free_mapped(void) {
  void *device = acc_malloc(40);
  acc_map_data(list, device, 40);
  acc_free(device);
}
static void copy_beyond(void) { acc_memcpy_to_device(acc_malloc(40), list, 80); }
static void present(void) {
#pragma acc parallel loop present(list)
  for (int i = 0; i < 100; i++) list[i] = 1;
}
static void partly_present(void) {
  acc_copyin(list, 40);
#pragma acc enter data copyin(list)
}
static void shutdown_inside(void) {
#pragma acc data copy(list)
  acc_shutdown(acc_device_default);
}

struct attempt {
  const char *name;
  void (*wrong)(void);
  acc_error_t code;
  const char *text;
  // On the host all memory is the device's.
  int not_on_host;
};
#define ATTEMPT(name, ...) \
  { #name, name, __VA_ARGS__ }
static const struct attempt attempts[] = {
    ATTEMPT(set_device_num, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(init_device, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(shutdown_device, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(init_again, acc_error_device_init, "device already active"),
    ATTEMPT(shutdown_before, acc_error_device_shutdown, "no device initialized"),
    ATTEMPT(copyin_nothing, acc_error_invalid_data_section, "acc_copyin: "),
    ATTEMPT(property, acc_error_device_unavailable, "device 99 out of range", 1),
    ATTEMPT(wait_device, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(negative_device, acc_error_device_unavailable, "device -1 out of range"),
    ATTEMPT(test_device, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(any_device, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(to_device, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(from_device, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(device_type, acc_error_device_type_unavailable, "unknown device type 77"),
    ATTEMPT(other_maker, acc_error_device_type_unavailable, " not supported"),
    ATTEMPT(wait_queue, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(default_queue, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(any_queue, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(any_count, acc_error_invalid_argument, "acc_wait_any: there cannot be -1 queues"),
    ATTEMPT(any_null, acc_error_invalid_null_pointer, "acc_wait_any: the array of 1 queues is a null pointer"),
    ATTEMPT(second_queue, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(copy_queue, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(async_clause, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(async_update, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(wait_directive, acc_error_device_unavailable, "device 99 out of range"),
    ATTEMPT(set_queue, acc_error_invalid_async, "invalid async-argument: -9"),
    ATTEMPT(copyin_null, acc_error_invalid_null_pointer, "acc_copyin: [0x0,+8] is a bad range"),
    ATTEMPT(create_null, acc_error_invalid_null_pointer, "acc_create_async: [0x0,+8] is a bad range"),
    ATTEMPT(attach_null, acc_error_invalid_null_pointer, "acc_attach: a null pointer"),
    ATTEMPT(detach_null, acc_error_invalid_null_pointer, "acc_detach: a null pointer"),
    ATTEMPT(memcpy_null, acc_error_invalid_null_pointer, "acc_memcpy_to_device: invalid "),
    ATTEMPT(memcpy_host_null, acc_error_invalid_null_pointer, "acc_memcpy_from_device: invalid host address"),
    ATTEMPT(d2d_null, acc_error_invalid_null_pointer, "acc_memcpy_d2d: invalid host address"),
    ATTEMPT(map_null, acc_error_invalid_null_pointer, "is a bad map", 1),
    ATTEMPT(map_on_host, acc_error_wrong_device_type, "cannot map data on shared-memory system"),
    ATTEMPT(update_absent, acc_error_not_present, "is not mapped", 1),
    ATTEMPT(d2d_absent, acc_error_not_present, "acc_memcpy_d2d: ", 1),
    ATTEMPT(update_part, acc_error_partly_present, "is not mapped", 1),
    ATTEMPT(copyin_part, acc_error_partly_present, "not mapped as a whole", 1),
    ATTEMPT(delete_part, acc_error_partly_present, "outside mapped block", 1),
    ATTEMPT(map_present, acc_error_present, "is already mapped", 1),
    ATTEMPT(unmap_absent, acc_error_not_present, "is not a mapped block", 1),
    ATTEMPT(unmap_copied, acc_error_invalid_argument, "has not been mapped by 'acc_map_data'", 1),
    ATTEMPT(unmap_held, acc_error_present, "is in use by a data construct", 1),
    ATTEMPT(free_wild, acc_error_invalid_argument, "invalid device address", 1),
    ATTEMPT(free_mapped, acc_error_present, "still mapped", 1),
    ATTEMPT(copy_beyond, acc_error_invalid_argument, "invalid size 80", 1),
    ATTEMPT(present, acc_error_not_present, "`list`", 1),
    ATTEMPT(partly_present, acc_error_partly_present, "`list`", 1),
    ATTEMPT(shutdown_inside, acc_error_device_shutdown, "shutdown in 'acc data' region"),
};

// Runs something in a process of its own; answers its status, and what it has said.
static int apart(void (*work)(void), char *said, size_t room) {
  int ends[2], status = 0;
  size_t length = 0;
  ssize_t got;
  if (pipe(ends)) return -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], 2);
    acc_prof_register(acc_ev_error, tell, acc_reg);
    acc_prof_register(acc_ev_error, unregistered, acc_reg);
    acc_prof_unregister(acc_ev_error, unregistered, acc_reg);
    work();
    exit(0);
  }
  close(ends[1]);
  while (length + 1 < room && (got = read(ends[0], said + length, room - 1 - length)) > 0) length += (size_t)got;
  said[length] = 0;
  close(ends[0]);
  return waitpid(child, &status, 0) == child ? status : -1;
}

static void answer_host(void) { exit(acc_get_device_type() == acc_device_host ? 3 : 4); }

int main(void) {
  static char said[100000], wanted[200];
  int status = apart(answer_host, said, sizeof said);
  if (!WIFEXITED(status) || WEXITSTATUS(status) < 3) return printf("the first process: %x %s\n", status, said), 1;
  int on_host = WEXITSTATUS(status) == 3, wrong = 0;
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
    const struct attempt *attempt = &attempts[i];
    if (attempt->not_on_host && on_host) continue;
    status = apart(attempt->wrong, said, sizeof said);
    snprintf(wanted, sizeof wanted, "code %d: ", attempt->code);
    const char *told = strstr(said, "callback: event 100, 72 and 48 bytes, version 202211, ");
    // Once to the callback, and once to the user.
    const char *first = strstr(said, attempt->text), *second = first ? strstr(first + 1, attempt->text) : 0;
    if (status == 0 || !told || !strstr(said, wanted) || !second || !strstr(said, "gangway: error: ") ||
        strstr(said, "unregistered")) {
      printf("%s ended with status %x; wanted %s%s\n%s\n", attempt->name, status, wanted, attempt->text, said);
      wrong++;
    }
  }
  // An error in a callback ends the program, and is not told again.
  wrong_in_callback = 1;
  status = apart(wait_queue, said, sizeof said);
  const char *told = strstr(said, "callback: ");
  if (status == 0 || !told || strstr(told + 1, "callback: ") || !strstr(said, "async-argument: -77")) {
    printf("an error in a callback: status %x\n%s\n", status, said);
    wrong++;
  }
  if (wrong) return 1;
  puts("ok");
  return 0;
}
