//! Regions in which all lanes do the same, in code of LLVM's: the same results as those of the interpreter, and the same
//! faults.

#[path = "bench/mod.rs"]
mod bench;

use bench::{Bench, WORDS, has_llvm, options};
use gangway_engine::{Checks, Execution, Options, Tier, lanewise};

/// Bytes of the buffer that a block has for itself, behind what all read.
const OWN: usize = 4 * WORDS / 4;

/// A kernel whose blocks have `%rd1`, the buffer, and `%rd2`, a part of that for each. Its threads do the same.
fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 buffer)\n{{\n  .reg .b32 %r<40>;\n  .reg .b64 %rd<40>;\n  .reg .f32 %f<20>;
  .reg .f64 %d<20>;\n  .reg .b16 %h<8>;\n  .reg .pred %p<20>;\n  ld.param.u64 %rd1, [buffer];
  mov.u32 %r1, %ctaid.x;\n  add.u32 %r2, %r1, 1;\n  mul.wide.u32 %rd2, %r2, {OWN};\n  add.u64 %rd2, %rd1, %rd2;
{body}\n  ret;\n}}\n// {name}\n"
    )
}

fn regions_since(before: usize) -> usize {
    lanewise()[before..].iter().filter_map(|noted| noted.outcome.as_ref().ok()).sum()
}

/// Runs a kernel by the interpreter, by Cranelift's code and by LLVM's, which has to have regions.
fn compare(text: &str) {
    let run = |execution, tier, checks, threads| {
        let bench = Bench::new(Options { execution, tier, checks, ..options() }, text);
        bench.fill(|index| (index as u32).wrapping_mul(2_654_435_761) >> 7);
        bench.launch_grid([3, 1, 1], [threads, 1, 1]).unwrap_or_else(|fault| panic!("{fault}"));
        bench.words().to_vec()
    };
    for threads in [32, 100] {
        let wanted = run(Execution::Interpreted, Tier::Cranelift, Checks::NONE, threads);
        for (tier, checks) in
            [(Tier::Cranelift, Checks::NONE), (Tier::Llvm, Checks::NONE), (Tier::Llvm, Checks::MEMORY)]
        {
            let before = lanewise().len();
            let found = run(Execution::CompiledOnly, tier, checks, threads);
            let other = (0..WORDS).find(|&index| wanted[index] != found[index]);
            assert_eq!(other.map(|at| (at, found[at], wanted[at])), None, "{tier:?}, {checks:?}: {text}");
            let is_made = tier == Tier::Cranelift || !has_llvm() || regions_since(before) > 0;
            assert!(is_made, "no code of LLVM's, {checks:?}: {text}");
        }
    }
}

/// Loops up and down, to ends of all kinds, by indices of 32 bits and by pointers.
#[test]
fn loops_whose_turns_can_be_counted() {
    let ends = [
        ("0", "1", "setp.lt.u32 %p1, %r4, 500"),
        ("0", "3", "setp.le.s32 %p1, %r4, 500"),
        ("5", "7", "setp.ne.u32 %p1, %r4, 705"),
        ("900", "-4", "setp.gt.s32 %p1, %r4, 3"),
        ("900", "-1", "setp.ge.s32 %p1, %r4, 0"),
        ("777", "-7", "setp.gt.u32 %p1, %r4, 6"),
        ("3", "1", "setp.lt.s32 %p1, %r4, %r2"),
        ("4294967290", "1", "setp.lt.s32 %p1, %r4, 300"),
        ("4294967200", "9", "setp.ge.u32 %p1, %r4, 600"),
    ];
    for (from, step, end) in ends {
        let body = format!(
            "  mov.u32 %r4, {from};\n  mov.u32 %r9, 0;\nNEXT:\n  and.b32 %r5, %r4, 1023;\n  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;\n  add.u64 %rd5, %rd2, %rd3;\n  ld.global.u32 %r6, [%rd4];\n  add.u32 %r9, %r9, %r6;
  mad.lo.u32 %r6, %r6, 3, %r9;\n  st.global.u32 [%rd5], %r6;\n  add.u32 %r4, %r4, {step};\n  {end};\n  @%p1 bra NEXT;
  st.global.u32 [%rd2+8192], %r9;"
        );
        compare(&kernel("masked", &body));
        if from.len() > 4 {
            continue;
        }
        let body = body
            .replace("and.b32 %r5, %r4, 1023", "add.s32 %r5, %r4, 2")
            .replace("mul.wide.u32", "mul.wide.s32");
        compare(&kernel("affine", &body));
    }
}

