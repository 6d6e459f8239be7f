/* What translated OpenACC code calls. */
#ifndef GANGWAY_OPENACC_TRANSLATED_H
#define GANGWAY_OPENACC_TRANSLATED_H
#ifdef __cplusplus
extern "C" {
#endif
enum { __GANGWAY_ACC_PARALLEL, __GANGWAY_ACC_KERNELS, __GANGWAY_ACC_SERIAL, __GANGWAY_ACC_DATA, __GANGWAY_ACC_ENTER_DATA,
  __GANGWAY_ACC_EXIT_DATA, __GANGWAY_ACC_UPDATE, __GANGWAY_ACC_HOST_DATA, __GANGWAY_ACC_WAIT, __GANGWAY_ACC_DECLARE };
enum { __GANGWAY_ACC_COPY, __GANGWAY_ACC_COPYIN, __GANGWAY_ACC_COPYOUT, __GANGWAY_ACC_CREATE, __GANGWAY_ACC_NO_CREATE, __GANGWAY_ACC_PRESENT,
  __GANGWAY_ACC_DEVICEPTR, __GANGWAY_ACC_ATTACH, __GANGWAY_ACC_DELETE, __GANGWAY_ACC_DETACH, __GANGWAY_ACC_USE_DEVICE,
  __GANGWAY_ACC_UPDATE_SELF, __GANGWAY_ACC_UPDATE_DEVICE, __GANGWAY_ACC_ROW,
  __GANGWAY_ACC_SUPPOSED_COPY, __GANGWAY_ACC_SUPPOSED_COPYIN, __GANGWAY_ACC_FLEXIBLE, __GANGWAY_ACC_USED };
enum { __GANGWAY_ACC_IF_PRESENT = 1, __GANGWAY_ACC_FINALIZE = 2, __GANGWAY_ACC_IMPLICIT = 4, __GANGWAY_ACC_ZERO = 8, __GANGWAY_ACC_READONLY = 16, __GANGWAY_ACC_OBJECT = 32,
  __GANGWAY_ACC_NAMED = 64, __GANGWAY_ACC_HAS_ROWS = 128 };
#define __GANGWAY_ACC_ALWAYS_IN 0x40000000u
#define __GANGWAY_ACC_ALWAYS_OUT 0x80000000u
#define __GANGWAY_ACC_POINTER 0x20000000u
#define __GANGWAY_ACC_PIECES 0x10000000u
#define __GANGWAY_ACC_OPEN_END 0x8000000u
/* Members of one object have one number, and the object has it, too. */
#define __GANGWAY_ACC_MEMBER_OF(number) ((number) << 8)
/* Where a construct stands: ";file;function;line;column;;". */
struct __gangway_acc_site { const char *source; unsigned construct; };
/* A list item: its first byte and its bytes, where the pointer is that is attached to it, what is done, what it is called
   (";name;file;line;column;;"); and, as an answer, where it is on the device. One of HAS_ROWS consists of pointers to rows: the
   ROW whose pointer is its address says where the section begins in each, and its bytes; further ones, what is in that. Of one
   that is updated in PIECES, `device` leads to its dimensions: steps and their bytes, outer ones first; at last no bytes. */
struct __gangway_acc_dimension { unsigned long offset, count, stride; };
struct __gangway_acc_item { void *begin; unsigned long bytes; void **pointer; unsigned kind, flags; const char *label; void *device; };
/* The queue, whether the host computes; as an answer the number for `device`; gangs of each dimension, workers and lanes;
   whether there may be fewer workers than that; as an answer, how many gangs each dimension has where all are counted in
   the first of `gangs`. */
struct __gangway_acc_launch { int async; int on_host; int device; unsigned gangs[3]; unsigned workers, vector, open; unsigned grid[3]; };
void __gangway_acc_compute_begin(const struct __gangway_acc_site *, struct __gangway_acc_item *, unsigned, struct __gangway_acc_launch *);
void __gangway_acc_compute_end(void);
/* A value that others may be changing. */
#define __gangway_acc_read(place)                                                                                      \
  (__extension__({                                                                                                     \
    __typeof__(place) __acc_value;                                                                                     \
    __atomic_load(&(place), &__acc_value, __ATOMIC_RELAXED);                                                           \
    __acc_value;                                                                                                       \
  }))
/* Makes a truth value 0 or 1, as `&&` and `||` do, while others may be writing one of these. */
#define __gangway_acc_normalise(place)                                                                                 \
  {                                                                                                                    \
    __typeof__(place) __acc_old = __gangway_acc_read(place), __acc_one = 1;                                            \
    if (__acc_old != 0 && __acc_old != 1)                                                                              \
      (void)__atomic_compare_exchange(&(place), &__acc_old, &__acc_one, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);        \
  }
/* Takes another value if the old one compares so with it, while others may be doing the same. */
#define __gangway_acc_replace_if(place, sign, value)                                                                   \
  {                                                                                                                    \
    __typeof__(place) __acc_old = __gangway_acc_read(place), __acc_new = (value);                                      \
    while (__acc_old sign __acc_new &&                                                                                 \
           !__atomic_compare_exchange(&(place), &__acc_old, &__acc_new, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}     \
  }
/* Whether what two pointers lead to was mapped apart, in the construct that has begun last. */
int __gangway_acc_apart(const void *, const void *);
/* An address for so many bytes that only a device has. */
void *__gangway_acc_room(unsigned long);
/* How many gangs have room at once, if one needs so many bytes. */
#define __GANGWAY_ACC_PARTS 256
static __inline __attribute__((unused)) unsigned __gangway_acc_parts(unsigned long bytes) {
  unsigned long parts = (16ul << 20) / (bytes ? bytes : 1);
  return parts < 4 ? 4 : parts > __GANGWAY_ACC_PARTS ? __GANGWAY_ACC_PARTS : (unsigned)parts;
}
static __inline __attribute__((unused)) void __gangway_acc_free(void *p) { __builtin_free(*(void **)p); }
void __gangway_acc_data_begin(const struct __gangway_acc_site *, struct __gangway_acc_item *, unsigned, struct __gangway_acc_launch *);
void __gangway_acc_data_end(void);
void __gangway_acc_enter_data(const struct __gangway_acc_site *, struct __gangway_acc_item *, unsigned, struct __gangway_acc_launch *);
void __gangway_acc_exit_data(const struct __gangway_acc_site *, struct __gangway_acc_item *, unsigned, struct __gangway_acc_launch *);
void __gangway_acc_update(const struct __gangway_acc_site *, struct __gangway_acc_item *, unsigned, struct __gangway_acc_launch *);
void __gangway_acc_host_data(const struct __gangway_acc_site *, struct __gangway_acc_item *, unsigned, struct __gangway_acc_launch *);
/* The host has called a routine that it does not have: ends the program. */
void __gangway_acc_nohost(const char *) __attribute__((noreturn));
/* The queue that waits, the device whose queues are waited for, how many there are, and which. */
#define __GANGWAY_ACC_OWN_DEVICE (-0x7fffffff - 1)
void __gangway_acc_wait(const struct __gangway_acc_site *, int, int, int, const int *);
/* `init` and `shutdown`; and routines under names of our own: openacc.h need not be there, and declares them with types of its own. */
void __gangway_acc_init(int);
void __gangway_acc_shutdown(int);
void __gangway_acc_init_device(int, int) __asm__("acc_init_device");
void __gangway_acc_shutdown_device(int, int) __asm__("acc_shutdown_device");
void __gangway_acc_set_device_type(int) __asm__("acc_set_device_type");
void __gangway_acc_set_device_num(int, int) __asm__("acc_set_device_num");
void __gangway_acc_set_default_async(int) __asm__("acc_set_default_async");
static __inline void __gangway_acc_declare_end(int *unused) { (void)unused; __gangway_acc_data_end(); }
#ifdef __cplusplus
}
#endif
#define __gangway_acc_shift(p, item) ((char *)(item).device - ((char *)(item).begin - (char *)(p)))
#ifdef __cplusplus
template <class T> static inline T *__gangway_acc_moved(T *p, const __gangway_acc_item &item) { return (T *)__gangway_acc_shift(p, item); }
template <class T> static inline void **__gangway_acc_pointer_(T *&p) { return (void **)&p; }
template <class T> static inline void **__gangway_acc_pointer_(T *const &p) { return (void **)&p; }
template <class T, unsigned long N> static inline void **__gangway_acc_pointer_(T (&)[N]) { return 0; }
#define __gangway_acc_pointer(e) __gangway_acc_pointer_(e)
#if __cplusplus >= 201103L
#define __GANGWAY_ACC_CONSTANT static constexpr
#else
#define __GANGWAY_ACC_CONSTANT static inline
#endif
template <class T> __GANGWAY_ACC_CONSTANT bool __gangway_acc_is_pointer(T *const &) { return true; }
template <class T, unsigned long N> __GANGWAY_ACC_CONSTANT bool __gangway_acc_is_pointer(T (&)[N]) { return false; }
#else
#define __gangway_acc_moved(p, item) ((__typeof__(p))__gangway_acc_shift(p, item))
#define __gangway_acc_pointer(e) ((void **)__builtin_choose_expr(__builtin_types_compatible_p(__typeof__(e), __typeof__(&(e)[0])), &(e), (void *)0))
#define __gangway_acc_is_pointer(e) __builtin_types_compatible_p(__typeof__(e), __typeof__(&(e)[0]))
#endif
/* How many gangs, workers or lanes: as many as somebody says, and one at least. */
static __inline __attribute__((unused)) unsigned __gangway_acc_positive(long number) {
  return number > 0 ? (unsigned)number : 1u;
}
/* A number that is not below zero, or what is the most. */
#define __gangway_acc_most(number, most) ((number) < (long)(most) ? (unsigned)(number) : (unsigned)(most))
#define __gangway_acc_least(one, other) ((one) < (other) ? (one) : (other))
#if defined(__NVPTX__) || defined(__AMDGCN__)
#define __GANGWAY_ACC_GPU 1
/* LLVM has no code for these, which C++'s header names. */
#define __builtin_modf modf
#define __builtin_modff modff
#define __GANGWAY_ACC_INLINE static __attribute__((always_inline, unused, nothrow)) __inline
#define __gangway_acc_shared __attribute__((address_space(3), loader_uninitialized))
#if defined(__NVPTX__)
#define __GANGWAY_ACC_REGISTER "+l"
#else
#define __GANGWAY_ACC_REGISTER "+v"
#endif
/* A pointer to a variable in shared memory that the compiler knows nothing of but the space. */
#define __gangway_acc_seen_by_all(p)                                                                                   \
  (__extension__({                                                                                                     \
    __auto_type __acc_p = (p);                                                                                         \
    __asm__("" : __GANGWAY_ACC_REGISTER(__acc_p));                                                                     \
    __acc_p;                                                                                                           \
  }))
/* The same of bytes. Where they are used for several things in turn, accesses of one kind stay before those of the other:
   their types say nothing of it. */
#define __gangway_acc_at(p, is_used_again)                                                                             \
  (__extension__({                                                                                                     \
    if (is_used_again) __asm__ volatile("" : : : "memory");                                                            \
    __gangway_acc_seen_by_all(p);                                                                                      \
  }))
#if defined(__AMDGCN__)
#ifdef __cplusplus
extern "C" {
#endif
#pragma omp begin declare target device_type(nohost)
/* The device runtime's: the hardware has no barrier for a part of a block. All threads of a kernel call the first one
   before one of them calls the other, which those of a worker call. */
void __gangway_acc_start(void) __attribute__((convergent));
void __gangway_acc_meet(void) __attribute__((convergent));
#pragma omp end declare target
#ifdef __cplusplus
}
#endif
#else
#define __gangway_acc_start() ((void)0)
#endif
#pragma omp begin declare target device_type(nohost)
#if defined(__NVPTX__)
/* In a dimension: 1, 2 or 3. */
__GANGWAY_ACC_INLINE unsigned __gangway_acc_gang(int dimension) {
  return dimension == 1   ? __nvvm_read_ptx_sreg_ctaid_x()
         : dimension == 2 ? __nvvm_read_ptx_sreg_ctaid_y()
                          : __nvvm_read_ptx_sreg_ctaid_z();
}
__GANGWAY_ACC_INLINE unsigned __gangway_acc_gangs(int dimension) {
  return dimension == 1   ? __nvvm_read_ptx_sreg_nctaid_x()
         : dimension == 2 ? __nvvm_read_ptx_sreg_nctaid_y()
                          : __nvvm_read_ptx_sreg_nctaid_z();
}
__GANGWAY_ACC_INLINE unsigned __gangway_acc_worker(void) { return __nvvm_read_ptx_sreg_tid_y(); }
__GANGWAY_ACC_INLINE unsigned __gangway_acc_workers(void) { return __nvvm_read_ptx_sreg_ntid_y(); }
__GANGWAY_ACC_INLINE unsigned __gangway_acc_lane(void) { return __nvvm_read_ptx_sreg_tid_x(); }
__GANGWAY_ACC_INLINE unsigned __gangway_acc_lanes(void) { return __nvvm_read_ptx_sreg_ntid_x(); }
__GANGWAY_ACC_INLINE void __gangway_acc_gang_barrier(void) { __nvvm_bar_sync(0); }
__GANGWAY_ACC_INLINE void __gangway_acc_warp_barrier(void) { __nvvm_bar_warp_sync(0xffffffffu); }
__GANGWAY_ACC_INLINE void __gangway_acc_worker_barrier(void) {
  unsigned lanes = __gangway_acc_lanes();
  if (lanes > 32) __nvvm_barrier_sync_cnt(1 + __gangway_acc_worker(), lanes);
  else if (lanes > 1) __gangway_acc_warp_barrier();
}
#else
/* In a dimension: 1, 2 or 3. */
__GANGWAY_ACC_INLINE unsigned __gangway_acc_gang(int dimension) {
  return dimension == 1   ? __builtin_amdgcn_workgroup_id_x()
         : dimension == 2 ? __builtin_amdgcn_workgroup_id_y()
                          : __builtin_amdgcn_workgroup_id_z();
}
/* The first of the implicit arguments, of code objects of version 5 and newer. */
__GANGWAY_ACC_INLINE unsigned __gangway_acc_gangs(int dimension) {
  return ((const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_implicitarg_ptr())[dimension - 1];
}
__GANGWAY_ACC_INLINE unsigned __gangway_acc_worker(void) { return __builtin_amdgcn_workitem_id_y(); }
__GANGWAY_ACC_INLINE unsigned __gangway_acc_workers(void) { return __builtin_amdgcn_workgroup_size_y(); }
__GANGWAY_ACC_INLINE unsigned __gangway_acc_lane(void) { return __builtin_amdgcn_workitem_id_x(); }
__GANGWAY_ACC_INLINE unsigned __gangway_acc_lanes(void) { return __builtin_amdgcn_workgroup_size_x(); }
__GANGWAY_ACC_INLINE void __gangway_acc_gang_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/* For the 32 lanes of a warp, as on NVIDIA's GPUs: a wave, or half of one. */
__GANGWAY_ACC_INLINE void __gangway_acc_warp_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__GANGWAY_ACC_INLINE void __gangway_acc_worker_barrier(void) {
  unsigned lanes = __gangway_acc_lanes();
  if (lanes == 1) return;
  if (lanes == 32 || lanes == __builtin_amdgcn_wavefrontsize()) __gangway_acc_warp_barrier();
  else if (__gangway_acc_workers() == 1) __gangway_acc_gang_barrier();
  else __gangway_acc_meet();
}
#endif
/* Among all of them. */
__GANGWAY_ACC_INLINE unsigned __gangway_acc_gang_of_all(void) {
  unsigned row = __gangway_acc_gang(3) * __gangway_acc_gangs(2) + __gangway_acc_gang(2);
  return row * __gangway_acc_gangs(1) + __gangway_acc_gang(1);
}
__GANGWAY_ACC_INLINE unsigned __gangway_acc_all_gangs(void) {
  return __gangway_acc_gangs(1) * __gangway_acc_gangs(2) * __gangway_acc_gangs(3);
}
/* A part of device memory for a gang: the first that is free. One thread of the gang calls these. */
__GANGWAY_ACC_INLINE unsigned __gangway_acc_take(unsigned *taken, unsigned parts) {
  unsigned part = __gangway_acc_gang_of_all() % parts;
#if defined(__NVPTX__)
  while (__nvvm_atom_cas_gen_i((int *)&taken[part], 0, 1) != 0)
    part = (part + 1) % parts;
  __nvvm_membar_gl();
#else
  while (__scoped_atomic_exchange_n(&taken[part], 1u, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) != 0)
    part = (part + 1) % parts;
#endif
  return part;
}
__GANGWAY_ACC_INLINE void __gangway_acc_leave(unsigned *taken, unsigned part) {
#if defined(__NVPTX__)
  __nvvm_membar_gl();
  (void)__nvvm_atom_xchg_gen_i((int *)&taken[part], 0);
#else
  __scoped_atomic_store_n(&taken[part], 0u, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
#endif
}
/* A statement that one gang after the other runs: no atomic operation does it. */
#define __gangway_acc_alone(statement)                                                                                 \
  {                                                                                                                    \
    static unsigned __acc_alone[1];                                                                                    \
    (void)__gangway_acc_take(__acc_alone, 1);                                                                          \
    statement __gangway_acc_leave(__acc_alone, 0);                                                                     \
  }
/* GCC's functions by which a thread knows its place: 0 asks for the gang, 1 for the worker, 2 for the lane. */
#ifdef __cplusplus
extern "C" {
#endif
__GANGWAY_ACC_INLINE int __gangway_acc_parlevel_id(int level) {
  return (int)(level == 0 ? __gangway_acc_gang_of_all() : level == 1 ? __gangway_acc_worker() : __gangway_acc_lane());
}
__GANGWAY_ACC_INLINE int __gangway_acc_parlevel_size(int level) {
  return (int)(level == 0 ? __gangway_acc_all_gangs() : level == 1 ? __gangway_acc_workers() : __gangway_acc_lanes());
}
#ifdef __cplusplus
}
#endif
/* Words of other lanes. No local variable here has its address taken: clang would have the device runtime make room
   for it, which bare kernels have not started. */
typedef int __gangway_acc_word __attribute__((may_alias, aligned(4)));
typedef short __gangway_acc_half __attribute__((may_alias, aligned(2)));
#if defined(__NVPTX__)
#define __gangway_acc_of_lane(value, lane) __nvvm_shfl_sync_idx_i32(0xffffffffu, value, lane, 31)
#define __gangway_acc_of_lane_behind(value, offset) __nvvm_shfl_sync_down_i32(0xffffffffu, value, offset, 31)
#else
__GANGWAY_ACC_INLINE unsigned __gangway_acc_lane_of_wave(void) {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
/* The value of a lane in the same half of the wave. */
__GANGWAY_ACC_INLINE int __gangway_acc_of_lane(int value, unsigned lane) {
  return __builtin_amdgcn_ds_bpermute((int)(((__gangway_acc_lane_of_wave() & ~31u) + lane) * 4), value);
}
__GANGWAY_ACC_INLINE int __gangway_acc_of_lane_behind(int value, unsigned offset) {
  unsigned own = __gangway_acc_lane_of_wave() % 32;
  return __gangway_acc_of_lane(value, own + offset < 32 ? own + offset : own);
}
#endif
#define __GANGWAY_ACC_SHUFFLES(name, how, lane)                                                                        \
  __GANGWAY_ACC_INLINE void name(void *to, const void *from, unsigned bytes, unsigned lane) {                          \
    unsigned at;                                                                                                       \
    if (bytes % 4 == 0)                                                                                                \
      for (at = 0; at < bytes / 4; ++at)                                                                               \
        ((__gangway_acc_word *)to)[at] = how(((const __gangway_acc_word *)from)[at], lane);                            \
    else if (bytes % 2 == 0)                                                                                           \
      for (at = 0; at < bytes / 2; ++at)                                                                               \
        ((__gangway_acc_half *)to)[at] = (short)how(((const __gangway_acc_half *)from)[at], lane);                     \
    else                                                                                                               \
      for (at = 0; at < bytes; ++at)                                                                                   \
        ((signed char *)to)[at] = (signed char)how(((const signed char *)from)[at], lane);                             \
  }
__GANGWAY_ACC_SHUFFLES(__gangway_acc_shuffle, __gangway_acc_of_lane, lane)
__GANGWAY_ACC_SHUFFLES(__gangway_acc_shuffle_down, __gangway_acc_of_lane_behind, offset)
/* acc_device_t: 4 not_host, 5 nvidia, 8 radeon */
#if defined(__NVPTX__)
#define __gangway_acc_on_device(type) ((type) == 4 || (type) == 5)
#else
#define __gangway_acc_on_device(type) ((type) == 4 || (type) == 8)
#endif
#pragma omp end declare target
#else
#define __GANGWAY_ACC_GPU 0
/* acc_device_t: 2 host, 0 none */
#define __gangway_acc_on_device(type) ((type) == 2 || (type) == 0)
#ifdef __cplusplus
extern "C" {
#endif
int omp_get_team_num(void); int omp_get_num_teams(void);
/* A gang is a team. Where gangs have several dimensions the thread knows how many there are in each. Weak: images for
   processors, which OpenACC runs nothing of, are linked without it. */
unsigned *__gangway_acc_grid(void) __attribute__((weak));
/* Whether the team is a gang: there may be fewer teams than somebody asked for, and some may be left. The dimensions
   that are further out keep theirs, as what is in their loops is the most. */
static __inline __attribute__((unused)) int __gangway_acc_grid_begin(unsigned first, unsigned second, unsigned third) {
  unsigned left = (unsigned)omp_get_num_teams(), *grid = __gangway_acc_grid();
  left /= grid[2] = __gangway_acc_least(third, left);
  left /= grid[1] = __gangway_acc_least(second, left);
  grid[0] = __gangway_acc_least(first, left);
  return (unsigned)omp_get_team_num() < grid[0] * grid[1] * grid[2];
}
static __inline __attribute__((unused)) void __gangway_acc_grid_end(void) { __gangway_acc_grid()[0] = 0; }
static __inline __attribute__((unused)) unsigned __gangway_acc_gangs(int dimension) {
  unsigned *grid = __gangway_acc_grid();
  if (!grid[0]) return dimension == 1 ? (unsigned)omp_get_num_teams() : 1;
  return grid[dimension - 1];
}
static __inline __attribute__((unused)) unsigned __gangway_acc_gang(int dimension) {
  unsigned gang = (unsigned)omp_get_team_num(), first = __gangway_acc_gangs(1), second = __gangway_acc_gangs(2);
  return dimension == 1 ? gang % first : dimension == 2 ? gang / first % second : gang / (first * second);
}
static __inline __attribute__((unused)) int __gangway_acc_parlevel_id(int level) { return level == 0 ? omp_get_team_num() : 0; }
static __inline __attribute__((unused)) int __gangway_acc_parlevel_size(int level) {
  return level == 0 ? (int)(__gangway_acc_gangs(1) * __gangway_acc_gangs(2) * __gangway_acc_gangs(3)) : 1;
}
#ifdef __cplusplus
}
#endif
#define __gangway_acc_alone(statement)                                                                                 \
  {                                                                                                                    \
    static unsigned __acc_alone;                                                                                       \
    while (__atomic_exchange_n(&__acc_alone, 1, __ATOMIC_ACQUIRE) != 0) {}                                             \
    statement __atomic_store_n(&__acc_alone, 0, __ATOMIC_RELEASE);                                                     \
  }
#define __gangway_acc_worker() 0u
#define __gangway_acc_workers() 1u
#define __gangway_acc_lane() 0u
#define __gangway_acc_lanes() 1u
#define __gangway_acc_gang_barrier() ((void)0)
#define __gangway_acc_warp_barrier() ((void)0)
#define __gangway_acc_worker_barrier() ((void)0)
#endif
#endif
