//! Kernels that are large in one way each: what a compiler has to cope with whose passes must not
//! take more than n log n steps. All of them are kernels `k` with one pointer for a parameter,
//! which is to [`BYTES`] of memory, and end after a bounded time.
#![allow(dead_code)]

use std::fmt::Write;

/// How much memory a kernel of any shape may use.
pub const BYTES: u64 = 1 << 20;

/// A way to be large.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    /// The PTX of size n.
    pub text: fn(u32) -> String,
    /// The size to begin with.
    pub size: u32,
}

const fn shape(name: &'static str, size: u32, text: fn(u32) -> String) -> Shape {
    Shape { name, text, size }
}

pub const SHAPES: &[Shape] = &[
    shape("live values", 200, live_values),
    shape("stores", 1000, stores),
    shape("loads in one batch", 500, loads),
    shape("accumulators in a loop", 1000, accumulators),
    shape("straight arithmetic", 5000, arithmetic),
    shape("predicated instructions", 1000, predicated),
    shape("blocks, uniform", 1000, uniform_blocks),
    shape("blocks, divergent", 1000, divergent_blocks),
    shape("blocks with live values", 250, live_blocks),
    shape("nested ifs", 500, nested_ifs),
    shape("early exits", 500, early_exits),
    shape("empty blocks", 1000, empty_blocks),
    shape("branch targets", 1000, branch_targets),
    shape("one target many times", 1000, one_target),
    shape("loops in a row", 500, loops),
    shape("nested loops", 100, nested_loops),
    shape("shuffles", 500, shuffles),
    shape("barriers", 500, barriers),
    shape("atomics", 500, atomics),
    shape("calls", 500, calls),
    shape("many parameters", 100, parameters),
    shape("functions", 2500, functions),
    shape("depth of calls", 500, depth),
    shape("registers", 10000, registers),
    shape("shapes against the order", 1000, against_the_order),
    shape("code without optimisation", 1000, unoptimised),
    shape("divisions", 250, divisions),
    shape("generic loads", 500, generic_loads),
    shape("globals", 10000, globals),
    shape("shared variables", 1000, shared_variables),
    shape("initialiser", 50000, initialiser),
    shape("a long line", 10000, long_line),
    shape("labels", 10000, labels),
    shape("positions", 10000, positions),
];

/// What every text begins with.
pub const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// A kernel with these statements. `%d` is the lane's own address, `%u` one for all, `%r0` the
/// thread, `%p` and `%q<n>` predicates, `%a` and `%b` numbers.
fn kernel(declarations: &str, registers: u32, body: &str) -> String {
    let numbers = lines(registers.min(8).saturating_sub(1), |i| format!("mov.u32 %r{}, {i};", i + 1));
    format!(
        "{HEAD}{declarations}.visible .entry k(.param .u64 p) {{
.reg .u32 %r<{registers}>; .reg .f32 %f<{registers}>; .reg .u64 %d, %u, %w; .reg .pred %p, %q<4>; .reg .u32 %a, %b, %t;
ld.param.u64 %u, [p];
mov.u32 %r0, %tid.x;
mul.wide.u32 %w, %r0, 4;
add.u64 %d, %u, %w;
setp.gt.u32 %p, %r0, 7;
{numbers}{body}
st.global.u32 [%d], %r0;
ret;
}}
"
    )
}

fn lines(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).fold(String::new(), |mut text, index| {
        let _ = writeln!(text, "{}", line(index));
        text
    })
}

/// Offsets stay within the memory.
fn offset(index: u32) -> u32 {
    4 * (index % 4096)
}

fn live_values(n: u32) -> String {
    let body = lines(n, |i| format!("xor.b32 %r{}, %r{i}, %r{};", i + 1, i / 2))
        + &lines(n, |i| format!("st.global.u32 [%d+{}], %r{};", offset(i), n - i));
    kernel("", n + 1, &body)
}

fn stores(n: u32) -> String {
    kernel("", 1, &lines(n, |i| format!("st.global.u32 [%d+{}], %r0;", offset(i))))
}

