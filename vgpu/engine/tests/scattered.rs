//! Accesses at addresses without an order, of all lanes and of some: kernels leave the memory that the
//! interpreter leaves, lanes that do not run may have any address, and faults name the lane.

mod bench;

use bench::{Bench, WORDS, options};
use gangway_engine::{Execution, Options};

/// `%e` is the address of a word anywhere in the first half of memory, another one in each lane, `%p` holds in
/// some lanes; `%wild` is `%e` there, and nothing's address in the others.
fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 buffer) {{
        .reg .u64 %base, %own, %wide, %e, %wild, %l, %m; .reg .u32 %x, %y, %a, %b, %c, %d, %v; .reg .pred %p, %q;
        .reg .u16 %h;
        ld.param.u64 %base, [buffer]; mov.u32 %x, %tid.x; mul.wide.u32 %wide, %x, 16; add.u64 %own, %base, %wide;
        mul.lo.u32 %y, %x, 1531; xor.b32 %y, %y, 0x2a5; and.b32 %y, %y, 0x7ff; mul.wide.u32 %wide, %y, 16;
        add.u64 %e, %base, %wide; ld.global.u32 %a, [%own]; and.b32 %b, %a, 3; setp.ne.u32 %p, %b, 0;
        selp.u64 %wild, %e, 24, %p; mov.u32 %v, 1; mov.u32 %c, 0; mov.u64 %l, 5; mov.u64 %m, 6;
        {body} ret; }}"
    )
}

fn noise(index: usize) -> u32 {
    let word = (index as u32).wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    (word ^ word >> 15).wrapping_mul(0x85eb_ca6b)
}

fn run(text: &str, execution: Execution, threads: u32) -> Vec<u32> {
    let bench = Bench::new(Options { execution, ..options() }, text);
    bench.fill(noise);
    let done = bench.launch(1, [threads, 1, 1], false);
    assert!(done.is_ok(), "{done:?}\n{text}");
    bench.words().to_vec()
}

fn compare(body: &str) {
    let text = kernel(body);
    for threads in [64, 40] {
        let (compiled, interpreted) =
            (run(&text, Execution::CompiledOnly, threads), run(&text, Execution::Interpreted, threads));
        let wrong = (0..WORDS).find(|&word| compiled[word] != interpreted[word]);
        assert_eq!(wrong.map(|word| (word, compiled[word], interpreted[word])), None, "{threads}\n{body}");
        assert!((0..WORDS).any(|word| compiled[word] != noise(word)), "nothing was stored: {body}");
    }
}

/// What the loads of a body have loaded.
const STORED: &str = "cvt.u32.u64 %d, %l; xor.b32 %v, %v, %d; shr.u64 %l, %l, 32; cvt.u32.u64 %d, %l;
    mad.lo.u32 %v, %d, 7, %v; cvt.u32.u64 %d, %m; xor.b32 %v, %v, %d; add.u32 %v, %v, %c;
    st.global.u32 [%own+40960], %v;";

#[test]
fn loads_under_guards() {
    compare(&format!(
        "@%p ld.global.u32 %v, [%wild+4]; @%p ld.global.u64 %l, [%wild+8]; @!%p ld.global.s8 %c, [%e+3];
         @%p ld.global.u16 %h, [%wild+2]; cvt.u32.u16 %d, %h; selp.u32 %d, %d, 9, %p; add.u32 %c, %c, %d;
         @%p ld.v2.u64 {{%l, %m}}, [%wild]; {STORED}"
    ));
}

#[test]
fn loads_under_conditions() {
    compare(&format!(
        "@!%p bra other; ld.global.u32 %v, [%wild+4]; ld.global.u64 %l, [%wild+8]; bra met;
         other: ld.u8 %c, [%e+1]; ld.global.u32 %v, [%e+12]; met: {STORED}"
    ));
}

/// In a loop, as sums of sparse rows are: lanes that are done have walked beyond the end of memory.
#[test]
fn loads_of_loops_with_conditions() {
    compare(&format!(
        "mov.u32 %c, 0;
         turn: add.u32 %d, %c, %x; setp.gt.u32 %q, %d, 50; @%q bra skip; ld.global.u32 %b, [%e];
         and.b32 %b, %b, 0xffc; cvt.u64.u32 %wide, %b; add.u64 %wide, %base, %wide; ld.global.u32 %b, [%wide];
         mad.lo.u32 %v, %v, 5, %b;
         skip: add.u64 %e, %e, 8; add.u32 %c, %c, 1; setp.lt.u32 %q, %c, 20; @%q bra turn; {STORED}"
    ));
}

#[test]
fn stores_of_some_lanes() {
    compare(
        "@%p st.v2.u64 [%wild+32768], {%l, %m}; @%p st.global.u32 [%wild+32768], %x;
         @!%p st.global.u8 [%e+32773], %x; setp.gt.u32 %q, %a, 0x70000000; @%q bra out;
         st.global.u16 [%e+32776], %x; st.global.u32 [%e+32780], %a;
         out: st.global.u32 [%own+20480], %a;",
    );
}

#[test]
fn faults_of_one_of_some_lanes() {
    for (body, lane) in [
        (
            "setp.eq.u32 %q, %x, 13; @%q add.u64 %e, %e, 2; setp.gt.u32 %p, %x, 4; @%p ld.global.u32 %v, [%e];",
            13,
        ),
        (
            "setp.eq.u32 %q, %x, 21; @%q mov.u64 %e, 64; setp.lt.u32 %p, %x, 4; @%p bra out; st.global.u32 [%e], %x; out:",
            21,
        ),
    ] {
        for execution in [Execution::CompiledOnly, Execution::Interpreted] {
            let bench = Bench::new(Options { execution, ..options() }, &kernel(body));
            let fault = bench.launch(1, [32, 1, 1], false).expect_err("it is wrong");
            assert!(fault.report.contains(&format!("thread ({lane}, 0, 0)")), "{fault}");
        }
    }
}
