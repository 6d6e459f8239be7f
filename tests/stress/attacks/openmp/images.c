// The program runs copies of itself whose device image is damaged: some bytes of its headers or of its dynamic section. A
// copy has the image loaded, or is told why that cannot be; it ends by itself, and not by a signal of the loader.
//
// An image is code of the program, and trusted as such. No damage of instructions is tried, and two things that come to
// the same are no failure:
// - An initialiser or finaliser whose address leads to executable bytes at which none of the whole image begins. It may
//   be the middle of an instruction, and no table tells. Such a copy is not run: see `runs_other_code`.
// - A fault of the image's own instructions, as damage may make its variables constant. See `crashed`.
// devices: cpu
// environment: OMP_TARGET_OFFLOAD=MANDATORY
#define _GNU_SOURCE
#include "stress.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <omp.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

// How a copy ends that cannot be run, and one whose image's own instructions have failed.
enum { NO_PROGRAM = 9, ASTRAY = 11 };

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

// What loading and unloading an image calls, as places of the file.
typedef struct {
    size_t places[32];
    int count;
} Called;

// The bytes at an address of an image: where they stand in the file. Zero if it is in no segment with these permissions.
static size_t place_of(const unsigned char *image, size_t size, uint64_t address, uint32_t permissions) {
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr part;
        uint64_t at = header.e_phoff + i * sizeof part;
        if (header.e_phoff > size || at + sizeof part > size) return 0;
        memcpy(&part, image + at, sizeof part);
        if (part.p_type == PT_LOAD && (part.p_flags & permissions) == permissions && address >= part.p_vaddr &&
            address - part.p_vaddr < part.p_filesz) {
            uint64_t place = part.p_offset + (address - part.p_vaddr);
            if (part.p_offset < size && place < size) return place;
        }
    }
    return 0;
}

static void add_called(Called *called, const unsigned char *image, size_t size, uint64_t address) {
    size_t place = place_of(image, size, address, PF_X);
    if (place == 0) return; // Not code: it has to be refused.
    if (called->count < 32) called->places[called->count++] = place;
}

// What the dynamic section at a place of the file names as initialisers and finalisers.
static Called called_by(const unsigned char *image, size_t size, uint64_t dynamic) {
    Called called = {.count = 0};
    uint64_t values[DT_NUM] = {0};
    for (Elf64_Dyn entry; dynamic < size && dynamic + sizeof entry <= size; dynamic += sizeof entry) {
        memcpy(&entry, image + dynamic, sizeof entry);
        if (entry.d_tag == DT_NULL) break;
        if ((uint64_t)entry.d_tag < DT_NUM) values[entry.d_tag] = entry.d_un.d_val;
    }
    if (values[DT_INIT]) add_called(&called, image, size, values[DT_INIT]);
    if (values[DT_FINI]) add_called(&called, image, size, values[DT_FINI]);
    // The loader writes the addresses of the others into the two arrays.
    size_t at = place_of(image, size, values[DT_RELA], 0);
    uint64_t count = values[DT_RELASZ] / sizeof(Elf64_Rela);
    for (Elf64_Rela entry; at != 0 && count > 0 && at + sizeof entry <= size; at += sizeof entry, count--) {
        memcpy(&entry, image + at, sizeof entry);
        if (entry.r_offset - values[DT_INIT_ARRAY] < values[DT_INIT_ARRAYSZ] ||
            entry.r_offset - values[DT_FINI_ARRAY] < values[DT_FINI_ARRAYSZ]) {
            add_called(&called, image, size, (uint64_t)entry.r_addend);
        }
    }
    return called;
}

// Whether loading an image would call executable bytes where nothing begins that the whole image has called.
static int runs_other_code(const unsigned char *image, size_t size, const Called *whole) {
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr part;
        uint64_t at = header.e_phoff + i * sizeof part;
        if (header.e_phoff > size || at + sizeof part > size) return 0;
        memcpy(&part, image + at, sizeof part);
        if (part.p_type != PT_DYNAMIC) continue;
        Called called = called_by(image, size, part.p_offset);
        for (int j = 0; j < called.count; j++) {
            int known = 0;
            for (int k = 0; k < whole->count; k++) known |= whole->places[k] == called.places[j];
            if (!known) return 1;
        }
    }
    return 0;
}

