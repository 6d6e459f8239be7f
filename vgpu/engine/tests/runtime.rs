//! Barriers, divergence, faults, grids and the cache, with kernels in PTX and many launches at
//! once.

mod bench;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use bench::{Bench, options};
use gangway_engine::{Checks, CodeCache, Engine, Execution, LoadError, Options, Reason};

/// The start of a kernel: `%i` is the thread's number in its block, `%at` the address of its word.
const START: &str = "
    .reg .u64 %base, %at, %wide;
    .reg .u32 %i, %b, %n, %x, %y, %z;
    .reg .pred %p, %q;
    ld.param.u64 %base, [buffer];
    mov.u32 %i, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %x, %b, %n, %i;
    mul.wide.u32 %wide, %x, 4;
    add.u64 %at, %base, %wide;
";

fn kernel(body: &str) -> String {
    format!(".visible .entry k(.param .u64 buffer) {{ {START} {body} }}")
}

#[test]
fn a_sum_over_shared_memory() {
    // Each of log2 steps is between barriers.
    let mut body = String::from(
        ".shared .align 4 .b8 s[4096]; .reg .u32 %a; mul.lo.u32 %a, %i, 4; mov.u32 %y, s; add.u32 %a, %a, %y;
         st.shared.u32 [%a], %i; bar.sync 0;\n",
    );
    for step in [512, 256, 128, 64, 32, 16, 8, 4, 2, 1] {
        let _ = writeln!(
            body,
            "setp.ge.u32 %p, %i, {step}; @%p bra skip{step}; ld.shared.u32 %x, [%a]; ld.shared.u32 %y, [%a+{}];
             add.u32 %x, %x, %y; st.shared.u32 [%a], %x; skip{step}: bar.sync 0;",
            4 * step
        );
    }
    body += "ld.shared.u32 %x, [s]; st.global.u32 [%at], %x; ret;";
    let bench = Bench::new(options(), &kernel(&body));
    for _ in 0..5 {
        bench.clear();
        bench.launch(8, [1024, 1, 1], false).expect("no fault");
        assert!(bench.words()[..8 * 1024].iter().all(|&word| word == 1023 * 512));
    }
}

#[test]
fn each_block_runs_once() {
    // Kernels that never give way get several blocks at once.
    let straight =
        "add.u32 %y, %b, 1; ld.global.u32 %z, [%at]; add.u32 %y, %y, %z; st.global.u32 [%at], %y; ret;";
    let bench = Bench::new(options(), &kernel(straight));
    for blocks in [1, 2, 47, 48, 49, 767, 1000, 16384] {
        bench.clear();
        bench.launch(blocks, [1, 1, 1], false).expect("it runs");
        let expected = |block: usize| if block < blocks as usize { block as u32 + 1 } else { 0 };
        let wrong = bench.words().iter().enumerate().find(|&(block, &word)| word != expected(block));
        assert_eq!(wrong, None, "{blocks} blocks");
    }
}

/// `%x` is the number of the thread in the grid, `%b` that of its block, `%at` the address of the
/// thread's word.
const GRID: &str = "
    .reg .u64 %base, %at, %wide; .reg .u32 %b, %n, %x, %y, %z; .reg .pred %p;
    ld.param.u64 %base, [buffer]; mov.u32 %b, %ctaid.z; mov.u32 %n, %nctaid.y; mov.u32 %y, %ctaid.y;
    mad.lo.u32 %b, %b, %n, %y; mov.u32 %n, %nctaid.x; mov.u32 %x, %ctaid.x; mad.lo.u32 %b, %b, %n, %x;
    mov.u32 %x, %tid.z; mov.u32 %n, %ntid.y; mov.u32 %y, %tid.y; mad.lo.u32 %x, %x, %n, %y;
    mov.u32 %n, %ntid.x; mov.u32 %y, %tid.x; mad.lo.u32 %x, %x, %n, %y;
    mov.u32 %y, %ntid.y; mul.lo.u32 %n, %n, %y; mov.u32 %y, %ntid.z; mul.lo.u32 %n, %n, %y;
    mad.lo.u32 %x, %b, %n, %x; mul.wide.u32 %wide, %x, 4; add.u64 %at, %base, %wide;
";

