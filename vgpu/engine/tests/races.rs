//! Kernels with a race and their twins without one: one barrier, fence or order apart.

mod bench;

use bench::{Bench, options};
use gangway_engine::{Checks, Listeners, Options, Races};

const LISTENERS: Listeners = Listeners {
    name: |_| None,
    obtained: |_| None,
    code: |_| (String::new(), None),
    tell: |finding| println!("{finding}"),
};

const START: &str = "
    .reg .u64 %base, %at, %next, %flag, %wide; .reg .u32 %i, %b, %v, %w, %s, %n; .reg .pred %p, %first;
    .shared .align 8 .b8 mem[1024];
    ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x;
    mul.wide.u32 %wide, %i, 4; add.u64 %at, %base, %wide; add.u64 %next, %at, 4; add.u64 %flag, %base, 8192;
    mul.lo.u32 %s, %i, 4; mov.u32 %n, mem; add.u32 %s, %s, %n; setp.eq.u32 %first, %i, 0;\n";

/// What is found in a kernel of blocks of so many threads.
fn found(body: &str, blocks: u32, threads: u32) -> Races {
    found_for("sm_80", body, blocks, threads, false)
}

fn found_for(target: &str, body: &str, blocks: u32, threads: u32, cooperative: bool) -> Races {
    let header = format!(".version 7.8\n.target {target}\n.address_size 64\n");
    let text = format!(".visible .entry k(.param .u64 buffer) {{ {START} {body} ret; }}");
    let bench =
        Bench::of_target(Options { checks: Checks::RACE, listeners: LISTENERS, ..options() }, &header, &text);
    bench.clear();
    bench.launch(blocks, [threads, 1, 1], cooperative).unwrap_or_else(|fault| panic!("{fault}"));
    let races = bench.engine.races().expect("they are looked for");
    assert_eq!(races.unseen, 0);
    races
}

#[track_caller]
fn twins(wrong: &str, right: &str, blocks: u32, threads: u32) {
    assert_eq!(found(right, blocks, threads), Races::default(), "the right one");
    assert_ne!(found(wrong, blocks, threads).places, 0, "the wrong one");
}

#[test]
fn neighbours_in_device_memory() {
    let own = "ld.global.u32 %v, [%at]; add.u32 %v, %v, 1; st.global.u32 [%at], %v;";
    let neighbours = "ld.global.u32 %v, [%next]; add.u32 %v, %v, 1; st.global.u32 [%at], %v;";
    twins(neighbours, own, 1, 64);
}

#[test]
fn a_barrier_between_warps() {
    let with = |between: &str| {
        format!(
            "st.shared.u32 [%s], %i; {between} xor.b32 %v, %i, 32; mul.lo.u32 %v, %v, 4; add.u32 %v, %v, %n;
             ld.shared.u32 %w, [%v]; st.global.u32 [%at], %w;"
        )
    };
    twins(&with(""), &with("bar.sync 0;"), 3, 64);
    // A barrier of the warp alone is none of the block.
    twins(&with("bar.warp.sync -1;"), &with("barrier.sync 3;"), 1, 64);
}

/// Shared variables that no kernel can reach both of have the same offset.
#[test]
fn variables_of_the_device_runtime_are_those_that_the_kernel_reaches() {
    let kernel = |name: &str, variable: &str, order: &str| {
        format!(
            ".visible .entry {name}(.param .u64 buffer) {{ {START} mov.u32 %n, {variable}; mul.lo.u32 %s, %i, 4; add.u32 %s, %s, %n;
             st.shared.u32 [%s], %i; {order} xor.b32 %v, %i, 32; mul.lo.u32 %v, %v, 4; add.u32 %v, %v, %n;
             ld.shared.u32 %w, [%v]; st.global.u32 [%at], %w; ret; }}\n"
        )
    };
    let header = ".version 7.8\n.target sm_80\n.address_size 64\n
        .shared .align 4 .b8 of_program[512];\n
        .shared .align 4 .b8 _RNvNtCsx_11gangway_gpu5place6PLACES[4096];\n";
    for (variable, places) in [("of_program", 1), ("_RNvNtCsx_11gangway_gpu5place6PLACES", 0)] {
        let other =
            if variable == "of_program" { "_RNvNtCsx_11gangway_gpu5place6PLACES" } else { "of_program" };
        let text = kernel("k", variable, "") + &kernel("other", other, "bar.sync 0;");
        let options = Options { checks: Checks::RACE, listeners: LISTENERS, ..options() };
        let bench = Bench::of_target(options, header, &text);
        bench.clear();
        bench.launch(1, [64, 1, 1], false).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(bench.engine.races().expect("they are looked for").places, places, "{variable}");
    }
}

