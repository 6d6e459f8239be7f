// Children of the program register its regions with images and tables that are damaged: text of PTX with other bytes,
// words, numbers and lines, fat binaries and machine code that are none, several images of which some are whole, and
// tables of which the images know nothing. Each child is told why an image is refused or a region has failed, or the
// region runs, on the device or on the host. No child crashes, panics, or does not end.
//
// An image is code of the program. So a region of damaged text may compute what it wants, and go on for ever. How
// `circle` tells this from faults of the runtime and of the driver stands there. A child that crashes says where.
// environment: GANGWAY_VGPU_MEMORY=256MiB
#define _GNU_SOURCE
#include "stress.h"
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <omp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { LENGTH = 300, PROCESSES = 2, IMAGES = 4, ENTRIES = 16, ENTRY_KIND_OPENMP = 1 };
// How a child ends whose region has other results than it should, and one whose region runs in a circle.
enum { OTHER = 11, CIRCLE = 12, STUCK = 13 };

// What clang registers: LLVM's llvm/Frontend/Offloading/OffloadWrapper.cpp and Utility.h.
typedef struct {
    uint64_t reserved;
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t size, data;
    void *auxiliary;
} Entry;

typedef struct {
    const void *start, *end;
    Entry *entries_begin, *entries_end;
} Image;

typedef struct {
    int32_t count;
    Image *images;
    Entry *entries_begin, *entries_end;
} Descriptor;

static const Descriptor *own;
static Descriptor *registered;

static void forward(const char *name, const void *descriptor) {
    void (*function)(const void *);
    *(void **)&function = dlsym(RTLD_NEXT, name);
    if (function == NULL) fail("%s is not there", name);
    function(descriptor);
}

// These stand before the runtime's, so that nothing is registered that a child does not want.
void __tgt_register_lib(const void *descriptor);
void __tgt_unregister_lib(const void *descriptor);
void __tgt_register_lib(const void *descriptor) { own = descriptor; }
void __tgt_unregister_lib(const void *descriptor) {
    (void)descriptor;
    if (registered != NULL) forward("__tgt_unregister_lib", registered);
}

int factor = 3;
#pragma omp declare target(factor)

// Regions of both modes, with a reduction, a variable of the device, private values, and calls of the device's runtime.
static int regions(void) {
    int values[LENGTH], sum = 0, level = -1;
    for (int i = 0; i < LENGTH; i++) values[i] = i;
    long offset = 5;
#pragma omp target teams distribute parallel for map(tofrom : values) map(tofrom : sum) reduction(+ : sum) thread_limit(64)
    for (int i = 0; i < LENGTH; i++) {
        values[i] = values[i] * factor + (int)offset;
        sum += values[i];
    }
#pragma omp target map(tofrom : values) map(from : level) thread_limit(64)
    {
        level = omp_get_level();
#pragma omp parallel for
        for (int i = 0; i < LENGTH; i++) values[i] -= (int)offset;
    }
    int right = sum == (LENGTH - 1) * LENGTH / 2 * 3 + 5 * LENGTH && level == 0;
    for (int i = 0; i < LENGTH; i++) right &= values[i] == 3 * i;
    return right;
}

// A damaged image.
typedef struct {
    unsigned char *bytes;
    size_t size;
} Bytes;

static Bytes copy_of(const void *from, size_t size) {
    Bytes copy = {malloc(size + 1), size};
    if (size > 0) memcpy(copy.bytes, from, size);
    return copy;
}

// Takes a part out, and puts another one in its place.
static void replace(Bytes *text, size_t at, size_t gone, const void *with, size_t size) {
    unsigned char *bytes = malloc(text->size - gone + size + 1);
    memcpy(bytes, text->bytes, at);
    memcpy(bytes + at, with, size);
    memcpy(bytes + at + size, text->bytes + at + gone, text->size - at - gone);
    text->bytes = bytes;
    text->size = text->size - gone + size;
}

