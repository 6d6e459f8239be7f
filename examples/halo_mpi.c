/* Ranks of MPI whose device code exchanges the halo.
 *
 * Heat spreads over a plate that is cut into strips, one for each rank. A rank's whole
 * simulation is one target region. Between two steps its device code calls MPI on the host, by
 * reverse offload: OpenMP's `target device(ancestor: 1)`. `always` copies the two edges of the
 * strip to the host, and the two rows of the neighbours to the device. The rest stays there.
 *
 * Rank 0 compares the plate with one that the host computes alone. GPUs fuse multiplications
 * and additions, so that cells may differ in their last bits (docs/arithmetic.md).
 *
 *   mpiexec -n 2 halo_mpi
 */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma omp requires reverse_offload

enum { WIDTH = 256, HEIGHT = 192, STEPS = 300 };

#pragma omp begin declare target
static inline void step_row(const float *now, float *next, int row) {
  for (int x = 1; x < WIDTH - 1; ++x) {
    int cell = row * WIDTH + x;
    next[cell] =
        now[cell] + 0.2f * (now[cell - WIDTH] + now[cell + WIDTH] + now[cell - 1] + now[cell + 1] - 4.0f * now[cell]);
  }
}
#pragma omp end declare target

/* The plate's start: a hot spot off its centre, and edges that stay cold. */
static float start_at(int x, int y) {
  int dx = x - WIDTH / 3, dy = y - HEIGHT / 2;
  return dx * dx + dy * dy < 900 ? 100.0f : 0.0f;
}

static int exchanges;

/* On the host. Edges of the plate have no neighbour there: MPI_PROC_NULL. */
static void exchange(float *strip, int rows, int above, int below) {
  float *first = strip + WIDTH, *last = strip + rows * WIDTH;
  MPI_Sendrecv(first, WIDTH, MPI_FLOAT, above, 0, last + WIDTH, WIDTH, MPI_FLOAT, below, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, WIDTH, MPI_FLOAT, below, 1, strip, WIDTH, MPI_FLOAT, above, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  exchanges++;
}

/* All steps of one strip, which has a row of each neighbour around its own rows. Says whether the
 * region ran on a device. */
static int simulate(float *strip, float *other, int rows, int above, int below) {
  int size = (rows + 2) * WIDTH, on_device = 0;
#pragma omp target map(tofrom : strip[0 : size], other[0 : size]) map(from : on_device)
  {
    on_device = !omp_is_initial_device();
    float *now = strip, *next = other;
    for (int step = 0; step < STEPS; ++step) {
#pragma omp target device(ancestor : 1)                                                            \
    map(always, to : now[WIDTH : WIDTH], now[rows * WIDTH : WIDTH])                                \
    map(always, from : now[0 : WIDTH], now[(rows + 1) * WIDTH : WIDTH])
      exchange(now, rows, above, below);

      /* The plate's own edges keep their temperature. */
      int from = above == MPI_PROC_NULL ? 2 : 1, to = below == MPI_PROC_NULL ? rows - 1 : rows;
#pragma omp parallel for
      for (int row = from; row <= to; ++row)
        step_row(now, next, row);
      float *last = now;
      now = next, next = last;
    }
  }
  return on_device;
}

static float *plate_on_host(void) {
  size_t bytes = sizeof(float) * WIDTH * HEIGHT;
  float *now = malloc(bytes), *next = malloc(bytes);
  for (int cell = 0; cell < WIDTH * HEIGHT; ++cell)
    now[cell] = start_at(cell % WIDTH, cell / WIDTH);
  memcpy(next, now, bytes);
  for (int step = 0; step < STEPS; ++step) {
    for (int row = 1; row < HEIGHT - 1; ++row)
      step_row(now, next, row);
    float *last = now;
    now = next, next = last;
  }
  free(next);
  return now;
}

/* Of temperatures up to 100, whose rounding a step does not make larger. */
static const float tolerance = 1e-3f;

/* On rank 0, how many cells of the gathered plate differ from the host's; otherwise 0. */
static int compare(const float *strip, int rows, int rank) {
  float *whole = malloc(sizeof(float) * WIDTH * HEIGHT);
  int differ = 0;
  MPI_Gather(strip + WIDTH, rows * WIDTH, MPI_FLOAT, whole, rows * WIDTH, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    float *expected = plate_on_host();
    float largest = 0.0f;
    for (int cell = 0; cell < WIDTH * HEIGHT; ++cell) {
      float difference = fabsf(whole[cell] - expected[cell]);
      differ += !(difference <= tolerance);
      if (difference > largest)
        largest = difference;
    }
    printf("%d of %d cells differ from the host's, at most by %.1e\n", differ, WIDTH * HEIGHT, largest);
    free(expected);
  }
  free(whole);
  return differ;
}

int main(int argc, char **argv) {
  /* A thread of the runtime calls MPI for the device, one at a time. */
  int level, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (level < MPI_THREAD_SERIALIZED || HEIGHT % ranks != 0 || HEIGHT / ranks < 2) {
    fprintf(stderr, "halo_mpi: wants threads in MPI, and a number of ranks that divides %d\n", HEIGHT);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  if (omp_get_num_devices() > 0)
    omp_set_default_device(rank % omp_get_num_devices());

  int rows = HEIGHT / ranks;
  float *strip = malloc(sizeof(float) * (rows + 2) * WIDTH), *other = malloc(sizeof(float) * (rows + 2) * WIDTH);
  for (int row = 0; row < rows + 2; ++row)
    for (int x = 0; x < WIDTH; ++x) {
      int y = rank * rows + row - 1;
      strip[row * WIDTH + x] = other[row * WIDTH + x] = y < 0 || y >= HEIGHT ? 0.0f : start_at(x, y);
    }
  int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  int on_device = simulate(strip, other, rows, above, below);
  /* An even number of steps ends where it began. */
  int wrong = compare(strip, rows, rank) + !on_device + (exchanges != STEPS);
  printf("rank %d of %d: %d rows on a device, %d exchanges out of one target region\n", rank, ranks, rows,
         exchanges);
  free(strip);
  free(other);

  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s\n", all ? "WRONG" : "right");
  MPI_Finalize();
  return all ? EXIT_FAILURE : EXIT_SUCCESS;
}