#[test]
fn a_barrier_before_the_memory_is_used_again() {
    let with = |between: &str| {
        format!(
            "st.shared.u32 [%s], %i; bar.sync 0; xor.b32 %v, %i, 32; mul.lo.u32 %v, %v, 4; add.u32 %v, %v, %n;
             ld.shared.u32 %w, [%v]; {between} st.shared.u32 [%s], %w;"
        )
    };
    twins(&with(""), &with("bar.sync 0;"), 1, 64);
}

#[test]
fn lanes_of_a_warp() {
    let with = |between: &str| {
        format!(
            "st.shared.u32 [%s], %i; {between} xor.b32 %v, %i, 1; mul.lo.u32 %v, %v, 4; add.u32 %v, %v, %n;
             ld.shared.u32 %w, [%v]; st.global.u32 [%at], %w;"
        )
    };
    twins(&with(""), &with("bar.warp.sync -1;"), 1, 32);
    // Shuffles and votes order no memory (PTX ISA 9.0 section 9.7.9).
    let vote = "vote.sync.any.pred %p, %first, -1;";
    twins(&with(vote), &with(&format!("{vote} bar.warp.sync -1;")), 1, 32);
    // Code for processors whose lanes go together may do without.
    assert_eq!(found_for("sm_60", &with(""), 1, 32, false), Races::default());
}

#[test]
fn lanes_that_part_wait_for_each_other() {
    // Only pairs wait for each other.
    let with = |mask: &str| {
        format!(
            "st.shared.u32 [%s], %i; and.b32 %v, %i, 2; setp.eq.u32 %p, %v, 0; @%p bra even;
             bar.warp.sync {mask}; bra on; even: bar.warp.sync 0x33333333; on:
             xor.b32 %v, %i, 1; mul.lo.u32 %v, %v, 4; add.u32 %v, %v, %n; ld.shared.u32 %w, [%v];"
        )
    };
    assert_eq!(found(&with("0xcccccccc"), 1, 32), Races::default());
    let across = with("0xcccccccc").replace("xor.b32 %v, %i, 1;", "xor.b32 %v, %i, 2;");
    assert_ne!(found(&across, 1, 32).places, 0);
}

#[test]
fn one_value_by_many_lanes() {
    // Of one instruction it is as if one of them had written.
    let same = "mov.u32 %v, 7; st.global.u32 [%base], %v;";
    let other = "st.global.u32 [%base], %i;";
    twins(other, same, 1, 32);
    twins(other, same, 2, 64);
}

#[test]
fn atomic_operations() {
    let atomic = "atom.global.add.u32 %v, [%base], 1;";
    let plain = "ld.global.u32 %v, [%base]; add.u32 %v, %v, 1; st.global.u32 [%base], %v;";
    twins(plain, atomic, 4, 64);
    // One that is atomic does not help the other.
    let mixed = "@%first atom.global.add.u32 %v, [%base], 1; @!%first ld.global.u32 %v, [%base];";
    let both = "@%first atom.global.add.u32 %v, [%base], 1; @!%first ld.relaxed.gpu.global.u32 %v, [%base];";
    twins(mixed, both, 1, 64);
    let volatile = both.replace("relaxed.gpu", "volatile");
    assert_eq!(found(&volatile, 1, 64), Races::default());
}

/// Block 0 writes and raises a flag, block 1 waits for it and reads.
fn flag(before: &str, raise: &str, look: &str, behind: &str) -> String {
    format!(
        "setp.ne.u32 %p, %b, 0; @%p bra wait; st.global.u32 [%at], %i; bar.sync 0; @!%first bra end;
         {before} mov.u32 %v, 1; {raise} bra end;
         wait: {look} setp.eq.u32 %p, %v, 0; @%p bra wait; {behind} ld.global.u32 %w, [%next]; end:"
    )
}