fn loads(n: u32) -> String {
    let body = lines(n, |i| format!("ld.global.f32 %f{}, [%d+{}];", i + 1, offset(i)))
        + &lines(n - 1, |i| format!("add.f32 %f{}, %f{}, %f{};", i + 2, i + 2, i + 1))
        + &format!("st.global.f32 [%d], %f{n};");
    kernel("", n + 1, &body)
}

/// What compilers make of an unrolled product of matrices: a hundred sums that live all the time.
fn accumulators(n: u32) -> String {
    let body = lines(100, |i| format!("mov.f32 %f{i}, 0f00000000;"))
        + "mov.u32 %a, 0;\nagain:\n"
        + &lines(20, |i| format!("ld.global.f32 %f{}, [%d+{}];", 100 + i, offset(i)))
        + &lines(n, |i| {
            format!("fma.rn.f32 %f{}, %f{}, %f{}, %f{};", i % 100, 100 + i % 10, 110 + i / 10 % 10, i % 100)
        })
        + "add.u32 %a, %a, 1;\nsetp.lt.u32 %q0, %a, 3;\n@%q0 bra again;\n"
        + &lines(100, |i| format!("st.global.f32 [%d+{}], %f{i};", offset(i)));
    kernel("", 120, &body)
}

fn arithmetic(n: u32) -> String {
    kernel(
        "",
        8,
        &lines(n, |i| format!("mad.lo.u32 %r{}, %r{}, %r{}, {i};", i % 8, (i + 1) % 8, (i + 3) % 8)),
    )
}

fn predicated(n: u32) -> String {
    let body = lines(n, |i| {
        format!(
            "setp.gt.u32 %q{}, %r{}, {};\n@%q{} add.u32 %r{}, %r{}, {i};",
            i % 4,
            i % 8,
            i % 32,
            i % 4,
            i % 8,
            (i + 1) % 8
        )
    });
    kernel("", 8, &body)
}

fn uniform_blocks(n: u32) -> String {
    let body = "mov.u32 %a, %ctaid.x;\n".to_owned()
        + &lines(n, |i| {
            format!("setp.gt.u32 %q0, %a, {};\n@%q0 bra L{i};\nadd.u32 %a, %a, {i};\nL{i}:", i % 7)
        })
        + "st.global.u32 [%d], %a;";
    kernel("", 1, &body)
}

fn divergent_blocks(n: u32) -> String {
    let body = lines(n, |i| {
        format!("setp.gt.u32 %q0, %r0, {};\n@%q0 bra L{i};\nadd.u32 %r0, %r0, {i};\nL{i}:", i % 32)
    });
    kernel("", 1, &body)
}

/// As many values live across as many blocks.
fn live_blocks(n: u32) -> String {
    let body = lines(n, |i| format!("add.u32 %r{}, %r{i}, {i};", i + 1))
        + &lines(n, |i| {
            format!("setp.gt.u32 %q0, %r0, {};\n@%q0 bra L{i};\nadd.u32 %r{i}, %r{i}, 1;\nL{i}:", i % 32)
        })
        + &lines(n, |i| format!("st.global.u32 [%d+{}], %r{i};", offset(i)));
    kernel("", n + 1, &body)
}

fn nested_ifs(n: u32) -> String {
    let body =
        lines(n, |i| format!("setp.gt.u32 %q0, %r0, {};\n@%q0 bra L{i};\nadd.u32 %r0, %r0, 1;", 40 + i % 32))
            + &lines(n, |i| format!("L{}:\nadd.u32 %r0, %r0, 3;", n - 1 - i));
    kernel("", 1, &body)
}

fn early_exits(n: u32) -> String {
    let body =
        lines(n, |i| format!("setp.eq.u32 %q0, %r0, {};\n@%q0 bra END;\nadd.u32 %r0, %r0, 1;", i % 32))
            + "END:";
    kernel("", 1, &body)
}