#[test]
fn each_thread_of_a_grid_runs_once() {
    // Of kernels that never give way, neighbouring blocks may run row by row; volatile accesses
    // make them give way after all, and lanes end early.
    let volatile = "ld.volatile.global.u32 %y, [%at];\n".repeat(80);
    for more in ["", "and.b32 %y, %x, 3; setp.eq.u32 %p, %y, 1; @%p exit;\n", &volatile] {
        let body = format!(
            "{GRID} {more} ld.global.u32 %z, [%at]; add.u32 %z, %z, %x; st.global.u32 [%at], %z; ret;"
        );
        let bench = Bench::new(options(), &format!(".visible .entry k(.param .u64 buffer) {{ {body} }}"));
        for (grid, block) in [
            ([7, 5, 3], [16, 2, 2]),
            ([100, 2, 1], [8, 4, 1]),
            ([1, 90, 1], [32, 2, 1]),
            ([3, 1, 40], [4, 2, 3]),
            ([130, 3, 1], [32, 1, 1]),
            ([64, 1, 1], [5, 3, 1]),
        ] {
            bench.clear();
            bench.launch_grid(grid, block).expect("it runs");
            let threads: u32 = grid.iter().chain(&block).product();
            let skipped = |word: usize| more.contains("exit") && word % 4 == 1;
            let expected =
                |word: usize| if word < threads as usize && !skipped(word) { word as u32 } else { 0 };
            let wrong = bench.words().iter().enumerate().find(|&(word, &is)| is != expected(word));
            assert_eq!(wrong, None, "{grid:?} of {block:?} {more}");
        }
    }
}

#[test]
fn a_fault_in_one_of_several_blocks_names_it() {
    let body = format!(
        "{GRID} setp.ne.u32 %p, %b, 517; @%p bra fine; sub.u64 %at, %at, %base; fine: st.global.u32 [%at], %x; ret;"
    );
    let bench = Bench::new(options(), &format!(".visible .entry k(.param .u64 buffer) {{ {body} }}"));
    let fault = bench.launch_grid([10, 60, 1], [8, 2, 1]).expect_err("a block stores elsewhere");
    assert!(fault.report.contains("block (7, 51, 0)"), "{fault}");
    bench.launch_grid([10, 50, 1], [8, 2, 1]).expect("it runs");
}

#[test]
fn lanes_come_to_a_barrier_from_different_places() {
    // Odd and even lanes meet in bar.sync from different branches, in a loop with a count of its
    // own per lane.
    let bench = Bench::new(
        options(),
        &kernel(
            "mov.u32 %x, 0; and.b32 %y, %i, 1; setp.eq.u32 %p, %y, 0;
             again: @%p bra even; add.u32 %x, %x, 3; bar.sync 1; bra join;
             even: add.u32 %x, %x, 5; bar.sync 1;
             join: add.u32 %z, %x, 0; setp.lt.u32 %q, %z, 15; @%q bra again;
             st.global.u32 [%at], %x; @%p bra done; ret; done: exit;",
        ),
    );
    for threads in [32, 48, 96] {
        bench.clear();
        bench.launch(4, [threads, 1, 1], false).expect("no fault");
        for (index, &word) in bench.words()[..4 * threads as usize].iter().enumerate() {
            assert_eq!(word, 15, "thread {index} of blocks of {threads}");
        }
    }
}

#[test]
fn a_lock_that_all_threads_of_all_blocks_take() {
    let bench = Bench::new(
        options(),
        &kernel(
            "try: atom.global.cas.b32 %y, [%base], 0, 1; setp.ne.u32 %p, %y, 0; @%p bra try;
             membar.gl;
             ld.volatile.global.u32 %z, [%base+4]; add.u32 %z, %z, 1; st.volatile.global.u32 [%base+4], %z;
             membar.gl;
             atom.global.exch.b32 %y, [%base], 0; ret;",
        ),
    );
    bench.launch(6, [96, 1, 1], false).expect("no fault");
    assert_eq!(bench.words()[..2], [0, 6 * 96]);
}