#[test]
fn a_flag_between_blocks() {
    let (raise, look) = ("st.relaxed.gpu.global.u32 [%flag], %v;", "ld.relaxed.gpu.global.u32 %v, [%flag];");
    let fence = "fence.acq_rel.gpu;";
    let right = flag(fence, raise, look, fence);
    assert_eq!(found(&right, 2, 64), Races::default());
    assert_ne!(found(&flag("", raise, look, fence), 2, 64).places, 0, "no fence before");
    assert_ne!(found(&flag(fence, raise, look, ""), 2, 64).places, 0, "no fence behind");
    let ordered =
        flag("", "st.release.gpu.global.u32 [%flag], %v;", "ld.acquire.gpu.global.u32 %v, [%flag];", "");
    assert_eq!(found(&ordered, 2, 64), Races::default());
    let old = flag(
        "membar.gl;",
        "st.volatile.global.u32 [%flag], %v;",
        "ld.volatile.global.u32 %v, [%flag];",
        "membar.gl;",
    );
    assert_eq!(found(&old, 2, 64), Races::default());
}

/// Two blocks that run at the same time, each after the other's turn, hundreds of times.
#[test]
fn a_flag_that_goes_to_and_fro() {
    let with = |look: &str, raise: &str| {
        format!(
            "setp.eq.u32 %p, %b, 0; mov.u32 %s, 0; round: shl.b32 %n, %s, 1; add.u32 %n, %n, %b;
             look: {look} setp.ne.u32 %p, %w, %n; @%p bra look;
             ld.global.u32 %v, [%base]; add.u32 %v, %v, 1; st.global.u32 [%base], %v;
             add.u32 %n, %n, 1; {raise}
             add.u32 %s, %s, 1; setp.lt.u32 %p, %s, 100; @%p bra round;"
        )
    };
    let acquire = "ld.acquire.gpu.global.u32 %w, [%flag];";
    let release = "st.release.gpu.global.u32 [%flag], %n;";
    twins(&with(acquire, &release.replace("release", "relaxed")), &with(acquire, release), 2, 1);
    let exchanges =
        ["atom.acquire.gpu.global.or.b32 %w, [%flag], 0;", "atom.release.gpu.global.add.u32 %n, [%flag], 1;"];
    assert_eq!(found(&with(exchanges[0], exchanges[1]), 2, 1), Races::default());
}

#[test]
fn words_that_all_lanes_use_one_after_the_other() {
    // Words of such loops are told of line by line, and before anything that orders them. What all lanes write
    // others may read.
    let with = |before: &str, behind: &str, access: &str| {
        format!(
            "mov.u32 %v, 0; mov.u64 %next, %base; setp.ne.u32 %p, %b, 0; @%p bra wait; st.global.u32 [%at+256], %i;
             write: st.global.u32 [%next], %v; add.u64 %next, %next, 4; add.u32 %v, %v, 1; setp.lt.u32 %p, %v, 40;
             @%p bra write; {before} st.relaxed.gpu.global.u32 [%flag], %v; bra end;
             wait: ld.relaxed.gpu.global.u32 %w, [%flag]; setp.eq.u32 %p, %w, 0; @%p bra wait; {behind}
             again: {access} add.u64 %next, %next, 4; add.u32 %v, %v, 1; setp.lt.u32 %p, %v, 32;
             @%p bra again; end:"
        )
    };
    let fence = "fence.acq_rel.gpu;";
    for access in ["ld.global.u32 %w, [%next+256];", "st.global.u32 [%next], %n;"] {
        assert_eq!(found(&with(fence, fence, access), 2, 32), Races::default(), "{access}");
        for (before, behind) in [("", fence), (fence, "")] {
            let races = found(&with(before, behind, access), 2, 32);
            assert!(races.places == 1 && races.count >= 32, "{races:?} {before} {behind} {access}");
        }
    }
    // Nobody waits: one value by all is no race, but to read it may be another one.
    let writes = "mov.u32 %v, 0; again: mul.wide.u32 %wide, %v, 4; add.u64 %next, %base, %wide;
        st.global.u32 [%next], %VALUE; add.u32 %v, %v, 1; setp.lt.u32 %p, %v, 40; @%p bra again;";
    twins(&writes.replace("VALUE", "b"), &writes.replace("VALUE", "v"), 2, 32);
}

#[test]
fn a_word_that_all_lanes_write_again() {
    // The last value is the same in both warps, which run one after the other, and the first ones differ from it.
    for store in ["global.u32 [%base], %v", "shared.u32 [%n], %v", "shared.u64 [%n], %wide"] {
        let with = |step: &str| {
            format!(
                "mov.u32 %v, 0; mov.u32 %s, 0; again: cvt.u64.u32 %wide, %v; st.{store}; add.u32 %v, %v, {step};
                 add.u32 %s, %s, 1; setp.lt.u32 %p, %s, 5; @%p bra again;"
            )
        };
        twins(&with("1"), &with("0"), 1, 64);
    }
}

