// What all attacks share: random numbers that a seed repeats, the time that is left, and the count of calls.
//
// An attack is called with a seed and a number of seconds. It ends with 0 if it found nothing wrong; `fail` ends it
// with a message. What crashes or does not end is found by whoever runs it.
#ifndef STRESS_H
#define STRESS_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8

static uint64_t stress_seed;
static double stress_end;
// The calls that have ended. Whoever runs the attack reads them in the file `progress`: an attack is waited for as long as
// it gets on. Children count as well.
static atomic_long *stress_counter;
#define stress_calls (*stress_counter)

static inline double stress_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void stress_start(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s SEED SECONDS\n", argv[0]);
        exit(2);
    }
    stress_seed = strtoull(argv[1], NULL, 0);
    stress_end = stress_now() + atof(argv[2]);
    int file = open("progress", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *place = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof *stress_counter) == 0)
        place = mmap(NULL, sizeof *stress_counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place == MAP_FAILED) {
        perror("progress");
        exit(2);
    }
    stress_counter = place;
    atomic_store(stress_counter, 0);
    close(file);
}

static inline int stress_over(void) { return stress_now() >= stress_end; }

// The last line that an attack prints says how much it did.
static inline void stress_report(void) {
    printf("calls: %ld\n", atomic_load(&stress_calls));
    fflush(stdout);
}

__attribute__((noreturn, format(printf, 1, 2))) static inline void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("found: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    fflush(stderr);
    _Exit(1);
}

// A child calls this before anything of OpenMP. libomp keeps a file with its process's number in /dev/shm. Where a process
// is killed while it makes that, an empty file stays, and reading it ends a later process of the same number by SIGBUS.
static inline void forget_dead_namesake(void) {
    char path[80];
    snprintf(path, sizeof path, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
    unlink(path);
}

// Random numbers of one thread.
typedef struct {
    uint64_t state;
} Random;

static inline Random random_of(uint64_t thread) {
    // Neighbouring seeds are to have nothing in common.
    uint64_t state = (stress_seed + 1) * 0x9e3779b97f4a7c15u ^ (thread + 1) * 0xbf58476d1ce4e5b9u;
    return (Random){state ? state : 1};
}

static inline uint32_t next(Random *random) {
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (uint32_t)(random->state >> 20);
}

// A number below `limit`.
static inline uint32_t below(Random *random, uint32_t limit) { return next(random) % limit; }

// True once in so many times.
static inline int one_in(Random *random, uint32_t times) { return below(random, times) == 0; }

#endif
