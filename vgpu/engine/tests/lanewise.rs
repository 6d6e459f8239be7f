//! Regions that lanes run by themselves, in code of LLVM's: the same results as those of the interpreter, and the same
//! faults.

#[path = "bench/mod.rs"]
mod bench;

use bench::{Bench, WORDS, has_llvm, options};
use gangway_engine::{Checks, Execution, Options, Tier, lanewise};

/// A kernel whose thread `%r1` has `%rd1`, the buffer, and `%rd2`, its own word of that.
fn kernel(name: &str, registers: &str, body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 buffer)\n{{\n  .reg .b32 %r<40>;\n  .reg .b64 %rd<20>;\n  .reg .f32 %f<20>;
  .reg .f64 %d<20>;\n  .reg .pred %p<20>;\n{registers}\n  ld.param.u64 %rd1, [buffer];\n  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n  mad.lo.u32 %r1, %r1, %r2, %r3;\n  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;\n{body}\n  ret;\n}}\n// {name}\n"
    )
}

/// Runs a kernel by the interpreter, by Cranelift's code and by LLVM's, also with all accesses checked; how many regions
/// there are of the last at least.
fn compare(text: &str, threads: u32) -> usize {
    let run = |execution, tier, checks| {
        let bench = Bench::new(Options { execution, tier, checks, ..options() }, text);
        bench.fill(|index| (index as u32).wrapping_mul(2_654_435_761) >> 7);
        bench.launch_grid([3, 1, 1], [threads, 1, 1]).unwrap_or_else(|fault| panic!("{fault}"));
        bench.words().to_vec()
    };
    let wanted = run(Execution::Interpreted, Tier::Cranelift, Checks::NONE);
    let mut before = lanewise().len();
    let mut least = usize::MAX;
    for (tier, checks) in
        [(Tier::Cranelift, Checks::NONE), (Tier::Llvm, Checks::NONE), (Tier::Llvm, Checks::MEMORY)]
    {
        let found = run(Execution::CompiledOnly, tier, checks);
        let other = (0..WORDS).find(|&index| wanted[index] != found[index]);
        assert_eq!(other.map(|at| (at, found[at], wanted[at])), None, "{tier:?}, {checks:?}: {text}");
        if tier == Tier::Llvm {
            let noted = lanewise();
            let regions = noted[before..].iter().filter_map(|noted| noted.outcome.as_ref().ok());
            (least, before) = (least.min(regions.sum()), noted.len());
        }
    }
    least
}

const WALK: &str = "
  ld.global.u32 %r4, [%rd2];
  and.b32 %r5, %r4, 15;
  mov.u32 %r6, 0;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra OUT;
NEXT:
  and.b32 %r7, %r4, 1023;
  mul.wide.u32 %rd3, %r7, 4;
  add.u64 %rd3, %rd1, %rd3;
  ld.global.u32 %r8, [%rd3+32768];
  mad.lo.u32 %r6, %r8, 3, %r6;
  mad.lo.u32 %r4, %r4, 1664525, 1013904223;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra NEXT;
OUT:
  st.global.u32 [%rd2], %r6;";

#[test]
fn loops_that_lanes_leave_at_different_times() {
    for threads in [32, 96, 100] {
        let regions = compare(&kernel("walk", "", WALK), threads);
        assert!(!has_llvm() || regions > 0, "no code of LLVM's");
    }
}

/// All lanes go round the outer loop together, and each is by itself in the inner one.
#[test]
fn loops_that_lanes_go_round_together() {
    let body = format!(
        "  mov.u32 %r20, 0;\nAGAIN:{WALK}\n  add.u32 %r20, %r20, 1;\n  setp.lt.u32 %p5, %r20, 5;\n  @%p5 bra AGAIN;"
    );
    for threads in [32, 100] {
        let regions = compare(&kernel("together", "", &body), threads);
        assert!(!has_llvm() || regions > 0, "no code of LLVM's");
    }
}

