//! Kernels that use what nothing has written, and their twins that do not.

mod bench;

use std::sync::Mutex;

use bench::{Bench, Random, options};
use gangway_device_memory::{AllocationKind, Request, Space, shadow};
use gangway_engine::{Checks, KernelLaunch, Listeners, Options};
use gangway_findings::Finding;

/// What has been told, of one launch at a time.
static TOLD: Mutex<Vec<Finding>> = Mutex::new(Vec::new());
static ALONE: Mutex<()> = Mutex::new(());

fn tell(finding: Finding) {
    println!("{finding}");
    TOLD.lock().expect("no test panics in it").push(finding);
}

const LISTENERS: Listeners =
    Listeners { name: |_| None, obtained: |_| None, code: |_| (String::new(), None), tell };

/// `%in` has two hundred words, of which none has been written; `%done` as many that are zero; `%out` takes results.
const START: &str = "
    .reg .u64 %in, %done, %out, %at, %to, %a, %b, %c; .reg .u32 %i, %v, %w, %x, %y, %s, %n; .reg .b16 %h, %l;
    .reg .pred %p, %q, %r; .reg .f32 %f, %g; .reg .f64 %d;
    .shared .align 16 .b8 mem[1024]; .local .align 16 .b8 own[64];
    ld.param.u64 %in, [fresh]; ld.param.u64 %done, [written]; ld.param.u64 %out, [results];
    mov.u32 %i, %tid.x; mul.wide.u32 %c, %i, 4; add.u64 %at, %in, %c; add.u64 %to, %out, %c;
    mul.lo.u32 %s, %i, 4; mov.u32 %n, mem; add.u32 %s, %s, %n;\n";

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

fn found_with(functions: &str, body: &str, threads: u32) -> Vec<Finding> {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let parameters = ".param .u64 fresh, .param .u64 written, .param .u64 results";
    let text = format!("{functions} .visible .entry k({parameters}) {{ {START} {body} ret; }}");
    let bench =
        Bench::of_target(Options { checks: Checks::INIT, listeners: LISTENERS, ..options() }, HEADER, &text);
    let space = Space::get().expect("addresses are there");
    let take = || space.allocate(&Request::new(0, 1024, AllocationKind::Device)).expect("memory");
    let memory = [take(), take(), take()];
    // SAFETY: the memory is the test's.
    unsafe { space.fill(memory[1], 0, 1024) }.expect("memory");
    shadow::define(memory[1], 1024);
    TOLD.lock().expect("no panic").clear();
    let parameters: Vec<u8> = memory.iter().flat_map(|address| address.to_le_bytes()).collect();
    let kernel = bench.program.kernel("k").expect("the kernel");
    let launch = KernelLaunch {
        program: &bench.program,
        kernel,
        grid: [2, 1, 1],
        block: [threads, 1, 1],
        shared: 0,
        parameters: &parameters,
        cooperative: false,
    };
    bench.engine.launch(&launch).unwrap_or_else(|fault| panic!("{fault}"));
    for address in memory {
        space.free(address).expect("allocated");
    }
    std::mem::take(&mut *TOLD.lock().expect("no panic"))
}

fn found(body: &str) -> Vec<Finding> {
    found_with("", body, 40)
}

#[track_caller]
fn wrong(body: &str) -> Finding {
    let found = found(body);
    assert_eq!(found.len(), 1, "{body}: {found:?}");
    found.into_iter().next().expect("one")
}

#[track_caller]
fn right(body: &str) {
    let found = found(body);
    assert!(found.is_empty(), "{body}: {found:?}");
}

/// Branches where a register is not zero.
fn branch(register: &str) -> String {
    format!("setp.ne.u32 %p, {register}, 0; @%p bra end; st.global.u32 [%to], %i; end:")
}

#[test]
fn a_branch() {
    let finding = wrong(&("ld.global.u32 %v, [%at];".to_owned() + &branch("%v")));
    assert_eq!(finding.check, "init");
    assert!(finding.message.starts_with("a branch depends on what nothing has written"), "{finding}");
    assert_eq!((finding.count, finding.sides.len()), (80, 2), "{finding}");
    assert_eq!(finding.sides[0].instruction, "ld.global.u32");
    assert!(finding.sides[1].what.contains(" of block ("), "{finding}");
    right(&("ld.global.u32 %v, [%done];".to_owned() + &branch("%v")));
    right(&("st.global.u32 [%at], %i; ld.global.u32 %v, [%at];".to_owned() + &branch("%v")));
}