static int is_word(unsigned char byte) {
    return byte == '_' || byte == '$' || byte == '%' || byte == '.' || (byte >= '0' && byte <= '9') ||
           (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

// A place of the text, more often one of its declarations than chance would have it.
static size_t some_place(Random *random, const Bytes *text) {
    if (text->size == 0) return 0;
    size_t at = below(random, (uint32_t)text->size);
    static const char *const marks[] = {"\n.", ".entry", ".param", ".visible", ".weak", ".global", ".shared", "[", "{", "call"};
    if (one_in(random, 2)) return at;
    const char *mark = marks[below(random, sizeof marks / sizeof *marks)];
    const unsigned char *found = memmem(text->bytes + at, text->size - at, mark, strlen(mark));
    if (found == NULL) return at;
    size_t place = (size_t)(found - text->bytes) + below(random, 60);
    return place < text->size ? place : at;
}

static void damage_text(Random *random, Bytes *text) {
    static const char *const words[] = {"0", "-1", "4294967296", "18446744073709551615", "99999999999999999999999", "1099511627776",
        ".global", ".param", ".u64", ".b8", ".entry", ".func", ".extern", ".weak", "%rd1", "%tid.x", "{", "}", "[", "]", ";",
        ",", "(", ")", "bar.sync 0;", "ret;", "trap;", "exit;", "factor", "//", "/*", "\"", "\0", "\xff\xfe", "0f7fffffff", "0x", ".align 4096", ".maxntid 0",
        ".maxntid 2048", ".minnctapersm 99999", ".target sm_999", ".target sm_90a", ".version 99.9", ".address_size 32"};
    static char many[70000];
    size_t at = some_place(random, text), end = at;
    if (text->size == 0) return;
    switch (below(random, 9)) {
    case 0: text->bytes[at] ^= (unsigned char)(1u << below(random, 8)); break;
    case 1: text->bytes[at] = (unsigned char)next(random); break;
    case 2: text->size = at; break;
    case 3: // A word becomes another one.
        while (at > 0 && is_word(text->bytes[at - 1])) at--;
        while (end < text->size && is_word(text->bytes[end])) end++;
        const char *word = words[below(random, sizeof words / sizeof *words)];
        replace(text, at, end - at, word, *word ? strlen(word) : 1);
        break;
    case 4: { // A number becomes another one.
        while (at < text->size && (text->bytes[at] < '0' || text->bytes[at] > '9')) at++;
        for (end = at; end < text->size && text->bytes[end] >= '0' && text->bytes[end] <= '9';) end++;
        char number[24];
        uint64_t value = (uint64_t)next(random) << 32 | next(random);
        snprintf(number, sizeof number, "%llu", (unsigned long long)(value >> below(random, 64)));
        replace(text, at, end - at, number, strlen(number));
        break;
    }
    case 5: case 6: { // A line goes, or comes again elsewhere.
        const unsigned char *newline = memrchr(text->bytes, '\n', at);
        at = newline == NULL ? 0 : (size_t)(newline - text->bytes) + 1;
        newline = memchr(text->bytes + at, '\n', text->size - at);
        end = newline == NULL ? text->size : (size_t)(newline - text->bytes) + 1;
        if (one_in(random, 2)) {
            replace(text, at, end - at, "", 0);
        } else {
            Bytes line = copy_of(text->bytes + at, end - at);
            replace(text, one_in(random, 2) ? at : some_place(random, text), 0, line.bytes, line.size);
        }
        break;
    }
    case 7: { // A part comes again elsewhere.
        Bytes part = copy_of(text->bytes + at, below(random, 2000) % (uint32_t)(text->size - at));
        replace(text, some_place(random, text), 0, part.bytes, part.size);
        break;
    }
    default: // Much of one thing, such as brackets within brackets.
        memset(many, "([{;x9/-.,\t"[below(random, 11)], sizeof many);
        replace(text, at, 0, many, below(random, sizeof many));
        break;
    }
}

static void put(Bytes *to, uint64_t value, size_t size) { replace(to, to->size, 0, &value, size); }

// A fat binary of some parts, with the layout that `nvfatbin` writes; its numbers may be false.
static Bytes fat_binary(Random *random, const Bytes *text) {
    Bytes content = copy_of("", 0), whole = copy_of("", 0);
    for (uint32_t parts = below(random, 4); parts > 0; parts--) {
        Bytes part = one_in(random, 2) ? *text : copy_of(text->bytes, below(random, 200) % (text->size + 1));
        uint32_t processors[] = {80, 80, 75, 90, 120, 0, 0xffffffff};
        put(&content, below(random, 4), 2), put(&content, 0x101, 2);
        put(&content, one_in(random, 8) ? next(random) : 64, 4);
        put(&content, one_in(random, 8) ? next(random) : part.size, 8);
        put(&content, one_in(random, 16) ? next(random) : 0, 4), put(&content, 0, 4);
        put(&content, 0x00070008, 4), put(&content, processors[below(random, 7)], 4);
        put(&content, 0, 8), put(&content, one_in(random, 4) ? next(random) : 0x11, 8);
        put(&content, 0, 8), put(&content, one_in(random, 4) ? next(random) : 0, 8);
        replace(&content, content.size, 0, part.bytes, part.size);
    }
    put(&whole, 0xba55ed50, 4), put(&whole, 1, 2), put(&whole, one_in(random, 8) ? next(random) : 16, 2);
    put(&whole, one_in(random, 4) ? (uint64_t)next(random) << below(random, 32) : content.size, 8);
    replace(&whole, whole.size, 0, content.bytes, content.size);
    return whole;
}

// Machine code: nothing but headers, and those with some other bytes.
static Bytes machine_code(Random *random) {
    unsigned char bytes[512] = "\x7f""ELF\x02\x01\x01\x33\x07";
    bytes[16] = 2, bytes[18] = 190, bytes[20] = 1, bytes[32] = 64, bytes[52] = 64, bytes[54] = 56, bytes[58] = 64;
    bytes[48] = 80;
    for (uint32_t changes = below(random, 12); changes > 0; changes--)
        bytes[4 + below(random, 124)] = one_in(random, 2) ? 0xff : (unsigned char)next(random);
    return copy_of(bytes, 64 + below(random, sizeof bytes - 64));
}

// LLVM's container, whose content the runtime is normally given.
static Bytes container(Random *random, const Bytes *text) {
    Bytes whole = copy_of("\x10\xff\x10\xad", 4);
    put(&whole, 1 + below(random, 3), 4);
    put(&whole, one_in(random, 2) ? next(random) : text->size + 72, 8);
    put(&whole, one_in(random, 4) ? next(random) : 32, 8), put(&whole, one_in(random, 4) ? next(random) : 40, 8);
    put(&whole, 5, 2), put(&whole, 1, 2), put(&whole, 0, 4), put(&whole, 72, 8), put(&whole, one_in(random, 2), 8);
    put(&whole, one_in(random, 4) ? next(random) : 72, 8), put(&whole, text->size, 8);
    replace(&whole, whole.size, 0, text->bytes, text->size);
    return whole;
}

// What of a child's image and table is damaged.
typedef struct {
    int text, table;
} Damaged;

// An image, and whether its text is damaged, so that its kernels may do what they want.
static Bytes some_image(Random *random, Damaged *damaged) {
    Bytes text = copy_of(own->images->start, (size_t)((const char *)own->images->end - (const char *)own->images->start));
    switch (below(random, 10)) {
    case 0: return text;
    case 1: return copy_of(text.bytes, below(random, 100));
    case 2: return machine_code(random);
    case 3: return fat_binary(random, &text);
    case 4: return container(random, &text);
    case 5: return copy_of("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", below(random, 17));
    default:
        damaged->text = 1;
        for (uint32_t changes = 1 + below(random, 4); changes > 0; changes--) damage_text(random, &text);
        return one_in(random, 8) ? fat_binary(random, &text) : text;
    }
}

static Descriptor *some_library(Random *random, Damaged *damaged) {
    static Image images[IMAGES];
    static Entry entries[ENTRIES];
    static Descriptor library;
    int count = 0;
    for (const Entry *entry = own->entries_begin; entry < own->entries_end && count < ENTRIES - 1; entry++) entries[count++] = *entry;
    if (one_in(random, 3)) {
        damaged->table = 1;
        Entry *entry = &entries[below(random, (uint32_t)count)], *other = &entries[below(random, (uint32_t)count)];
        switch (below(random, 6)) {
        case 0: entry->name = one_in(random, 2) ? "missing" : "\xff\xfe\x80"; break;
        case 1: entry->name = other->name; break;
        case 2: entry->name = ""; break;
        // No size of a variable: the table says truly how large the program's variables are.
        case 3: entry->size = entry->size == 0 ? 4 : 0; break;
        case 4: entries[count++] = *other; break;
        default: count = (int)below(random, (uint32_t)count + 1); break;
        }
    }
    library.count = (int)below(random, IMAGES + 1);
    if (one_in(random, 2)) library.count = 1;
    for (int i = 0; i < library.count; i++) {
        Bytes image = some_image(random, damaged);
        images[i] = (Image){image.bytes, image.bytes + image.size, entries, entries + count};
    }
    library.images = images;
    library.entries_begin = entries, library.entries_end = entries + count;
    return &library;
}

// What its time has run out for: code that the driver has made, which is in no file, or a fault of those that are. One
// sample says nothing: a machine that was stopped for a while takes that for time that the child has used.
static void circle(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    static atomic_int samples, outside;
    Dl_info found;
    uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    int is_outside = !dladdr((void *)pc, &found);
    if (is_outside && atomic_fetch_add(&outside, 1) > 100) _exit(CIRCLE);
    if (atomic_fetch_add(&samples, 1) > 400) _exit(atomic_load(&outside) > 0 ? CIRCLE : STUCK);
}

// Says where a child has crashed, in what is shown of it, and lets it crash.
static void crash(int number, siginfo_t *info, void *context) {
    (void)context;
    void *frames[40];
    dprintf(2, "signal %d, code %d, at %p:\n", number, info->si_code, info->si_addr);
    backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
    signal(number, SIG_DFL);
    raise(number);
}

static void child(Random *random, Damaged *damaged) __attribute__((noreturn));
static void child(Random *random, Damaged *damaged) {
    struct sigaction handler = {.sa_sigaction = circle, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &handler, NULL);
    struct sigaction crashing = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_NODEFER};
    for (int i = 0; i < 4; i++) sigaction((int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE}[i], &crashing, NULL);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 10, .it_interval.tv_usec = 10000}, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    forget_dead_namesake();
    registered = some_library(random, damaged);
    setenv("OMP_TARGET_OFFLOAD", one_in(random, 2) ? "DEFAULT" : "MANDATORY", 1);
    forward("__tgt_register_lib", registered);
    int right = regions() && (damaged->text || damaged->table || regions());
    if (right && one_in(random, 2)) exit(0);
    // The table of a damaged one may exchange regions.
    if (right) __tgt_unregister_lib(registered);
    _exit(right ? 0 : OTHER);
}

