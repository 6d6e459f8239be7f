//! Kernels whose threads wait for others in vain, or where they must not, and their twins that do it right: one
//! barrier, mask or condition apart.

mod bench;

use std::cell::RefCell;

use bench::{Bench, options};
use gangway_engine::{Checks, Fault, Listeners, Options, Reason};
use gangway_findings::Finding;

thread_local! {
    /// What has been told: a launch tells on the thread that waits for it.
    static TOLD: RefCell<Vec<Finding>> = const { RefCell::new(Vec::new()) };
}

const LISTENERS: Listeners = Listeners {
    name: |_| None,
    obtained: |_| None,
    code: |_| (String::new(), None),
    tell: |finding| TOLD.with_borrow_mut(|told| told.push(finding)),
};

const START: &str = "
    .reg .u64 %base, %at, %flag, %wide; .reg .u32 %i, %b, %v, %w, %warp; .reg .pred %p, %q, %first, %half;
    ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x; shr.u32 %warp, %i, 5;
    mul.wide.u32 %wide, %i, 4; add.u64 %at, %base, %wide; add.u64 %flag, %base, 8192;
    setp.eq.u32 %first, %warp, 0; and.b32 %v, %i, 16; setp.eq.u32 %half, %v, 0;\n";

/// A launch of a kernel: how it ends, and what is found.
struct Launched {
    fault: Option<Reason>,
    findings: Vec<Finding>,
}

impl Launched {
    fn of(body: &str, blocks: u32, threads: u32) -> Self {
        Self::on("sm_80", body, blocks, threads, false)
    }

    fn on(target: &str, body: &str, blocks: u32, threads: u32, cooperative: bool) -> Self {
        let header = format!(".version 7.8\n.target {target}\n.address_size 64\n.file 1 \"k.cu\"\n");
        let text = format!("{DECLARED}.visible .entry k(.param .u64 buffer) {{ {START} {body} ret; }}");
        let options = Options { checks: Checks::SYNC, listeners: LISTENERS, ..options() };
        let bench = Bench::of_target(options, &header, &text);
        bench.clear();
        TOLD.with_borrow_mut(Vec::clear);
        let fault = bench.launch(blocks, [threads, 1, 1], cooperative).err();
        let findings = TOLD.take();
        findings.iter().for_each(|finding| println!("{finding}"));
        Launched { fault: fault.map(|fault: Box<Fault>| fault.reason), findings }
    }

    /// Nothing is wrong.
    #[track_caller]
    fn is_right(&self) {
        assert_eq!((self.fault, &self.findings), (None, &Vec::new()));
    }

    /// One thing is, and the launch ends in this way.
    #[track_caller]
    fn finds(self, fault: Option<Reason>, message: &str, sides: &[&str]) -> Finding {
        assert_eq!(self.fault, fault);
        let [finding] = <[Finding; 1]>::try_from(self.findings).expect("one finding");
        assert_eq!(finding.check, "sync");
        assert!(finding.message.contains(message), "{finding}");
        let found: Vec<&str> = finding.sides.iter().map(|side| &side.what[..]).collect();
        assert_eq!(found, sides);
        finding
    }
}

const DECLARED: &str = "
    .extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
    .extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);\n";

const DEADLOCK: Option<Reason> = Some(Reason::Failed);

/// Threads of which some take another way to a barrier.
fn two_ways(condition: &str, one: &str, other: &str) -> String {
    format!(
        "@{condition} bra other; .loc 1 5 2
         {one}; bra on; other: .loc 1 7 3
         {other}; on: .loc 1 9 1
         st.global.u32 [%at], %i;"
    )
}

#[test]
fn warps_at_different_barriers() {
    let finding = Launched::of(&two_ways("%first", "bar.sync 0", "bar.sync 0"), 3, 64).finds(
        None,
        ", 0, 0) come to different barriers",
        &["threads (0..31, 0, 0) wait", "threads (32..63, 0, 0) wait"],
    );
    assert_eq!(finding.count, 3);
    assert!(finding.to_string().contains("threads (32..63, 0, 0) wait at k.cu:5:2, instruction bar.sync\n"));
    assert!(finding.to_string().contains("threads (0..31, 0, 0) wait at k.cu:7:3, instruction bar.sync\n"));
    // All take one way, whichever it is.
    let all = format!("setp.eq.u32 %q, %b, 1; {}", two_ways("%q", "bar.sync 0", "bar.sync 0"));
    Launched::of(&all, 3, 64).is_right();
    // Without `.aligned` and with counts, threads may come from anywhere.
    Launched::of(&two_ways("%first", "barrier.sync 0", "barrier.sync 0"), 1, 64).is_right();
    Launched::of(&two_ways("%first", "bar.sync 0, 64", "bar.sync 0, 64"), 1, 64).is_right();
}