/// More turns than are done at once, and none, one and few of them.
#[test]
fn many_turns_and_few() {
    for turns in ["1", "2", "3", "5", "6", "66000"] {
        let body = format!(
            "  mov.u64 %rd3, 0;\n  mov.u32 %r4, 1;\n  mov.u32 %r5, {turns};\nNEXT:\n  ld.global.u32 %r6, [%rd1+64];
  mad.lo.u32 %r4, %r4, 5, %r6;\n  add.u64 %rd3, %rd3, 1;\n  cvt.u64.u32 %rd4, %r5;\n  setp.ne.u64 %p1, %rd3, %rd4;
  @%p1 bra NEXT;\n  st.global.u32 [%rd2], %r4;\n  st.global.u64 [%rd2+8], %rd3;"
        );
        compare(&kernel("turns", &body));
    }
}

/// What one turn stores the next one loads; elements of all sizes; vectors; places that do not move; guards; ways that
/// part and meet; two ends; a loop in a loop with one head.
#[test]
fn bodies_of_all_kinds() {
    let bodies = [
        "  st.global.u32 [%rd2], 7;\n  mov.u64 %rd3, %rd2;\n  add.u64 %rd4, %rd2, 4000;\nNEXT:\n  ld.global.u32 %r4, [%rd3];
  mad.lo.u32 %r4, %r4, 3, 1;\n  st.global.u32 [%rd3+4], %r4;\n  add.u64 %rd3, %rd3, 4;\n  setp.ne.u64 %p1, %rd3, %rd4;
  @%p1 bra NEXT;",
        "  mov.u64 %rd3, %rd2;\n  mov.u64 %rd4, %rd1;\n  mov.u32 %r4, 0;\nNEXT:\n  ld.global.u8 %h1, [%rd4+3];
  ld.global.s16 %h2, [%rd4+4];\n  ld.global.v2.u32 {%r5, %r6}, [%rd4+8];\n  ld.global.f64 %d1, [%rd4+16];
  cvt.u32.u16 %r7, %h1;\n  add.u32 %r5, %r5, %r7;\n  st.global.v2.u32 [%rd3], {%r6, %r5};\n  st.global.u16 [%rd3+8], %h2;
  st.global.u8 [%rd3+10], %h2;\n  add.f64 %d1, %d1, %d1;\n  st.global.f64 [%rd3+16], %d1;\n  add.u64 %rd3, %rd3, 24;
  add.u64 %rd4, %rd4, 24;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 200;\n  @%p1 bra NEXT;",
        "  mov.u32 %r4, 0;\n  mov.f32 %f1, 0f00000000;\n  mov.u64 %rd3, %rd1;\nNEXT:\n  ld.global.f32 %f2, [%rd3];
  setp.lt.f32 %p2, %f2, 0f3F800000;\n  @%p2 bra LESS;\n  add.f32 %f1, %f1, %f2;\n  bra BOTH;\nLESS:
  fma.rn.f32 %f1, %f1, 0f3F000000, %f2;\n  st.global.f32 [%rd2+4096], %f1;\nBOTH:\n  and.b32 %r5, %r4, 3;
  setp.eq.u32 %p3, %r5, 2;\n  @%p3 add.u32 %r6, %r6, 5;\n  @%p3 st.global.f32 [%rd2+16], %f1;\n  add.u64 %rd3, %rd3, 8;
  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 300;\n  @%p1 bra NEXT;\n  st.global.f32 [%rd2], %f1;
  st.global.u32 [%rd2+4], %r6;",
        "  mov.u32 %r4, 0;\n  mov.u64 %rd3, %rd1;\nNEXT:\n  ld.global.u32 %r5, [%rd3];\n  and.b32 %r5, %r5, 255;
  setp.eq.u32 %p2, %r5, 17;\n  @%p2 bra OUT;\n  add.u64 %rd3, %rd3, 4;\n  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 3000;\n  @%p1 bra NEXT;\nOUT:\n  st.global.u32 [%rd2], %r4;\n  st.global.u32 [%rd2+4], %r5;",
        "  mov.u32 %r4, 0;\n  mov.u32 %r5, 1;\n  mov.u32 %r9, 0;\nROW:\n  mul.lo.u32 %r6, %r4, 37;\n  add.u32 %r6, %r6, %r5;
  mul.wide.s32 %rd3, %r6, 4;\n  add.u64 %rd4, %rd1, %rd3;\n  add.u64 %rd5, %rd2, %rd3;\n  ld.global.u32 %r7, [%rd4];
  ld.global.u32 %r8, [%rd4+4];\n  sub.u32 %r7, %r7, %r8;\n  st.global.u32 [%rd5], %r7;\n  add.u32 %r9, %r9, 1;
  setp.ge.u32 %p2, %r9, 900;\n  @%p2 bra OUT;\n  add.u32 %r5, %r5, 1;\n  setp.lt.s32 %p1, %r5, 33;\n  @%p1 bra ROW;
  add.u32 %r4, %r4, 1;\n  mov.u32 %r5, 1;\n  bra ROW;\nOUT:\n  st.global.u32 [%rd2+16000], %r9;",
        "  mov.u32 %r4, 1;\n  mov.u32 %r9, 0;\nNEXT:\n  mul.wide.u32 %rd3, %r9, 4;\n  add.u64 %rd4, %rd1, %rd3;
  ld.global.u32 %r5, [%rd4];\n  and.b32 %r6, %r5, 2047;\n  mul.wide.u32 %rd5, %r6, 4;\n  add.u64 %rd6, %rd1, %rd5;
  ld.global.u32 %r7, [%rd6];\n  mad.lo.u32 %r4, %r4, 7, %r7;\n  add.u64 %rd7, %rd2, %rd5;\n  st.global.u32 [%rd7], %r4;
  add.u32 %r9, %r9, 1;\n  setp.lt.u32 %p1, %r9, 1000;\n  @%p1 bra NEXT;",
    ];
    for body in bodies {
        compare(&kernel("body", body));
    }
}

