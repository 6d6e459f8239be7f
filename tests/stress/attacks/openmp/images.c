// The program runs copies of itself whose device image is damaged: some bytes of its headers or of its dynamic section. A
// copy has the image loaded, or is told why that cannot be; it ends by itself, and not by a signal of the loader.
#include "stress.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <omp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The device's image begins like any other ELF file, somewhere behind the first bytes of this one.
static size_t find_image(const unsigned char *file, size_t size) {
    for (size_t at = 16; at + 64 < size; at++)
        if (memcmp(file + at, ELFMAG, SELFMAG) == 0 && file[at + EI_CLASS] == ELFCLASS64) {
            Elf64_Ehdr header;
            memcpy(&header, file + at, sizeof header);
            if (header.e_type == ET_DYN && header.e_phentsize == sizeof(Elf64_Phdr)) return at;
        }
    fail("the program has no image");
}

// What makes the program have an image; a damaged one is loaded and not run.
int region(void);

int region(void) {
    int sum = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < 100; i++) sum += i;
    return sum;
}

int main(int argc, char **argv) {
    if (argc == 2) {
        // A damaged copy. Whatever the region computes, the process is sound enough to end as it wants.
        alarm(20);
        int value = 1;
#pragma omp target enter data map(to : value)
#pragma omp target exit data map(release : value)
        exit(0);
    }
    stress_start(argc, argv);
    Random random = random_of(0);
    int own = open("/proc/self/exe", O_RDONLY);
    struct stat status;
    if (own < 0 || fstat(own, &status)) fail("this program cannot be read");
    size_t size = (size_t)status.st_size;
    unsigned char *file = malloc(size), *copy = malloc(size);
    if (read(own, file, size) != (ssize_t)size) fail("this program cannot be read");
    size_t image = find_image(file, size);
    Elf64_Ehdr header;
    memcpy(&header, file + image, sizeof header);
    while (!stress_over()) {
        memcpy(copy, file, size);
        for (uint32_t changes = 1 + below(&random, 3); changes > 0; changes--) {
            // The headers, and where they say that the dynamic section is.
            Elf64_Phdr part;
            memcpy(&part, file + image + header.e_phoff + sizeof part * below(&random, header.e_phnum), sizeof part);
            size_t at = one_in(&random, 3) ? below(&random, sizeof header)
                        : one_in(&random, 2) ? header.e_phoff + below(&random, header.e_phnum * (uint32_t)sizeof part)
                        : part.p_type == PT_DYNAMIC ? part.p_offset + below(&random, (uint32_t)part.p_filesz)
                                                    : header.e_phoff;
            copy[image + at] = one_in(&random, 2) ? (unsigned char)next(&random) : copy[image + at] ^ (1u << below(&random, 8));
        }
        int damaged = open("damaged", O_WRONLY | O_CREAT | O_TRUNC, 0700);
        if (damaged < 0 || write(damaged, copy, size) != (ssize_t)size) fail("the copy cannot be written");
        close(damaged);
        pid_t child = fork();
        if (child < 0) fail("no process");
        if (child == 0) {
            int nothing = open("/dev/null", O_WRONLY);
            dup2(nothing, 1);
            dup2(nothing, 2);
            execl("./damaged", "damaged", "run", (char *)NULL);
            _exit(9);
        }
        int ended;
        waitpid(child, &ended, 0);
        // An abort is the runtime's own way to refuse.
        if (WIFSIGNALED(ended) && WTERMSIG(ended) != SIGABRT) {
            fail("copy %ld ends by signal %d", atomic_load(&stress_calls), WTERMSIG(ended));
        }
        if (WIFEXITED(ended) && WEXITSTATUS(ended) == 9) fail("the copy cannot be run");
        atomic_fetch_add(&stress_calls, 1);
    }
    stress_report();
    return 0;
}
