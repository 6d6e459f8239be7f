// Members of structures that are mapped by themselves: each comes, is counted, is copied back and leaves for itself, and
// kernels find those that came together beside each other.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

static int shared;

#define IS_PRESENT(item) (shared || acc_is_present(&(item), sizeof(item)))
#define IS_GONE(item) (shared || !acc_is_present(&(item), sizeof(item)))

struct pair {
  int a;
  int *b;
};

static int pointers(void) {
  struct pair v = {3, malloc(N * sizeof(int))};
  for (int step = 0; step < 4; step++) {
#pragma acc enter data copyin(v.a, v.b[0 : N])
    CHECK(IS_PRESENT(v.b) && (shared || acc_is_present(v.b, N * sizeof(int))));
#pragma acc enter data copyin(v.b[0 : N])
#pragma acc parallel loop present(v.a, v.b)
    for (int i = 0; i < N; i++) v.b[i] = v.a + i;
    if (step & 1) {
#pragma acc exit data copyout(v.b[0 : N]) finalize
    } else {
#pragma acc exit data copyout(v.b[0 : N])
      CHECK(IS_PRESENT(v.b));
#pragma acc exit data copyout(v.b[0 : N])
    }
    CHECK(IS_GONE(v.b) && IS_PRESENT(v.a));
#pragma acc exit data delete (v.a)
    for (int i = 0; i < N; i++) CHECK(v.b[i] == 3 + i);
    CHECK(shared || (IS_GONE(v) && !acc_is_present(v.b, N * sizeof(int))));
  }
#pragma acc data copyin(v.a) copy(v.b[0 : N])
  {
#pragma acc parallel loop
    for (int i = 0; i < N; i++) v.b[i] *= v.a;
  }
  for (int i = 0; i < N; i++) CHECK(v.b[i] == 3 * (3 + i));
  free(v.b);
  return 0;
}

struct three {
  char a;
  double b;
  int c[5];
};

static void change(struct three *s) {
#pragma acc parallel present(s->a, s->b, s->c)
  {
    s->a += 1;
    s->b += 2;
    for (int i = 0; i < 5; i++) s->c[i] += 3;
  }
}

// Gives one member up, and looks whether it has come back, and the others have not.
static int leaves(struct three *s, int member, int queue) {
  struct three before = *s;
  if (member == 0) {
#pragma acc exit data copyout(s->a) async(queue)
  } else if (member == 1) {
#pragma acc exit data copyout(s->b) async(queue)
  } else {
#pragma acc exit data copyout(s->c) async(queue)
  }
  acc_wait(queue);
  CHECK(shared || (s->a == before.a + (member == 0) && s->b == before.b + 2 * (member == 1)));
  CHECK(shared || s->c[4] == before.c[4] + 3 * (member == 2));
  return 0;
}

// In every order.
static int orders(void) {
  static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int which = 0; which < 12; which++) {
    int queue = which < 6 ? acc_async_sync : which;
    struct three s = {'a', 1.5, {1, 2, 3, 4, 5}};
#pragma acc enter data copyin(s.c, s.a, s.b) async(queue)
    acc_wait(queue);
    // What is there is not copied again.
    s.a = shared ? s.a : 'x';
#pragma acc enter data copyin(s.a)
    s.a = 'a';
    change(&s);
#pragma acc exit data copyout(s.a)
    CHECK(shared || s.a == 'a');
    int gone[3] = {0};
    for (int i = 0; i < 3; i++) {
      int member = order[which % 6][i];
      if (leaves(&s, member, queue)) return 1;
      gone[member] = 1;
      CHECK(gone[0] ? IS_GONE(s.a) : IS_PRESENT(s.a));
      CHECK(gone[1] ? IS_GONE(s.b) : IS_PRESENT(s.b));
      CHECK(gone[2] ? IS_GONE(s.c) : IS_PRESENT(s.c));
    }
    CHECK(s.a == 'b' && s.b == 3.5 && s.c[0] == 4 && s.c[4] == 8);
    CHECK(IS_GONE(s.a) && IS_GONE(s.b) && IS_GONE(s.c));
  }
  return 0;
}

struct inner {
  float f;
  int *list;
  struct three t;
};

struct outer {
  long before;
  struct inner in[3];
  struct inner *behind;
  long after;
};