/// Memory of the block, and generic addresses, of each lane's own memory as well.
#[test]
fn memory_of_all_spaces() {
    let body = "  .shared .align 8 .b8 together[1024];\n  .local .align 8 .b8 own[512];
  mov.u64 %rd3, together;\n  mov.u64 %rd4, own;\n  cvta.local.u64 %rd5, %rd4;\n  cvta.shared.u64 %rd6, %rd3;
  mov.u32 %r4, 0;\nFILL:\n  mul.wide.u32 %rd7, %r4, 4;\n  add.u64 %rd8, %rd3, %rd7;\n  add.u64 %rd9, %rd5, %rd7;
  add.u64 %rd10, %rd1, %rd7;\n  ld.global.u32 %r5, [%rd10];\n  st.shared.u32 [%rd8], %r5;\n  add.u32 %r5, %r5, 1;
  st.u32 [%rd9], %r5;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 100;\n  @%p1 bra FILL;\n  bar.sync 0;
  mov.u32 %r4, 0;\n  mov.u32 %r19, 0;\nREAD:\n  mul.wide.u32 %rd7, %r4, 4;\n  add.u64 %rd8, %rd6, %rd7;
  add.u64 %rd9, %rd5, %rd7;\n  ld.u32 %r15, [%rd8];\n  mad.lo.u32 %r19, %r19, 3, %r15;\n  and.b32 %r16, %r4, 31;
  setp.eq.u32 %p2, %r16, 9;\n  @%p2 ld.u32 %r15, [%rd9];\n  add.u32 %r19, %r19, %r15;\n  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 100;\n  @%p1 bra READ;\n  st.global.u32 [%rd2], %r19;";
    compare(&kernel("spaces", body));
    // Nobody knows of which memory an address is that has been loaded: each lane has its own number there.
    let body = "  .local .align 8 .b8 own[512];\n  .reg .u64 %each;\n  mov.u64 %rd4, own;\n  cvta.local.u64 %rd5, %rd4;
  st.global.u64 [%rd2], %rd5;\n  bar.sync 0;\n  ld.global.u64 %rd6, [%rd2];\n  mov.u32 %r4, %tid.x;
  st.local.u32 [%rd4+256], %r4;\n  mov.u32 %r5, 0;\n  mov.u32 %r7, 3;\nNEXT:\n  st.u32 [%rd6], %r7;
  ld.u32 %r7, [%rd6];\n  add.u32 %r7, %r7, 5;\n  add.u64 %rd6, %rd6, 4;\n  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 50;\n  @%p1 bra NEXT;\n  ld.local.u32 %r8, [%rd4+100];\n  ld.u32 %r9, [%rd6+56];
  add.u32 %r8, %r8, %r9;\n  add.u32 %r8, %r8, %r7;\n  mul.wide.u32 %rd7, %r4, 4;\n  add.u64 %rd7, %rd7, %rd2;
  st.global.u32 [%rd7+64], %r8;\n  bar.sync 0;\n  st.global.u64 [%rd2], 0;";
    compare(&kernel("own", body));
}