#[test]
fn a_copy_is_no_use() {
    right("ld.global.u32 %v, [%at]; st.global.u32 [%to], %v;");
    right("ld.global.v4.u32 {%v, %w, %x, %y}, [%in]; st.global.v4.u32 [%out], {%v, %w, %x, %y};");
}

#[test]
fn what_is_copied_is_followed() {
    let copied = "ld.global.u32 %v, [%at]; st.global.u32 [%to], %v; ld.global.u32 %w, [%to];";
    let finding = wrong(&(copied.to_owned() + &branch("%w")));
    assert!(finding.sides[0].instruction == "ld.global.u32", "{finding}");
    // What is written over it is not.
    right(&(copied.replace("ld.global.u32 %w", "st.global.u32 [%to], %i; ld.global.u32 %w") + &branch("%w")));
}

#[test]
fn an_address() {
    let with = |from: &str| {
        format!(
            "ld.global.u32 %v, [{from}]; and.b32 %v, %v, 60; cvt.u64.u32 %a, %v; add.u64 %a, %out, %a; st.global.u32 [%a], %i;"
        )
    };
    let finding = wrong(&with("%at"));
    assert!(finding.message.starts_with("an address depends"), "{finding}");
    right(&with("%done"));
}

#[test]
fn bits_that_are_masked_away() {
    let with = |mask: &str| {
        format!("st.global.u8 [%at], %i; ld.global.u32 %v, [%at]; and.b32 %v, %v, {mask};") + &branch("%v")
    };
    wrong(&with("0x1ff"));
    right(&with("0xff"));
    let shifted = |by: u32| {
        format!("st.global.u8 [%at+3], %i; ld.global.u32 %v, [%at]; shr.u32 %v, %v, {by};") + &branch("%v")
    };
    wrong(&shifted(23));
    right(&shifted(24));
    let extracted = |from: u32| {
        format!("st.global.u16 [%at+2], %i; ld.global.u32 %v, [%at]; bfe.u32 %v, %v, {from}, 8;")
            + &branch("%v")
    };
    wrong(&extracted(12));
    right(&extracted(20));
}

#[test]
fn comparisons_that_known_bits_decide() {
    let with = |compare: &str| {
        format!(
            "st.global.u8 [%at+3], 1; ld.global.u32 %v, [%at]; {compare} @%p bra end; st.global.u32 [%to], %i; end:"
        )
    };
    // The sign is known, and so is that it is not zero.
    right(&with("setp.lt.s32 %p, %v, 0;"));
    right(&with("setp.eq.u32 %p, %v, 0;"));
    right(&with("setp.lt.u32 %p, %v, 100000;"));
    wrong(&with("setp.lt.u32 %p, %v, 0x1000005;"));
    wrong(&with("setp.eq.u32 %p, %v, 0x1000005;"));
}

#[test]
fn sums_spread_upwards() {
    let with = |mask: &str| {
        format!(
            "st.global.u16 [%at], %i; ld.global.u32 %v, [%at]; add.u32 %v, %v, 12345; mul.lo.u32 %v, %v, 3;
             and.b32 %v, %v, {mask};"
        ) + &branch("%v")
    };
    right(&with("0xffff"));
    wrong(&with("0x10000"));
}

#[test]
fn parts_of_vectors() {
    let with = |used: &str| {
        "st.global.u32 [%in+4], %i; ld.global.v2.u32 {%v, %w}, [%in];".to_owned() + &branch(used)
    };
    wrong(&with("%v"));
    right(&with("%w"));
    let packed = |used: &str| {
        "st.global.u32 [%in+4], %i; ld.global.u64 %a, [%in]; mov.b64 {%v, %w}, %a;".to_owned() + &branch(used)
    };
    wrong(&packed("%v"));
    right(&packed("%w"));
}

#[test]
fn selections() {
    let with = |source: &str, from: &str| {
        format!(
            "ld.global.u32 %v, [{from}]; setp.eq.u32 %q, {source}, 0; selp.b32 %w, 1, %v, %q;
             setp.eq.u32 %r, %i, %i; @%r bra one; one:"
        ) + &branch("%w")
    };
    wrong(&with("1", "%at"));
    right(&with("0", "%at"));
    right(&with("1", "%done"));
}

