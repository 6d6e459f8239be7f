/* What `gangway cc` writes instead of `target device(ancestor: 1)`: reverse offload.
 *
 * Programs do not include this; translated source does. A block is what a region takes with
 * it: a head, the list of its mappings and copies of variables. The device fills it and
 * calls the host's function with it. That function has the runtime place the mappings on the
 * host (`__gangway_reverse_enter`), runs the region, and has it take them back.
 */
#ifndef GANGWAY_REVERSE_OFFLOAD_H
#define GANGWAY_REVERSE_OFFLOAD_H

/* It stands before the program's first line, so it includes no header of the system. */
#define GANGWAY_HOST_CALL_BEFORE_SYSTEM
#include <gangway/host_call.h>
#undef GANGWAY_HOST_CALL_BEFORE_SYSTEM

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of an item's kind. */
enum {
  GANGWAY_REVERSE_TO = 1,
  GANGWAY_REVERSE_FROM = 2,
  GANGWAY_REVERSE_ALWAYS = 4,
  /* It must be present. */
  GANGWAY_REVERSE_PRESENT = 8,
  /* A pointer's value, to be translated if it leads to something present. */
  GANGWAY_REVERSE_POINTER = 16,
  /* `begin` is the address of a pointer that leads to the base of the group. */
  GANGWAY_REVERSE_ATTACH = 32,
};

/* One mapping. The items of a group have one base, and are placed together. */
struct gangway_reverse_item {
  void *base;
  void *begin;
  __SIZE_TYPE__ size;
  unsigned kind;
  unsigned group;
  /* Where in the block the bytes are, if the host cannot reach them; otherwise 0. */
  __SIZE_TYPE__ carried;
};

struct gangway_reverse_head {
  __SIZE_TYPE__ count;
  /* The runtime's. */
  void *state;
};

/* The runtime's half, in libomptarget. */
GANGWAY_HOST_CALL_IMPORT void __gangway_reverse_enter(int device, void *block, __SIZE_TYPE__ size);
GANGWAY_HOST_CALL_IMPORT void __gangway_reverse_leave(void *block, __SIZE_TYPE__ size);

#pragma omp begin declare target

static inline __attribute__((unused)) void gangway_reverse_set(struct gangway_reverse_item *item, void *base, void *begin,
                                       __SIZE_TYPE__ size, unsigned kind, unsigned group) {
  item->base = base;
  item->begin = begin;
  item->size = size;
  item->kind = kind;
  item->group = group;
  item->carried = 0;
}

static inline __attribute__((unused)) void gangway_reverse_run(unsigned long long function,
                                                               void *block, __SIZE_TYPE__ size) {
  /* Without the host the program's data are wrong from here on. */
  if (gangway_host_call(function, block, size) != GANGWAY_HOST_CALL_DONE) {
    __builtin_trap();
  }
}

#if defined __NVPTX__ || defined __AMDGCN__
/* Memory of one thread or team has addresses that mean nothing outside of it: its bytes go
 * with the block and come back with it. */
static inline int gangway_reverse_is_private(const void *address) {
#ifdef __NVPTX__
  return address && (__nvvm_isspacep_local(address) || __nvvm_isspacep_shared(address));
#else
  const __attribute__((address_space(0))) void *generic = (const __attribute__((address_space(0))) void *)address;
  return address && (__builtin_amdgcn_is_private(generic) || __builtin_amdgcn_is_shared(generic));
#endif
}

static inline __attribute__((unused)) void gangway_reverse_call(unsigned long long function,
                                                                void *block, __SIZE_TYPE__ size) {
  const __SIZE_TYPE__ align = 16;
  struct gangway_reverse_head *head = (struct gangway_reverse_head *)block;
  struct gangway_reverse_item *items = (struct gangway_reverse_item *)(head + 1);
  const __SIZE_TYPE__ fixed = (size + align - 1) / align * align;
  __SIZE_TYPE__ whole = fixed, at;
  char *large;
  head->state = 0;
  for (at = 0; at < head->count; ++at) {
    struct gangway_reverse_item *item = &items[at];
    if (item->size && gangway_reverse_is_private(item->begin)) {
      item->carried = whole;
      whole += (item->size + align - 1) / align * align;
    }
  }
  if (whole == fixed) {
    gangway_reverse_run(function, block, size);
    return;
  }
  large = (char *)__builtin_malloc(whole);
  if (!large) {
    __builtin_trap();
  }
  __builtin_memcpy(large, block, size);
  for (at = 0; at < head->count; ++at) {
    if (items[at].carried) {
      __builtin_memcpy(large + items[at].carried, items[at].begin, items[at].size);
    }
  }
  gangway_reverse_run(function, large, whole);
  for (at = 0; at < head->count; ++at) {
    if (items[at].carried) {
      __builtin_memcpy(items[at].begin, large + items[at].carried, items[at].size);
    }
  }
  __builtin_free(large);
}
#else
static inline __attribute__((unused)) void gangway_reverse_call(unsigned long long function,
                                                                void *block, __SIZE_TYPE__ size) {
  ((struct gangway_reverse_head *)block)->state = 0;
  gangway_reverse_run(function, block, size);
}
#endif

#pragma omp end declare target

/* A host's copy of a block is aligned to 16 bytes, so blocks ask for no more; both sides have them
 * laid out alike. A value that wants more is copied into room of its own on the host. */
