// Random PTX programs that have one right answer: no race, no undefined shift or division, no store of a NaN's payload.
//
// Every thread has registers of each type and computes on them in branches, loops, calls and tables of branches, with its
// own words of each kind of memory, and reads others of a table. Where all threads of a block are together there are
// barriers, exchanges through shared memory and between the lanes of a warp.
#ifndef GENERATE_H
#define GENERATE_H

#include "../stress.h"

enum { INTS = 12, LONGS = 6, FLOATS = 6, DOUBLES = 4, PREDICATES = 4, ROW = 256, OWN = 192 };

typedef struct {
    Random *random;
    char *text;
    size_t length, capacity;
    int labels, loops;
    // A function has no memory but its own, and no other threads.
    int in_function, functions;
    // Whether all threads of a block are here, and its warps have all their lanes.
    int together, whole_warps;
} Program;

__attribute__((format(printf, 2, 3))) static void put(Program *program, const char *format, ...) {
    va_list arguments;
    if (program->length + 512 > program->capacity) {
        program->capacity = program->capacity * 2 + 4096;
        program->text = realloc(program->text, program->capacity);
        if (!program->text) fail("no memory for a program");
    }
    va_start(arguments, format);
    program->length += (size_t)vsnprintf(program->text + program->length, 512, format, arguments);
    va_end(arguments);
}

