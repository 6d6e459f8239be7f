// Switches, recursion, structures by value, calls through pointers, the stack.
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned char u8;
typedef short s16;
#define KERNEL __attribute__((nvptx_kernel))
#define SHARED __attribute__((address_space(3)))
#define CONST __attribute__((address_space(4)))
struct S { int a; double b; char c[5]; };
extern int printf(const char *, ...);
extern void ext(char *);
int g1 = 5;
#ifdef PTX_73
struct P { char c; void *p; } __attribute__((packed));
struct P pk = {1, &g1};
#endif
float table[] = {1, 2, 3};
int (*fps[2])(int);

__attribute__((noinline)) int rec(int n) {
  return n<2?n:rec(n-1)*rec(n-2);
}

struct S st(struct S s, int k) {
  s.a += k;
  s.b *= 2;
  return s;
}

__attribute__((noinline)) struct S st2(struct S s, int k) {
  s.a += k;
  s.b *= k;
  s.c[k] = 1;
  return s;
}

KERNEL void sw(int*o, int k, int*p) {
  switch(k) {
    case 0:
      *o = 1;
    break;
    case 1:
      *o = p[3];
    break;
    case 2:
      *o = 7*p[1];
    break;
    case 3:
      *o = p[2]-4;
    break;
    case 4:
      *o = k;
    break;
    case 5:
      *o += 9;
    break;
    case 6:
      *o = p[9]^p[2];
    break;
    default:
      *o = 99;
  }
}

KERNEL void calls(int*o, struct S s, int k) {
  *o = rec(k)+fps[k&1](3)+st2(s, k).a;
  double buf[10];
  for(int i = 0;i<10;i++)buf[i] = i*k;
  o[1] = buf[k];
#ifdef PTX_73
  char*p = __builtin_alloca(k);
#else
  char p[100];
#endif
  p[0] = k;
  ext(p);
  printf("%d", k);
  __builtin_memcpy(o, buf, 80);
  if(k == 77)__builtin_trap();
  struct S t = st(s, k);
  o[30] = t.a;
}
