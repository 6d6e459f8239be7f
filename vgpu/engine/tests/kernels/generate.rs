//! Kernels by chance: valid, free of faults and of races, so that every engine has to end with
//! the same memory.
//!
//! A kernel is a function of the bytes that it is made from, which are a seed's or a
//! fuzzer's. It fills its registers from `in`, runs statements (any pure instruction of the form
//! table, memory, branches, loops, calls, barriers, exchanges between lanes) and writes all
//! registers to `out`. Exchanges and barriers stand only where all threads come.

use std::fmt::Write;
use std::sync::LazyLock;

use gangway_ptx::forms::{Expected, Opcode, Role, table};
use gangway_ptx::meaning::Approximate;
use gangway_ptx::{Compute, Meaning, Type};

/// Bytes of `out` for each thread.
pub const OUT: usize = 256;
/// Bytes of `in` for each thread.
pub const IN: usize = 256;
/// Words behind all threads' bytes of `out`, for reductions.
pub const SUMS: usize = 8;

/// Registers of each size that statements work with. Behind them are those that the kernel keeps to
/// itself: %r12 the thread's number in the grid, %r13 in the block, %r14 the block's size, %r16 to
/// %r18 counters of loops, %r19 and %r20 for addresses; %d8 and %d9 where this thread's bytes of
/// `in` and `out` are, %d10 where all of `in`, %d11 the sums, %d12 for addresses; %p5 and %p6 for
/// branches.
const HALVES: usize = 5;
const WORDS: usize = 12;
const DOUBLES: usize = 8;
const PREDICATES: usize = 5;
const FUNCTIONS: usize = 2;
const COUNTERS: usize = 16;

/// Decisions, taken from bytes; zeros when they are used up.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices { bytes }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn below(&mut self, limit: usize) -> usize {
        let wide = usize::from(self.byte()) << 8 | usize::from(self.byte());
        (wide * limit) >> 16
    }

    /// True once in `times`.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// The instructions that compute from values, form by form; without those that may be approximated.
fn pure_opcodes() -> &'static [Vec<Opcode>] {
    static OPCODES: LazyLock<Vec<Vec<Opcode>>> = LazyLock::new(|| {
        let forms = table().forms().iter().map(|form| {
            let spelled = form.spellings().into_iter();
            let found = spelled.filter_map(|modifiers| table().find(form.row.op.text(), &modifiers));
            found.filter(is_usable).collect::<Vec<Opcode>>()
        });
        forms.filter(|opcodes| !opcodes.is_empty()).collect()
    });
    &OPCODES
}

fn is_usable(opcode: &Opcode) -> bool {
    use Approximate::*;
    match opcode.meaning {
        // Links of carry chains are generated together.
        Meaning::Compute(Compute::Carry(_)) => false,
        Meaning::Compute(Compute::Approximate { op, .. }) => match op {
            Ex2 | Lg2 | Sin | Cos | Tanh | Rsqrt => false,
            Div | Rcp | Sqrt => opcode.until.is_none(),
        },
        Meaning::Compute(_) => opcode.until.is_none(),
        _ => false,
    }
}

struct Generator<'a> {
    choices: Choices<'a>,
    text: String,
    labels: usize,
    /// Loops around the statement: each has a counter of its own.
    loops: usize,
    /// All threads of the block come to the statement.
    together: bool,
    /// Statements stand in a function, which has no `in`, `out` and shared memory.
    inside: bool,
    /// Threads may have exited, or were never there: no barriers and exchanges.
    exited: bool,
}

/// A module with one kernel, `kernel(in, out)`.
pub struct Kernel {
    pub text: String,
    /// Of each block.
    pub threads: usize,
}