fn empty_blocks(n: u32) -> String {
    let body = "bra L0;\n".to_owned() + &lines(n, |i| format!("L{i}: bra L{};", i + 1)) + &format!("L{n}:");
    kernel("", 1, &body)
}

fn switch(n: u32, targets: impl Fn(u32) -> u32) -> String {
    let list: Vec<String> = (0..n).map(|i| format!("T{}", targets(i))).collect();
    let count = (0..n).map(&targets).max().unwrap_or(0) + 1;
    let body = format!("ts: .branchtargets {};\nrem.u32 %a, %r0, {n};\nbrx.idx %a, ts;\n", list.join(", "))
        + &lines(count, |i| format!("T{i}: add.u32 %r0, %r0, {i};\nbra END;"))
        + "END:";
    kernel("", 1, &body)
}

fn branch_targets(n: u32) -> String {
    switch(n, |i| i)
}

fn one_target(n: u32) -> String {
    switch(n, |i| i % 2)
}

fn loops(n: u32) -> String {
    let body = lines(n, |i| {
        format!(
            "mov.u32 %a, 0;\nL{i}:\nadd.u32 %a, %a, 1;\nadd.u32 %r0, %r0, %a;\nsetp.lt.u32 %q0, %a, 2;\n@%q0 bra L{i};"
        )
    });
    kernel("", 1, &body)
}

/// The inner ones run once.
fn nested_loops(n: u32) -> String {
    let body = lines(n, |i| format!("L{i}:\nadd.u32 %r0, %r0, {i};"))
        + &lines(n, |i| format!("setp.eq.u32 %q0, %r0, 1;\n@%q0 bra L{};", n - 1 - i));
    kernel("", 1, &body)
}

fn shuffles(n: u32) -> String {
    kernel(
        "",
        1,
        &lines(n, |i| format!("shfl.sync.bfly.b32 %a, %r0, {}, 31, -1;\nadd.u32 %r0, %r0, %a;", 1 + i % 16)),
    )
}

fn barriers(n: u32) -> String {
    kernel("", 1, &lines(n, |i| format!("bar.sync 0;\nadd.u32 %r0, %r0, {i};")))
}

fn atomics(n: u32) -> String {
    kernel(
        "",
        1,
        &lines(n, |i| format!("atom.global.add.u32 %a, [%u+{}], %r0;\nadd.u32 %r0, %r0, %a;", offset(i))),
    )
}

fn calls(n: u32) -> String {
    let function = ".func (.param .u32 o) f(.param .u32 i) { .reg .u32 %a; ld.param.u32 %a, [i]; add.u32 %a, %a, 1; st.param.u32 [o], %a; ret; }\n";
    let body = lines(n, |_| {
        "{ .param .u32 i; .param .u32 o; st.param.u32 [i], %r0; call (o), f, (i); ld.param.u32 %r0, [o]; }"
            .to_owned()
    });
    kernel(function, 1, &body)
}

fn parameters(n: u32) -> String {
    let list = |prefix: &str| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let function = format!(".func f({}) {{ .reg .u32 %a, %b; mov.u32 %b, 0;\n", list(".param .u32 i"))
        + &lines(n, |i| format!("ld.param.u32 %a, [i{i}]; add.u32 %b, %b, %a;"))
        + "ret; }\n";
    let body = "{\n".to_owned()
        + &lines(n, |i| format!(".param .u32 a{i}; st.param.u32 [a{i}], %r0;"))
        + &format!("call f, ({});\n}}", list("a"));
    kernel(&function, 1, &body)
}

fn functions(n: u32) -> String {
    let declared = lines(n, |i| {
        format!(
            ".func (.param .u32 o) f{i}(.param .u32 i) {{ .reg .u32 %a; ld.param.u32 %a, [i]; add.u32 %a, %a, {i}; st.param.u32 [o], %a; ret; }}"
        )
    });
    let body =
        "{ .param .u32 i; .param .u32 o; st.param.u32 [i], %r0; call (o), f7, (i); ld.param.u32 %r0, [o]; }";
    kernel(&declared, 1, body)
}

