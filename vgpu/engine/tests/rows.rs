//! Addresses that step within rows of 16, 8 or 4 lanes of a block with one dimension: kernels leave the
//! memory that the interpreter leaves, and faults name the same lane.

mod bench;

use bench::{Bench, WORDS, options};
use gangway_engine::{Execution, Options};

/// `%c` is the column of the thread in a tile, `%r` the row, `%x` the number of the thread.
fn kernel(row: u32, body: &str) -> String {
    let shift = row.trailing_zeros();
    let mask = row - 1;
    format!(
        ".visible .entry k(.param .u64 buffer) {{
        .reg .u64 %base, %at, %up, %own, %wide, %e; .reg .u32 %x, %c, %r, %k, %t, %a, %b, %v, %s; .reg .pred %p, %q;
        .reg .f32 %f<8>; .reg .f64 %d<4>; .shared .align 8 .b8 s[4096];
        ld.param.u64 %base, [buffer]; mov.u32 %x, %tid.x; and.b32 %c, %x, {mask}; shr.u32 %r, %x, {shift};
        mul.wide.u32 %wide, %x, 8; add.u64 %own, %base, %wide;
        mad.lo.u32 %t, %r, 50, %c; mul.wide.u32 %wide, %t, 4; add.u64 %at, %base, %wide;
        mul.wide.u32 %wide, %r, 8; add.u64 %up, %base, %wide;
        {body} ret; }}"
    )
}

fn noise(index: usize) -> u32 {
    let word = (index as u32).wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    0x3f00_0000 ^ ((word ^ word >> 15).wrapping_mul(0x85eb_ca6b) & 0x81ff_ffff)
}

fn compare(body: &str) {
    for row in [16, 8, 4] {
        let text = kernel(row, body);
        for block in [[64, 1, 1], [40, 1, 1], [32, 2, 1], [16, 4, 1]] {
            let run = |execution| {
                let bench = Bench::new(Options { execution, ..options() }, &text);
                bench.fill(noise);
                let done = bench.launch(2, block, false);
                assert!(done.is_ok(), "{done:?}\n{text}");
                bench.words().to_vec()
            };
            let (compiled, interpreted) = (run(Execution::CompiledOnly), run(Execution::Interpreted));
            let wrong = (0..WORDS).find(|&word| compiled[word] != interpreted[word]);
            assert_eq!(
                wrong.map(|word| (word, compiled[word], interpreted[word])),
                None,
                "{row} {block:?}\n{body}"
            );
            assert!((0..WORDS).any(|word| compiled[word] != noise(word)), "nothing was stored: {body}");
        }
    }
}

/// The loads of a row that are the same in it stand between those of neighbours, as many as one batch takes and more.
#[test]
fn a_product_whose_loop_is_unrolled() {
    let step = |k: u32| {
        format!(
            "ld.global.f32 %f1, [%up+{}]; ld.global.f32 %f2, [%e+{}]; fma.rn.f32 %f0, %f1, %f2, %f0;",
            4 * k,
            4096 + 200 * k
        )
    };
    let steps: String = (0..9).map(step).collect();
    compare(&format!(
        "mov.f32 %f0, 0f00000000; mov.u32 %k, 0; mov.u64 %e, %at;
         turn: {steps} add.u64 %up, %up, 36; add.u64 %e, %e, 1800; add.u32 %k, %k, 1;
         setp.lt.u32 %p, %k, 3; @%p bra turn; st.global.f32 [%own+32768], %f0;"
    ));
}

/// A store between the loads: what is loaded behind it, for all lanes of a row, is what it left.
#[test]
fn loads_behind_a_store() {
    compare(
        "ld.global.u32 %a, [%up]; ld.global.u32 %b, [%at+4096]; st.global.u32 [%up+16384], %a;
         ld.global.u32 %s, [%at+4160]; ld.global.u32 %a, [%up+16384]; ld.global.u32 %k, [%at+4224];
         add.u32 %v, %a, %b; add.u32 %v, %v, %s; add.u32 %v, %v, %k; st.global.u32 [%own+32768], %v;",
    );
}

#[test]
fn columns_with_more_bits() {
    compare(
        "ld.global.u32 %a, [%base]; and.b32 %a, %a, 31; shl.b32 %b, %a, 4; or.b32 %v, %c, %b;
         mul.wide.u32 %wide, %v, 4; add.u64 %e, %base, %wide; ld.global.u32 %k, [%e];
         or.b32 %v, %a, %c; mul.wide.u32 %wide, %v, 4; add.u64 %e, %base, %wide; ld.global.u32 %s, [%e];
         add.u32 %k, %k, %s; st.global.u32 [%own+32768], %k;",
    );
}

#[test]
fn a_product_of_matrices() {
    compare(
        "mov.f32 %f0, 0f00000000; mov.u32 %k, 0; mov.u64 %e, %at;
         turn: ld.global.f32 %f1, [%up]; ld.global.f32 %f2, [%e+4096]; fma.rn.f32 %f0, %f1, %f2, %f0;
         add.u64 %up, %up, 4; add.u64 %e, %e, 200; add.u32 %k, %k, 1;
         setp.lt.u32 %p, %k, 20; @%p bra turn; st.global.f32 [%own+32768], %f0;",
    );
}

#[test]
fn several_loads_at_once() {
    compare(
        "ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+400]; mad.lo.u32 %v, %a, 3, %b;
         ld.global.u32 %a, [%at+4092]; ld.global.u32 %b, [%at+8192]; xor.b32 %v, %v, %a; add.u32 %v, %v, %b;
         st.global.u32 [%at+32768], %v; ld.global.f64 %d0, [%up]; ld.global.f64 %d1, [%up+80];
         add.f64 %d0, %d0, %d1; st.global.f64 [%own+40960], %d0;",
    );
}