/// What lanes leave a loop with after different numbers of turns, and what they have chosen on their ways, is each lane's
/// own behind it, though nothing but the same is ever added or moved.
#[test]
fn turns_that_are_counted() {
    let body = "
  mov.u32 %r20, 0;
  mov.u32 %r21, 0;
AGAIN:
  ld.global.u32 %r4, [%rd2];
  add.u32 %r4, %r4, %r20;
  mov.u32 %r22, 3;
TURN:
  mad.lo.u32 %r4, %r4, 1664525, 1013904223;
  add.u32 %r21, %r21, 1;
  setp.lt.s32 %p1, %r4, 0;
  @%p1 mov.u32 %r22, 4;
  and.b32 %r5, %r4, 61440;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra TURN;
  setp.lt.u32 %p3, %r4, 2147483648;
  @%p3 bra LESS;
  mov.u32 %r23, 11;
  ld.global.u32 %r5, [%rd1+16384];
  add.u32 %r4, %r4, %r5;
  bra MEET;
LESS:
  mov.u32 %r23, 12;
  ld.global.u32 %r5, [%rd1+16388];
  xor.b32 %r4, %r4, %r5;
MEET:
  mad.lo.u32 %r21, %r22, 1, %r21;
  mad.lo.u32 %r21, %r23, 100, %r21;
  bar.sync 0;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p5, %r20, 6;
  @%p5 bra AGAIN;
  add.u32 %r21, %r21, %r4;
  st.global.u32 [%rd2], %r21;";
    for threads in [32, 128] {
        let regions = compare(&kernel("counted", "", body), threads);
        assert!(!has_llvm() || regions > 0, "no code of LLVM's");
    }
}

/// A loop over elements that follow each other, which is left at its end, or before by what has been loaded: in the
/// midst of a turn, or behind one.
#[test]
fn loops_that_are_left_early() {
    for (within, behind) in [(255, 0), (0, 127), (255, 127), (0x00ff_ffff, 0x00ff_ffff)] {
        let leave = |mask: u32, to: &str| match mask {
            0 => String::new(),
            _ => format!("and.b32 %r5, %r4, {mask}; setp.eq.u32 %p1, %r5, 0; @%p1 bra {to};"),
        };
        let body = format!(
            "
  and.b32 %r9, %r1, 15;
  mul.wide.u32 %rd3, %r9, 4;
  add.u64 %rd3, %rd1, %rd3;
  ld.global.u32 %r10, [%rd2];
  and.b32 %r10, %r10, 255;
  add.u32 %r10, %r10, 1;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
NEXT:
  ld.global.u32 %r4, [%rd3+16384];
  mad.lo.u32 %r4, %r4, 1664525, 1013904223;
  shr.u32 %r4, %r4, 7;
  {}
  ld.global.u32 %r8, [%rd3+16388];
  mad.lo.u32 %r6, %r6, 3, %r8;
  add.u64 %rd3, %rd3, 4;
  add.u32 %r7, %r7, 1;
  {}
  setp.lt.u32 %p2, %r7, %r10;
  @%p2 bra NEXT;
  add.u32 %r6, %r6, 5;
OUT:
  mad.lo.u32 %r6, %r7, 1000, %r6;
  st.global.u32 [%rd2+32768], %r6;",
            leave(within, "OUT"),
            leave(behind, "OUT"),
        );
        for threads in [32, 100] {
            let regions = compare(&kernel("early", "", &body), threads);
            assert!(!has_llvm() || regions > 0, "no code of LLVM's");
        }
    }
}

/// A module in which warps are kept abreast: fuel is time there.
#[test]
fn warps_that_are_kept_abreast() {
    let text = kernel("abreast", "", WALK) + ".visible .entry other()\n{\n  bar.sync 1, 64;\n  ret;\n}\n";
    let regions = compare(&text, 128);
    assert!(!has_llvm() || regions > 0, "no code of LLVM's");
}

