//! Addresses with indices that a division has made: whether the lanes of a warp agree in the
//! quotients or take turns, kernels leave the memory that the interpreter leaves.

mod bench;

use bench::{Bench, WORDS, options};
use gangway_engine::{Execution, Options};

/// `%n` is the number of the thread, `%x` the number that is divided, `%y` another one.
const START: &str = "
    .reg .u64 %base, %at, %far, %wide, %e, %g; .reg .u32 %i, %k, %n, %x, %y, %q, %r, %t, %s, %a, %b, %v;
    .reg .u64 %X, %Q, %R; .reg .pred %p; .reg .f32 %f<10>; .reg .s32 %sx, %sq, %sr;
    ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mov.u32 %k, %ctaid.x; mov.u32 %n, %ntid.x;
    mad.lo.u32 %n, %k, %n, %i;\n";

/// What reads the word `%r` of a row of 50 words, `%q` rows on, and the words around it.
const READ: &str = "
    mad.lo.u32 %t, %q, 50, %r; mul.wide.u32 %wide, %t, 4; add.u64 %at, %base, %wide;
    ld.global.u32 %a, [%at+256]; ld.global.u32 %b, [%at+260]; mad.lo.u32 %v, %a, 3, %b;
    ld.global.u32 %a, [%at+456]; xor.b32 %v, %v, %a;\n";

/// Stores `%v` to the thread's own word.
const STORE: &str = "mul.wide.u32 %wide, %n, 4; add.u64 %e, %base, %wide; st.global.u32 [%e+32768], %v;\n";

fn noise(index: usize) -> u32 {
    let word = (index as u32).wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    (word ^ word >> 15).wrapping_mul(0x85eb_ca6b)
}

fn run(text: &str, execution: Execution, blocks: u32, block: [u32; 3]) -> Vec<u32> {
    let bench = Bench::new(Options { execution, ..options() }, text);
    bench.fill(noise);
    let done = bench.launch_at(blocks, block, false, bench.buffer);
    assert!(done.is_ok(), "{done:?}\n{text}");
    bench.words().to_vec()
}

fn compare(body: &str) {
    let text = format!(".visible .entry k(.param .u64 buffer) {{ {START} {body} ret; }}");
    for block in [[64, 1, 1], [40, 1, 1], [16, 4, 1]] {
        let compiled = run(&text, Execution::CompiledOnly, 5, block);
        let interpreted = run(&text, Execution::Interpreted, 5, block);
        let wrong = (0..WORDS).find(|&word| compiled[word] != interpreted[word]);
        assert_eq!(wrong.map(|word| (word, compiled[word], interpreted[word])), None, "{block:?}\n{body}");
        assert!((0..WORDS).any(|word| compiled[word] != noise(word)), "nothing was stored: {body}");
    }
}

/// Multiplication by a reciprocal, as compilers divide by constants.
#[test]
fn quotients_of_constants() {
    for (factor, shift, divisor) in
        [(0xaaaa_aaab_u32, 5, 48), (1_739_733_589, 6, 158), (0x8000_0001, 4, 32), (0xcccc_cccd, 3, 10)]
    {
        compare(&format!(
            "mad.lo.u32 %x, %n, 1, 20; mul.hi.u32 %t, %x, {factor}; shr.u32 %q, %t, {shift};
             mul.lo.u32 %s, %q, {divisor}; sub.u32 %r, %x, %s; {READ} {STORE}"
        ));
    }
}

/// Even constants are divided by in parts: a shift, a product, and a shift or a mask, with what has been shifted left.
#[test]
fn quotients_of_even_constants() {
    for (factor, low, shift, divisor) in [
        (0x8020_0803_u32, 1, 9, 2046),
        (0xcf6d_29a3, 1, 6, 158),
        (0xaaaa_aaab, 2, 3, 48),
        (0xaaaa_aaab, 1, 1, 6),
        (0x0002_0001, 4, 0, 524_272),
    ] {
        let divide = format!("shr.u32 %t, %x, {low}; mul.hi.u32 %t, %t, {factor};");
        compare(&format!(
            "add.u32 %x, %n, {}; {divide} shr.u32 %q, %t, {shift}; mul.lo.u32 %s, %q, -{divisor};
             add.u32 %r, %x, %s; and.b32 %r, %r, 63; and.b32 %q, %q, 7; {READ} {STORE}",
            4 * divisor - 20
        ));
        // Four times the quotient; what is shifted out tells no lanes apart.
        compare(&format!(
            "mad.lo.u32 %x, %n, 1, 3221225400; {divide} shl.b32 %t, %t, 2; and.b32 %q, %t, -{};
             shr.u32 %s, %q, 3; and.b32 %q, %q, 7; add.u32 %q, %q, %s; and.b32 %q, %q, 31;
             and.b32 %r, %x, 31; {READ} {STORE}",
            4 << shift
        ));
    }
}