/// As on hardware, where they are one transaction: GCC's code relies on it, as all lanes of a warp are one
/// thread of OpenMP there.
#[test]
fn lanes_that_load_one_place_get_one_value() {
    let bench = Bench::new(
        options(),
        &kernel(
            ".reg .u64 %own, %same, %v; .reg .u32 %low, %high, %first, %k, %bad;
             setp.eq.u32 %p, %b, 0; @%p bra writes;
             mul.wide.u32 %own, %i, 8; add.u64 %own, %own, %base;
             st.volatile.global.u64 [%own+256], %base; ld.volatile.global.u64 %same, [%own+256];
             mov.u32 %k, 0; mov.u32 %bad, 0;
             again: ld.u64 %v, [%same+8]; mov.b64 {%low, %high}, %v;
             shfl.sync.idx.b32 %first, %low, 0, 31, 0xffffffff;
             setp.ne.u32 %q, %low, %first; selp.u32 %x, 1, 0, %q; add.u32 %bad, %bad, %x;
             add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 100000; @%q bra again;
             st.global.u32 [%at], %bad; st.volatile.global.u32 [%base+16], %k; ret;
             writes: mov.u64 %v, 0;
             more: add.u64 %v, %v, 1; st.volatile.global.u64 [%base+8], %v;
             ld.volatile.global.u32 %k, [%base+16]; setp.eq.u32 %q, %k, 0; @%q bra more; ret;",
        ),
    );
    bench.launch(2, [32, 1, 1], false).expect("no fault");
    assert_eq!(bench.words()[32..64], [0; 32], "how often a lane had another value than the first");
}

/// Where blocks are so many that a bit of the frame stands for several: those who have the lock wait
/// for a block beside that in which others spin.
#[test]
fn a_lock_in_a_kernel_of_many_blocks() {
    for before in 100..104 {
        let mut body = String::from("mov.u32 %x, 0; setp.eq.u32 %q, %n, 7;\n");
        for place in 0..before {
            let _ = writeln!(body, "@%q bra skip{place}; add.u32 %x, %x, 1; skip{place}:");
        }
        body += "try: atom.global.cas.b32 %y, [%base], 0, 1; setp.ne.u32 %p, %y, 0; @%p bra try;
             membar.gl;
             ld.volatile.global.u32 %z, [%base+4]; add.u32 %z, %z, %x; st.volatile.global.u32 [%base+4], %z;
             membar.gl;
             atom.global.exch.b32 %y, [%base], 0; ret;";
        let bench = Bench::new(options(), &kernel(&body));
        bench.launch(2, [48, 1, 1], false).expect("no fault");
        assert_eq!(bench.words()[..2], [0, 2 * 48 * before]);
    }
}

#[test]
fn a_block_waits_for_one_that_starts_later() {
    let bench = Bench::new(
        options(),
        &kernel(
            "setp.ne.u32 %p, %i, 0; @%p ret; setp.eq.u32 %p, %b, 15; @%p bra last;
             wait: ld.volatile.global.u32 %x, [%base]; setp.eq.u32 %p, %x, 0; @%p bra wait;
             atom.global.add.u32 %y, [%base+4], 1; ret;
             last: st.volatile.global.u32 [%base], 1; ret;",
        ),
    );
    bench.launch(16, [64, 1, 1], false).expect("no fault");
    assert_eq!(bench.words()[..2], [1, 15]);
}

#[test]
fn the_whole_grid_meets() {
    let text = "
        .extern .func (.param .b64 r) cudaCGGetIntrinsicHandle (.param .b32 scope);
        .extern .func (.param .b32 r) cudaCGSynchronize (.param .b64 handle, .param .b32 flags);
        "
    .to_owned()
        + &kernel(
            ".reg .u64 %handle; .reg .u32 %all, %round;
             .param .b32 scope; .param .b64 given; .param .b32 flags; .param .b32 answer;
             st.param.b32 [scope], 1;
             call (given), cudaCGGetIntrinsicHandle, (scope);
             ld.param.b64 %handle, [given];
             mov.u32 %x, %nctaid.x; mul.lo.u32 %all, %x, %n; mov.u32 %round, 0;
             again: atom.global.add.u32 %x, [%base], 1;
             st.param.b64 [given], %handle; st.param.b32 [flags], 0;
             call (answer), cudaCGSynchronize, (given, flags);
             add.u32 %round, %round, 1; mul.lo.u32 %y, %round, %all;
             ld.volatile.global.u32 %x, [%base]; setp.eq.u32 %p, %x, %y;
             @!%p atom.global.add.u32 %x, [%base+4], 1;
             st.param.b64 [given], %handle; st.param.b32 [flags], 0;
             call (answer), cudaCGSynchronize, (given, flags);
             setp.lt.u32 %p, %round, 5; @%p bra again; ret;",
        );
    let bench = Bench::new(options(), &text);
    for threads in [64, 80] {
        bench.clear();
        bench.launch(24, [threads, 1, 1], true).expect("no fault");
        assert_eq!(bench.words()[..2], [5 * 24 * threads, 0]);
    }
}

