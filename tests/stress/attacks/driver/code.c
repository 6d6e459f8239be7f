// Eight threads load damaged code: PTX whose bytes, words or lines are exchanged, lost or doubled, and images that are cut
// short or begin as something else. What still loads is launched, if it has no jumps that could make it run for ever. A thread's
// own sound module must go on giving the right results.
#include "kernels.h"
#include "stress.h"
#include <pthread.h>

CUresult cuLinkCreate_v2(unsigned, int *, void **, void **);
CUresult cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
CUresult cuLinkComplete(void *, void **, size_t *);
CUresult cuLinkDestroy(void *);

static const char *const SOURCES[] = {
    KERNELS,
    // Without jumps and calls: these are launched.
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .b32 table[4] = {1, 2, 3, 4};\n"
    ".shared .align 8 .b8 room[256];\n"
    ".visible .entry main(.param .u64 memory, .param .u32 value) {\n"
    "  .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .pred %p<4>; .local .align 8 .b8 own[32];\n"
    "  ld.param.u64 %rd1, [memory]; ld.param.u32 %r1, [value];\n"
    "  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r3, [%rd3]; ld.const.u32 %r4, [table+4]; mad.lo.s32 %r5, %r3, %r4, %r1;\n"
    "  cvt.rn.f32.u32 %f1, %r5; sqrt.rn.f32 %f2, %f1; fma.rn.f32 %f3, %f1, %f2, 0f3F800000; cvt.rzi.u32.f32 %r6, %f3;\n"
    "  setp.gt.u32 %p1, %r6, 17; selp.b32 %r7, %r5, %r6, %p1; shfl.sync.bfly.b32 %r8|%p2, %r7, 1, 31, 0xffffffff;\n"
    "  mov.u64 %rd4, room; st.shared.u32 [room+16], %r8; bar.sync 0; ld.shared.v2.u32 {%r9, %r10}, [room+16];\n"
    "  st.local.u32 [own+4], %r9; ld.local.u32 %r11, [own+4]; atom.global.add.u32 %r12, [%rd3], %r11;\n"
    "  vote.sync.ballot.b32 %r13, %p1, 0xffffffff; popc.b32 %r14, %r13; @%p1 st.global.u32 [%rd3], %r14; ret;\n"
    "}\n",
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 8 .u64 pointers[3] = {generic(data), 7, data+4};\n"
    ".global .align 4 .b8 data[16] = {1, 2, 3};\n"
    ".visible .entry main(.param .u64 memory, .param .u32 value) {\n"
    "  .reg .u64 %a, %b; .reg .u32 %x, %y; .reg .f64 %d;\n"
    "  ld.param.u64 %a, [memory]; ld.global.u64 %b, [pointers]; ld.u8 %x, [%b+1]; cvt.rn.f64.u32 %d, %x;\n"
    "  div.rn.f64 %d, %d, 0d4008000000000000; cvt.rni.u32.f64 %y, %d; bfe.u32 %y, %y, 3, 4; prmt.b32 %y, %x, %y, 0x5410;\n"
    "  st.global.u32 [%a], %y; ret;\n"
    "}\n",
};
enum { COUNT = sizeof SOURCES / sizeof *SOURCES };

// Words that may take the place of others.
static const char *const WORDS[] = {"u32", "b64", "f32", "global", "shared", "param", "%tid", "0", "-1", "4294967296", "0xffffffffffffffff",
                                    "1e400", "{", "}", "[", "]", ";", ",", ".", "//", "/*", ".reg", ".func", ".align 1073741824",
                                    ".b8 x[4294967295]", "add.u32", "ld.v4.u32", "@%p1", "<4000000000>"};

// A damaged copy; the caller frees it.
static char *damaged(Random *random, const char *source, size_t *length) {
    size_t size = strlen(source);
    char *text = malloc(2 * size + 400);
    memcpy(text, source, size + 1);
    for (uint32_t changes = 1 + below(random, 4); changes > 0 && size > 1; changes--) {
        size_t at = below(random, (uint32_t)size), count = 1 + below(random, 12);
        if (count > size - at) count = size - at;
        switch (below(random, 7)) {
        case 0: text[at] = (char)next(random); break;
        case 1: text[at] ^= (char)(1 << below(random, 7)); break;
        case 2: // lost
            memmove(text + at, text + at + count, size - at - count);
            size -= count;
            break;
        case 3: // doubled, once at most for each change
            if (size + count > 2 * strlen(source)) break;
            memmove(text + at + count, text + at, size - at);
            size += count;
            break;
        case 4: size = at; break;
        case 5: { // another word
            const char *word = WORDS[below(random, sizeof WORDS / sizeof *WORDS)];
            size_t long_ = strlen(word);
            if (size + long_ > 2 * strlen(source)) break;
            memmove(text + at + long_, text + at, size - at);
            memcpy(text + at, word, long_);
            size += long_;
            break;
        }
        case 6: { // exchanged
            size_t other = below(random, (uint32_t)size);
            char one = text[at];
            text[at] = text[other];
            text[other] = one;
        }
        }
    }
    text[size] = 0;
    *length = size;
    return text;
}