/// The same with signs, and with order that others see in another way.
#[test]
fn signed_quotients_in_parts() {
    for start in [-300, -16, 0, 290] {
        for (first, second) in [("s32", "s32"), ("u32", "s32"), ("s32", "u32")] {
            compare(&format!(
                "add.s32 %sx, %n, {start}; shr.{first} %sq, %sx, 1; mul.hi.{second} %sq, %sq, 1739733589;
                 shr.s32 %sr, %sq, 5; shr.u32 %t, %sq, 31; add.s32 %sq, %sr, %t; and.b32 %q, %sq, 7;
                 and.b32 %r, %sx, 63; {READ} {STORE}"
            ));
        }
    }
}

/// 64 bits, of which compilers keep the low half in the midst, as in counters that are known to be small.
#[test]
fn quotients_of_a_low_half() {
    for start in ["77", "4294967196", "8589934492"] {
        compare(&format!(
            "cvt.u64.u32 %X, %n; add.u64 %X, %X, {start}; and.b64 %X, %X, 4294967295; shr.u64 %Q, %X, 1;
             mul.hi.u64 %Q, %Q, -9214356032908681207; shr.u64 %Q, %Q, 8; and.b64 %Q, %Q, 4294967294;
             cvt.u32.u64 %t, %Q; cvt.u32.u64 %x, %X; mad.lo.u32 %r, %t, -1023, %x; and.b32 %r, %r, 63;
             and.b32 %q, %t, 7; {READ} {STORE}"
        ));
    }
}

#[test]
fn signed_quotients_of_numbers_around_zero() {
    for start in [-100, -16, 0, 30] {
        compare(&format!(
            "add.s32 %sx, %n, {start}; mul.hi.s32 %sq, %sx, 1739733589; shr.u32 %t, %sq, 31;
             shr.s32 %sq, %sq, 6; add.s32 %sq, %sq, %t; mul.lo.s32 %s, %sq, -158; add.s32 %r, %sx, %s;
             add.u32 %r, %r, 160; add.u32 %q, %sq, 2; {READ} {STORE}"
        ));
    }
}

#[test]
fn divisions_and_remainders() {
    for ty in ["u32", "s32"] {
        for divisor in ["48", "7", "100", "%k", "-33"] {
            if divisor == "-33" && ty == "u32" {
                continue;
            }
            compare(&format!(
                "add.u32 %k, %k, 30; div.{ty} %q, %n, {divisor}; rem.{ty} %r, %n, {divisor};
                 add.u32 %q, %q, 12; {READ} {STORE}"
            ));
        }
    }
}

/// GCC adds three numbers by a video instruction.
#[test]
fn sums_of_three() {
    compare(&format!(
        "mov.u32 %k, 45; div.u32 %q, %n, %k; rem.u32 %r, %n, %k; mul.lo.u32 %s, %q, 50;
         vadd.u32.u32.u32.add %t, %s, %k, %r; mul.wide.u32 %wide, %t, 4; add.u64 %at, %base, %wide;
         ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+64]; vadd.u32.u32.u32 %t, %t, %q;
         mul.wide.u32 %wide, %t, 4; add.u64 %at, %base, %wide; ld.global.u32 %v, [%at];
         mad.lo.u32 %v, %v, 3, %a; xor.b32 %v, %v, %b; {STORE}"
    ));
}

#[test]
fn divisions_of_64_bits() {
    compare(&format!(
        "cvt.u64.u32 %X, %n; add.u64 %X, %X, 77; cvt.u64.u32 %g, %k; add.u64 %g, %g, 41;
         div.u64 %Q, %X, %g; mul.lo.u64 %R, %Q, %g; sub.u64 %R, %X, %R; cvt.u32.u64 %q, %Q;
         cvt.u32.u64 %r, %R; {READ} {STORE}"
    ));
}

#[test]
fn powers_of_two() {
    for (shift, mask) in [(5, 31), (4, 15), (3, 7), (2, 3), (6, 63)] {
        compare(&format!(
            "add.u32 %x, %n, 9; shr.u32 %q, %x, {shift}; and.b32 %r, %x, {mask}; {READ} {STORE}"
        ));
    }
}

/// Twice in a row, the second time with what the first one left; steps of more than one.
#[test]
fn one_division_after_another() {
    compare(&format!(
        "shl.b32 %x, %n, 1; div.u32 %q, %x, 600; rem.u32 %x, %x, 600; div.u32 %s, %x, 40;
         rem.u32 %r, %x, 40; mad.lo.u32 %q, %q, 15, %s; {READ} {STORE}
         add.u32 %x, %n, 3; div.u32 %q, %x, 37; rem.u32 %r, %x, 37; {READ}
         mul.wide.u32 %wide, %n, 4; add.u64 %e, %base, %wide; st.global.u32 [%e+40960], %v;"
    ));
}