#[test]
fn logic_that_one_operand_decides() {
    let with = |op: &str, known: u32| {
        format!(
            "ld.global.u32 %v, [%at]; setp.eq.u32 %q, %v, 7; setp.eq.u32 %r, {known}, 1; {op}.pred %p, %q, %r;
             @%p bra end; st.global.u32 [%to], %i; end:"
        )
    };
    wrong(&with("and", 1));
    right(&with("and", 0));
    wrong(&with("or", 0));
    right(&with("or", 1));
}

#[test]
fn floating_point() {
    let with = |from: &str| {
        format!(
            "ld.global.f32 %f, [{from}]; add.f32 %g, %f, 0f3F800000; mul.f32 %g, %g, %g; cvt.f64.f32 %d, %g;
             setp.gt.f64 %p, %d, 0d4000000000000000; @%p bra end; st.global.f32 [%to], %g; end:"
        )
    };
    wrong(&with("%at"));
    right(&with("%done"));
}

#[test]
fn shared_memory() {
    let with = |stores: &str| format!("{stores} bar.sync 0; ld.shared.u32 %v, [%s];") + &branch("%v");
    let finding = wrong(&with(""));
    assert!(finding.message.contains("of the block's shared memory"), "{finding}");
    right(&with("st.shared.u32 [%s], %i;"));
    // What one thread writes another one reads, by a generic address.
    right(&with("xor.b32 %v, %i, 0; cvt.u64.u32 %a, %s; cvta.shared.u64 %a, %a; st.u32 [%a], %v;"));
    wrong(&with("setp.lt.u32 %q, %i, 39; @%q st.shared.u32 [%s], %i;"));
}

#[test]
fn local_memory() {
    let with = |stores: &str| format!("mov.u64 %a, own; {stores} ld.local.u32 %v, [%a+12];") + &branch("%v");
    let finding = wrong(&with(""));
    assert!(finding.message.contains("a variable of the thread's own"), "{finding}");
    wrong(&with("st.local.u32 [%a+8], %i;"));
    right(&with("st.local.u32 [%a+12], %i;"));
    right(&with("cvta.local.u64 %b, %a; st.u32 [%b+12], %i;"));
    wrong(
        "mov.u64 %a, own; cvta.local.u64 %b, %a; ld.u32 %v, [%b]; setp.eq.u32 %p, %v, 3; @%p bra end; end:",
    );
}

#[test]
fn atomic_operations() {
    wrong(&("atom.global.add.u32 %v, [%at], 1;".to_owned() + &branch("%v")));
    right(&("st.global.u32 [%at], 0; atom.global.add.u32 %v, [%at], 1;".to_owned() + &branch("%v")));
    right("red.global.add.u32 [%at], 1;");
    right(&("atom.global.exch.b32 %v, [%at], 1; ld.global.u32 %w, [%at];".to_owned() + &branch("%w")));
    wrong(&("ld.global.u32 %v, [%at]; atom.global.exch.b32 %w, [%done], %v; bar.sync 0; ld.global.u32 %x, [%done];".to_owned() + &branch("%x")));
}

#[test]
fn other_lanes() {
    let with = |lane: u32| {
        format!(
            "mov.u32 %v, 1; setp.ne.u32 %q, %i, 0; @%q ld.global.u32 %v, [%at];
             activemask.b32 %x; shfl.sync.idx.b32 %w, %v, {lane}, 31, %x;"
        ) + &branch("%w")
    };
    let finding = wrong(&with(5));
    assert_eq!(finding.sides[0].instruction, "ld.global.u32", "{finding}");
    let first = "setp.gt.u32 %q, %i, 31; @%q ret;".to_owned() + &with(0);
    right(&first);
    let vote = |from: &str| {
        format!(
            "ld.global.u32 %v, [{from}]; setp.eq.u32 %q, %v, 1; activemask.b32 %x; vote.sync.any.pred %p, %q, %x;
             @%p bra end; st.global.u32 [%to], %i; end:"
        )
    };
    assert!(wrong(&vote("%at")).message.starts_with("what lanes tell each other"));
    right(&vote("%done"));
}