#[test]
fn a_grid_that_meets_through_memory() {
    // As cooperative groups do it by themselves: everybody counts, and waits until all have.
    let bench = Bench::new(
        options(),
        &kernel(
            "mov.u32 %z, %nctaid.x; bar.sync 0; setp.ne.u32 %p, %i, 0; @%p bra join;
             atom.global.add.u32 %x, [%base], 1;
             wait: ld.volatile.global.u32 %x, [%base]; setp.lt.u32 %q, %x, %z; @%q bra wait;
             join: bar.sync 0; atom.global.add.u32 %x, [%base+4], 1; ret;",
        ),
    );
    let start = std::time::Instant::now();
    bench.launch(60, [64, 1, 1], true).expect("no fault");
    assert_eq!(bench.words()[..2], [60, 60 * 64]);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn values_that_step_compare_as_each_lane_does() {
    // Each comparison is made with a value that steps from lane to lane and with the same value
    // hidden by a zero from memory. What differs is counted.
    let limits = "0, 1, 5, 15, 31, 32, 158, -1, -16, 2147483640, 2147483647, -2147483648, -2147483632";
    let mut body = format!(
        ".global .align 4 .s32 limits[13] = {{{limits}}}; .reg .u64 %from, %to, %end, %wide0, %wide1, %wideo;
         .reg .u32 %zero, %first, %other, %v, %h; .reg .u64 %wv, %wh, %wzero;
         mov.u32 %n, %ntid.y; mov.u32 %y, %tid.y; mov.u32 %x, %ntid.x; mad.lo.u32 %x, %y, %x, %i;
         mul.wide.u32 %wide, %x, 4; add.u64 %at, %base, %wide;
         ld.global.u32 %zero, [%at]; cvt.u64.u32 %wzero, %zero; mov.u32 %z, 1;
         mov.u64 %from, limits; add.u64 %end, %from, 52;
         bases: ld.global.u32 %first, [%from]; cvt.s64.s32 %wide0, %first; mov.u64 %to, limits;
         others: ld.global.u32 %other, [%to]; cvt.s64.s32 %wideo, %other;\n"
    );
    for (axis, step) in [("x", 1), ("x", -4), ("x", 3), ("x", 4096), ("y", 1)] {
        let _ = writeln!(
            body,
            "mov.u32 %y, %tid.{axis}; mul.lo.s32 %y, %y, {step}; add.s32 %v, %first, %y; xor.b32 %h, %v, %zero;
             cvt.s64.s32 %wide1, %y; add.s64 %wv, %wide0, %wide1; xor.b64 %wh, %wv, %wzero;"
        );
        let compared = |order: &str, ty: &str, [a, b]: [&str; 2], hidden: [&str; 2]| {
            format!(
                "setp.{order}.{ty} %p, {a}, {b}; setp.{order}.{ty} %q, {}, {}; xor.pred %p, %p, %q;
                 @%p add.u32 %z, %z, 1;\n",
                hidden[0], hidden[1]
            )
        };
        for order in ["eq", "ne", "lt", "le", "gt", "ge"] {
            for ty in ["s32", "u32"] {
                body += &compared(order, ty, ["%v", "%other"], ["%h", "%other"]);
                body += &compared(order, ty, ["%other", "%v"], ["%other", "%h"]);
            }
            for ty in ["s64", "u64"] {
                body += &compared(order, ty, ["%wv", "%wideo"], ["%wh", "%wideo"]);
            }
        }
        for order in ["lo", "ls", "hi", "hs"] {
            body += &compared(order, "u32", ["%v", "%other"], ["%h", "%other"]);
        }
        body += &compared("eq", "b32", ["%v", "%other"], ["%h", "%other"]);
    }
    body += "add.u64 %to, %to, 4; setp.lt.u64 %p, %to, %end; @%p bra others;
             add.u64 %from, %from, 4; setp.lt.u64 %p, %from, %end; @%p bra bases; st.global.u32 [%at], %z; ret;";
    let bench = Bench::new(options(), &kernel(&body));
    for threads in [[64, 1, 1], [16, 4, 1], [8, 8, 1], [4, 8, 1], [2, 16, 1], [1, 32, 1]] {
        bench.clear();
        bench.launch(1, threads, false).expect("it runs");
        let count = threads.iter().product::<u32>() as usize;
        assert!(
            bench.words()[..count].iter().all(|&word| word == 1),
            "{threads:?}: {:?}",
            &bench.words()[..count]
        );
    }
}

#[test]
fn faults_leave_the_engine_as_it_was() {
    let bench = Bench::new(options(), &kernel("st.global.u32 [%at], %i; bar.sync 0; ret;"));
    let beyond = bench.buffer + (1 << 40);
    for round in 0..20 {
        let fault = bench.launch_at(4, [128, 1, 1], false, beyond).expect_err("an access to nothing");
        assert_eq!(fault.reason, Reason::IllegalAddress);
        assert!(
            fault.report.contains("write of 4 bytes") && fault.report.contains("st.global.u32"),
            "{fault}"
        );
        bench.clear();
        bench.launch(4, [128, 1, 1], false).expect("no fault");
        assert_eq!(bench.words()[511], 127, "round {round}");
    }
}

#[test]
fn misaligned_null_and_unknown_host_addresses() {
    let bench = Bench::new(options(), &kernel("ld.u32 %x, [%base]; st.u32 [%base], %x; ret;"));
    let on_the_stack = 7u32;
    for (address, reason) in [
        (bench.buffer + 2, Reason::MisalignedAddress),
        (0, Reason::IllegalAddress),
        (64, Reason::IllegalAddress),
        (&raw const on_the_stack as u64, Reason::IllegalAddress),
        (u64::MAX - 3, Reason::IllegalAddress),
        (1 << 63, Reason::IllegalAddress),
    ] {
        for threads in [1, 32] {
            let fault = bench.launch_at(1, [threads, 1, 1], false, address).expect_err("a wrong address");
            assert_eq!(fault.reason, reason, "{address:#x}: {fault}");
        }
    }
}

#[test]
fn an_access_below_local_memory_is_named() {
    let body = ".local .b8 l[64]; mov.u64 %wide, l; cvta.local.u64 %wide, %wide; sub.u64 %wide, %wide, 4096;
                ld.u32 %x, [%wide]; st.global.u32 [%at], %x; ret;";
    for checks in [Checks::NONE, Checks::MEMORY] {
        let bench = Bench::new(Options { checks, ..options() }, &kernel(body));
        for threads in [1, 64] {
            let fault = bench.launch(1, [threads, 1, 1], false).expect_err("nothing is there");
            assert_eq!(fault.reason, Reason::IllegalAddress);
            assert!(fault.report.contains("bytes below the thread's local memory"), "{fault}");
        }
    }
}

#[test]
fn more_than_a_device_has_is_not_loaded() {
    let engine = Engine::new(options());
    for text in [
        ".visible .entry e(.param .b32 p[4294967295]) { ret; }",
        ".func f(.param .b32 p[4294967295]) { ret; }",
        ".entry e() { .local .b8 l[4294967280]; ret; }",
        ".entry e() { .local .b8 a[300000]; .local .b8 b[300000]; ret; }",
        ".const .b8 c[65537];",
        ".entry e() { .shared .b8 s[4294967296]; ret; }",
        ".shared .b8 s[30000]; .shared .b8 t[30000];
         .entry e() { st.shared.u8 [s], 1; st.shared.u8 [t], 1; ret; }",
    ] {
        let module = gangway_ptx::parse(&format!(".version 7.8 .target sm_80 .address_size 64 {text}"));
        let ended = engine.load(module.expect("PTX"));
        assert!(matches!(&ended, Err(LoadError::TooLarge(_))), "{text}: {ended:?}");
    }
}

#[test]
fn barriers_that_nobody_completes_end() {
    let bench = Bench::new(
        options(),
        &kernel("setp.lt.u32 %p, %i, 32; @%p bra other; bar.sync 1, 64; ret; other: bar.sync 2, 64; ret;"),
    );
    let fault = bench.launch(2, [64, 1, 1], false).expect_err("a deadlock");
    assert_eq!(fault.reason, Reason::Failed);
    assert!(fault.report.contains("wait for each other") && fault.report.contains("bar.sync"), "{fault}");
}

#[test]
fn barriers_that_nobody_completes_end_beside_a_warp_that_spins() {
    let spins = "setp.ge.u32 %p, %i, 64; @%p bra spin;";
    let spin = "spin: ld.volatile.global.u32 %x, [%base]; setp.eq.u32 %p, %x, 0; @%p bra spin; ret;";
    for waits in [
        // Two warps at different barriers; two at a barrier for four, of which one has exited.
        "setp.lt.u32 %p, %i, 32; @%p bra other; bar.sync 1, 128; ret; other: bar.sync 2, 128; ret;",
        "bar.sync 1, 128; ret;",
    ] {
        let exits = "setp.ge.u32 %p, %i, 96; @%p exit;";
        let bench = Bench::new(options(), &kernel(&format!("{exits} {spins} {waits} {spin}")));
        let fault = bench.launch(2, [128, 1, 1], false).expect_err("a deadlock");
        assert_eq!(fault.reason, Reason::Failed, "{fault}");
        assert!(fault.report.contains("wait for each other") && fault.report.contains("bar.sync"), "{fault}");
    }
}

#[test]
fn barriers_for_threads_that_there_are_not() {
    let all = &kernel("ld.global.u32 %x, [%base]; bar.sync 1, %x; st.global.u32 [%at+4], %i; ret;");
    let some =
        &kernel("ld.global.u32 %x, [%base]; setp.eq.u32 %p, %i, 7; @%p bra skip; bar.sync 1, %x; skip: ret;");
    for execution in [Execution::CompiledOnly, Execution::Interpreted] {
        for (text, threads, count) in [
            (all, 64, 96),
            (all, 64, 33),
            (all, 64, 1),
            (all, 40, 96),
            (all, 1024, 1056),
            (all, 64, 0xffff_ffe0),
            (all, 64, u32::MAX),
            (some, 64, 96),
        ] {
            let bench = Bench::new(Options { execution, ..options() }, text);
            bench.fill(|_| count);
            let fault = bench.launch(1, [threads, 1, 1], false).expect_err("a wrong count");
            assert_eq!(fault.reason, Reason::IllegalInstruction, "{fault}");
            let most = threads.next_multiple_of(32);
            let what = format!(
                "a barrier for {count} threads; in this block it has to be a multiple of 32 up to {most}"
            );
            assert!(fault.report.contains(&what), "{fault}");
        }
        // None, which is all, as in the code that ptxas makes of it; and as many as there are.
        for (threads, count) in [(64, 0), (40, 0), (64, 64), (1024, 1024)] {
            let bench = Bench::new(Options { execution, ..options() }, all);
            bench.fill(|_| count);
            bench.launch(1, [threads, 1, 1], false).expect("no fault");
            assert_eq!(bench.words()[threads as usize], threads - 1);
        }
    }
}

#[test]
fn warps_of_which_some_meet_advance_evenly() {
    // The first warp works for as long as on hardware the others need by far to meet 20 times, two
    // and two, and to say that they have.
    let body = |work: &str| {
        kernel(&format!(
            "bar.sync 0, 256; mov.u32 %z, 0; setp.ge.u32 %p, %i, 64; @%p bra others;
             setp.ge.u32 %p, %i, 32; @%p bra behind;
             again: {work} add.u32 %z, %z, 1; setp.lt.u32 %q, %z, 900; @%q bra again;
             ld.volatile.global.u32 %x, [%base]; bar.sync 0, 256; st.global.u32 [%at+4], %x; ret;
             others: shr.u32 %y, %i, 6; add.u32 %y, %y, 1;
             meet: bar.sync %y, 64; add.u32 %z, %z, 1; setp.lt.u32 %q, %z, 20; @%q bra meet;
             atom.global.add.u32 %x, [%base], 1;
             behind: bar.sync 0, 256; ret;"
        ))
    };
    let call = ".func f(.param .u32 a) { .reg .u32 %a; ld.param.u32 %a, [a]; ret; }\n".to_owned()
        + &body("{ .param .b32 p; st.param.b32 [p], %z; call f, (p); }");
    for text in [body("add.u32 %x, %z, 1;"), call] {
        let bench = Bench::new(options(), &text);
        for _ in 0..20 {
            bench.clear();
            bench.launch(1, [256, 1, 1], false).expect("no fault");
            assert!(bench.words()[1] == 192, "{}", bench.words()[1]);
        }
    }
}

#[test]
fn endless_recursion_is_a_fault() {
    let text = ".func f(.param .u64 a) { .reg .u64 %a; .local .b64 x[4]; ld.param.u64 %a, [a];
        st.local.u64 [x], %a; call f, (%a); ld.local.u64 %a, [x]; st.global.u64 [%a], %a; ret; }\n"
        .to_owned()
        + &kernel("call f, (%base); ret;");
    let bench = Bench::new(options(), &text);
    for threads in [1, 64] {
        let fault = bench.launch(2, [threads, 1, 1], false).expect_err("an overflow");
        assert_eq!(fault.reason, Reason::Failed, "{fault}");
        assert!(fault.report.contains("the stack is full"), "{fault}");
    }
}

