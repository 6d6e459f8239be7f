/* Since GCC 13: each thread of each team has the host run regions, each as often as it calls. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#pragma omp requires reverse_offload

enum { MOST = 256, CALLS = 5, PART = 8 };

static int on_host[MOST], wrong_on_host;

/* A function has the variables themselves, of which the region around has copies. */
static void note(int me, const int *mine, int call)
{
    on_host[me]++;
    for (int i = 0; i < PART; i++)
        wrong_on_host += mine[i] != me * PART + i + 1000 * (call + 1) + 10000 * call;
}

int main()
{
    static int x[MOST * PART], private_sum[MOST];
    int started = 0, on_device = 0, wrong = 0;
    for (int i = 0; i < MOST * PART; i++)
        x[i] = i;
    #pragma omp target teams num_teams(5) thread_limit(8) map(tofrom: x, started, on_device, wrong, private_sum)
    #pragma omp parallel num_threads(6)
    {
        int me, sum = 0;
        #pragma omp atomic capture
        me = started++;
        if (me == 0)
            on_device = !omp_is_initial_device();
        int *mine = x + me * PART;
        for (int call = 0; call < CALLS; call++) {
            for (int i = 0; i < PART; i++)
                mine[i] += 1000;
            #pragma omp target device(ancestor: 1) firstprivate(me, call) map(always, tofrom: mine[0:PART]) \
                map(always, from: sum)
            {
                note(me, mine, call);
                sum = 0;
                for (int i = 0; i < PART; i++) {
                    sum += mine[i];
                    mine[i] += 10000;
                }
            }
            for (int i = 0; i < PART; i++)
                if (mine[i] != me * PART + i + 11000 * (call + 1)) {
                    #pragma omp atomic
                    wrong++;
                }
            private_sum[me] += sum;
        }
    }
    CHECK(on_device && started >= 5 && started <= MOST && !wrong && !wrong_on_host);
    for (int me = 0; me < MOST; me++) {
        CHECK(on_host[me] == (me < started ? CALLS : 0));
        int expected = 0;
        for (int call = 0; call < CALLS; call++)
            for (int i = 0; i < PART; i++)
                expected += me * PART + i + 1000 * (call + 1) + 10000 * call;
        CHECK(private_sum[me] == (me < started ? expected : 0));
    }
    for (int i = 0; i < MOST * PART; i++)
        CHECK(x[i] == i + (i < started * PART ? 11000 * CALLS : 0));
    DONE;
}