const FUNCTIONS: &str = "
    .func (.param .b32 result) low(.param .b32 index) {
        .reg .u32 %r, %n; .reg .u64 %at, %of; .local .align 4 .b8 own[132];
        ld.param.u32 %n, [index]; mov.u64 %at, own; st.local.u32 [%at+4], 5; mul.wide.u32 %of, %n, 4;
        add.u64 %of, %at, %of; ld.local.u32 %r, [%of]; st.param.u32 [result], %r; ret;
    }
    .func (.param .b32 result) twice(.param .b32 value, .param .b64 unused) {
        .reg .u32 %r; ld.param.u32 %r, [value]; add.u32 %r, %r, %r; st.param.u32 [result], %r; ret;
    }
    .func (.param .b32 result) second(.param .align 8 .b8 pair[8]) {
        .reg .u32 %r; ld.param.u32 %r, [pair+4]; st.param.u32 [result], %r; ret;
    }
    .func (.param .b32 result) frame(.param .b32 index) {
        .reg .u32 %r, %n; .reg .u64 %at, %of; .local .align 8 .b8 own[256]; .reg .pred %p;
        ld.param.u32 %n, [index]; mov.u64 %at, own; mul.wide.u32 %of, %n, 4; add.u64 %of, %at, %of;
        ld.local.u32 %r, [%of]; st.local.u32 [%at+8], 5; st.param.u32 [result], %r; ret;
    }
";

#[test]
fn functions() {
    let call = |value: &str| {
        format!(
            "ld.global.u32 %v, [%at]; mov.u32 %x, 4; {{ .param .b32 a; .param .b64 b; .param .b32 c;
             st.param.b32 [a], {value}; st.param.b64 [b], %in; call (c), twice, (a, b); ld.param.b32 %w, [c]; }}"
        ) + &branch("%w")
    };
    let wrong = |body: &str| assert_eq!(found_with(FUNCTIONS, body, 40).len(), 1, "{body}");
    let right = |body: &str| assert!(found_with(FUNCTIONS, body, 40).is_empty(), "{body}");
    wrong(&call("%v"));
    right(&call("%x"));
    right(&("ld.global.u32 %v, [%at];".to_owned() + &call("%x")));
    let pair = |first: &str, second: &str| {
        format!(
            "ld.global.u32 %v, [%at]; mov.u32 %x, 4; {{ .param .align 8 .b8 a[8]; .param .b32 c;
             st.param.b32 [a], {first}; st.param.b32 [a+4], {second}; call (c), second, (a); ld.param.b32 %w, [c]; }}"
        ) + &branch("%w")
    };
    wrong(&pair("%x", "%v"));
    right(&pair("%v", "%x"));
    // The second time its frame has what the first one left, which counts for nothing.
    let twice = |index: u32| {
        let call = format!(
            "{{ .param .b32 a; .param .b32 c; st.param.b32 [a], {index}; call (c), frame, (a); ld.param.b32 %w, [c]; }}"
        );
        call.clone() + &call + &branch("%w")
    };
    wrong(&twice(2));
    wrong(&twice(0).replace("frame", "low"));
    right(&twice(1).replace("frame", "low"));
}

#[test]
fn registers() {
    // Nothing sets it on one of the ways.
    let with = |other: &str| {
        format!("setp.gt.u32 %q, %i, 3; @%q bra over; mov.u32 %v, 1; bra on; over: {other} on:")
            + &branch("%v")
    };
    let finding = wrong(&with(""));
    assert!(finding.message.ends_with("a variable that has no memory"), "{finding}");
    right(&with("mov.u32 %v, 2;"));
    right(
        "setp.gt.u32 %q, %i, 3; @%q mov.u32 %v, 1; @!%q mov.u32 %v, 2; setp.eq.u32 %p, %v, 1; @%p bra end; end:",
    );
}

#[test]
fn guards() {
    let with = |from: &str| {
        format!("ld.global.u32 %v, [{from}]; setp.eq.u32 %p, %v, 9; @%p st.global.u32 [%to], %i;")
    };
    wrong(&with("%at"));
    right(&with("%done"));
    let chosen = |from: &str| {
        format!("ld.global.u32 %v, [{from}]; setp.eq.u32 %q, %v, 9; mov.u32 %w, 1; @%q mov.u32 %w, 2;")
            + &branch("%w")
    };
    wrong(&chosen("%at"));
    right(&chosen("%done"));
}

#[test]
fn the_devices_heap() {
    let functions = ".extern .func (.param .b64 r) malloc(.param .b64 n);
        .extern .func free(.param .b64 p);";
    let with = |store: &str| {
        format!(
            "{{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %a, [r]; }}
             {store} ld.u32 %v, [%a+8]; {{ .param .b64 p; st.param.b64 [p], %a; call free, (p); }}"
        ) + &branch("%v")
    };
    assert_eq!(found_with(functions, &with(""), 40).len(), 1);
    assert!(found_with(functions, &with("st.u32 [%a+8], %i;"), 40).is_empty());
}