// As an image of some other kind: its magic number, and anything behind it. A call that is given no length must believe the
// one in the header of a fat binary, so that is not more than there is.
static char *disguised(Random *random, size_t *length) {
    static const char magic[][8] = {"\177ELF\2\1\1", "\x50\xed\x55\xba\1\0\x10", "\x10\xff\x10\xad", "BC\xc0\xde"};
    char *image = malloc(4096);
    for (size_t i = 0; i < 4095; i++) image[i] = one_in(random, 3) ? (char)next(random) : 0;
    image[4095] = 0;
    uint32_t which = below(random, 4);
    memcpy(image, magic[which], 8);
    if (which == 1) {
        uint64_t content = below(random, 4096 - 16);
        memcpy(image + 8, &content, 8);
        // The first part in it: its kind, and the length of its own header.
        image[16] = (char)(1 + below(random, 2));
        image[17] = 0;
        image[20] = 64;
    }
    *length = 4096;
    return image;
}

static int has_jumps(const char *text) { return strstr(text, "bra") || strstr(text, "call") || strstr(text, "brx"); }

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    CUcontext sound, context;
    CUdeviceptr memory;
    uint32_t found, expected = 0;
    OK(cuCtxCreate_v2(&sound, 0, 0));
    Kernels kernels = load_kernels();
    OK(cuMemAlloc_v2(&memory, 4096));
    OK(cuMemsetD32_v2(memory, 0, 1024));
    OK(cuCtxCreate_v2(&context, 0, 0));
    while (!stress_over()) {
        size_t length;
        int is_text = !one_in(&random, 10);
        char *image = is_text ? damaged(&random, SOURCES[below(&random, COUNT)], &length) : disguised(&random, &length);
        CUmodule module;
        CUfunction function;
        CUdeviceptr room;
        void *link, *linked;
        if (one_in(&random, 3)) {
            if (cuLinkCreate_v2(0, NULL, NULL, &link) == SUCCESS) {
                if (cuLinkAddData_v2(link, is_text ? 1 : (int)below(&random, 4), image, length + is_text, "damaged", 0, NULL,
                                     NULL) == SUCCESS)
                    cuLinkComplete(link, &linked, &length);
                cuLinkDestroy(link);
            }
        } else if (cuModuleLoadData(&module, image) == SUCCESS) {
            if (is_text && !has_jumps(image) && cuModuleGetFunction(&function, module, "main") == SUCCESS
                && cuMemAlloc_v2(&room, 4096) == SUCCESS) {
                uint32_t value = next(&random);
                // What it takes may have changed: each is as long as all parameters together may be.
                static _Thread_local char values[2][1 << 16];
                void *parameters[64];
                memcpy(values[0], &room, 8);
                memcpy(values[1], &value, 4);
                for (size_t i = 0; i < 64; i++) parameters[i] = values[i == 1];
                if (cuLaunchKernel(function, 1 + below(&random, 3), 1, 1, 32, 1, 1, 0, NULL, parameters, NULL) == SUCCESS)
                    cuCtxSynchronize();
                cuMemFree_v2(room);
            }
            cuModuleUnload(module);
        }
        free(image);
        if (cuCtxSynchronize() != SUCCESS) {
            OK(cuCtxDestroy_v2(context));
            OK(cuCtxCreate_v2(&context, 0, 0));
        }
        uint32_t one = 1;
        void *parameters[] = {&memory, &one};
        OK(cuCtxSetCurrent(sound));
        OK(launch(kernels.add, 32, NULL, parameters));
        OK(cuMemcpyDtoH_v2(&found, memory, 4));
        if (found != ++expected) fail("thread %lu: the sound kernel has counted %u, not %u", (long)number, found, expected);
        OK(cuCtxSetCurrent(context));
        atomic_fetch_add(&stress_calls, 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    OK(cuInit(0));
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    stress_report();
    return 0;
}