static void show(const char *path) {
    char line[400];
    FILE *file = fopen(path, "r");
    for (int lines = 0; file != NULL && lines < 60 && fgets(line, sizeof line, file) != NULL; lines++) fputs(line, stderr);
    if (file != NULL) fclose(file);
}

// Whether a text stands in a file.
static int says(const char *path, const char *text) {
    static char said[1 << 16];
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    size_t size = fread(said, 1, sizeof said, file);
    fclose(file);
    return memmem(said, size, text, strlen(text)) != NULL;
}

typedef struct {
    atomic_long ran, refused, other, circles;
} Counts;

// One process of those that have children.
static void attack(uint64_t number, Counts *counts, volatile Damaged *damaged) {
    Random random = random_of(number);
    char path[40];
    snprintf(path, sizeof path, "said-%d", (int)number);
    while (!stress_over()) {
        uint64_t state = random.state;
        next(&random);
        *damaged = (Damaged){0};
        pid_t process = fork();
        if (process < 0) fail("no process");
        if (process == 0) {
            Random own_random = {state};
            for (int i = 0; i < 20; i++) next(&own_random);
            int said = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(said, 1), dup2(said, 2);
            child(&own_random, (Damaged *)damaged);
        }
        int ended;
        if (waitpid(process, &ended, 0) != process) fail("a child is lost");
        int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, signal_number = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
        const char *wrong = NULL;
        if (status == 0) atomic_fetch_add(&counts->ran, 1);
        else if (status == OTHER && (damaged->text || damaged->table)) atomic_fetch_add(&counts->other, 1);
        else if (status == CIRCLE && damaged->text) atomic_fetch_add(&counts->circles, 1);
        else if (status == 1 || signal_number == SIGABRT) atomic_fetch_add(&counts->refused, 1);
        else wrong = "it ends otherwise than it may";
        if ((status == 1 || signal_number == SIGABRT) && !says(path, "gangway: error")) wrong = "no message says why it ends";
        if (says(path, "panicked")) wrong = "it panics";
        if (wrong != NULL) {
            fprintf(stderr, "text %s, table %s\n", damaged->text ? "damaged" : "whole", damaged->table ? "damaged" : "whole");
            show(path);
            fail("child %ld of state %#llx: %s (status %d, signal %d)", atomic_load(&stress_calls), (unsigned long long)state, wrong,
                 status, signal_number);
        }
        atomic_fetch_add(&stress_calls, 1);
    }
}

int main(int argc, char **argv) {
    if (own == NULL || own->count != 1) fail("the program has registered no image");
    Damaged none = {0};
    if (argc == 3 && strncmp(argv[1], "0x", 2) == 0 && strcmp(argv[2], "child") == 0) {
        Random random = {strtoull(argv[1], NULL, 0)};
        for (int i = 0; i < 20; i++) next(&random);
        child(&random, &none);
    }
    stress_start(argc, argv);
    struct {
        Counts counts;
        Damaged damaged[PROCESSES];
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("no memory");
    for (int i = 0; i < PROCESSES; i++) {
        pid_t process = fork();
        if (process < 0) fail("no process");
        if (process > 0) continue;
        attack((uint64_t)i, &shared->counts, &shared->damaged[i]);
        _exit(0);
    }
    int ended, failed = 0;
    while (wait(&ended) > 0) failed |= !WIFEXITED(ended) || WEXITSTATUS(ended) != 0;
    if (failed) return 1;
    const Counts *counts = &shared->counts;
    printf("%ld ran, %ld refused, %ld computed something else, %ld ran in a circle\n", counts->ran, counts->refused, counts->other, counts->circles);
    stress_report();
    return 0;
}
