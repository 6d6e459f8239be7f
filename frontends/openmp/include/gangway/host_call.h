/* Functions of the host that code in a target region calls.
 *
 *   struct question { double x, answer; };
 *
 *   static void ask(void *block, size_t size)   // runs on the host
 *   {
 *     struct question *q = block;
 *     q->answer = look_up(q->x);
 *   }
 *   GANGWAY_HOST_FUNCTION(ask);
 *
 *   #pragma omp target map(tofrom: y)
 *   {
 *     struct question q = {y, 0};
 *     if (GANGWAY_HOST_CALL(ask, &q, sizeof q) == GANGWAY_HOST_CALL_DONE)
 *       y = q.answer;
 *   }
 *
 * The caller waits until the function has returned. The function gets a copy of the caller's
 * block in memory of the host, and what it changes there goes back. It may be called on any
 * thread, and for several callers at once. Pointers inside of the block are the device's; data
 * that stands where they point can be copied with omp_target_memcpy, from and to the device
 * gangway_host_call_device().
 *
 * On the host, and on CPU devices, the function runs on the caller's thread and on its block.
 *
 * The header is for C and C++. Fortran has the module in gangway_host_calls.f90.
 */

/* Translated source includes this before the program's first line, where no header of the system may
 * stand: the program has yet to say which of their functions it wants (_GNU_SOURCE and the like). So
 * nothing below needs one, and a program that includes this itself gets them nevertheless. */
#ifndef GANGWAY_HOST_CALL_BEFORE_SYSTEM
#include <stddef.h>
#include <stdint.h>
#if !defined __NVPTX__ && !defined __AMDGCN__
#include <stdio.h>
#endif
#endif

#ifndef GANGWAY_HOST_CALL_H
#define GANGWAY_HOST_CALL_H

#ifdef __cplusplus
extern "C" {
#endif

/* What has become of a call. */
enum gangway_host_call_outcome {
  GANGWAY_HOST_CALL_DONE = 0,
  /* No function is registered under that number. Standard error has it with the number. */
  GANGWAY_HOST_CALL_UNKNOWN = 1,
  /* The block is null or larger than GANGWAY_HOST_CALL_LARGEST. */
  GANGWAY_HOST_CALL_MALFORMED = 2,
  /* The function has failed inside of Gangway. */
  GANGWAY_HOST_CALL_FAILED = 3,
  /* Nobody serves the device's calls: its image has not been loaded by Gangway. */
  GANGWAY_HOST_CALL_UNSERVED = 4
};

/* Bytes that a block may have. */
#define GANGWAY_HOST_CALL_LARGEST ((__SIZE_TYPE__)1 << 30)

typedef void (*gangway_host_function_type)(void *block, __SIZE_TYPE__ size);

/* Programs are linked with whichever libomptarget is there, and run with Gangway's. */
#if defined __NVPTX__ || defined __AMDGCN__
#define GANGWAY_HOST_CALL_IMPORT
#else
#define GANGWAY_HOST_CALL_IMPORT __attribute__((weak))
#endif

#ifdef _OPENMP
#ifdef __clang__
#pragma omp begin declare target
#else
#pragma omp declare target
#endif
#endif

/* Calls the function of a number, on the device and on the host. One of
 * enum gangway_host_call_outcome. Any number of threads may call at once; the calls of one
 * thread run in their order. */
GANGWAY_HOST_CALL_IMPORT int gangway_host_call(__UINT64_TYPE__ function, void *block, __SIZE_TYPE__ size);

/* The number of a function: the FNV-1a hash of its name. Compilers compute it where the name is
 * constant. */
#if defined __cplusplus && __cplusplus >= 201402L
constexpr
#endif
static inline __UINT64_TYPE__ gangway_host_function(const char *name)
{
  __UINT64_TYPE__ hash = 0xcbf29ce484222325u;
  for (; *name != 0; ++name)
    hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
  return hash;
}

#ifdef _OPENMP
#pragma omp end declare target
#endif

/* On the host only: the number of the device whose call the function serves, the initial
 * device's if the host has called it, and -1 on threads that serve no call. */
GANGWAY_HOST_CALL_IMPORT int gangway_host_call_device(void);

/* On the host only: lets devices call a function by its name, which has to be the only one of
 * that name. 0, or -1 after a message. May be repeated for the same function. */
GANGWAY_HOST_CALL_IMPORT int gangway_register_host_function(const char *name,
                                                           gangway_host_function_type function);

/* On the host only: takes a function away, once for each time that it has been registered. Waits
 * for its calls, for up to two seconds; inside of a host function it does not. */
GANGWAY_HOST_CALL_IMPORT int gangway_unregister_host_function(const char *name,
                                                             gangway_host_function_type function);

/* dprintf of POSIX, under a name that clashes with no declaration and no macro of it. */
#if !defined __NVPTX__ && !defined __AMDGCN__
extern int gangway_host_call_print(int file, const char *format, ...) __asm__("dprintf");
#endif

#ifdef __cplusplus
}
#endif

/* Calls a function by its name. */
#define GANGWAY_HOST_CALL(name, block, size) \
  gangway_host_call(gangway_host_function(#name), (block), (size))

/* Registers a function at the start of the program or library that it is in, until its end. Stands
 * at file scope, behind the function's declaration. */
#define GANGWAY_HOST_FUNCTION(function) GANGWAY_HOST_FUNCTION_AS(function, function)

/* The same under another name, such as for a function of a namespace. */
#if defined __NVPTX__ || defined __AMDGCN__
#define GANGWAY_HOST_FUNCTION_AS(name, function) struct gangway_host_function_##name
#else
#define GANGWAY_HOST_FUNCTION_AS(name, function)                                             \
  static __attribute__((constructor)) void gangway_register_##name(void)                     \
  {                                                                                          \
    if (&gangway_register_host_function != 0)                                                \
      gangway_register_host_function(#name, function);                                       \
    else                                                                                     \
      gangway_host_call_print(2, "gangway: the host function `%s` needs Gangway's "          \
                                 "libomptarget.so.22.1 in place of the one that this "       \
                                 "program has loaded\n", #name);                             \
  }                                                                                          \
  static __attribute__((destructor)) void gangway_unregister_##name(void)                    \
  {                                                                                          \
    if (&gangway_unregister_host_function != 0)                                              \
      gangway_unregister_host_function(#name, function);                                     \
  }                                                                                          \
  struct gangway_host_function_##name
#endif

#endif
