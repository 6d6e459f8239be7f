// Random programs run compiled and, in a second process, by the interpreter: both must compute the same, bit for bit.
#include "generate.h"
#include "kernels.h"
#include <sys/wait.h>

typedef struct {
    Random random;
    Program program;
    CUdeviceptr rows;
    unsigned blocks, threads;
} Engine;

enum { MOST_THREADS = 128, MOST_BLOCKS = 4, BYTES = MOST_THREADS * MOST_BLOCKS * ROW };

static unsigned char results[BYTES];

static Engine open_engine(void) {
    Engine engine = {.random = random_of(0)};
    start();
    OK(cuMemAlloc_v2(&engine.rows, BYTES));
    return engine;
}

// The next program; its results are in `results`.
static void run_next(Engine *engine) {
    static const unsigned sizes[] = {1, 20, 32, 33, 64, 96, 100, 128};
    Random *random = &engine->random;
    CUmodule module;
    CUfunction kernel;
    void *parameters[] = {&engine->rows};
    engine->threads = sizes[below(random, 8)], engine->blocks = 1 + below(random, MOST_BLOCKS);
    engine->program.random = random;
    generate(&engine->program, engine->threads);
    OK(cuMemsetD32_v2(engine->rows, 0x01020304, BYTES / 4));
    OK(cuModuleLoadData(&module, engine->program.text));
    OK(cuModuleGetFunction(&kernel, module, "e"));
    OK(cuLaunchKernel(kernel, engine->blocks, 1, 1, engine->threads, 1, 1, 0, NULL, parameters, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(results, engine->rows, BYTES));
    OK(cuModuleUnload(module));
}

// The interpreter's process: one program for each byte that it gets, and its results as the answer.
static void answer(int questions, int answers) {
    char byte;
    Engine engine = open_engine();
    while (read(questions, &byte, 1) == 1) {
        run_next(&engine);
        for (size_t done = 0; done < BYTES;) {
            ssize_t wrote = write(answers, results + done, BYTES - done);
            if (wrote <= 0) return;
            done += (size_t)wrote;
        }
    }
}

static void compare(const Engine *engine, const unsigned char *expected) {
    for (size_t at = 0; at < BYTES; at += 4) {
        if (memcmp(results + at, expected + at, 4) == 0) continue;
        uint32_t ours, theirs;
        memcpy(&ours, results + at, 4);
        memcpy(&theirs, expected + at, 4);
        size_t thread = at / ROW;
        fprintf(stderr, "%s\n", engine->program.text);
        fail("%u blocks of %u threads: byte %zu of thread %zu of block %zu is %#x, and interpreted %#x", engine->blocks,
             engine->threads, at % ROW, thread % engine->threads, thread / engine->threads, ours, theirs);
    }
}

int main(int argc, char **argv) {
    static unsigned char expected[BYTES];
    int questions[2], answers[2], status;
    stress_start(argc, argv);
    CHECK(pipe(questions) == 0 && pipe(answers) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(questions[1]);
        close(answers[0]);
        setenv("GANGWAY_VGPU_ENGINE", "interpreter", 1);
        answer(questions[0], answers[1]);
        return 0;
    }
    close(questions[0]);
    close(answers[1]);
    Engine engine = open_engine();
    while (!stress_over()) {
        if (write(questions[1], "", 1) != 1) fail("the interpreter's process has ended");
        run_next(&engine);
        for (size_t done = 0; done < BYTES;) {
            ssize_t got = read(answers[0], expected + done, BYTES - done);
            if (got <= 0) fail("the interpreter's process has ended");
            done += (size_t)got;
        }
        compare(&engine, expected);
        atomic_fetch_add(&stress_calls, 1);
    }
    close(questions[1]);
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) fail("the interpreter's process ends with status %#x", status);
    stress_report();
    return 0;
}