#[test]
fn what_a_warp_remembers_is_told_in_its_order() {
    // What all lanes write they may read: whatever number of instructions is between the two, as words that all
    // lanes use are remembered by the instruction.
    for between in 0..32 {
        let between = "add.u32 %w, %w, 1; ".repeat(between);
        for read in ["[%base]", "[%at]", "[%base+64]"] {
            let one = format!(
                "mov.u32 %w, 0; mov.u32 %v, 7; st.global.u32 [%base], %v; st.global.u32 [%base+64], %v; {between}
                 ld.global.u32 %s, {read};"
            );
            assert_eq!(found(&one, 1, 32), Races::default(), "{one}");
        }
        // In a loop both are remembered for several turns.
        let many = format!(
            "mov.u32 %v, 0; mov.u32 %w, 0; again: st.global.u32 [%base], %v; {between} ld.global.u32 %s, [%base];
             add.u64 %base, %base, 4; add.u32 %v, %v, 1; setp.lt.u32 %p, %v, 40; @%p bra again;"
        );
        assert_eq!(found(&many, 1, 32), Races::default(), "{many}");
    }
    // What they have read before all of them write it is a race of lanes that do not wait for each other.
    let with = |between: &str| {
        format!("ld.global.u32 %s, [%base]; {between} mov.u32 %v, 7; st.global.u32 [%base], %v;")
    };
    twins(&with(""), &with("bar.warp.sync -1;"), 1, 32);
    // Here all lanes write the same, by a value that only this run tells.
    let with = |between: &str| {
        format!(
            "ld.global.u32 %s, [%base]; {between} ld.global.u32 %v, [%at+256]; and.b32 %v, %v, 0;
             st.global.u32 [%base], %v;"
        )
    };
    twins(&with(""), &with("bar.warp.sync -1;"), 1, 32);
}

#[test]
fn what_a_warp_remembers_is_told_where_its_kernel_fails() {
    // Lanes that do not wait for each other read and write a word. Then the kernel ends by itself, or is ended.
    for end in ["trap;", "ld.global.u32 %w, [%wide];"] {
        let text = format!(
            ".visible .entry k(.param .u64 buffer) {{ {START} ld.global.u32 %s, [%base]; mov.u32 %v, 7;
             st.global.u32 [%base], %v; mov.u64 %wide, 16; {end} ret; }}"
        );
        let options = Options { checks: Checks::RACE, listeners: LISTENERS, ..options() };
        let bench = Bench::new(options, &text);
        bench.clear();
        assert!(bench.launch(1, [32, 1, 1], false).is_err(), "{end}");
        assert_eq!(bench.engine.races().expect("they are looked for").places, 1, "{end}");
    }
}

#[test]
fn scopes_of_fences() {
    let (raise, look) = ("st.relaxed.gpu.global.u32 [%flag], %v;", "ld.relaxed.gpu.global.u32 %v, [%flag];");
    for kind in ["fence.acq_rel", "fence.sc"] {
        let [block, device] = ["cta", "gpu"].map(|scope| format!("{kind}.{scope};"));
        assert_eq!(found(&flag(&device, raise, look, &device), 2, 64), Races::default(), "{kind}");
        assert_ne!(found(&flag(&block, raise, look, &device), 2, 64).places, 0, "{kind} before");
        assert_ne!(found(&flag(&device, raise, look, &block), 2, 64).places, 0, "{kind} behind");
    }
    let system = "fence.sc.sys;";
    assert_eq!(found(&flag("membar.gl;", raise, look, system), 2, 64), Races::default());
    assert_ne!(found(&flag("membar.cta;", raise, look, "membar.sys;"), 2, 64).places, 0);
    // In code for processors without scopes it is the atomic operation that orders.
    let old = flag(
        "membar.cta;",
        "atom.global.exch.b32 %w, [%flag], %v;",
        "atom.global.or.b32 %v, [%flag], 0;",
        "",
    );
    assert_eq!(found_for("sm_60", &old, 2, 64, false), Races::default());
}

