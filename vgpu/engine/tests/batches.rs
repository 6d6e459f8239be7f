//! Loads that follow each other are done together: whatever that does to their order, kernels leave
//! the memory that the interpreter leaves.

mod bench;

use bench::{Bench, WORDS, options};
use gangway_device_memory::Space;
use gangway_engine::{Execution, Options};

/// Words of input; results go behind.
const INPUT: usize = WORDS / 2;

/// `%at` is the address of the thread's word, `%far` that of its 64-bit word, `%x` its number in
/// the block.
const START: &str = "
    .reg .u64 %base, %at, %far, %wide, %e, %g, %h; .reg .u32 %i, %n, %x, %y, %z, %k; .reg .pred %p, %q;
    .reg .f32 %f<10>; .reg .f64 %d<8>; .reg .u32 %a, %b, %c, %v; .shared .align 8 .b8 s[4096];
    ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %y, %tid.y;
    mad.lo.u32 %x, %y, %n, %i; mul.wide.u32 %wide, %x, 4; add.u64 %at, %base, %wide;
    add.u64 %far, %at, %wide;\n";

fn kernel(body: &str) -> String {
    format!(".visible .entry k(.param .u64 buffer) {{ {START} {body} ret; }}")
}

/// Anything; floats of it are mostly finite.
fn noise(index: usize) -> u32 {
    let mut word = (index as u32).wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    word ^= word >> 15;
    word = word.wrapping_mul(0x85eb_ca6b);
    0x3f00_0000 ^ (word & 0x81ff_ffff)
}

/// What a kernel leaves in memory full of noise, compiled or interpreted.
fn run(text: &str, execution: Execution, block: [u32; 3], skipped: u64) -> Vec<u32> {
    let bench = Bench::new(Options { execution, ..options() }, text);
    bench.fill(noise);
    let done = bench.launch_at(1, block, false, bench.buffer + skipped);
    assert!(done.is_ok(), "{done:?}\n{text}");
    bench.words().to_vec()
}

fn compare(body: &str, blocks: &[[u32; 3]], skipped: u64) {
    let text = kernel(body);
    for &block in blocks {
        let (compiled, interpreted) = (
            run(&text, Execution::CompiledOnly, block, skipped),
            run(&text, Execution::Interpreted, block, skipped),
        );
        let wrong = (0..WORDS).find(|&word| compiled[word] != interpreted[word]);
        assert_eq!(wrong.map(|word| (word, compiled[word], interpreted[word])), None, "{block:?}\n{body}");
        let untouched = (0..WORDS).all(|word| compiled[word] == noise(word));
        assert!(!untouched, "nothing was stored: {body}");
    }
}

const ALL: &[[u32; 3]] = &[[64, 1, 1], [16, 4, 1], [8, 8, 1], [4, 16, 1], [2, 16, 1], [40, 1, 1], [32, 3, 1]];

#[test]
fn neighbours_of_each_element() {
    compare(
        "ld.global.f32 %f0, [%at+4096]; ld.global.f32 %f1, [%at+4092]; ld.global.f32 %f2, [%at+4100];
         ld.global.f32 %f3, [%at+1024]; ld.global.f32 %f4, [%at+9216];
         add.f32 %f5, %f1, %f2; add.f32 %f5, %f5, %f3; add.f32 %f5, %f5, %f4; mul.f32 %f5, %f5, 0f3dcccccd;
         fma.rn.f32 %f6, %f0, 0f3ecccccd, %f5; st.global.f32 [%at+32768], %f6;",
        ALL,
        0,
    );
}

#[test]
fn addresses_that_move_between_loads() {
    compare(
        "mov.u64 %e, %at; ld.global.u32 %a, [%e]; add.u64 %e, %e, 512; ld.global.u32 %b, [%e];
         add.u64 %e, %e, 512; ld.global.u32 %c, [%e]; xor.b32 %v, %a, %b; mad.lo.u32 %v, %v, 5, %c;
         sub.u64 %e, %e, %base; st.global.u32 [%at+32768], %v; st.global.u64 [%far+40000], %e;
         ld.global.u32 %a, [%at+2048]; add.u32 %v, %a, %v; ld.global.u32 %a, [%at+3072]; add.u32 %v, %v, %a;
         st.global.u32 [%at+36864], %v;",
        ALL,
        0,
    );
}

#[test]
fn registers_that_change_after_they_are_used() {
    compare(
        "add.u32 %v, %x, 3; ld.global.u32 %a, [%at]; mad.lo.u32 %a, %a, 5, %v; add.u32 %v, %v, 100;
         ld.global.u32 %b, [%at+4096]; mad.lo.u32 %b, %b, 7, %v; xor.b32 %b, %a, %b; add.u32 %v, %v, 5;
         st.global.u32 [%at+32768], %b; st.global.u32 [%at+40960], %v;",
        ALL,
        0,
    );
}