// Where the dynamic section of the whole image stands.
static uint64_t dynamic_of(const unsigned char *image, const Elf64_Ehdr *header) {
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, image + header->e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_DYNAMIC) return part.p_offset;
    }
    fail("the image has no dynamic section");
}

// What makes the program have an image; a damaged one is loaded and not run.
int region(void);

int region(void) {
    int sum = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < 100; i++) sum += i;
    return sum;
}

// Whether an address is in a device image: the loader has it from a file without a name.
static int in_image(uintptr_t address) {
    Dl_info found;
    return dladdr((void *)address, &found) && strncmp(found.dli_fname, "/proc/", 6) == 0;
}

// Tells a fault of the image's own instructions from one of the loader and of the runtime, which ends the copy by the
// signal. After a jump to where nothing is, the address to return to says who has jumped.
static void crashed(int number, siginfo_t *info, void *context) {
    // A machine that was stopped for a while takes that for time that the copy has used. That is one of these.
    static atomic_int reminders;
    if (number == SIGPROF && atomic_fetch_add(&reminders, 1) < 3) return;
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    if (number == SIGSEGV && (uintptr_t)info->si_addr == pc) pc = *(uintptr_t *)registers[REG_RSP];
    if (in_image(pc)) _exit(ASTRAY);
    signal(number, SIG_DFL);
    raise(number);
}

int main(int argc, char **argv) {
    if (argc == 2) {
        const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGPROF};
        struct sigaction handler = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_RESTART};
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &handler, NULL);
        // A damaged copy. Whatever the region computes, the process is sound enough to end as it wants.
        // Instructions may run in a circle, too. Their time counts, not that of the clock.
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 7, .it_interval.tv_sec = 1}, NULL);
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
    size_t rest = size - image;
    Called whole = called_by(file + image, rest, dynamic_of(file + image, &header));
    // `_init`, `_fini` and one of each array: what the start files of a compiler bring.
    if (whole.count < 4) fail("the image calls %d functions, not 4", whole.count);
    long other_code = 0, astray = 0, refused = 0;
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
        if (runs_other_code(copy + image, rest, &whole)) {
            other_code++;
            continue;
        }
        int damaged = open("damaged", O_WRONLY | O_CREAT | O_TRUNC, 0700);
        if (damaged < 0 || write(damaged, copy, size) != (ssize_t)size) fail("the copy cannot be written");
        close(damaged);
        pid_t child = fork();
        if (child < 0) fail("no process");
        if (child == 0) {
            forget_dead_namesake();
            int nothing = open("/dev/null", O_WRONLY);
            dup2(nothing, 1);
            dup2(nothing, 2);
            execl("./damaged", "damaged", "run", (char *)NULL);
            _exit(NO_PROGRAM);
        }
        int ended;
        waitpid(child, &ended, 0);
        // An abort is the runtime's own way to refuse.
        if (WIFSIGNALED(ended) && WTERMSIG(ended) != SIGABRT) {
            for (size_t at = 0; at < rest; at++)
                if (copy[image + at] != file[image + at])
                    fprintf(stderr, "byte %#zx of the image: %#x, now %#x\n", at, file[image + at], copy[image + at]);
            fail("copy %ld ends by signal %d", atomic_load(&stress_calls), WTERMSIG(ended));
        }
        if (WIFEXITED(ended) && WEXITSTATUS(ended) == NO_PROGRAM) fail("the copy cannot be run");
        astray += WIFEXITED(ended) && WEXITSTATUS(ended) == ASTRAY;
        refused += WIFSIGNALED(ended) || WEXITSTATUS(ended) == 1;
        atomic_fetch_add(&stress_calls, 1);
    }
    printf("%ld refused, %ld ran astray; %ld not run, which would call other code\n", refused, astray, other_code);
    stress_report();
    return 0;
}