#[test]
fn many_threads_launch_at_once() {
    let bench = Bench::new(options(), &kernel("bar.sync 0; atom.global.add.u32 %x, [%base], 1; ret;"));
    let rounds = 50;
    std::thread::scope(|scope| {
        for number in 0..6u32 {
            let bench = &bench;
            scope.spawn(move || {
                for round in 0..rounds {
                    let fails = (number + round).is_multiple_of(7);
                    let at = if fails { 8 } else { bench.buffer };
                    let ended = bench.launch_at(number % 3 + 1, [70, 1, 1], false, at);
                    assert_eq!(ended.is_err(), fails);
                }
            });
        }
    });
    let fine = |number: u32| (0..rounds).filter(|round| !(number + round).is_multiple_of(7)).count() as u32;
    let expected: u32 = (0..6).map(|number| fine(number) * (number % 3 + 1) * 70).sum();
    assert_eq!(bench.words()[0], expected);
}

#[test]
fn engines_share_code() {
    let cache = Arc::new(CodeCache::new());
    let text = kernel("ld.global.u32 %x, [nine]; add.u32 %x, %x, %i; st.global.u32 [%at], %x; ret;");
    let text = format!(".global .u32 nine = 9; {text}");
    let run = || {
        let bench = Bench::new(Options { cache: Some(cache.clone()), ..options() }, &text);
        bench.launch(1, [40, 1, 1], false).expect("no fault");
        // The variable and the buffer are elsewhere in each.
        assert_eq!(bench.words()[39], 48);
        bench
    };
    let first = run();
    let second = run();
    drop(first);
    second.launch(1, [40, 1, 1], false).expect("no fault");
    drop(second);
    drop(run());
}