#[test]
fn elements_that_other_lanes_write() {
    // The lanes of one warp: all of them load before any of them stores.
    compare(
        "ld.global.u32 %a, [%at+32768]; ld.global.u32 %b, [%at+32772]; ld.global.u32 %c, [%at+32760];
         add.u32 %v, %a, %b; xor.b32 %v, %v, %c; st.global.u32 [%at+32768], %v;
         ld.global.u32 %a, [%at+32764]; ld.global.u32 %b, [%at+32768]; sub.u32 %v, %a, %b;
         st.global.u32 [%at+32772], %v;",
        &[[32, 1, 1], [16, 2, 1], [8, 4, 1]],
        0,
    );
}

#[test]
fn memory_that_changes_between_batches_and_turns() {
    compare(
        "mov.u32 %k, 0;
         turn: ld.global.u32 %a, [%at+32768]; ld.global.u32 %b, [%at+4096]; mad.lo.u32 %v, %a, 3, %b;
         st.global.u32 [%at+32768], %v;
         ld.global.u32 %a, [%at+32768]; ld.global.u32 %b, [%at+8192]; add.u32 %c, %a, %b; add.u32 %c, %c, %k;
         st.global.u32 [%at+8192], %c; st.global.u32 [%at+40960], %a;
         add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 5; @%p bra turn;",
        ALL,
        0,
    );
}

#[test]
fn sums_over_loops_with_nothing_stored() {
    compare(
        "mov.f64 %d0, 0d0000000000000000; mov.u32 %k, 0; mov.u64 %e, %far;
         turn: ld.global.f64 %d1, [%e]; ld.global.f64 %d2, [%e+8192]; fma.rn.f64 %d0, %d1, %d2, %d0;
         add.u64 %e, %e, 1024; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 7; @%p bra turn;
         st.global.f64 [%far+32768], %d0;",
        ALL,
        0,
    );
}

#[test]
fn predicates_and_selections() {
    compare(
        "ld.global.f32 %f0, [%at]; ld.global.f32 %f1, [%at+2048]; setp.lt.f32 %p, %f0, %f1;
         selp.f32 %f2, %f0, %f1, %p; ld.global.u32 %a, [%at+4096]; setp.gt.s32 %q, %a, 1056964608;
         selp.u32 %b, %a, 7, %q; and.pred %q, %p, %q; st.global.f32 [%at+32768], %f2;
         @%q st.global.u32 [%at+40960], %b; @%p add.u32 %b, %b, %x; st.global.u32 [%at+49152], %b;
         @%p bra less; st.global.u32 [%at+53248], %a; less: st.global.u32 [%at+36864], %b;",
        ALL,
        0,
    );
}

#[test]
fn both_widths_at_once() {
    compare(
        "ld.global.u32 %a, [%at]; ld.global.f64 %d0, [%far+4096]; ld.global.u64 %e, [%far+8192];
         cvt.u64.u32 %g, %a; add.u64 %g, %g, %e; mul.wide.u32 %h, %a, %a; xor.b64 %g, %g, %h;
         cvt.rn.f32.f64 %f0, %d0; ld.global.s32 %h, [%at+2048]; add.s64 %g, %g, %h;
         cvt.u32.u64 %b, %g; st.global.u64 [%far+32768], %g; st.global.f32 [%at+49152], %f0;
         st.global.u32 [%at+57344], %b;",
        ALL,
        0,
    );
}

#[test]
fn what_helpers_compute_and_carries() {
    compare(
        "ld.global.f32 %f0, [%at]; ld.global.f32 %f1, [%at+2048]; add.rm.f32 %f2, %f0, %f1;
         ld.global.u32 %a, [%at+4096]; ld.global.u32 %b, [%at+6144]; add.cc.u32 %c, %a, %b; addc.u32 %v, %a, 0;
         fma.rp.f32 %f3, %f2, %f1, %f0; st.global.u32 [%at+32768], %c; st.global.u32 [%at+36864], %v;
         st.global.f32 [%at+40960], %f3;",
        ALL,
        0,
    );
}

#[test]
fn shared_memory() {
    compare(
        "ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+4096]; mul.lo.u32 %v, %x, 4; mov.u32 %z, s;
         add.u32 %z, %z, %v; st.shared.u32 [%z], %a; st.shared.u32 [%z+1024], %b; bar.sync 0;
         ld.shared.u32 %c, [%z+1024]; ld.shared.u32 %v, [%z]; ld.global.u32 %a, [%at+512];
         mad.lo.u32 %c, %c, 3, %v; xor.b32 %c, %c, %a; st.global.u32 [%at+32768], %c;",
        ALL,
        0,
    );
}