#[test]
fn asynchronous_copies() {
    let with = |from: &str| {
        format!(
            "cp.async.ca.shared.global [%s], [{from}], 4; cp.async.wait_all; bar.sync 0; ld.shared.u32 %v, [%s];"
        ) + &branch("%v")
    };
    wrong(&with("%at"));
    right(&with("%done"));
}

#[test]
fn wide_values_and_conversions() {
    let with = |stores: &str| {
        format!(
            "{stores} ld.global.s16 %v, [%in]; cvt.s32.s16 %w, %v; cvt.rn.f32.s32 %f, %w; cvt.rzi.s32.f32 %w, %f;"
        ) + &branch("%w")
    };
    wrong(&with(""));
    wrong(&with("st.global.u8 [%in], 1;"));
    right(&with("st.global.u16 [%in], 1;"));
}

/// How many values a random program has.
const VALUES: usize = 6;

/// A program that reads words, of which one has not been written where `planted`, and sends values around so that each
/// bit of what they were made of stays in them; and whether a branch depends on that word. With more than one round they
/// are sent around in a loop, which reads another word in each.
fn random(seed: u64, planted: bool, rounds: usize) -> (String, bool) {
    use std::fmt::Write;
    let mut random = Random::new(seed);
    let mut text =
        String::from(".reg .u32 %r<9>; .reg .u64 %t<4>; .reg .pred %b; .reg .f32 %e; mov.u64 %a, own;\n");
    // One block, as blocks would write the same words.
    text.push_str("mov.u32 %v, %ctaid.x; setp.ne.u32 %p, %v, 0; @%p ret; activemask.b32 %y;\n");
    let hidden = random.below(VALUES as u64) as usize;
    let mut tainted = [false; VALUES];
    for (number, tainted) in tainted.iter_mut().enumerate() {
        let written = !planted || number != hidden;
        *tainted = !written;
        if written {
            let _ = writeln!(text, "st.global.u32 [%at+{}], %i;", 160 * number);
        }
        match written || rounds == 1 {
            true => writeln!(text, "ld.global.u32 %r{number}, [%at+{}];", 160 * number),
            false => writeln!(text, "mov.u32 %r{number}, %i;"),
        }
        .expect("it is text");
    }
    if rounds > 1 {
        let _ = writeln!(text, "mov.u64 %c, %at; mov.u32 %n, 0; next: ld.global.u32 %r{hidden}, [%c];");
    }
    // Which value has come from which other one, or that a branch has used that.
    let mut moved = Vec::new();
    for step in 0..30 {
        let (one, other) = (random.below(VALUES as u64) as usize, random.below(VALUES as u64) as usize);
        let is_last =
            tainted[one] && !tainted[other] && tainted.iter().filter(|&&tainted| tainted).count() == 1;
        if one == other || is_last && rounds == 1 {
            continue;
        }
        let kind = random.below(20);
        // What lanes do together, and calls.
        if rounds > 1 && (11..=13).contains(&kind) {
            continue;
        }
        let number = random.below(1 << 20);
        let by = random.below(31) + 1;
        let r = |number: usize| format!("%r{number}");
        let (a, b) = (r(one), r(other));
        match kind {
            0 => writeln!(text, "add.u32 {a}, {b}, {number}; sub.u32 {a}, {a}, 3;"),
            1 => writeln!(text, "xor.b32 {a}, {b}, {number};"),
            2 => writeln!(text, "mul.lo.u32 {a}, {b}, {};", number | 1),
            3 => writeln!(text, "shf.l.wrap.b32 {a}, {b}, {b}, {by};"),
            4 => writeln!(text, "prmt.b32 {a}, {b}, 0, 0x1032;"),
            5 => writeln!(text, "mov.b64 %t0, {{{b}, %i}}; mov.b64 {{{a}, %x}}, %t0;"),
            6 => writeln!(
                text,
                "st.local.u32 [%a+{}], {b}; ld.local.u32 {a}, [%a+{}];",
                4 * (step % 16),
                4 * (step % 16)
            ),
            7 => writeln!(text, "st.shared.u32 [%s], {b}; ld.shared.u32 {a}, [%s];"),
            8 => writeln!(text, "st.global.u32 [%to], {b}; ld.global.u32 {a}, [%to];"),
            9 => writeln!(
                text,
                "setp.gt.u32 %q, %i, {}; selp.b32 {a}, {b}, {number}, %q; @!%q mov.u32 {a}, {b};",
                by
            ),
            10 => writeln!(text, "brev.b32 {a}, {b}; not.b32 {a}, {a};"),
            11 => writeln!(text, "mov.u32 %x, %laneid; shfl.sync.idx.b32 {a}, {b}, %x, 31, %y;"),
            12 => writeln!(
                text,
                "{{ .param .b32 p; .param .b64 u; .param .b32 q; st.param.b32 [p], {b}; st.param.b64 [u], %in;
                 call (q), same, (p, u); ld.param.b32 {a}, [q]; }}"
            ),
            13 => writeln!(
                text,
                "{{ .param .align 8 .b8 p[8]; .param .b32 q; st.param.b32 [p+4], {b}; st.param.b32 [p], %i;
                 call (q), second, (p); ld.param.b32 {a}, [q]; }}"
            ),
            14 => writeln!(
                text,
                "cvt.u64.u32 %t1, {b}; shl.b64 %t1, %t1, {by}; shr.u64 %t1, %t1, {by}; cvt.u32.u64 {a}, %t1;"
            ),
            15 => writeln!(
                text,
                "st.global.v2.u32 [%out+{}], {{%i, {b}}}; ld.global.u32 {a}, [%out+{}];",
                256, 260
            ),
            16 => writeln!(text, "mov.b32 %e, {b}; mov.b32 {a}, %e;"),
            17 => writeln!(text, "atom.global.exch.b32 %x, [%to], {b}; ld.u32 {a}, [%to];"),
            18 => writeln!(
                text,
                "cvta.local.u64 %t2, %a; st.u32 [%t2+{}], {b}; ld.local.u32 {a}, [%a+{}];",
                4 * (step % 16),
                4 * (step % 16)
            ),
            _ => writeln!(
                text,
                "setp.eq.u32 %b, {b}, {number}; @%b bra on{step}; st.global.u32 [%out+512], 1; on{step}:"
            ),
        }
        .expect("it is text");
        let one = (kind < 19).then_some(one);
        moved.push((one, other));
        if let Some(one) = one {
            tainted[one] = tainted[other];
        }
    }
    if rounds > 1 {
        let _ = writeln!(
            text,
            "add.u64 %c, %c, 160; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, {rounds}; @%p bra next;"
        );
    }
    let mut depends = false;
    tainted = std::array::from_fn(|number| planted && rounds == 1 && number == hidden);
    for round in 0..rounds {
        tainted[hidden] = planted && (rounds == 1 || round == hidden);
        for &(one, other) in &moved {
            match one {
                Some(one) => tainted[one] = tainted[other],
                None => depends |= tainted[other],
            }
        }
    }
    let last = tainted.iter().position(|&tainted| tainted).unwrap_or(0);
    depends |= tainted[last];
    let _ = writeln!(text, "setp.eq.u32 %b, %r{last}, 99; @%b bra last; st.global.u32 [%to], %i; last:");
    (text, depends)
}