/// What regions get and give: values alike in all lanes, in steps, of each lane; predicates; halves; doubles.
#[test]
fn values_of_all_shapes_go_in_and_out() {
    // In a loop: where it is done once, so little is not worth a region.
    let body = "
  mov.u32 %r20, 0;
AGAIN:
  mov.u32 %r10, 7;
  add.u32 %r11, %r3, 5;
  ld.global.u32 %r12, [%rd2];
  cvt.rn.f64.u32 %d1, %r12;
  setp.lt.u32 %p2, %r12, 9999999;
  setp.gt.u32 %p3, %r10, 3;
  ld.global.u32 %r13, [%rd1+16384];
  and.b32 %r4, %r12, 3;
  setp.eq.u32 %p1, %r4, 1;
  @%p1 bra ONE;
  setp.eq.u32 %p1, %r4, 2;
  @%p1 bra TWO;
  add.u32 %r14, %r11, %r10;
  mul.f64 %d1, %d1, 0d3FF8000000000000;
  not.pred %p2, %p2;
  bra OUT;
ONE:
  add.u32 %r14, %r13, %r11;
  @%p3 add.u32 %r10, %r10, 1;
  @%p2 add.u32 %r14, %r14, 1000;
  bra OUT;
TWO:
  cvt.s8.s32 %r15, %r12;
  mad.lo.u32 %r14, %r15, %r10, %r11;
  setp.ne.u32 %p3, %r15, 100;
OUT:
  bar.sync 0;
  selp.u32 %r16, 1, 2, %p2;
  selp.u32 %r17, 4, 8, %p3;
  cvt.rzi.u32.f64 %r18, %d1;
  add.u32 %r14, %r14, %r16;
  add.u32 %r14, %r14, %r17;
  add.u32 %r14, %r14, %r18;
  add.u32 %r14, %r14, %r10;
  st.global.u32 [%rd2], %r14;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p4, %r20, 3;
  @%p4 bra AGAIN;";
    for threads in [32, 64, 80] {
        let regions = compare(&kernel("shapes", "", body), threads);
        assert!(!has_llvm() || regions > 0, "no code of LLVM's");
    }
}

/// Memory of all spaces, of all sizes, vectors of elements; each lane's own is its own.
#[test]
fn memory_of_all_spaces() {
    let registers =
        "  .local .align 8 .b8 own[256];\n  .shared .align 8 .b8 together[1024];\n  .reg .b16 %h<8>;";
    let body = "
  ld.global.u32 %r4, [%rd2];
  and.b32 %r5, %r4, 7;
  add.u32 %r5, %r5, 1;
  mov.u64 %rd5, own;
  cvta.local.u64 %rd6, %rd5;
  mov.u64 %rd7, together;
  cvta.shared.u64 %rd8, %rd7;
  mul.wide.u32 %rd9, %r3, 8;
  add.u64 %rd7, %rd7, %rd9;
  add.u64 %rd8, %rd8, %rd9;
  mov.u32 %r6, 0;
NEXT:
  mul.wide.u32 %rd10, %r6, 8;
  add.u64 %rd11, %rd5, %rd10;
  add.u64 %rd12, %rd6, %rd10;
  st.local.u32 [%rd11], %r4;
  st.local.u16 [%rd11+4], %r6;
  ld.u32 %r7, [%rd12];
  ld.u16 %h1, [%rd12+4];
  cvt.u32.u16 %r8, %h1;
  st.shared.v2.u32 [%rd7], {%r7, %r8};
  ld.v2.u32 {%r9, %r10}, [%rd8];
  st.u8 [%rd8], %r10;
  ld.shared.s8 %r11, [%rd7];
  mad.lo.u32 %r4, %r9, 5, %r11;
  add.u32 %r4, %r4, %r10;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, %r5;
  @%p1 bra NEXT;
  st.global.u32 [%rd2], %r4;";
    for threads in [32, 128] {
        let regions = compare(&kernel("spaces", registers, body), threads);
        assert!(!has_llvm() || regions > 0, "no code of LLVM's");
    }
}