#[test]
fn code_is_kept_between_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = || -> Vec<PathBuf> {
        let folders = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        folders
            .flat_map(|entry| std::fs::read_dir(entry.path()).into_iter().flatten().flatten())
            .map(|e| e.path())
            .collect()
    };
    let text = kernel("add.u32 %x, %i, 9; st.global.u32 [%at], %x; ret;");
    let run = |text: &str| {
        let bench =
            Bench::new(Options { cache: Some(Arc::new(CodeCache::open(folder.path()))), ..options() }, text);
        bench.launch(1, [40, 1, 1], false).expect("no fault");
        assert_eq!(bench.words()[39], 48);
    };
    run(&text);
    let first = files();
    assert!(!first.is_empty());
    run(&text);
    assert_eq!(files().len(), first.len(), "the second engine has compiled nothing");
    // Damage is found out, and mended.
    for path in &first {
        let mut bytes = std::fs::read(path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::write(path, &bytes).expect("a file");
    }
    run(&text);
    let mended = first.iter().all(|path| std::fs::read(path).is_ok_and(|bytes| !bytes.is_empty()));
    assert!(mended);
    // Another module has other code, though its kernel has the same name.
    run(&kernel("add.u32 %x, %i, 4; add.u32 %x, %x, 5; st.global.u32 [%at], %x; ret;"));
    assert!(files().len() > first.len());
}