#define GANGWAY_REVERSE_ALIGN(type) (__alignof__(type) < 16 ? __alignof__(type) : 16)
#define GANGWAY_REVERSE_ROOM(type) __attribute__((aligned(__alignof__(type)), unused)) unsigned char
#define GANGWAY_REVERSE_ROOM_SIZE(type) (__alignof__(type) <= 16 ? 1 : sizeof(type))

static inline __attribute__((unused)) void *gangway_reverse_aligned(void *bytes, void *room, __SIZE_TYPE__ size,
                                                                    __SIZE_TYPE__ align) {
  return align <= 16 ? bytes : __builtin_memcpy(room, bytes, size);
}

static inline __attribute__((unused)) void gangway_reverse_enter(struct gangway_reverse_head *head, __SIZE_TYPE__ size) {
  __gangway_reverse_enter(gangway_host_call_device(), head, size);
}

static inline __attribute__((unused)) void gangway_reverse_leave(struct gangway_reverse_head *head, __SIZE_TYPE__ size) {
  __gangway_reverse_leave(head, size);
}

#ifdef __cplusplus
}

/* The host's function of a region is a member of a local class, of which templates have as many
 * as instances. A function's name shows the arguments of class templates and the types of
 * parameters; those of function templates go beside it. Both together are hashed as one name. */
template <class T, T> struct gangway_reverse_value;
template <template <class...> class> struct gangway_reverse_template;

/* The copies of variables in a block, one inside of the other, and a block. */
template <class...> struct gangway_reverse_values {};
template <class T, class... Rest> struct gangway_reverse_values<T, Rest...> {
  __attribute__((aligned(GANGWAY_REVERSE_ALIGN(T)))) unsigned char bytes[sizeof(T)];
  gangway_reverse_values<Rest...> rest;
};
template <__SIZE_TYPE__ count, class... T> struct gangway_reverse_block {
  struct gangway_reverse_head head;
  struct gangway_reverse_item items[count];
  gangway_reverse_values<T...> values;
};

#pragma omp begin declare target

/* Copies a variable into a block. A number is passed by value: clang's device code gets the address of a
 * reference wrong that a construct has made firstprivate. */
template <class T, bool = __is_class(T) || __is_union(T)> struct gangway_reverse_value_of {
  static void put(void *to, T value) { __builtin_memcpy(to, (const void *)&value, sizeof(T)); }
};
template <class T> struct gangway_reverse_value_of<T, true> {
  static void put(void *to, const volatile T &value)
  {
    __builtin_memcpy(to, (const void *)&reinterpret_cast<const volatile char &>(value), sizeof(T));
  }
};
template <class T, __SIZE_TYPE__ count> struct gangway_reverse_value_of<T[count], false> {
  static void put(void *to, const volatile T *value)
  {
    __builtin_memcpy(to, (const void *)value, sizeof(T[count]));
  }
};

template <class...> struct gangway_reverse_names {
  static constexpr const char *of() { return __PRETTY_FUNCTION__; }
};

#if __cplusplus >= 201402L
constexpr
#endif
static inline __UINT64_TYPE__ gangway_reverse_hash(__UINT64_TYPE__ hash, const char *text)
{
  for (; *text != 0; ++text)
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}

#if __cplusplus >= 201402L
constexpr
#endif
static inline __UINT64_TYPE__ gangway_reverse_number(const char *name, const char *names)
{
  return gangway_reverse_hash(gangway_reverse_hash(0xcbf29ce484222325u, name), names);
}

#pragma omp end declare target

#ifndef __GANGWAY_DEVICE__
/* Both names as one, which the caller frees. */
static inline __attribute__((unused)) char *gangway_reverse_joined(const char *name, const char *names)
{
  const __SIZE_TYPE__ length = __builtin_strlen(name);
  char *joined = (char *)__builtin_malloc(length + __builtin_strlen(names) + 1);
  if (!joined)
    __builtin_abort();
  __builtin_memcpy(joined, name, length);
  __builtin_strcpy(joined + length, names);
  return joined;
}

static inline __attribute__((unused)) void gangway_reverse_register(const char *name, const char *names,
                                                                    gangway_host_function_type function)
{
  char *joined = gangway_reverse_joined(name, names);
  if (!&gangway_register_host_function) {
    gangway_host_call_print(2, "gangway: reverse offload needs Gangway's libomptarget.so.22.1 in place of "
                               "the one that this program has loaded\n");
  } else if (gangway_register_host_function(joined, function) != 0) {
    /* A region that is called instead of another one would do wrong in silence. */
    __builtin_abort();
  }
  __builtin_free(joined);
}

static inline __attribute__((unused)) void gangway_reverse_unregister(const char *name, const char *names,
                                                                      gangway_host_function_type function)
{
  char *joined = gangway_reverse_joined(name, names);
  if (&gangway_unregister_host_function)
    gangway_unregister_host_function(joined, function);
  __builtin_free(joined);
}
#endif

/* A region has to handle its exceptions itself. One that leaves it ends the program, as it leaves
 * the host's function, which is `noexcept`; what is thrown is named by std::terminate. */
#ifdef __cpp_exceptions
#define GANGWAY_REVERSE_TRY try {
#define GANGWAY_REVERSE_CATCH(place)                                                          \
  }                                                                                           \
  catch (...)                                                                                 \
  {                                                                                           \
    gangway_host_call_print(2, "gangway: error: %s: an exception leaves the region of "       \
                            "device(ancestor: 1); catch it in the region\n", place);         \
    throw;                                                                                    \
  }
#else
#define GANGWAY_REVERSE_TRY
#define GANGWAY_REVERSE_CATCH(place)
#endif
#endif

#endif