/// The same kind, the same instruction, the same lane where Cranelift's code knows it.
#[test]
fn faults_are_told_as_of_other_code() {
    let of = |what: &str| {
        WALK.replace(
            "ld.global.u32 %r8, [%rd3+32768];",
            &format!("@%p4 {what}\n  ld.global.u32 %r8, [%rd3+32768];"),
        )
        .replace(
            "NEXT:",
            "NEXT:\n  setp.eq.u32 %p4, %r1, 37;\n  mov.u64 %rd9, 12345;\n  cvt.u64.u32 %rd10, %r1;",
        )
    };
    for what in [
        "ld.global.u32 %r9, [%rd9];",
        "st.global.u64 [%rd9+1], %rd10;",
        "ld.shared.u32 %r9, [%rd9];",
        "ld.global.u32 %r9, [%rd1+2];",
        "ld.local.u64 %rd11, [%rd9];",
        "ld.u32 %r9, [%rd9+7];",
    ] {
        let text = kernel("fault", "", &of(what));
        for checks in [Checks::NONE, Checks::MEMORY] {
            let told = |tier| {
                let bench = Bench::new(Options { tier, checks, workers: 1, ..options() }, &text);
                bench.fill(|index| index as u32 | 3);
                bench.launch_grid([2, 1, 1], [64, 1, 1]).expect_err("a fault").report
            };
            let wanted = told(Tier::Cranelift);
            assert!(wanted.contains("thread (37, 0, 0)"), "{wanted}");
            let kind = |report: &str| {
                let words: Vec<&str> =
                    report.split_whitespace().filter(|word| !word.contains("0x")).collect();
                words.join(" ")
            };
            assert_eq!(kind(&told(Tier::Llvm)), kind(&wanted), "{what}");
        }
    }
}

/// In check mode the first byte behind an allocation is told with its lane and instruction, of loads and stores by what
/// has been loaded and in steps; the lane before it may use the last one.
#[test]
fn memory_ends_at_its_last_byte_in_check_mode() {
    // Thread 37 comes to an address that is counted from the end; the others walk about.
    let of = |access: &str, last: i64| {
        let place = format!(
            "NEXT:\n  setp.eq.u32 %p4, %r1, 37;\n  setp.eq.u32 %p6, %r5, 2;\n  and.pred %p4, %p4, %p6;
  add.u64 %rd9, %rd1, {};\n  cvt.u64.u32 %rd10, %r1;\n  @%p4 {access}",
            4 * WORDS as i64 + last
        );
        kernel("end", "", &WALK.replace("NEXT:", &place))
    };
    for (access, bytes) in [
        ("ld.global.u32 %r9, [%rd9];", 4),
        ("st.global.u64 [%rd9], %rd10;", 8),
        ("st.global.u8 [%rd9], %r1;", 1),
        ("ld.global.v2.u32 {%r9, %r10}, [%rd9];", 8),
    ] {
        let launch = |tier, last| {
            let options = Options { tier, checks: Checks::MEMORY, workers: 1, ..options() };
            let before = lanewise().len();
            let bench = Bench::new(options, &of(access, last));
            bench.fill(|index| index as u32 | 3);
            let ended = bench.launch_grid([2, 1, 1], [64, 1, 1]).map_err(|fault| fault.report);
            let made = lanewise()[before..].iter().any(|noted| noted.outcome.is_ok());
            assert!(tier == Tier::Cranelift || !has_llvm() || made, "no code of LLVM's");
            ended
        };
        for tier in [Tier::Cranelift, Tier::Llvm] {
            launch(tier, -bytes).unwrap_or_else(|report| panic!("{tier:?}, {access}: {report}"));
            let report = launch(tier, 0).expect_err("it is behind the end");
            let instruction = access.split_whitespace().next().unwrap_or_default();
            for told in ["just after the end of", "thread (37, 0, 0)", instruction] {
                assert!(report.contains(told), "{tier:?}, {access}: {report}");
            }
        }
    }
}