#[test]
fn some_lanes_only() {
    for (first, last) in [(0, 19), (1, 31), (5, 5), (12, 40), (0, 62)] {
        compare(
            &format!(
                "mov.u32 %v, 9; setp.lt.u32 %p, %x, {first}; setp.gt.u32 %q, %x, {last}; or.pred %p, %p, %q;
                 @%p bra out;
                 ld.global.f32 %f0, [%at+4096]; ld.global.f32 %f1, [%at+4092]; ld.global.f32 %f2, [%at+4100];
                 add.f32 %f1, %f1, %f2; fma.rn.f32 %f0, %f0, 0f3ecccccd, %f1; cvt.rzi.s32.f32 %v, %f0;
                 st.global.f32 [%at+32768], %f0;
                 out: st.global.u32 [%at+36864], %v;"
            ),
            ALL,
            0,
        );
    }
}

#[test]
fn lanes_that_do_not_run_are_beyond_the_end_of_memory() {
    // The last lanes that run load the last words there are, the first ones the first.
    for count in [1u64, 3, 20, 31] {
        let end = 4 * WORDS as u64 - 4 * count;
        compare(
            &format!(
                "setp.ge.u32 %p, %x, {count}; @%p bra out;
                 ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+-4096]; add.u32 %a, %a, %b;
                 st.global.u32 [%at+-8192], %a; out:"
            ),
            &[[32, 1, 1]],
            end,
        );
    }
    compare(
        "setp.lt.u32 %p, %x, 7; @%p bra out; add.u64 %at, %at, -28;
         ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+8192]; add.u32 %a, %a, %b;
         st.global.u32 [%at+32768], %a; out:",
        &[[32, 1, 1]],
        0,
    );
}

#[test]
fn one_of_several_loads_faults() {
    for body in [
        "ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+65536]; add.u32 %a, %a, %b; st.global.u32 [%at], %a;",
        "ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+4398046511104]; add.u32 %a, %a, %b; st.global.u32 [%at], %a;",
        "ld.global.u32 %a, [%at]; add.u64 %e, %at, 2; ld.global.u32 %b, [%e]; add.u32 %a, %a, %b;
         st.global.u32 [%at], %a;",
    ] {
        let faults = [Execution::CompiledOnly, Execution::Interpreted].map(|execution| {
            let bench = Bench::new(Options { execution, ..options() }, &kernel(body));
            bench.fill(noise);
            let fault = bench.launch(1, [32, 1, 1], false).expect_err("it is outside of memory");
            assert!(bench.words().iter().enumerate().all(|(word, &is)| is == noise(word)), "{body}");
            fault
        });
        let instruction =
            |report: &str| report.lines().find(|line| line.contains("ld.global")).map(str::to_owned);
        let [compiled, interpreted] = &faults;
        assert_eq!(compiled.reason, interpreted.reason, "{body}");
        assert_eq!(
            instruction(&compiled.report),
            instruction(&interpreted.report),
            "{body}\n{compiled}\n{interpreted}"
        );
        assert!(instruction(&compiled.report).is_some(), "{}", compiled.report);
    }
}

#[test]
fn host_memory_that_is_registered() {
    // It is elsewhere than all device memory is, which is what compiled code looks for.
    let text = kernel(
        "ld.global.u32 %a, [%at]; mov.u64 %e, %at; ld.global.u32 %b, [%e+128]; add.u64 %e, %e, 1024;
         ld.global.u32 %c, [%e]; add.u32 %a, %a, %c;
         ld.global.f64 %d0, [%far+4096]; ld.global.f64 %d1, [%far+8192]; mad.lo.u32 %a, %a, 3, %b; fma.rn.f64 %d0, %d0, %d1, %d0;
         st.global.u32 [%at+32768], %a; st.global.f64 [%far+40960], %d0;",
    );
    for block in [[64, 1, 1], [8, 8, 1]] {
        let expected = run(&text, Execution::CompiledOnly, block, 0);
        let bench = Bench::new(options(), &text);
        let mut memory: Vec<u32> = (0..WORDS).map(noise).collect();
        let start = memory.as_mut_ptr().expose_provenance() as u64;
        let space = Space::get().expect("memory");
        space.register_host(start, 4 * WORDS as u64).expect("it is not registered yet");
        let done = bench.launch_at(1, block, false, start);
        space.unregister_host(start).expect("it is registered");
        assert!(done.is_ok(), "{done:?}");
        assert!(memory[..] == expected[..], "{block:?}");
        assert!(memory[INPUT..] != expected[..INPUT]);
    }
}