#[test]
fn shared_memory_and_lanes_that_part() {
    compare(
        "mad.lo.u32 %t, %r, 72, %c; mul.lo.u32 %t, %t, 4; mov.u32 %s, s; add.u32 %s, %s, %t;
         st.shared.u32 [%s], %x; bar.sync 0; mov.u32 %v, 0; ld.shared.u32 %v, [%s];
         setp.gt.u32 %p, %c, 2; @%p bra out; ld.global.u32 %a, [%at]; ld.global.u32 %b, [%up];
         add.u32 %v, %v, %a; xor.b32 %v, %v, %b; st.global.u32 [%at+16384], %v;
         out: st.global.u32 [%own+32768], %v;",
    );
}

/// What steps through the whole warp does so in rows that are shorter.
#[test]
fn numbers_of_threads_beside_columns() {
    compare(
        "mov.u32 %k, 0; mul.wide.u32 %wide, %x, 4; add.u64 %e, %base, %wide;
         turn: ld.global.u32 %a, [%e]; ld.global.u32 %b, [%at+1024]; add.u32 %v, %a, %b; shr.u32 %s, %x, 5;
         add.u32 %v, %v, %s; and.b32 %s, %x, 31; mad.lo.u32 %v, %s, 9, %v; st.global.u32 [%e+32768], %v;
         setp.eq.u32 %p, %c, %k; @%p st.global.u32 [%at+49152], %v; add.u64 %e, %e, 256;
         add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 3; @%q bra turn;",
    );
}

/// Blocks of whole warps, whose threads have numbers of which the low bits are known, and others.
#[test]
fn columns_of_numbers_in_the_grid() {
    compare(
        "mov.u32 %k, %ctaid.x; mov.u32 %t, %ntid.x; mad.lo.u32 %k, %k, %t, %x; add.u32 %k, %k, 96;
         and.b32 %c, %k, 15; shr.u32 %r, %k, 4; mad.lo.u32 %t, %r, 50, %c; mul.wide.u32 %wide, %t, 4;
         add.u64 %at, %base, %wide; ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+204]; mad.lo.u32 %v, %a, 3, %b;
         shr.u32 %r, %k, 6; and.b32 %c, %k, 63; mad.lo.u32 %t, %r, 70, %c; mul.wide.u32 %wide, %t, 4;
         add.u64 %at, %base, %wide; ld.global.u32 %a, [%at]; xor.b32 %v, %v, %a;
         mul.wide.u32 %wide, %k, 4; add.u64 %at, %base, %wide; st.global.u32 [%at+32768], %v;",
    );
}

#[test]
fn faults_name_the_instruction_and_the_lane() {
    for (body, lane) in [
        // The second row is beyond the buffer; then a lane of it is not aligned, and a whole row.
        (
            "mul.wide.u32 %wide, %r, 1048576; add.u64 %at, %at, %wide; ld.global.u32 %a, [%at];
             st.global.u32 [%at], %a;",
            None,
        ),
        (
            "setp.eq.u32 %p, %x, 21; selp.u64 %wide, 2, 0, %p; add.u64 %e, %at, %wide; ld.global.u32 %b, [%at];
             ld.global.u32 %a, [%e]; st.global.u32 [%at+4096], %a;",
            Some("thread (21, 0, 0)"),
        ),
        (
            "ld.global.u32 %b, [%at]; shl.b32 %t, %r, 1; cvt.u64.u32 %wide, %t; add.u64 %e, %at, %wide;
             st.global.u32 [%e+4096], %b;",
            Some("thread (16, 0, 0)"),
        ),
    ] {
        let [compiled, interpreted] = [Execution::CompiledOnly, Execution::Interpreted].map(|execution| {
            let bench = Bench::new(Options { execution, ..options() }, &kernel(16, body));
            bench.launch(1, [32, 1, 1], false).expect_err("it is wrong")
        });
        assert_eq!(compiled.reason, interpreted.reason, "{body}");
        let line = |report: &str| report.lines().find(|line| line.contains("global")).map(str::to_owned);
        assert_eq!(line(&compiled.report), line(&interpreted.report), "{compiled}\n{interpreted}");
        assert!(line(&compiled.report).is_some(), "{compiled}");
        if let Some(lane) = lane {
            assert!(compiled.report.contains(lane) && interpreted.report.contains(lane), "{compiled}");
        }
    }
}

/// The first lane may be one of those that do not load.
#[test]
fn some_lanes_load_what_is_the_same_for_all() {
    let start =
        "ld.global.u32 %a, [%own]; ld.global.u32 %b, [%own+4]; setp.lt.s32 %q, %a, %b; mov.u32 %k, %x;";
    compare(&format!("{start} @!%q ld.global.u32 %k, [%base]; st.global.u32 [%own+32768], %k;"));
    compare(&format!("{start} @%q ld.global.u32 %k, [%base+8]; st.global.u32 [%own+32768], %k;"));
    // One for each row, in shared memory.
    compare(&format!(
        "{start} mov.u32 %s, s; mad.lo.u32 %t, %x, 4, %s; st.shared.u32 [%t], %a; bar.sync 0;
         mad.lo.u32 %t, %r, 4, %s; @%q ld.shared.u32 %k, [%t]; @!%q ld.shared.u32 %k, [%t+4];
         st.global.u32 [%own+32768], %k;"
    ));
    // None of them.
    compare(&format!(
        "{start} setp.gt.u32 %p, %x, 5000; @%p ld.global.u32 %k, [%base]; @%q add.u32 %k, %k, 1;
         st.global.u32 [%own+32768], %k;"
    ));
}