fn depth(n: u32) -> String {
    let declared = lines(n, |i| {
        let inner = if i == 0 {
            "add.u32 %a, %a, 1;".to_owned()
        } else {
            format!(
                "{{ .param .u32 x; .param .u32 y; st.param.u32 [x], %a; call (y), f{}, (x); ld.param.u32 %a, [y]; }}",
                i - 1
            )
        };
        format!(
            ".func (.param .u32 o) f{i}(.param .u32 i) {{ .reg .u32 %a; ld.param.u32 %a, [i]; {inner} st.param.u32 [o], %a; ret; }}"
        )
    });
    let body = format!(
        "{{ .param .u32 i; .param .u32 o; st.param.u32 [i], %r0; call (o), f{}, (i); ld.param.u32 %r0, [o]; }}",
        n - 1
    );
    kernel(&declared, 1, &body)
}

fn registers(n: u32) -> String {
    let body = lines(500, |i| {
        format!("setp.gt.u32 %q0, %r0, {};\n@%q0 bra L{i};\nadd.u32 %r0, %r0, {i};\nL{i}:", i % 32)
    });
    kernel("", n, &body)
}

/// What is said of a register reaches the next one only by another look at all instructions.
fn against_the_order(n: u32) -> String {
    let body = "mov.u32 %a, 0;\nagain:\n".to_owned()
        + &lines(n, |i| format!("mov.u32 %r{i}, %r{};", i + 1))
        + &format!("ld.global.u32 %r{n}, [%d];\n")
        + "add.u32 %a, %a, 1;\nsetp.lt.u32 %q0, %a, 3;\n@%q0 bra again;";
    kernel("", n + 1, &body)
}

/// Every statement loads and stores its variables, and has a position and a label.
fn unoptimised(n: u32) -> String {
    let body = ".local .align 8 .b8 depot[256];\nmov.u64 %u, depot;\ncvta.local.u64 %u, %u;\n".to_owned()
        + &lines(n, |i| {
            format!(
                ".loc 1 {} 3\nS{i}:\nld.u32 %a, [%u+{}];\nadd.s32 %b, %a, {i};\nst.u32 [%u+{}], %b;\nbra.uni E{i};\nE{i}:",
                i + 1,
                4 * (i % 64),
                4 * ((i + 7) % 64)
            )
        });
    kernel(".file 1 \"a.c\"\n", 1, &body)
}

fn divisions(n: u32) -> String {
    kernel(
        "",
        1,
        &lines(n, |i| format!("div.s32 %a, %r0, {};\nrem.u32 %b, %a, %r0;\nadd.u32 %r0, %a, %b;", i + 3)),
    )
}

fn generic_loads(n: u32) -> String {
    kernel("", 1, &lines(n, |i| format!("ld.u32 %a, [%u+{}];\nadd.u32 %r0, %r0, %a;", offset(i))))
}

fn globals(n: u32) -> String {
    kernel(&lines(n, |i| format!(".global .u32 g{i} = {i};")), 1, "ld.global.u32 %a, [g7];")
}

fn shared_variables(n: u32) -> String {
    kernel(
        &lines(n, |i| format!(".shared .u32 g{i};")),
        1,
        &lines(n, |i| format!("st.shared.u32 [g{i}], %r0;")),
    )
}

fn initialiser(n: u32) -> String {
    let values: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    kernel(&format!(".global .u32 g[{n}] = {{ {} }};\n", values.join(", ")), 1, "ld.global.u32 %a, [g+8];")
}

fn long_line(n: u32) -> String {
    let text = arithmetic(n);
    HEAD.to_owned() + &text[HEAD.len()..].replace('\n', " ")
}

fn labels(n: u32) -> String {
    kernel("", 1, &lines(n, |i| format!("L{i}:")))
}

fn positions(n: u32) -> String {
    let body = lines(n, |i| format!(".loc 1 {} 3\nadd.u32 %r{}, %r{}, {i};", i + 1, i % 8, (i + 1) % 8));
    kernel(".file 1 \"a.c\"\n", 8, &body)
}
