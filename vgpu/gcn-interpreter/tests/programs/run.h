// The same function for a work-item and for a turn of a loop on the host.
typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
#define NOINLINE __attribute__((noinline))
#define NUMBERS 4096
#define ITEMS 160
#define GROUP 80
#define WORDS 512

/// What an item has: its number, numbers for all items, and room for results.
struct run {
  u32 item;
  u32 count;
  const u64 *in;
  u64 *out;
};

#define IN(n) (run->in[(run->item * 7 + (n)) % NUMBERS])
#define OUT(v) (run->out[run->count++ % WORDS] = (u64)(v))
#define BITS32(f) (__extension__({ float value = (f); u32 bits; __builtin_memcpy(&bits, &value, 4); value != value ? 0x7fc00000u : bits; }))
#define BITS64(f) (__extension__({ double value = (f); u64 bits; __builtin_memcpy(&bits, &value, 8); value != value ? 0x7ff8000000000000ul : bits; }))
#define BITS16(f) (__extension__({ _Float16 value = (f); u16 bits; __builtin_memcpy(&bits, &value, 2); value != value ? (u16)0x7e00u : bits; }))
#define FLOAT(n) (__extension__({ u32 bits = (u32)(n); float value; __builtin_memcpy(&value, &bits, 4); value; }))
#define DOUBLE(n) (__extension__({ u64 bits = (n); double value; __builtin_memcpy(&value, &bits, 8); value; }))
#define HALF(n) (__extension__({ u16 bits = (u16)(n); _Float16 value; __builtin_memcpy(&value, &bits, 2); value; }))

// A value that the compiler knows nothing of: clang 22 divides unsigned numbers that were small signed ones wrongly.
#ifdef __AMDGCN__
#define HIDE(v) (__extension__({ __typeof__((v) + 0) hidden = (v); __asm__("" : "+v"(hidden)); hidden; }))
#else
#define HIDE(v) (__extension__({ __typeof__((v) + 0) hidden = (v); __asm__("" : "+r"(hidden)); hidden; }))
#endif

static void compute(struct run *run);

#ifdef __AMDGCN__
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define OK(condition) OUT((condition) ? 1 : 0)
#define ITEM __builtin_amdgcn_workitem_id_x()
__attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(1, 256)))
void k(GLOBAL const u64 *in, GLOBAL u64 *out) {
  u32 item = __builtin_amdgcn_workgroup_id_x() * GROUP + ITEM;
  struct run run = {item, 0, (const u64 *)in, (u64 *)out + item * WORDS};
  compute(&run);
}
#else
#define OK(condition) OUT(1)
typedef struct file file;
file *fopen(const char *, const char *);
u64 fread(void *, u64, u64, file *), fwrite(const void *, u64, u64, file *);
int fclose(file *);
static u64 in[NUMBERS], out[ITEMS * WORDS];
int main(int count, char **names) {
  file *numbers = fopen(names[1], "r");
  fread(in, 8, NUMBERS, numbers);
  for (u32 item = 0; item < ITEMS; item++) {
    struct run run = {item, 0, in, out + item * WORDS};
    compute(&run);
  }
  file *results = fopen(names[2], "w");
  fwrite(out, 8, ITEMS * WORDS, results);
  return fclose(results);
}
#endif