/// What is stored where the quotient says, and what of a division is needed behind it.
#[test]
fn results_that_live_on() {
    compare(
        "mov.u32 %y, 0; mov.u32 %v, 1; mov.u32 %x, %n;
         turn: div.u32 %q, %x, 45; rem.u32 %r, %x, 45; mad.lo.u32 %t, %q, 50, %r;
         mul.wide.u32 %wide, %t, 4; add.u64 %at, %base, %wide; ld.global.u32 %a, [%at];
         mad.lo.u32 %v, %v, 5, %a; add.u32 %x, %x, 320; add.u32 %y, %y, 1;
         setp.gt.u32 %p, %a, 0x70000000; selp.u32 %s, %q, %r, %p; add.u32 %v, %v, %s;
         st.global.u32 [%at+32768], %v; add.u32 %v, %v, %t;
         setp.lt.u32 %p, %y, 4; @%p bra turn;
         mul.wide.u32 %wide, %n, 4; add.u64 %e, %base, %wide; st.global.u32 [%e+61440], %v;
         st.global.u32 [%e+63488], %r;",
    );
}

/// A span that is cut short: by what only one lane may do at a time, and by a guard.
#[test]
fn spans_that_end_early() {
    compare(
        "div.u32 %q, %n, 45; rem.u32 %r, %n, 45; mad.lo.u32 %t, %q, 50, %r; setp.lt.u32 %p, %r, 20;
         mul.wide.u32 %wide, %t, 4; add.u64 %at, %base, %wide; ld.global.u32 %a, [%at];
         st.global.u32 [%at+32768], %a; @%p st.global.u32 [%at+40960], %t;
         atom.global.add.u32 %b, [%at+49152], %r; ld.global.u32 %b, [%at+32768]; add.u32 %b, %b, %q;
         st.global.u32 [%at+57344], %b;",
    );
}

/// Rows at the ends of pages, the first and the last of the buffer among them: what lanes would
/// load that have no turn may not be there.
#[test]
fn rows_at_the_ends_of_pages() {
    let divide = "div.u32 %q, %n, 40; rem.u32 %r, %n, 40;";
    let words = "mul.wide.u32 %wide, %t, 4; add.u64 %at, %base, %wide; ld.global.u32 %a, [%at];
        ld.global.u32 %b, [%at+4]; mad.lo.u32 %v, %a, 3, %b;";
    let doubles = "mul.wide.u32 %wide, %t, 8; add.u64 %at, %base, %wide; ld.global.u64 %Q, [%at];
        ld.global.u64 %R, [%at+8]; xor.b64 %Q, %Q, %R; cvt.u32.u64 %v, %Q; shr.u64 %Q, %Q, 32;
        cvt.u32.u64 %a, %Q; mad.lo.u32 %v, %v, 5, %a;";
    let own = "mul.wide.u32 %wide, %n, 4; add.u64 %e, %base, %wide;";
    for (load, page) in [(words, 1024), (doubles, 512)] {
        // Downwards to the first page of the buffer, and from its last page downwards.
        compare(&format!(
            "{divide} sub.u32 %q, 7, %q; mad.lo.u32 %t, %q, {page}, %r; {load} {own}
             st.global.u32 [%e+40960], %v;"
        ));
        compare(&format!(
            "{divide} sub.u32 %q, 15, %q; mad.lo.u32 %t, %q, {page}, %r; add.u32 %t, %t, {}; {load} {own}
             st.global.u32 [%e], %v;",
            page - 41
        ));
    }
}

/// A fault is that of the lane which has gone wrong.
#[test]
fn an_address_that_only_some_lanes_have() {
    let text = format!(
        ".visible .entry k(.param .u64 buffer) {{ {START}
         div.u32 %q, %n, 20; rem.u32 %r, %n, 20; mul.wide.u32 %wide, %q, 1073741824;
         shl.b64 %wide, %wide, 5; add.u64 %at, %base, %wide; mul.wide.u32 %g, %r, 4; add.u64 %at, %at, %g;
         ld.global.u32 %v, [%at]; {STORE} ret; }}"
    );
    let fault = |execution| {
        let bench = Bench::new(Options { execution, ..options() }, &text);
        format!("{:?}", bench.launch_at(1, [32, 1, 1], false, bench.buffer))
    };
    let (compiled, interpreted) = (fault(Execution::CompiledOnly), fault(Execution::Interpreted));
    assert!(compiled.contains("thread (20, 0, 0)"), "{compiled}\n{interpreted}");
    assert!(interpreted.contains("thread (20, 0, 0)"), "{interpreted}");
}