static uint32_t edge(Random *random) {
    static const uint32_t edges[] = {0, 1, 2, 7, 31, 32, 33, 255, 256, 65535, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
    return one_in(random, 3) ? next(random) : edges[below(random, sizeof edges / sizeof *edges)];
}

// Instructions; a capital letter stands for an operand:
// D, A, S: a 32-bit result, a source that may be a constant, a register; E, B: 64 bits; F, X: f32; G, Y: f64;
// P, Q: predicates; K: a constant below 32; N: below 256; C: a comparison; U: the same with unsigned numbers; T: a scratch.
static const char *const INSTRUCTIONS[] = {
    "add.u32 D, A, A", "sub.s32 D, A, A", "mul.lo.u32 D, S, A", "mul.hi.u32 D, S, A", "mul.hi.s32 D, S, A",
    "mad.lo.s32 D, S, A, A", "mad.hi.u32 D, S, A, A", "mul24.lo.u32 D, S, A", "and.b32 D, S, A", "or.b32 D, S, A",
    "xor.b32 D, S, A", "not.b32 D, S", "neg.s32 D, S", "abs.s32 D, S", "cnot.b32 D, S", "shl.b32 D, S, A", "shr.u32 D, S, A",
    "shr.s32 D, S, A", "min.u32 D, S, A", "max.s32 D, S, A", "popc.b32 D, S", "clz.b32 D, S", "brev.b32 D, S",
    "bfind.u32 D, S", "bfe.u32 D, S, N, N", "bfe.s32 D, S, A, A", "bfi.b32 D, S, S, A, A", "prmt.b32 D, S, A, A",
    "sad.u32 D, S, A, A", "sad.s32 D, S, S, S", "lop3.b32 D, S, S, A, N", "shf.l.wrap.b32 D, S, S, A", "shf.r.clamp.b32 D, S, S, A",
    "dp4a.s32.u32 D, S, S, S", "slct.s32.s32 D, A, A, S", "selp.b32 D, A, A, Q", "mov.b32 D, A", "set.U.u32.u32 D, S, A",
    "or.b32 T, S, 1; div.u32 D, S, T", "or.b32 T, S, 1; rem.u32 D, S, T", "and.b32 T, S, 255; add.u32 T, T, 1; div.s32 D, S, T",
    "and.b32 T, S, 255; add.u32 T, T, 1; rem.s32 D, S, T", "add.cc.u32 T, S, A; addc.u32 D, S, A", "sub.cc.u32 T, S, A; subc.u32 D, S, A",
    "cvt.s32.s8 D, S", "cvt.u32.u16 D, S", "cvt.u32.u64 D, B", "cvt.sat.s16.s32 D, S",
    "mul.wide.u32 E, S, A", "mul.wide.s32 E, S, A", "mad.wide.u32 E, S, A, B", "cvt.u64.u32 E, S", "cvt.s64.s32 E, S", "add.s64 E, B, B",
    "sub.s64 E, B, B", "mul.lo.s64 E, B, B", "mul.hi.u64 E, B, B", "xor.b64 E, B, B", "and.b64 E, B, B", "shl.b64 E, B, A",
    "shr.s64 E, B, A", "shr.u64 E, B, A", "min.s64 E, B, B", "max.u64 E, B, B", "popc.b64 D, B", "clz.b64 D, B", "brev.b64 E, B",
    "mov.b64 E, {S, S}", "mov.b64 {D, T}, B", "selp.b64 E, B, B, Q", "bfe.u64 E, B, N, N", "neg.s64 E, B", "not.b64 E, B",
    "cvt.rn.f32.u32 F, S", "cvt.rz.f32.s32 F, S", "cvt.rn.f32.s64 F, B", "cvt.rn.f32.f64 F, Y", "add.rn.f32 F, X, X", "sub.ftz.f32 F, X, X",
    "mul.rn.f32 F, X, X", "mul.rz.f32 F, X, X", "fma.rn.f32 F, X, X, X", "fma.rn.ftz.f32 F, X, X, X", "div.rn.f32 F, X, X", "sqrt.rn.f32 F, X",
    "min.f32 F, X, X", "max.NaN.f32 F, X, X", "abs.f32 F, X", "neg.f32 F, X", "copysign.f32 F, X, X", "selp.f32 F, X, X, Q",
    "cvt.rni.f32.f32 F, X", "cvt.rmi.f32.f32 F, X", "cvt.sat.f32.f32 F, X", "mov.f32 F, 0f3fc00000",
    "cvt.rzi.s32.f32 D, X", "cvt.rni.u32.f32 D, X", "cvt.rpi.s32.f64 D, Y", "cvt.rzi.u64.f64 E, Y", "set.C.u32.f32 D, X, X",
    "cvt.rn.f64.u32 G, S", "cvt.f64.f32 G, X", "cvt.rn.f64.s64 G, B", "add.rn.f64 G, Y, Y", "mul.rn.f64 G, Y, Y", "fma.rn.f64 G, Y, Y, Y",
    "div.rn.f64 G, Y, Y", "sqrt.rn.f64 G, Y", "max.f64 G, Y, Y", "rcp.rn.f64 G, Y",
    "setp.U.u32 P, S, A", "setp.C.s32 P, S, A", "setp.C.s64 P, B, B", "setp.C.f32 P, X, X", "setp.C.f64 P, Y, Y", "setp.C.and.s32 P, S, A, Q",
    "setp.C.xor.s32 P, S, A, Q", "and.pred P, Q, Q", "not.pred P, Q", "xor.pred P, Q, Q", "testp.finite.f32 P, X",
};

// Between the lanes of a warp, all of them there; the first four also without.
static const char *const WARP[] = {
    "vote.sync.ballot.b32 D, Q, 0xffffffff", "vote.sync.any.pred P, Q, 0xffffffff", "vote.sync.all.pred P, Q, 0xffffffff",
    "vote.sync.uni.pred P, Q, 0xffffffff", "shfl.sync.bfly.b32 D, S, K, 31, 0xffffffff", "shfl.sync.idx.b32 D, S, A, 31, 0xffffffff",
    "shfl.sync.up.b32 D|P, S, K, 0, 0xffffffff", "shfl.sync.down.b32 D|P, S, K, 31, 0xffffffff",
    "shfl.sync.idx.b32 D, S, S, 0x181f, 0xffffffff", "redux.sync.add.s32 D, S, 0xffffffff", "redux.sync.max.u32 D, S, 0xffffffff",
    "match.any.sync.b32 D, S, 0xffffffff", "match.all.sync.b32 D|P, S, 0xffffffff",
};

static void operand(Program *program, char letter) {
    static const char *const compare[] = {"eq", "ne", "lt", "le", "gt", "ge"}, *const lower[] = {"eq", "ne", "lo", "ls", "hi", "hs"};
    Random *random = program->random;
    switch (letter) {
    case 'A':
        if (one_in(random, 3)) {
            put(program, "%u", edge(random));
            break;
        }
        // Fall through.
    case 'D': case 'S': put(program, "%%r%u", below(random, INTS)); break;
    case 'E': case 'B': put(program, "%%d%u", below(random, LONGS)); break;
    case 'F': case 'X': put(program, "%%f%u", below(random, FLOATS)); break;
    case 'G': case 'Y': put(program, "%%g%u", below(random, DOUBLES)); break;
    case 'P': case 'Q': put(program, "%%p%u", below(random, PREDICATES)); break;
    case 'K': put(program, "%u", below(random, 32)); break;
    case 'N': put(program, "%u", below(random, 256)); break;
    case 'C': put(program, "%s", compare[below(random, 6)]); break;
    case 'U': put(program, "%s", lower[below(random, 6)]); break;
    case 'T': put(program, "%%t0"); break;
    default: put(program, "%c", letter);
    }
}

static void instruction(Program *program, const char *form) {
    for (; *form; form++) {
        // The name of a modifier, not an operand.
        if (strncmp(form, "NaN", 3) == 0) {
            put(program, "NaN");
            form += 2;
        } else {
            operand(program, *form);
        }
    }
    put(program, ";\n");
}

static void compute(Program *program) {
    const char *form = INSTRUCTIONS[below(program->random, sizeof INSTRUCTIONS / sizeof *INSTRUCTIONS)];
    if (one_in(program->random, 6) && !strchr(form, ';')) {
        put(program, one_in(program->random, 2) ? "@" : "@!");
        operand(program, 'Q');
        put(program, " ");
    }
    instruction(program, form);
}

// Words of the thread's own, in each kind of memory.
static void memory(Program *program) {
    static const char *const types[] = {"u32", "s32", "u8", "s8", "u16", "s16"};
    static const unsigned sizes[] = {4, 4, 1, 1, 2, 2};
    Random *random = program->random;
    unsigned type = below(random, 6), size = sizes[type], from = below(random, 16 / size) * size;
    const char *name = types[type];
    switch (below(random, program->in_function ? 3 : 10)) {
    case 0:
        put(program, "and.b32 %%t0, %%r%u, 15; shl.b32 %%t0, %%t0, 2; cvt.u64.u32 %%a0, %%t0; mov.u64 %%a1, local; add.s64 %%a0, %%a0, %%a1;\n",
            below(random, INTS));
        put(program, one_in(random, 2) ? "st.local.u32 [%%a0], %%r%u;\n" : "ld.local.u32 %%r%u, [%%a0];\n", below(random, INTS));
        break;
    case 1:
        put(program, "and.b32 %%t0, %%r%u, 15; shl.b32 %%t0, %%t0, 2; cvt.u64.u32 %%a0, %%t0; mov.u64 %%a1, table; add.s64 %%a0, %%a0, %%a1;\n",
            below(random, INTS));
        put(program, "ld.const.u32 %%r%u, [%%a0];\n", below(random, INTS));
        break;
    case 2: // Where each lane reads has no shape.
        put(program, "and.b32 %%t0, %%r%u, 240; cvt.u64.u32 %%a0, %%t0; mov.u64 %%a1, cells; add.s64 %%a0, %%a0, %%a1;\n", below(random, INTS));
        if (one_in(random, 3)) {
            put(program, "ld.global.v4.u32 {%%r0, %%r1, %%r%u, %%r%u}, [%%a0+%u];\n", 2 + below(random, 4), 6 + below(random, 6), below(random, 4) * 16);
        } else {
            put(program, "ld.global.%s %%r%u, [%%a0+%u];\n", name, below(random, INTS), from);
        }
        break;
    case 3: put(program, "st.shared.%s [%%mine+%u], %%r%u;\n", name, from, below(random, INTS)); break;
    case 4: put(program, "ld.shared.%s %%r%u, [%%mine+%u];\n", name, below(random, INTS), from); break;
    case 5: put(program, "st.global.%s [%%own+%u], %%r%u;\n", name, from, below(random, INTS)); break;
    case 6: put(program, "ld.global.%s %%r%u, [%%own+%u];\n", name, below(random, INTS), from); break;
    case 7:
        if (one_in(random, 2)) {
            put(program, "st.global.v4.u32 [%%own+16], {%%r%u, %%r%u, %%r%u, %%r%u};\n", below(random, INTS), below(random, INTS),
                below(random, INTS), below(random, INTS));
        } else {
            put(program, "ld.global.v2.u32 {%%r0, %%r%u}, [%%own+%u];\n", 1 + below(random, INTS - 1), below(random, 4) * 8);
        }
        break;
    case 8: put(program, "atom.global.%s.u32 %%r%u, [%%own+%u], %%r%u;\n", one_in(random, 2) ? "add" : "max", below(random, INTS),
                below(random, 8) * 4, below(random, INTS)); break;
    default: put(program, "red.shared.add.u32 [counts+%u], %%r%u;\n", below(random, 4) * 4, below(random, INTS));
    }
}

// What other threads have put into shared memory: each its word, and each reads that of another.
static void exchange(Program *program) {
    Random *random = program->random;
    put(program, "bar.sync 0;\nst.shared.u32 [%%slot], %%r%u;\nbar.sync 0;\n", below(random, INTS));
    put(program, "add.u32 %%t0, %%thread, %u; rem.u32 %%t0, %%t0, %%threads; mov.u32 %%t1, words; mad.lo.u32 %%t0, %%t0, 4, %%t1;\n",
        below(random, 200));
    put(program, "ld.shared.u32 %%r%u, [%%t0];\n", below(random, INTS));
}

static void statements(Program *program, int depth, unsigned count);

static void branch(Program *program, int depth) {
    Random *random = program->random;
    int label = program->labels++, together = program->together;
    // All threads of a block decide the same by its number.
    if (!program->in_function && one_in(random, 4)) {
        put(program, "setp.gt.u32 %%p0, %%block, %u;\n@%%p0 bra ELSE%d;\n", below(random, 4), label);
    } else {
        program->together = 0;
        put(program, "@%s%%p%u bra ELSE%d;\n", one_in(random, 2) ? "!" : "", below(random, PREDICATES), label);
    }
    statements(program, depth - 1, 1 + below(random, 5));
    if (one_in(random, 2)) {
        put(program, "bra END%d;\nELSE%d:\n", label, label);
        statements(program, depth - 1, 1 + below(random, 5));
        put(program, "END%d:\n", label);
    } else {
        put(program, "ELSE%d:\n", label);
    }
    program->together = together;
}

static void loop(Program *program, int depth) {
    Random *random = program->random;
    int label = program->labels++, counter = program->loops++, together = program->together;
    if (one_in(random, 2)) {
        put(program, "mov.u32 %%c%d, %u;\n", counter, 1 + below(random, 6));
    } else {
        program->together = 0;
        put(program, "and.b32 %%c%d, %%r%u, 7; add.u32 %%c%d, %%c%d, 1;\n", counter, below(random, INTS), counter, counter);
    }
    put(program, "LOOP%d:\n", label);
    int leaves = one_in(random, 3);
    if (leaves) program->together = 0;
    statements(program, depth - 1, 1 + below(random, 4));
    if (leaves) {
        put(program, "@%%p%u bra DONE%d;\n", below(random, PREDICATES), label);
        statements(program, depth - 1, 1 + below(random, 3));
    }
    put(program, "sub.u32 %%c%d, %%c%d, 1; setp.ne.u32 %%q, %%c%d, 0;\n@%%q bra LOOP%d;\nDONE%d:\n", counter, counter, counter, label, label);
    program->together = together;
}

static void choice(Program *program, int depth) {
    Random *random = program->random;
    int label = program->labels++, together = program->together, ways = 2 + (int)below(random, 4);
    program->together = 0;
    put(program, "ways%d: .branchtargets", label);
    for (int i = 0; i < ways; i++) put(program, "%s WAY%d_%d", i ? "," : "", label, i);
    put(program, ";\nrem.u32 %%t0, %%r%u, %d;\nbrx.idx %%t0, ways%d;\n", below(random, INTS), ways, label);
    for (int i = 0; i < ways; i++) {
        put(program, "WAY%d_%d:\n", label, i);
        statements(program, depth - 1, 1 + below(random, 3));
        // Some go on in the next one.
        if (!one_in(random, 4)) put(program, "bra.uni CHOSEN%d;\n", label);
    }
    put(program, "CHOSEN%d:\n", label);
    program->together = together;
}

static void call(Program *program) {
    Random *random = program->random;
    put(program, "{ .param .b32 x, y, z; st.param.b32 [x], %%r%u; st.param.b32 [y], %%r%u; call.uni (z), f%u, (x, y);\n",
        below(random, INTS), below(random, INTS), below(random, (uint32_t)program->functions));
    put(program, "ld.param.b32 %%r%u, [z]; }\n", below(random, INTS));
}

static void statements(Program *program, int depth, unsigned count) {
    Random *random = program->random;
    for (; count > 0; count--) {
        switch (below(random, 14)) {
        case 0: if (depth > 0) branch(program, depth); break;
        case 1: if (depth > 0) loop(program, depth); break;
        case 2: if (depth > 0 && one_in(random, 2)) choice(program, depth); break;
        case 3: if (program->functions > 0 && one_in(random, 2)) call(program); break;
        case 4: case 5: memory(program); break;
        case 6: if (program->together) exchange(program); break;
        case 7: case 8:
            if (program->together && program->whole_warps) instruction(program, WARP[below(random, sizeof WARP / sizeof *WARP)]);
            break;
        default: compute(program);
        }
    }
}

// The registers of a function, and what is in them at first: made from two numbers.
static void registers(Program *program) {
    put(program, ".reg .b32 %%r<%d>, %%t<2>, %%c<%d>, %%thread, %%threads, %%block, %%mine, %%slot, %%x, %%y;\n", INTS, 200);
    put(program, ".reg .b64 %%d<%d>, %%a<2>, %%own;\n.reg .f32 %%f<%d>;\n.reg .f64 %%g<%d>;\n.reg .pred %%p<%d>, %%q;\n", LONGS,
        FLOATS, DOUBLES, PREDICATES);
    put(program, ".local .align 16 .b8 local[64];\n");
}

static void first_values(Program *program) {
    Random *random = program->random;
    for (int i = 0; i < INTS; i++)
        put(program, "mad.lo.u32 %%r%d, %%%c, %u, %u;\n", i, one_in(random, 3) ? 'y' : 'x', one_in(random, 3) ? 1 : edge(random), edge(random));
    for (int i = 0; i < LONGS; i++) put(program, "mul.wide.s32 %%d%d, %%r%d, %%r%d;\n", i, i, i + 1);
    for (int i = 0; i < FLOATS; i++) put(program, "cvt.rn.f32.s32 %%f%d, %%r%d;\n", i, i);
    for (int i = 0; i < DOUBLES; i++) put(program, "cvt.rn.f64.u32 %%g%d, %%r%d;\n", i, i);
    for (int i = 0; i < PREDICATES; i++) put(program, "setp.gt.s32 %%p%d, %%r%d, %u;\n", i, i, edge(random));
    for (int i = 0; i < 16; i++) put(program, "st.local.u32 [local+%d], %%r%d;\n", i * 4, i % INTS);
}

static void generate_function(Program *program, int number) {
    put(program, ".func (.param .b32 result) f%d(.param .b32 x, .param .b32 y)\n{\n", number);
    registers(program);
    put(program, "ld.param.b32 %%x, [x]; ld.param.b32 %%y, [y];\n");
    program->in_function = 1, program->together = 0, program->functions = number, program->loops = 0;
    first_values(program);
    statements(program, 2, 6 + below(program->random, 10));
    put(program, "st.param.b32 [result], %%r%u;\nret;\n}\n", below(program->random, INTS));
}

// A program whose kernel `e` gets the address of a row of ROW bytes for each thread; a thread's own words begin at OWN.
static void generate(Program *program, unsigned threads) {
    Random *random = program->random;
    program->length = 0, program->labels = 0;
    put(program, ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .u32 table[16] = {");
    for (int i = 0; i < 16; i++) put(program, "%s%u", i ? ", " : "", edge(random));
    put(program, "};\n.global .align 16 .u32 cells[80] = {");
    for (int i = 0; i < 80; i++) put(program, "%s%u", i ? ", " : "", one_in(random, 2) ? edge(random) : below(random, 0xffffffff));
    put(program, "};\n.shared .align 16 .b8 bytes[%u];\n.shared .align 4 .b8 words[%u];\n.shared .align 16 .b8 counts[16];\n", threads * 16,
        threads * 4);
    int functions = (int)below(random, 3);
    for (int i = 0; i < functions; i++) generate_function(program, i);
    put(program, ".visible .entry e(.param .u64 rows)\n{\n");
    registers(program);
    put(program, "mov.u32 %%thread, %%tid.x; mov.u32 %%threads, %%ntid.x; mov.u32 %%block, %%ctaid.x;\n"
                 "mov.u32 %%slot, words; mad.lo.u32 %%slot, %%thread, 4, %%slot;\n");
    // What comes out of memory has no shape, though each thread has its own row as before.
    if (one_in(random, 2)) put(program, "st.shared.u32 [%%slot], %%thread; ld.shared.u32 %%thread, [%%slot];\n");
    put(program, "mad.lo.u32 %%x, %%block, %%threads, %%thread; mov.u32 %%y, %%block;\n"
                 "ld.param.u64 %%own, [rows]; cvta.to.global.u64 %%own, %%own; mad.wide.u32 %%own, %%x, %d, %%own; add.s64 %%own, %%own, %d;\n"
                 "mov.u32 %%mine, bytes; mad.lo.u32 %%mine, %%thread, 16, %%mine;\n",
        ROW, OWN);
    program->in_function = 0, program->together = 1, program->functions = functions, program->loops = 0;
    program->whole_warps = threads % 32 == 0;
    first_values(program);
    put(program, "mov.u32 %%t0, 0;\nst.shared.v4.u32 [%%mine], {%%t0, %%x, %%y, %%t0};\nst.shared.v4.u32 [counts], {%%t0, %%t0, %%t0, %%t0};\n"
                 "bar.sync 0;\n");
    statements(program, 3, 10 + below(random, 30));
    put(program, "bar.sync 0;\nand.b32 %%t0, %%thread, 3; mov.u32 %%t1, counts; mad.lo.u32 %%t0, %%t0, 4, %%t1; ld.shared.u32 %%t0, [%%t0];\n"
                 "add.u32 %%r0, %%r0, %%t0;\nsub.s64 %%own, %%own, %d;\n", OWN);
    int at = 0;
    for (int i = 0; i < INTS; i++, at += 4) put(program, "st.global.u32 [%%own+%d], %%r%d;\n", at, i);
    for (int i = 0; i < LONGS; i++, at += 8) put(program, "st.global.u64 [%%own+%d], %%d%d;\n", at, i);
    // Which NaN it is remains open.
    for (int i = 0; i < FLOATS; i++, at += 4)
        put(program, "testp.notanumber.f32 %%q, %%f%d;\n@%%q mov.f32 %%f%d, 0f7FFFFFFF;\nst.global.f32 [%%own+%d], %%f%d;\n", i, i, at, i);
    for (int i = 0; i < DOUBLES; i++, at += 8)
        put(program, "testp.notanumber.f64 %%q, %%g%d;\n@%%q mov.f64 %%g%d, 0d7FF8000000000000;\nst.global.f64 [%%own+%d], %%g%d;\n", i, i, at, i);
    put(program, "ret;\n}\n");
}

#endif
