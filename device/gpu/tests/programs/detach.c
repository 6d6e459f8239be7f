// Tasks that end when their event is fulfilled, and which task a thread is in.
#include "check.h"

/// A task that depends on a detached one runs behind its event, which the same thread fulfils later. One that
/// does not depend on it runs at once.
static void dependences(void) {
  int order[4] = {0}, next = 0;
#pragma omp target map(tofrom : order, next)
  {
    omp_event_handle_t event;
    int x = 0, y = 0;
#pragma omp task detach(event) depend(out : x) shared(order, next)
    order[0] = ++next;
#pragma omp task depend(in : x) shared(order, next)
    order[1] = ++next;
#pragma omp task depend(out : y) shared(order, next)
    order[2] = ++next;
    order[3] = ++next;
    omp_fulfill_event(event);
#pragma omp taskwait
    next += 10;
  }
  CHECK(order[0], 1);
  CHECK(order[2], 2);
  CHECK(order[3], 3);
  CHECK(order[1], 4);
  CHECK(next, 14);
}

/// Another thread of the team fulfils the event, behind what it has written.
static void threads(void) {
  int seen[8] = {0};
#pragma omp target map(tofrom : seen)
  {
    omp_event_handle_t events[8];
    int values[8], ready[8];
    for (int i = 0; i < 8; ++i)
      ready[i] = values[i] = 0;
#pragma omp parallel num_threads(8)
    {
      int own = omp_get_thread_num(), other = own ^ 1, is_ready = 0;
      omp_event_handle_t event;
#pragma omp task detach(event)
      {
      }
      events[own] = event;
#pragma omp atomic write seq_cst
      ready[own] = 1;
      while (!is_ready) {
#pragma omp atomic read seq_cst
        is_ready = ready[other];
      }
      values[other] = other + 1;
      omp_fulfill_event(events[other]);
#pragma omp taskwait
      seen[own] = values[own];
    }
  }
  for (int i = 0; i < 8; ++i)
    CHECK(seen[i], i + 1);
}

/// The end of a region, of a group and of the kernel wait as well. Tasks that are put off keep their values.
static void ends(void) {
  int sum = 0, group = 0;
#pragma omp target map(tofrom : sum, group)
  {
    omp_event_handle_t event;
    int x = 0;
#pragma omp task detach(event) depend(out : x)
    {
    }
#pragma omp taskgroup
    {
      for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : x) shared(group) firstprivate(i)
        group += i;
      }
      omp_fulfill_event(event);
    }
#pragma omp parallel num_threads(2)
    {
      omp_event_handle_t own;
      int y = 0;
#pragma omp task detach(own) depend(out : y)
      {
      }
#pragma omp task depend(in : y) shared(sum)
#pragma omp atomic
      sum += 5;
      omp_fulfill_event(own);
    }
  }
  CHECK(group, 45);
  CHECK(sum, 10);
}

static void explicit_tasks(void) {
  int in[7];
#pragma omp target map(from : in)
  {
    in[0] = omp_in_explicit_task();
#pragma omp task shared(in)
    {
      in[1] = omp_in_explicit_task();
#pragma omp parallel num_threads(2)
      if (omp_get_thread_num() == 0)
        in[2] = omp_in_explicit_task();
      in[3] = omp_in_explicit_task();
    }
#pragma omp task if (0) shared(in)
    in[4] = omp_in_explicit_task();
    in[5] = omp_in_explicit_task();
#pragma omp taskloop shared(in)
    for (int i = 6; i < 7; ++i)
      in[i] = omp_in_explicit_task();
  }
  const int expected[] = {0, 1, 0, 1, 1, 0, 1};
  for (int i = 0; i < 7; ++i)
    CHECK(in[i], expected[i]);
}

int main(void) {
  dependences();
  threads();
  ends();
  explicit_tasks();
  return finish();
}