#[test]
fn lanes_of_a_warp_at_different_barriers() {
    let sides = ["threads (0..15, 0, 0) wait", "threads (16..31, 0, 0) wait"];
    let message = "lanes of a warp of block (0, 0, 0) come to different barriers";
    Launched::of(&two_ways("%half", "bar.sync 0", "bar.sync 0"), 1, 32).finds(None, message, &sides);
    Launched::of(&two_ways("%half", "bar.sync 0, 32", "bar.sync 0, 32"), 1, 32).finds(None, message, &sides);
    let free = two_ways("%half", "barrier.sync 0", "barrier.sync 0");
    Launched::of(&free, 1, 32).is_right();
    // For older processors both are the same (PTX ISA 9.0 section 9.7.13.1).
    Launched::on("sm_60", &free, 1, 32, false).finds(None, message, &sides);
    Launched::of("@%half bra on; nanosleep.u32 1; on: bar.sync 0;", 1, 32).is_right();
}

#[test]
fn barriers_of_different_numbers() {
    Launched::of(&two_ways("%first", "bar.sync 0", "bar.sync 1"), 1, 64).finds(
        DEADLOCK,
        "threads of block (0, 0, 0) wait for each other for ever",
        &["threads (0..31, 0, 0) wait", "threads (32..63, 0, 0) wait"],
    );
    Launched::of(&two_ways("%first", "bar.sync 0, 32", "bar.sync 1, 32"), 1, 64).is_right();
}

#[test]
fn threads_that_end_before_a_barrier() {
    // A barrier waits for threads that have not ended.
    Launched::of("@%first bra end; bar.sync 0; end:", 1, 64).is_right();
    Launched::of("@%half bra end; bar.sync 0; end:", 1, 64).is_right();
    // One with a count waits for as many.
    let body = "@%first ret; .loc 1 4 1\n bar.sync 0, 64;";
    Launched::of(body, 1, 64).finds(
        DEADLOCK,
        "wait for each other for ever",
        &["threads (0..31, 0, 0) have ended", "threads (32..63, 0, 0) wait for 64 threads"],
    );
    Launched::of(&body.replace(", 64", ", 32"), 1, 64).is_right();
}

#[test]
fn different_counts_at_one_barrier() {
    let with = |one: u32, other: u32| {
        two_ways("%first", &format!("bar.sync 1, {one}"), &format!("bar.sync 1, {other}"))
    };
    Launched::of(&with(64, 32), 1, 64).finds(
        None,
        "come to barrier 1 with different counts",
        &["threads (0..31, 0, 0) wait for 32 threads", "threads (32..63, 0, 0) wait for 64 threads"],
    );
    Launched::of(&with(64, 64), 1, 64).is_right();
    // All are as many as there are.
    Launched::of(&two_ways("%first", "barrier.sync 1, 64", "barrier.sync 1"), 1, 64).is_right();
    Launched::of("mov.u32 %v, 33; bar.sync 0, %v;", 1, 32).finds(
        Some(Reason::IllegalInstruction),
        "a barrier is for 33 threads",
        &["threads (0..31, 0, 0) wait for 33 threads"],
    );
}

#[test]
fn reductions_and_others_at_one_barrier() {
    let with = |other: &str| two_ways("%first", "barrier.red.or.pred %p, 2, %half", other);
    Launched::of(&with("barrier.sync 2"), 1, 64).finds(
        None,
        "some threads of block (0, 0, 0) reduce at barrier 2",
        &["threads (0..31, 0, 0) wait", "threads (32..63, 0, 0) wait"],
    );
    Launched::of(&with("barrier.red.or.pred %q, 2, %half"), 1, 64).is_right();
}

#[test]
fn a_warp_that_arrives_again() {
    // Warp 0 tells of what it has made, and makes the next when warp 1, which is slow, has taken it.
    let with = |second: &str| {
        format!(
            "@%first bra makes; mov.u32 %v, 100000; loop: sub.u32 %v, %v, 1; setp.ne.u32 %p, %v, 0; @%p bra loop;
             bar.sync 1, 64; bar.arrive 2, 64; bar.sync 1, 64; bra end;
             makes: bar.arrive 1, 64; {second} bar.arrive 1, 64; end:"
        )
    };
    Launched::of(&with("bar.sync 2, 64;"), 1, 64).is_right();
    let launched = Launched::of(&with(""), 1, 64);
    assert!(launched.findings.iter().any(|finding| finding.message.contains("come to barrier 1 again")));
}