// Structures in structures, and arrays of them.
static int nested(void) {
  struct outer o = {1, {{1, 0, {1, 1, {1}}}, {2, 0, {2, 2, {2}}}, {3, 0, {3, 3, {3}}}}, 0, 9};
  int list[N];
  struct inner more = {4, list, {4, 4, {4}}};
  for (int i = 0; i < N; i++) list[i] = i;
  o.in[1].list = list;
  o.behind = &more;
#pragma acc enter data copyin(o.in[1].list[0 : N], o.in[2].t, o.in[0].f, o.after)
#pragma acc parallel present(o.in[1].list[0 : N], o.in[2].t, o.in[0].f, o.after)
  {
    for (int i = 0; i < N; i++) o.in[1].list[i] += (int)o.in[0].f + (int)o.after;
    o.in[2].t.c[1] = 77;
    o.in[2].t.b = 5;
    o.after = 10;
  }
#pragma acc exit data copyout(o.in[2].t.b)
  CHECK(IS_PRESENT(o.after) && IS_GONE(o.in[2].t) && o.in[2].t.b == 5);
#pragma acc exit data copyout(o.in[1].list[0 : N])
  CHECK(list[0] == 10 && list[N - 1] == N + 9 && IS_GONE(o.in[1].list) && IS_PRESENT(o.in[0].f));
#pragma acc exit data copyout(o.after)
  CHECK(o.after == 10 && IS_PRESENT(o.in[0].f));
#pragma acc exit data delete (o.in[0].f)
  CHECK(IS_GONE(o));
  // Members of what a member points to.
#pragma acc data copyin(o.behind->f) copy(o.behind->list[0 : N], o.behind->t.c)
  {
    struct inner *p = o.behind;
#pragma acc parallel present(p->f, p->list[0 : N], p->t.c)
    {
      p->list[0] = (int)p->f + 1;
      p->t.c[0] = 8;
    }
  }
  CHECK(list[0] == 5 && more.t.c[0] == 8);
  // Elements of an array that a pointer leads to.
  struct three *all = calloc(8, sizeof *all);
#pragma acc enter data copyin(all[1].a, all[3].b, all[6].c)
#pragma acc parallel present(all[1].a, all[3].b, all[6].c)
  {
    all[1].a = 1;
    all[3].b = 2;
    all[6].c[2] = 3;
  }
#pragma acc exit data copyout(all[3].b)
  CHECK(all[3].b == 2 && IS_PRESENT(all[1].a) && IS_GONE(all[3].b) && (shared || !all[6].c[2]));
#pragma acc exit data copyout(all[1].a, all[6].c)
  CHECK(all[1].a == 1 && all[6].c[2] == 3 && IS_GONE(all[1].a) && IS_GONE(all[6].c));
  free(all);
  return 0;
}

struct large {
  int first;
  double rows[50][400];
  int gap[1000];
  int *list;
};

// What is too large for small data's block, and is attached.
static int large(void) {
  struct large *s = calloc(1, sizeof *s);
  s->list = calloc(N, sizeof *s->list);
#pragma acc enter data create(s->first, s->rows, s->list[0 : N])
#pragma acc parallel present(s->first, s->rows, s->list[0 : N])
  s->first = 6;
#pragma acc parallel loop gang present(s->first, s->rows, s->list[0 : N])
  for (int i = 0; i < 50; i++) {
    for (int j = 0; j < 400; j++) s->rows[i][j] = i * j;
    s->list[i] = s->first;
  }
#pragma acc update self(s->first)
  CHECK(s->first == 6);
#pragma acc exit data detach(s->list)
  CHECK(IS_PRESENT(s->list));
#pragma acc exit data copyout(s->rows)
  CHECK(s->rows[49][399] == 49 * 399 && IS_GONE(s->rows) && IS_PRESENT(s->first));
  int *list = s->list;
#pragma acc exit data delete (s->first) copyout(s->list[0 : N])
  CHECK(s->list == list && list[49] == 6 && IS_GONE(s->list) && IS_GONE(s->first));
  free(list);
  free(s);
  return 0;
}