pub fn kernel(bytes: &[u8]) -> Kernel {
    let mut choices = Choices::new(bytes);
    // The last warp of some is not full: then no lane can count on all others.
    let threads: usize = choices.pick(&[64, 64, 64, 40]);
    let mut generator = Generator {
        choices,
        text: String::from(".version 8.7\n.target sm_90\n.address_size 64\n"),
        labels: 0,
        loops: 0,
        together: false,
        inside: true,
        exited: !threads.is_multiple_of(32),
    };
    for number in 0..FUNCTIONS {
        generator.function(number);
    }
    generator.inside = false;
    generator.together = true;
    generator.body();
    Kernel { text: generator.text, threads }
}

macro_rules! emit {
    ($generator:expr, $($format:tt)*) => {
        writeln!($generator.text, $($format)*).expect("a string")
    };
}

impl Generator<'_> {
    fn declare(&mut self) {
        emit!(self, "  .reg .b16 %h<{HALVES}>; .reg .b32 %r<{}>; .reg .b64 %d<{}>;", WORDS + 12, DOUBLES + 6);
        emit!(self, "  .reg .pred %p<{}>;", PREDICATES + 3);
    }

    fn function(&mut self, number: usize) {
        emit!(self, ".func (.param .b32 result) f{number}(.param .b32 a, .param .b64 b)\n{{");
        self.declare();
        emit!(self, "  ld.param.b32 %r0, [a]; ld.param.b64 %d0, [b];");
        for word in 1..WORDS {
            emit!(self, "  mad.lo.u32 %r{word}, %r0, {}, {};", 3 + 2 * word, word * 0x0101_0101);
        }
        for double in 1..DOUBLES {
            emit!(self, "  mad.lo.u64 %d{double}, %d0, {}, {};", 3 + 2 * double, double * 0x0101_0101_0101);
        }
        for half in 0..HALVES {
            emit!(self, "  cvt.u16.u32 %h{half}, %r{};", half + 1);
        }
        for predicate in 0..PREDICATES {
            emit!(self, "  setp.lt.s32 %p{predicate}, %r{predicate}, %r{};", predicate + 4);
        }
        for _ in 0..1 + self.choices.below(4) {
            self.statement(1);
        }
        let result = self.word();
        emit!(self, "  st.param.b32 [result], {result};\n  ret;\n}}");
    }

    fn body(&mut self) {
        emit!(self, ".visible .entry kernel(.param .u64 in, .param .u64 out)\n{{");
        self.declare();
        emit!(self, "  .shared .align 16 .b8 shared[4096]; .local .align 16 .b8 local[64];");
        emit!(self, "  mov.u32 %r13, %tid.x; mov.u32 %r12, %ctaid.x; mov.u32 %r14, %ntid.x;");
        emit!(self, "  mad.lo.u32 %r12, %r12, %r14, %r13;");
        emit!(self, "  ld.param.u64 %d10, [in]; mad.wide.u32 %d8, %r12, {IN}, %d10;");
        emit!(self, "  ld.param.u64 %d11, [out]; mad.wide.u32 %d9, %r12, {OUT}, %d11;");
        emit!(self, "  mov.u32 %r19, %nctaid.x; mul.lo.u32 %r19, %r19, %r14;");
        emit!(self, "  mad.wide.u32 %d11, %r19, {OUT}, %d11;");
        for word in 0..WORDS {
            match word {
                0 => emit!(self, "  mov.u32 %r0, %tid.x;"),
                1 => emit!(self, "  mov.u32 %r1, %laneid;"),
                2 => emit!(self, "  mov.u32 %r2, 7;"),
                3 => emit!(self, "  mov.u32 %r3, %lanemask_lt;"),
                _ => emit!(self, "  ld.global.b32 %r{word}, [%d8+{}];", 4 * word),
            }
        }
        for double in 0..DOUBLES {
            emit!(self, "  ld.global.b64 %d{double}, [%d8+{}];", 64 + 8 * double);
        }
        for half in 0..HALVES {
            emit!(self, "  ld.global.b16 %h{half}, [%d8+{}];", 128 + 2 * half);
        }
        for predicate in 0..PREDICATES {
            emit!(self, "  setp.lt.s32 %p{predicate}, %r{}, %r{};", predicate + 4, (predicate + 5) % WORDS);
        }
        emit!(self, "  mov.b64 %d12, local; st.local.b64 [%d12], %d0; st.local.b64 [%d12+8], %d1;");
        for offset in (16..64).step_by(4) {
            emit!(self, "  st.local.b32 [local+{offset}], %r{};", offset / 8);
        }
        emit!(self, "  .reg .b64 %kept<2>; .local .align 8 .b8 kept[48];");
        emit!(self, "  mov.b64 %kept0, kept; cvta.local.u64 %kept1, %kept0; st.b64 [%kept1+32], %d2;");
        for offset in [0, 4, 8, 12, 16, 20, 24, 28, 40, 44] {
            emit!(self, "  st.b32 [%kept1+{offset}], %r{};", offset / 8);
        }
        while !self.choices.is_empty() {
            self.statement(0);
        }
        for word in 0..WORDS {
            emit!(self, "  st.global.b32 [%d9+{}], %r{word};", 4 * word);
        }
        for double in 0..DOUBLES {
            emit!(self, "  st.global.b64 [%d9+{}], %d{double};", 64 + 8 * double);
        }
        for half in 0..HALVES {
            emit!(self, "  st.global.b16 [%d9+{}], %h{half};", 128 + 2 * half);
        }
        for predicate in 0..PREDICATES {
            emit!(
                self,
                "  selp.u32 %r19, 1, 0, %p{predicate}; st.global.u8 [%d9+{}], %r19;",
                144 + predicate
            );
        }
        emit!(self, "  ret;\n}}");
    }

    fn statement(&mut self, depth: usize) {
        let kind = self.choices.below(64);
        match kind {
            0..4 if depth < 3 => self.branch(depth),
            4..8 if depth < 3 && self.loops < 3 => self.repeat(depth),
            8..10 if depth < 3 => self.switch(depth),
            10..12 if !self.inside => self.call(),
            12..16 if !self.inside => self.memory(),
            16 if !self.inside => self.local(),
            17 if !self.inside => self.kept(),
            18..20 if self.may_meet() => self.exchange_in_shared(),
            20..25 if self.may_meet() => self.exchange(),
            25 if !self.inside => self.reduce(),
            26 if depth > 0 && !self.inside => self.leave(),
            27 => self.carry(),
            28 => self.pack(),
            _ => self.compute(),
        }
    }

    fn may_meet(&self) -> bool {
        self.together && !self.inside && !self.exited
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn word(&mut self) -> String {
        format!("%r{}", self.choices.below(WORDS))
    }

    fn double(&mut self) -> String {
        format!("%d{}", self.choices.below(DOUBLES))
    }

    fn predicate(&mut self) -> String {
        format!("%p{}", self.choices.below(PREDICATES))
    }

    fn guard(&mut self) -> String {
        let negated = if self.choices.once_in(2) { "!" } else { "" };
        format!("@{negated}{}", self.predicate())
    }

    /// Statements that not all threads come to, unless `uniform`.
    fn inner(&mut self, depth: usize, uniform: bool) {
        let together = self.together;
        self.together &= uniform;
        for _ in 0..1 + self.choices.below(3) {
            self.statement(depth + 1);
        }
        self.together = together;
    }

    fn branch(&mut self, depth: usize) {
        let (other, end) = (self.label(), self.label());
        let uniform = !self.inside && self.choices.once_in(4);
        if uniform {
            // The grid's size is the same for all.
            emit!(self, "  setp.lt.u32 %p{PREDICATES}, %r14, {};", self.choices.below(128));
            emit!(self, "  @%p{PREDICATES} bra {other};");
        } else {
            let guard = self.guard();
            emit!(self, "  {guard} bra {other};");
        }
        self.inner(depth, uniform);
        if self.choices.once_in(2) {
            emit!(self, "  bra {end};\n{other}:");
            self.inner(depth, uniform);
            emit!(self, "{end}:");
        } else {
            emit!(self, "{other}:");
        }
    }

    /// A few turns: as many for all threads, or not.
    fn repeat(&mut self, depth: usize) {
        let (again, end) = (self.label(), self.label());
        let counter = COUNTERS + self.loops;
        let uniform = self.choices.once_in(2);
        if uniform {
            emit!(self, "  mov.u32 %r{counter}, {};", 1 + self.choices.below(4));
        } else {
            let word = self.word();
            emit!(self, "  and.b32 %r{counter}, {word}, 3; add.u32 %r{counter}, %r{counter}, 1;");
        }
        emit!(self, "{again}:");
        self.loops += 1;
        self.inner(depth, uniform);
        if !uniform && self.choices.once_in(3) {
            let guard = self.guard();
            emit!(self, "  {guard} bra {end};");
            self.inner(depth, false);
        }
        self.loops -= 1;
        let predicate = PREDICATES + 1;
        emit!(self, "  sub.u32 %r{counter}, %r{counter}, 1; setp.ne.u32 %p{predicate}, %r{counter}, 0;");
        emit!(self, "  @%p{predicate} bra {again};\n{end}:");
    }

    fn switch(&mut self, depth: usize) {
        let labels: Vec<String> = (0..4).map(|_| self.label()).collect();
        let (table, word) = (self.label(), self.word());
        emit!(self, "  and.b32 %r19, {word}, 3;\n{table}: .branchtargets {};", labels.join(", "));
        emit!(self, "  brx.idx %r19, {table};");
        for (number, label) in labels.iter().enumerate() {
            emit!(self, "{label}:");
            if number < 3 {
                self.inner(depth, false);
                if self.choices.once_in(2) {
                    emit!(self, "  bra {};", labels[3]);
                }
            }
        }
    }

    fn call(&mut self) {
        let (number, word, double, result) =
            (self.choices.below(FUNCTIONS), self.word(), self.double(), self.word());
        let guard = if self.choices.once_in(3) { self.guard() } else { String::new() };
        emit!(self, "  {{ .param .b32 a; .param .b64 b; .param .b32 c;");
        emit!(self, "    st.param.b32 [a], {word}; st.param.b64 [b], {double};");
        emit!(self, "    {guard} call.uni (c), f{number}, (a, b);");
        // What a call that is not made leaves in `c` is nobody's business.
        emit!(self, "    {guard} ld.param.b32 {result}, [c]; }}");
    }

    fn memory(&mut self) {
        let guard = if self.choices.once_in(3) { self.guard() } else { String::new() };
        let (word, double) = (self.word(), self.double());
        let at = self.choices.below(IN / 16) * 16;
        match self.choices.below(7) {
            0 => emit!(self, "  {guard} ld.global.b32 {word}, [%d8+{at}];"),
            1 => emit!(self, "  {guard} ld.global.nc.s8 {word}, [%d8+{}];", at + 3),
            2 => emit!(self, "  {guard} ld.global.v2.b64 {{{double}, %d{}}}, [%d8+{at}];", DOUBLES - 1),
            3 => emit!(self, "  {guard} ld.v4.b32 {{{word}, %r5, %r6, _}}, [%d8+{at}];"),
            4 => {
                // Any word of `in`, by an address of each lane's own.
                let index = self.word();
                emit!(self, "  and.b32 %r19, {index}, 1023; mad.wide.u32 %d12, %r19, 4, %d10;");
                emit!(self, "  {guard} ld.global.u32 {word}, [%d12];");
            }
            5 => emit!(self, "  {guard} st.global.b32 [%d9+{}], {word};", 160 + self.choices.below(8) * 4),
            _ => emit!(
                self,
                "  {guard} st.v2.b64 [%d9+{}], {{{double}, %d0}};",
                192 + self.choices.below(4) * 16
            ),
        }
    }

    fn local(&mut self) {
        let (word, index) = (self.word(), self.word());
        let guard = if self.choices.once_in(3) { self.guard() } else { String::new() };
        let (space, address) = self.choices.pick(&[("", "cvta.local.u64"), (".local", "mov.u64")]);
        emit!(self, "  {address} %d12, local;");
        emit!(self, "  and.b32 %r19, {index}, 15; mad.wide.u32 %d12, %r19, 4, %d12;");
        match self.choices.once_in(2) {
            true => emit!(self, "  {guard} st{space}.b32 [%d12], {word};"),
            false => emit!(self, "  {guard} ld{space}.b32 {word}, [%d12];"),
        }
    }

    /// A variable that is always accessed as a whole, or one of which there are also parts, as unoptimised code has them.
    fn kept(&mut self) {
        let guard = if self.choices.once_in(3) { self.guard() } else { String::new() };
        let (space, address) = self.choices.pick(&[("", "%kept1"), ("", "%kept1"), (".local", "%kept0")]);
        let stores = self.choices.once_in(2);
        let (ty, offset, register) = match self.choices.below(8) {
            0 => ("b64", 32, self.double()),
            1 => (self.choices.pick(&["u8", "s8"]), 40 + self.choices.below(8), self.word()),
            2 => (self.choices.pick(&["u16", "s16"]), 40 + 2 * self.choices.below(4), self.word()),
            3 => ("b32", 40 + 4 * self.choices.below(2), self.word()),
            _ => (self.choices.pick(&["u32", "s32"]), 4 * self.choices.below(8), self.word()),
        };
        match stores {
            true => emit!(self, "  {guard} st{space}.{ty} [{address}+{offset}], {register};"),
            false => emit!(self, "  {guard} ld{space}.{ty} {register}, [{address}+{offset}];"),
        }
    }

    /// Through shared memory, with barriers around.
    fn exchange_in_shared(&mut self) {
        let (from, to, distance) = (self.word(), self.word(), self.choices.below(32));
        emit!(self, "  bar.sync 0; mov.u32 %r19, shared;");
        emit!(self, "  mad.lo.u32 %r20, %r13, 4, %r19; st.shared.b32 [%r20], {from};");
        emit!(self, "  bar.sync 0; xor.b32 %r20, %r13, {distance}; mad.lo.u32 %r20, %r20, 4, %r19;");
        emit!(self, "  ld.shared.b32 {to}, [%r20];");
    }

    /// Between the lanes of a warp.
    fn exchange(&mut self) {
        let (from, to, predicate, by) = (self.word(), self.word(), self.predicate(), self.choices.below(32));
        let all = "0xffffffff";
        match self.choices.below(9) {
            0 => emit!(self, "  shfl.sync.bfly.b32 {to}|{predicate}, {from}, {by}, 31, {all};"),
            1 => emit!(self, "  shfl.sync.down.b32 {to}, {from}, {by}, 0x1c1f, {all};"),
            2 => emit!(self, "  shfl.sync.up.b32 {to}|{predicate}, {from}, {by}, 0, {all};"),
            3 => {
                let source = self.word();
                emit!(self, "  shfl.sync.idx.b32 {to}, {from}, {source}, 31, {all};");
            }
            4 => emit!(self, "  vote.sync.ballot.b32 {to}, {predicate}, {all};"),
            5 => emit!(self, "  vote.sync.any.pred {predicate}, !{predicate}, {all};"),
            6 => emit!(self, "  match.any.sync.b32 {to}, {from}, {all};"),
            7 => emit!(self, "  redux.sync.add.u32 {to}, {from}, {all};"),
            _ => emit!(self, "  redux.sync.min.s32 {to}, {from}, {all};"),
        }
    }

    /// Into sums of all threads, whose order does not matter.
    fn reduce(&mut self) {
        let word = self.word();
        let guard = if self.choices.once_in(2) { self.guard() } else { String::new() };
        let (operation, at) = self.choices.pick(&[
            ("add.u32", 0),
            ("xor.b32", 4),
            ("min.s32", 8),
            ("max.u32", 12),
            ("or.b32", 16),
        ]);
        emit!(self, "  {guard} red.global.{operation} [%d11+{at}], {word};");
    }

    fn leave(&mut self) {
        self.exited = true;
        let (guard, way) = (self.guard(), self.choices.pick(&["exit", "ret"]));
        emit!(self, "  {guard} {way};");
    }

    /// A sum of two words, with the carry between them.
    fn carry(&mut self) {
        let [a, b, c, d] = [(); 4].map(|()| self.word());
        let (first, second) = self.choices.pick(&[
            ("add.cc.u32", "addc.u32"),
            ("sub.cc.u32", "subc.u32"),
            ("sub.cc.u32", "addc.u32"),
            ("add.cc.u32", "subc.u32"),
            ("add.cc.s32", "addc.cc.s32"),
        ]);
        emit!(self, "  {first} {a}, {b}, {c}; {second} {d}, {d}, {b};");
    }

    fn pack(&mut self) {
        let (a, b, double) = (self.word(), self.word(), self.double());
        match self.choices.below(4) {
            0 => emit!(self, "  mov.b64 {double}, {{{a}, {b}}};"),
            1 if a != b => emit!(self, "  mov.b64 {{{a}, {b}}}, {double};"),
            2 => emit!(self, "  mov.b32 {a}, {{%h0, %h1}};"),
            _ => emit!(self, "  mov.b32 {{%h0, %h1}}, {a};"),
        }
    }

    /// One instruction of the table.
    fn compute(&mut self) {
        let forms = pure_opcodes();
        let form = &forms[self.choices.below(forms.len())];
        let opcode = &form[self.choices.below(form.len())];
        let guard = if self.choices.once_in(4) { self.guard() + " " } else { String::new() };
        let mut operands = Vec::new();
        for expected in &opcode.expected {
            if expected.role == Role::SecondDestination {
                if self.choices.once_in(2) {
                    let first = operands.pop().unwrap_or_default();
                    // Not the same one twice.
                    let second = format!("%p{}", if first == "%p4" { 3 } else { 4 });
                    operands.push(format!("{first}|{second}"));
                }
                continue;
            }
            if expected.optional && self.choices.once_in(2) {
                break;
            }
            let operand = self.operand(expected);
            operands.push(operand);
        }
        emit!(self, "  {guard}{opcode} {};", operands.join(", "));
    }

    fn operand(&mut self, expected: &Expected) -> String {
        let ty = expected.ty.unwrap_or(Type::B64);
        if expected.role == Role::Constant {
            return self.choices.below(256).to_string();
        }
        if ty == Type::Pred {
            let negated = if expected.negatable && self.choices.once_in(3) { "!" } else { "" };
            return format!("{negated}{}", self.predicate());
        }
        if !expected.role.writes() && self.choices.once_in(4) {
            return self.constant(ty);
        }
        let wider = expected.relaxed && !ty.is_float() && self.choices.once_in(3);
        let bits = if wider { ty.bits().max(16) * 2 } else { ty.bits() };
        match bits {
            8 | 16 => format!("%h{}", self.choices.below(HALVES)),
            32 => self.word(),
            _ => self.double(),
        }
    }

    /// A constant of a type, mostly a small or a special one.
    fn constant(&mut self, ty: Type) -> String {
        let small = self.choices.below(70) as u64;
        match ty {
            Type::F32 => format!(
                "0f{:08X}",
                self.choices.pick(&[0u32, 0x8000_0000, 0x3f80_0000, 0xc020_0000, 0x7f80_0000, 0x7fc0_0001])
            ),
            Type::F64 => format!(
                "0d{:016X}",
                self.choices.pick(&[0u64, 1 << 63, 0x3ff0_0000_0000_0000, 0xfff8_0000_0000_0001])
            ),
            _ if ty.is_float() || ty.bits() == 8 => match ty.bits() {
                8 | 16 => format!("%h{}", self.choices.below(HALVES)),
                _ => self.word(),
            },
            _ if ty.is_signed() && small > 50 => format!("-{}", small - 50),
            _ => small.to_string(),
        }
    }
}