/// A signal leads to the instruction.
#[test]
fn memory_that_is_not_there_faults_at_its_instruction() {
    let body = WALK.replace(
        "ld.global.u32 %r8, [%rd3+32768];",
        "ld.global.f32 %f1, [%rd3+34359738368];\n  cvt.rzi.u32.f32 %r8, %f1;",
    );
    let text = kernel("signal", "", &body);
    for tier in [Tier::Cranelift, Tier::Llvm] {
        let bench = Bench::new(Options { tier, workers: 1, ..options() }, &text);
        bench.fill(|index| index as u32 | 3);
        let report = bench.launch_grid([1, 1, 1], [32, 1, 1]).expect_err("a fault").report;
        assert!(report.contains("ld.global.f32"), "{tier:?}: {report}");
    }
}

/// Code that relies on lanes in lockstep, what is told of, and what is not worth it is not touched.
#[test]
fn what_relies_on_lockstep_has_no_regions() {
    let text = kernel("old", "", WALK);
    let once = kernel(
        "once",
        "",
        "  ld.global.u32 %r4, [%rd2];\n  setp.lt.u32 %p1, %r4, 9;\n  @%p1 bra OUT;\n  \
         st.global.u32 [%rd2], %r1;\nOUT:",
    );
    let run = |header: &str, text: &str, options: Options| {
        let before = lanewise().len();
        let bench = Bench::of_target(Options { tier: Tier::Llvm, ..options }, header, text);
        bench.launch_grid([1, 1, 1], [32, 1, 1]).unwrap_or_else(|fault| panic!("{fault}"));
        lanewise()[before..].iter().map(|noted| noted.outcome.clone()).collect::<Vec<_>>()
    };
    let header = |processor: &str| format!(".version 7.8\n.target {processor}\n.address_size 64\n");
    for (header, text, options, why) in [
        (header("sm_60"), text.clone(), options(), "before sm_70"),
        (header("sm_80"), format!(".extern .func GOMP_barrier;\n{text}"), options(), "GCC's"),
        (
            header("sm_80"),
            text.clone(),
            Options { checks: Checks { race: true, ..Checks::NONE }, ..options() },
            "told of",
        ),
        (
            header("sm_80"),
            text.replace("ld.global.u32 %r8", "ld.volatile.global.u32 %r8"),
            options(),
            "no region",
        ),
        // It is short, and in no loop.
        (header("sm_80"), once, options(), "no region"),
    ] {
        let outcomes = run(&header, &text, options);
        let refused =
            |outcome: &Result<usize, String>| outcome.as_ref().is_err_and(|said| said.contains(why));
        assert!(!has_llvm() || outcomes.iter().any(refused), "{why}: {outcomes:?}");
    }
}

/// With `auto` the code comes while the kernel runs again and again, and nothing else changes.
#[test]
fn code_comes_while_others_run() {
    let bench = Bench::new(Options { tier: Tier::Auto, ..options() }, &kernel("later", "", WALK));
    let word = |index: usize| (index as u32).wrapping_mul(2_654_435_761) >> 7;
    let launch = || {
        bench.fill(word);
        bench.launch_grid([3, 1, 1], [96, 1, 1]).unwrap_or_else(|fault| panic!("{fault}"));
        bench.words().to_vec()
    };
    let wanted = launch();
    let before = lanewise().len();
    let start = std::time::Instant::now();
    while lanewise().len() == before && start.elapsed().as_secs() < 60 {
        assert!(launch() == wanted);
    }
    assert!(!has_llvm() || lanewise().len() > before, "no code comes");
    assert!(launch() == wanted);
}