// Members that come later are there, for constructs that use no other.
static int later(void) {
  struct three s = {1, 2, {3}};
#pragma acc enter data copyin(s.a)
#pragma acc enter data copyin(s.b)
#pragma acc parallel present(s.b)
  s.b = 4;
#pragma acc parallel present(s.a)
  s.a = 5;
#pragma acc exit data copyout(s.a)
#pragma acc exit data copyout(s.b)
  CHECK(s.a == 5 && s.b == 4 && IS_GONE(s.a) && IS_GONE(s.b));
  // The routines and the clauses mean the same members.
  acc_copyin(&s.a, sizeof s.a);
#pragma acc enter data copyin(s.a)
  acc_delete(&s.a, sizeof s.a);
  CHECK(IS_PRESENT(s.a));
#pragma acc exit data delete (s.a)
  CHECK(IS_GONE(s.a));
  // All of the structure, and members of it.
#pragma acc data copy(s)
  {
#pragma acc enter data copyin(s.a, s.b)
#pragma acc parallel present(s.a, s.b)
    s.b = s.a + 1;
#pragma acc exit data delete (s.a, s.b)
  }
  CHECK(s.b == 6 && IS_GONE(s));
#pragma acc parallel no_create(s.a, s.b)
  ;
  return 0;
}

struct turned {
  int *b;
  int a;
};

/* What members lead to ends apart from the objects, in whatever words clauses name it. */
static int apart(void) {
  struct pair all[3], *one = &all[1];
  for (int k = 0; k < 3; k++) {
    all[k].a = k, all[k].b = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++) all[k].b[i] = i;
  }
  // An element that is not present by itself comes with its member.
  for (int k = 0; k < 3; k++) {
#pragma acc parallel loop copy(all[k].b[0 : N])
    for (int i = 0; i < N; i++) all[k].b[i] += all[k].a;
    struct pair *here = all;
#pragma acc parallel loop copy(here[k].b[0 : N])
    for (int i = 0; i < N; i++) here[k].b[i] += here[k].a;
  }
  struct turned turned[3], *at = turned;
  for (int k = 0; k < 3; k++) turned[k].a = k + 5, turned[k].b = calloc(N, sizeof(int));
  for (int k = 0; k < 3; k++) {
#pragma acc parallel loop copy(at[k].b[0 : N])
    for (int i = 0; i < N; i++) at[k].b[i] += at[k].a;
    CHECK(turned[k].b[N - 1] == k + 5);
  }
#pragma acc enter data copyin(all)
  for (int k = 0; k < 3; k++) {
#pragma acc enter data copyin(all[k].b[0 : N])
  }
#pragma acc exit data delete (one->b[0 : N])
#pragma acc enter data copyin(one->b[0 : N])
#pragma acc exit data copyout(one->b[0 : N])
  CHECK(shared || acc_is_present(all, sizeof all));
#pragma acc enter data copyin(one->b[0 : N])
#pragma acc parallel loop present(all)
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < N; i++) all[k].b[i] *= 2;
  for (int k = 0; k < 3; k++) {
    one = all + k;
#pragma acc exit data copyout(one->b[0 : N])
    for (int i = 0; i < N; i++) CHECK(all[k].b[i] == 2 * (i + 2 * k));
  }
  // The member is present, and what it leads to is not: it keeps the host's address.
#pragma acc data no_create(all[0].b[0 : N])
  ;
#pragma acc exit data delete (all)
  CHECK(shared || !acc_is_present(all, 1));
  return 0;
}

// Both pointers have come with what they lead to, and then the structure as a whole.
static int as_a_whole(void) {
  struct { double *a, *b; } s = {malloc(N * sizeof(double)), malloc(N * sizeof(double))};
  for (int i = 0; i < N; i++) s.a[i] = i, s.b[i] = -1;
#pragma acc enter data copyin(s.a[0 : N], s.b[0 : N])
#pragma acc enter data copyin(s)
#pragma acc parallel loop default(present)
  for (int i = 0; i < N; i++) s.b[i] = 2 * s.a[i];
#pragma acc exit data copyout(s.a[0 : N], s.b[0 : N])
  int there = IS_PRESENT(s.a) && IS_PRESENT(s.b);
#pragma acc exit data copyout(s)
  CHECK(there && IS_GONE(s.a) && IS_GONE(s.b));
  for (int i = 0; i < N; i++) CHECK(s.b[i] == 2.0 * i);
  return 0;
}

int main(void) {
  shared = acc_get_device_type() == acc_device_host;
  if (pointers() || orders() || nested() || large() || later() || apart() || as_a_whole()) return 1;
  puts("ok");
  return 0;
}