const FUNCTIONS: &str = "
.global .align 8 .b8 table[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
.global .align 4 .u32 odd;
.func (.param .u32 out) inner(.param .u32 in)
{
  .reg .u32 %r<8>; .reg .u64 %rd<8>; .reg .pred %p;
  ld.param.u32 %r1, [in];
  cvta.global.u64 %rd1, table;
  and.b32 %r2, %r1, 3;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.u32 %r3, [%rd3];
  add.u32 %r3, %r3, %r1;
  st.param.u32 [out], %r3;
  ret;
}
.func (.param .f64 out, .param .u32 other) outer(.param .f64 in, .param .u32 number)
{
  .reg .u32 %r<8>; .reg .f64 %d<8>; .reg .pred %p; .reg .u64 %rd<8>;
  .param .u32 a; .param .u32 b;
  ld.param.f64 %d1, [in];
  ld.param.u32 %r1, [number];
  and.b32 %r2, %r1, 63;
  setp.eq.u32 %p, %r2, 33;
  @%p bra RARE;
  st.param.u32 [a], %r1;
  call (b), inner, (a);
  ld.param.u32 %r3, [b];
  fma.rn.f64 %d1, %d1, 0d3FE0000000000000, 0d3FF0000000000000;
  bra END;
RARE:
  mov.u64 %rd1, odd;
  st.global.u32 [%rd1], %r1;
  not.b32 %r3, %r1;
END:
  st.param.f64 [out], %d1;
  st.param.u32 [other], %r3;
  ret;
}
";

/// Functions that change nothing but seldom, and then a word that nobody reads, as others write it as well: the call is done
/// by ordinary code then. The module says that it is GCC's,
/// so that what functions give back is taken for the same in all lanes.
#[test]
fn functions_that_are_called() {
    let body = "  .param .f64 in;\n  .param .u32 number;\n  .param .f64 out;\n  .param .u32 other;\n  mov.u32 %r4, 0;
  mov.f64 %d1, 0d0000000000000000;\nNEXT:\n  mul.wide.u32 %rd3, %r4, 4;\n  add.u64 %rd4, %rd1, %rd3;
  ld.u32 %r5, [%rd4];\n  add.u32 %r4, %r4, 1;\n  st.param.f64 [in], %d1;\n  st.param.u32 [number], %r5;
  call (out, other), outer, (in, number);\n  ld.param.f64 %d1, [out];\n  ld.param.u32 %r6, [other];
  add.u64 %rd5, %rd2, %rd3;\n  st.u32 [%rd5], %r6;\n  setp.lt.u32 %p1, %r4, 700;\n  @%p1 bra NEXT;
  st.f64 [%rd2+8192], %d1;";
    let text = format!(".extern .func GOMP_barrier;\n{FUNCTIONS}{}", kernel("calls", body));
    compare(&text);
}

/// In GCC's code a warp is a thread: all its lanes add one, and the sum is one more.
#[test]
fn lanes_of_gcc_add_once() {
    let body = "  mov.u32 %r4, 0;\nNEXT:\n  and.b32 %r5, %r4, 63;\n  mul.wide.u32 %rd3, %r5, 4;\n  add.u64 %rd4, %rd2, %rd3;
  ld.u32 %r6, [%rd4];\n  add.u32 %r6, %r6, 1;\n  st.u32 [%rd4], %r6;\n  ld.u32 %r7, [%rd2+1024];\n  add.u32 %r7, %r7, %r6;
  st.u32 [%rd2+1024], %r7;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 6400;\n  @%p1 bra NEXT;";
    let text = format!(".extern .func GOMP_barrier;\n{}", kernel("sum", body));
    for tier in [Tier::Cranelift, Tier::Llvm] {
        let before = lanewise().len();
        let bench = Bench::new(Options { tier, ..options() }, &text);
        bench.clear();
        bench.launch_grid([3, 1, 1], [32, 1, 1]).unwrap_or_else(|fault| panic!("{fault}"));
        let words = bench.words();
        for block in 1..4 {
            let own = &words[block * OWN / 4..][..257];
            assert!(own[..64].iter().all(|&word| word == 100), "{tier:?}: {own:?}");
            assert_eq!(own[256], 64 * 100 * 101 / 2, "{tier:?}");
        }
        assert!(tier == Tier::Cranelift || !has_llvm() || regions_since(before) > 0, "no code of LLVM's");
    }
}

/// What is told of the fault of a kernel, without addresses: the buffer is elsewhere each time.
fn told(text: &str, tier: Tier, checks: Checks) -> Vec<String> {
    let before = lanewise().len();
    let bench = Bench::new(Options { tier, checks, workers: 1, ..options() }, text);
    bench.clear();
    let report = bench.launch_grid([1, 1, 1], [32, 1, 1]).expect_err("a fault").report;
    assert!(tier == Tier::Cranelift || !has_llvm() || regions_since(before) > 0, "no code of LLVM's");
    report.lines().map(|line| line.split(" 0x").next().unwrap_or_default().to_owned()).collect()
}

/// The same kind at the same address, by the same instruction.
#[test]
fn faults_are_told_as_of_other_code() {
    let walk = "  mov.u64 %rd3, %rd2;\n  mov.u32 %r4, 0;\n  mov.u64 %rd9, 0;\nNEXT:\n  ld.u32 %r5, [%rd3];
  WHAT\n  add.u32 %r5, %r5, 3;\n  st.u32 [%rd3], %r5;\n  add.u64 %rd3, %rd3, STEP;\n  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, COUNT;\n  @%p1 bra NEXT;";
    let far = "  setp.eq.u32 %p2, %r4, 57;\n  @%p2 mov.u64 %rd9, 12345;\n  setp.ge.u32 %p3, %r4, 57;\n";
    let cases = [
        // On and on, into what is not there, and beyond all that could be.
        (String::new(), "4", "100000000"),
        (String::new(), "8589934592", "100000"),
        (format!("{far}  @%p3 ld.u32 %r6, [%rd9];"), "4", "100"),
        (format!("{far}  @%p3 st.u32 [%rd9+7], %r5;"), "4", "100"),
        (format!("{far}  @%p3 ld.shared.u32 %r6, [%rd9];"), "4", "100"),
        (format!("{far}  add.u64 %rd10, %rd3, %rd9;\n  st.u32 [%rd10], %r5;"), "4", "100"),
        (String::new(), "6", "100"),
        ("st.u64 [%rd3], %rd9;".to_owned(), "4", "100"),
    ];
    for (what, step, count) in cases {
        let body = walk.replace("WHAT", &what).replace("STEP", step).replace("COUNT", count);
        let text = kernel("fault", &body);
        for checks in [Checks::NONE, Checks::MEMORY] {
            let [found, wanted] = [Tier::Llvm, Tier::Cranelift].map(|tier| told(&text, tier, checks));
            assert_eq!(found, wanted, "{checks:?}: {text}");
        }
    }
}

/// What an index of 32 bits leads to in a table, whichever it is: loads and stores of all sizes, by addresses of all
/// forms, before the table's beginning as well.
#[test]
fn tables_that_are_looked_up() {
    let forms = [
        "  and.b32 %r5, %r5, 1023;\n  mul.wide.u32 %rd5, %r5, 4;\n  add.u64 %rd6, %rd5, %rd1;\n  ld.global.u32 %r6, [%rd6+8];",
        "  or.b32 %r5, %r5, -1024;\n  mad.wide.s32 %rd6, %r5, 4, %rd2;\n  ld.global.u32 %r6, [%rd6];",
        "  and.b32 %r5, %r5, 500;\n  cvt.u64.u32 %rd5, %r5;\n  shl.b64 %rd5, %rd5, 3;\n  add.u64 %rd6, %rd1, %rd5;
  ld.global.v2.u32 {%r6, %r7}, [%rd6];\n  add.u32 %r6, %r6, %r7;",
        "  ld.global.u8 %rd5, [%rd4+1];\n  mad.lo.u64 %rd6, %rd5, 6, %rd2;\n  ld.global.u16 %r6, [%rd6+2];
  add.u32 %r6, %r6, %r5;\n  st.global.u16 [%rd6+4098], %r6;",
        "  ld.global.s16 %rd5, [%rd4];\n  and.b64 %rd7, %rd5, 1020;\n  add.u64 %rd6, %rd2, %rd7;\n  ld.global.u32 %r6, [%rd6];
  add.u32 %r6, %r6, 3;\n  st.global.u32 [%rd6+4096], %r6;",
        // The element is not aligned, and is none of the memory that is looked at.
        "  and.b32 %r5, %r5, 127;\n  mul.wide.u32 %rd5, %r5, 8;\n  add.u64 %rd6, %rd2, %rd5;\n  and.b32 %r7, %r5, 1;
  setp.eq.u32 %p2, %r7, 2;\n  mov.u32 %r6, 9;\n  @%p2 ld.global.u64 %rd7, [%rd6+4];\n  @!%p2 st.global.u32 [%rd6], %r6;",
    ];
    for form in forms {
        let body = format!(
            "  mov.u64 %rd4, %rd1;\n  mov.u32 %r4, 0;\n  mov.u32 %r9, 0;\nNEXT:\n  ld.global.u32 %r5, [%rd4];\n{form}
  mad.lo.u32 %r9, %r9, 7, %r6;\n  add.u64 %rd4, %rd4, 4;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 300;
  @%p1 bra NEXT;\n  st.global.u32 [%rd2+8192], %r9;"
        );
        compare(&kernel("table", &body));
    }
}

/// An index that leads to what is not there: the same fault, by the same instruction.
#[test]
fn faults_of_what_is_looked_up() {
    for (index, access) in [
        ("1073741824", "ld.global.u32 %r6, [%rd6];"),
        ("-536870912", "ld.global.u32 %r6, [%rd6];"),
        ("-2147483648", "st.global.u32 [%rd6], %r5;"),
        ("2147483647", "ld.global.u32 %r6, [%rd6+8];"),
        ("7", "ld.global.u32 %r6, [%rd6+2];"),
    ] {
        let body = format!(
            "  mov.u64 %rd4, %rd1;\n  mov.u32 %r4, 0;\n  mov.u32 %r9, 0;\nNEXT:\n  ld.global.u32 %r5, [%rd4];
  setp.eq.u32 %p2, %r4, 77;\n  @%p2 mov.u32 %r5, {index};\n  mad.wide.s32 %rd6, %r5, 8, %rd2;\n  {access}
  add.u32 %r9, %r9, %r6;\n  add.u64 %rd4, %rd4, 4;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 300;
  @%p1 bra NEXT;\n  st.global.u32 [%rd2], %r9;"
        );
        let text = kernel("lookup", &body);
        for checks in [Checks::NONE, Checks::MEMORY] {
            let [found, wanted] = [Tier::Llvm, Tier::Cranelift].map(|tier| told(&text, tier, checks));
            assert_eq!(found, wanted, "{checks:?}: {text}");
        }
    }
}

/// Loops to the end of the memory that there is, and an element farther: in check mode the one behind it is told, and the
/// same whoever makes the code. Addresses go on in steps, up and down, or are looked up; two elements are of one line.
#[test]
fn loops_end_with_their_memory_in_check_mode() {
    const ELEMENTS: usize = WORDS;
    let step = |from: usize, by: i64, access: &str| {
        format!(
            "  add.u64 %rd3, %rd1, {};\n  mov.u32 %r4, 0;\n  mov.u32 %r9, 0;\nNEXT:\n  {access}
  add.u64 %rd3, %rd3, {by};\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, TURNS;\n  @%p1 bra NEXT;
  st.global.u32 [%rd2], %r9;",
            4 * from
        )
    };
    let (load, store) =
        ("ld.global.u32 %r5, [%rd3];\n  add.u32 %r9, %r9, %r5;", "st.global.u32 [%rd3], %r4;");
    let pair = "ld.global.u32 %r5, [%rd3];\n  ld.global.u32 %r6, [%rd3+4];\n  add.u32 %r9, %r5, %r6;";
    let index =
        "mad.lo.u32 %r7, %r4, 1, 16284;\n  and.b32 %r7, %r7, 32767;\n  mad.wide.u32 %rd4, %r7, 4, %rd1;
  ld.global.u32 %r6, [%rd4];\n  add.u32 %r9, %r9, %r6;\n  st.global.u32 [%rd4], %r9;";
    for (body, turns) in [
        (step(0, 4, load), ELEMENTS),
        (step(ELEMENTS - 100, 4, store), 100),
        (step(ELEMENTS - 1, -4, load), ELEMENTS),
        (step(99, -4, store), 100),
        (step(ELEMENTS - 101, 4, pair), 100),
        (step(0, 4, index), 100),
    ] {
        let with = |turns: usize| kernel("end", &body.replace("TURNS", &turns.to_string()));
        for tier in [Tier::Llvm, Tier::Cranelift] {
            let before = lanewise().len();
            let checks = Checks::MEMORY;
            let bench = Bench::new(Options { tier, checks, workers: 1, ..options() }, &with(turns));
            bench.clear();
            bench.launch_grid([1, 1, 1], [32, 1, 1]).unwrap_or_else(|fault| panic!("{tier:?}: {fault}"));
            assert!(tier == Tier::Cranelift || !has_llvm() || regions_since(before) > 0, "{body}");
        }
        let [found, wanted] =
            [Tier::Llvm, Tier::Cranelift].map(|tier| told(&with(turns + 1), tier, Checks::MEMORY));
        assert_eq!(found, wanted, "{body}");
        assert!(wanted.join("\n").contains("thread (0, 0, 0)"), "{wanted:?}");
    }
}

/// A constant is read in a loop and not written.
#[test]
fn constants_are_not_written_in_check_mode() {
    let body =
        "  mov.u64 %rd3, numbers;\n  cvta.const.u64 %rd3, %rd3;\n  mov.u32 %r4, 0;\n  mov.u32 %r9, 0;\nNEXT:
  ld.u32 %r5, [%rd3];\n  add.u32 %r9, %r9, %r5;\n  setp.eq.u32 %p2, %r4, WHEN;\n  @%p2 st.u32 [%rd3], %r4;
  add.u64 %rd3, %rd3, 4;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 30;\n  @%p1 bra NEXT;
  st.global.u32 [%rd2], %r9;";
    let with = |when: &str| {
        format!(".const .align 4 .u32 numbers[32];\n{}", kernel("constant", &body.replace("WHEN", when)))
    };
    compare(&with("99"));
    let [found, wanted] = [Tier::Llvm, Tier::Cranelift].map(|tier| told(&with("20"), tier, Checks::MEMORY));
    assert_eq!(found, wanted);
    assert!(wanted.join("\n").contains("instruction st.u32"), "{wanted:?}");
}