#[test]
fn random_programs() {
    look_at_random_programs(25, 1);
}

#[test]
fn random_loops() {
    look_at_random_programs(15, VALUES);
}

/// `GANGWAY_INIT_PROGRAMS` says how many.
fn look_at_random_programs(many: u64, rounds: usize) {
    let functions = FUNCTIONS.to_owned()
        + ".func (.param .b32 result) same(.param .b32 value, .param .b64 unused) {
            .reg .u32 %r; .reg .u64 %p; ld.param.u64 %p, [unused]; ld.param.u32 %r, [value]; st.param.u32 [result], %r; ret;
        }";
    let many = std::env::var("GANGWAY_INIT_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(many);
    let (mut planted, mut missed) = (0, Vec::new());
    for seed in 0..many {
        let (program, _) = random(seed, false, rounds);
        let silent = found_with(&functions, &program, 40);
        assert!(silent.is_empty(), "{seed}: {silent:?}\n{program}");
        let (program, depends) = random(seed, true, rounds);
        let told = found_with(&functions, &program, 40);
        assert!(depends || told.is_empty(), "{seed}: {told:?}\n{program}");
        planted += u64::from(depends);
        if depends && told.is_empty() {
            missed.push((seed, program));
        }
    }
    assert!(missed.len() as u64 * 100 <= planted, "of {planted}: {missed:?}");
    let expected = if rounds == 1 { 9 } else { 4 };
    assert!(planted * 10 > many * expected, "only {planted} of {many} depend on it");
}