#[test]
fn scopes_of_accesses() {
    let with = |scope: &str| {
        let raise = format!("st.release.{scope}.global.u32 [%flag], %v;");
        flag("", &raise, &format!("ld.acquire.{scope}.global.u32 %v, [%flag];"), "")
    };
    twins(&with("cta"), &with("gpu"), 2, 64);
    twins(&with("cta"), &with("sys"), 2, 64);
    let atomic = |scope: &str| format!("atom{scope}.global.add.u32 %v, [%base], 1;");
    twins(&atomic(".cta"), &atomic(""), 2, 64);
    twins(&atomic(".relaxed.cta"), &atomic(".relaxed.gpu"), 2, 64);
    twins(&atomic(".cta").replace("atom", "red").replace("%v, ", ""), &atomic(".sys"), 2, 64);
    // One that does not reach is enough; volatile accesses reach everything.
    let mixed = |one: &str| format!("setp.eq.u32 %p, %b, 0; @%p {one} @!%p {}", atomic(""));
    twins(&mixed(&atomic(".cta")), &mixed("ld.volatile.global.u32 %v, [%base];"), 2, 64);
    // Within a block all of them do.
    for scope in [".cta", ".acq_rel.cta", ""] {
        assert_eq!(found(&atomic(scope), 1, 64), Races::default(), "{scope}");
    }
    let shared = "atom.cta.shared.add.u32 %v, [%n], 1;";
    assert_eq!(found(shared, 2, 64), Races::default());
}

#[test]
fn scopes_within_a_block() {
    // The first warp writes and raises a flag, the second waits for it and reads.
    let with = |before: &str, access: [&str; 2], behind: &str| {
        let [store, load] = access;
        format!(
            "setp.ge.u32 %p, %i, 32; @%p bra wait; st.global.u32 [%at], %i; bar.warp.sync -1; @!%first bra end;
             {before} mov.u32 %v, 1; {store}.global.u32 [%flag], %v; bra end;
             wait: {load}.global.u32 %v, [%flag]; setp.eq.u32 %p, %v, 0; @%p bra wait; {behind}
             ld.global.u32 %w, [%base+64]; end:"
        )
    };
    let relaxed = ["st.relaxed.cta", "ld.relaxed.cta"];
    assert_eq!(found(&with("membar.cta;", relaxed, "fence.acq_rel.cta;"), 1, 64), Races::default());
    assert_ne!(found(&with("", relaxed, "fence.acq_rel.cta;"), 1, 64).places, 0);
    assert_eq!(found(&with("", ["st.release.cta", "ld.acquire.cta"], ""), 1, 64), Races::default());
}

#[test]
fn a_barrier_of_the_grid() {
    let with = |barrier: &str| {
        format!(
            "setp.eq.u32 %p, %b, 0; @%p st.global.u32 [%at], %i; {barrier}
             @!%p ld.global.u32 %w, [%next];"
        )
    };
    // Made by hand: all blocks count, and wait until all have.
    let counted = "bar.sync 0; @!%first bra through; fence.acq_rel.gpu; atom.global.add.u32 %v, [%flag], 1;
         again: ld.relaxed.gpu.global.u32 %v, [%flag]; setp.lt.u32 %p, %v, 2; @%p bra again; fence.acq_rel.gpu;
         through: bar.sync 0; setp.eq.u32 %p, %b, 0;";
    twins(&with("bar.sync 0;"), &with(counted), 2, 64);
}

#[test]
fn copies_that_go_on_meanwhile() {
    let with = |barrier: &str| {
        format!(
            "cp.async.ca.shared.global [%s], [%at], 4; cp.async.wait_all; {barrier} xor.b32 %v, %i, 32;
             mul.lo.u32 %v, %v, 4; add.u32 %v, %v, %n; ld.shared.u32 %w, [%v];"
        )
    };
    twins(&with(""), &with("bar.sync 0;"), 1, 64);
}

#[test]
fn launches_one_after_the_other_do_not_race() {
    let text = format!(".visible .entry k(.param .u64 buffer) {{ {START} st.global.u32 [%at], %i; ret; }}");
    let bench = Bench::new(Options { checks: Checks::RACE, listeners: LISTENERS, ..options() }, &text);
    for threads in [64, 32, 128] {
        bench.launch(1, [threads, 1, 1], false).unwrap_or_else(|fault| panic!("{fault}"));
    }
    assert_eq!(bench.engine.races(), Some(Races::default()));
}

#[test]
fn who_does_not_look_finds_nothing() {
    let text = format!(".visible .entry k(.param .u64 buffer) {{ {START} st.global.u32 [%base], %i; ret; }}");
    let bench = Bench::new(options(), &text);
    bench.launch(2, [64, 1, 1], false).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(bench.engine.races(), None);
}