#[test]
fn lanes_that_are_waited_for_and_elsewhere() {
    let with = |other: &str| two_ways("%half", "bar.warp.sync 0xffff0000", other);
    Launched::of(&with("bar.warp.sync 0x0000ffff"), 1, 32).is_right();
    let finding = Launched::of(&with("bar.warp.sync -1"), 1, 32);
    // The others end, and are waited for no more.
    finding.is_right();
    let both = |mask: &str| two_ways("%half", "bar.warp.sync 0xffffff00", &format!("bar.warp.sync {mask}"));
    let finding = Launched::of(&both("0x00ffffff"), 2, 64).finds(
        DEADLOCK,
        "lanes of a warp of block",
        &[
            "threads (0..15, 0, 0) wait for the lanes 0x00ffffff",
            "threads (16..31, 0, 0) wait for the lanes 0xffffff00",
        ],
    );
    assert!(finding.to_string().contains(" at k.cu:7:3, instruction bar.warp.sync"), "{finding}");
}

#[test]
fn exchanges_of_lanes_that_are_elsewhere() {
    let with = |one: &str, other: &str| two_ways("%half", one, other);
    // Of one form with one mask they meet, wherever they are.
    let shuffle = "shfl.sync.idx.b32 %v, %i, 3, 31, -1";
    let vote = "vote.sync.any.pred %p, %first, -1";
    Launched::of(&with(shuffle, shuffle), 1, 32).is_right();
    Launched::of(&with(shuffle, vote), 1, 32).finds(
        DEADLOCK,
        "wait for each other for ever",
        &[
            "threads (0..15, 0, 0) wait for the lanes 0xffffffff",
            "threads (16..31, 0, 0) wait for the lanes 0xffffffff",
        ],
    );
    let matches = "match.any.sync.b32 %v, %i, -1";
    Launched::of(&with(matches, "bar.sync 0"), 1, 32).finds(
        DEADLOCK,
        "wait for each other for ever",
        &["threads (0..15, 0, 0) wait", "threads (16..31, 0, 0) wait for the lanes 0xffffffff"],
    );
    let half = matches.replace("-1", "0xffff0000");
    Launched::of(&with(&half, "nanosleep.u32 1"), 1, 32).is_right();
}

#[test]
fn lanes_that_are_not_in_their_mask() {
    let mask = |mask: &str| format!("setp.ne.u32 %p, %i, 0; @%p bra on; bar.warp.sync {mask}; on:");
    Launched::of(&mask("1"), 1, 32).is_right();
    Launched::of(&mask("2"), 1, 32).finds(
        Some(Reason::IllegalInstruction),
        "a lane of block (0, 0, 0) is not in the mask",
        &["thread (0, 0, 0) waits for the lanes 0x00000002"],
    );
}

#[test]
fn who_spins_for_a_flag_waits_for_nobody_in_vain() {
    let body =
        "@%first bra raise; wait: ld.volatile.global.u32 %v, [%flag]; setp.eq.u32 %p, %v, 0; @%p bra wait;
         bar.sync 0; bra end; raise: mov.u32 %v, 1; st.volatile.global.u32 [%flag], %v; end:";
    Launched::of(body, 4, 96).is_right();
}

#[test]
fn threads_that_spin_while_others_wait() {
    // Those that spin are too few for any of the two barriers.
    let body = "setp.eq.u32 %q, %warp, 1; @%first bra spin; @%q bra other; .loc 1 3 1\n bar.sync 0; bra end; other: .loc 1 4 1\n bar.sync 1; bra end;
         spin: ld.volatile.global.u32 %v, [%flag]; setp.eq.u32 %p, %v, 0; @%p bra spin; end:";
    Launched::of(body, 1, 96).finds(
        DEADLOCK,
        "wait for each other for ever",
        &["threads (0..31, 0, 0) run", "threads (32..63, 0, 0) wait", "threads (64..95, 0, 0) wait"],
    );
}

#[test]
fn blocks_that_end_before_a_barrier_of_the_grid() {
    let with = |before: &str| {
        format!(
            "setp.eq.u32 %p, %b, 1; {before}
             {{ .reg .b64 %h; .reg .b32 %r; .param .b32 s; .param .b64 r; .param .b64 g; .param .b32 f; .param .b32 t;
             st.param.b32 [s], 1; call.uni (r), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %h, [r];
             st.param.b64 [g], %h; st.param.b32 [f], 0; call.uni (t), cudaCGSynchronize, (g, f);
             ld.param.b32 %r, [t]; }}"
        )
    };
    Launched::on("sm_80", &with(""), 3, 64, true).is_right();
    let launched = Launched::on("sm_80", &with("@%p ret;"), 3, 64, true);
    assert_eq!((launched.fault, launched.findings.is_empty()), (None, false));
    assert!(launched.findings[0].message.contains("threads of the grid have ended"));
}

#[test]
fn who_does_not_look_finds_nothing() {
    let text = format!(
        ".visible .entry k(.param .u64 buffer) {{ {START} {} ret; }}",
        two_ways("%first", "bar.sync 0", "bar.sync 0")
    );
    let bench = Bench::new(Options { listeners: LISTENERS, ..options() }, &text);
    TOLD.with_borrow_mut(Vec::clear);
    bench.launch(1, [64, 1, 1], false).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(TOLD.take().is_empty());
}
