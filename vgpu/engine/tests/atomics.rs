//! Atomic operations of one lane of a warp, chosen by a guard or by a branch, as GCC has its threads do them: in code
//! for all lanes and under a mask, they leave the memory that the interpreter leaves.

mod bench;

use bench::{Bench, WORDS, options};
use gangway_engine::{Execution, Options};

fn run(text: &str, execution: Execution) -> Vec<u32> {
    let bench = Bench::new(Options { execution, ..options() }, text);
    bench.fill(|index| (index as u32).wrapping_mul(2_654_435_761));
    let done = bench.launch_at(3, [64, 1, 1], false, bench.buffer);
    assert!(done.is_ok(), "{done:?}\n{text}");
    bench.words().to_vec()
}

/// `%at` is a place in memory, the same in all lanes, `%v` a value, and `%p` true in one lane of each warp, in all, or in
/// none.
fn compare(space: &str, body: &str) {
    for lanes in ["eq.u32 %p, %l, 5", "lt.u32 %p, %l, 3", "ge.u32 %p, %l, 0", "gt.u32 %p, %l, 31"] {
        let text = format!(
            ".visible .entry k(.param .u64 buffer) {{
             .shared .align 8 .b8 own[64];
             .reg .u64 %base, %at, %e, %w, %V, %O; .reg .u32 %i, %k, %l, %n, %v, %o; .reg .pred %p;
             ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mov.u32 %k, %ctaid.x; mov.u32 %n, %ntid.x;
             mad.lo.u32 %n, %k, %n, %i; and.b32 %l, %i, 31; setp.{lanes};
             shl.b32 %v, %k, 3; cvt.u64.u32 %w, %v; shl.b32 %v, %k, 30; add.u32 %v, %v, 12345; cvt.s64.s32 %V, %v;
             mov.u32 %o, 7; mov.u64 %O, 9;
             {space}
             {body}
             cvt.u32.u64 %v, %O; add.u32 %o, %o, %v;
             mul.wide.u32 %w, %n, 4; add.u64 %e, %base, %w; st.global.u32 [%e+8192], %o; ret; }}"
        );
        let (compiled, interpreted) =
            (run(&text, Execution::CompiledOnly), run(&text, Execution::Interpreted));
        let wrong = (0..WORDS).find(|&word| compiled[word] != interpreted[word]);
        assert_eq!(wrong.map(|word| (word, compiled[word], interpreted[word])), None, "{text}");
    }
}

/// Each warp's own place, so that results do not depend on the order of warps.
const GLOBAL: &str = "shr.u32 %i, %n, 5; mul.wide.u32 %w, %i, 8; add.u64 %at, %base, %w;";
const SHARED: &str = "mov.u64 %at, own; shr.u32 %i, %i, 5; mul.wide.u32 %w, %i, 8; add.u64 %at, %at, %w;
    st.shared.u64 [%at], %V;";

fn operations(each: impl Fn(&str, &str, &str)) {
    for ty in ["u32", "s32", "u64", "s64"] {
        let (value, old) = if ty.ends_with("32") { ("%v", "%o") } else { ("%V", "%O") };
        for operation in ["add", "min", "max", "and", "or", "xor", "exch"] {
            let ty = match operation {
                "and" | "or" | "xor" | "exch" => ty.replace(['u', 's'], "b"),
                // There is none that is signed.
                "add" => ty.replace("s64", "u64"),
                _ => ty.to_owned(),
            };
            each(&format!("{operation}.{ty}"), value, old);
        }
    }
}

#[test]
fn of_a_lane_that_a_guard_chooses() {
    operations(|operation, value, old| {
        compare(GLOBAL, &format!("@%p atom.global.{operation} {old}, [%at], {value};"));
        compare(GLOBAL, &format!("@!%p atom.{operation} {old}, [%at], {value};"));
        compare(
            SHARED,
            &format!("@%p atom.shared.{operation} {old}, [%at], {value}; ld.shared.u32 %v, [%at];"),
        );
    });
}

#[test]
fn of_a_lane_that_a_branch_leaves() {
    operations(|operation, value, old| {
        compare(
            GLOBAL,
            &format!(
                "@!%p bra over; atom.global.{operation} {old}, [%at], {value};
                 add.u32 %o, %o, 1; over: bar.warp.sync 0xffffffff;"
            ),
        );
    });
}

/// What is wrong in the one lane is told as the interpreter tells it; where there is no memory the processor finds that
/// out, which does not know of lanes.
#[test]
fn of_a_lane_at_a_wrong_place() {
    for (at, told) in [("[%at+2]", "thread (5, 0, 0)"), ("[%at-1099511627776]", "in no allocation")] {
        let text = format!(
            ".visible .entry k(.param .u64 buffer) {{ .reg .u64 %at; .reg .u32 %l; .reg .pred %p;
             ld.param.u64 %at, [buffer]; mov.u32 %l, %laneid; setp.eq.u32 %p, %l, 5;
             @%p red.global.add.u32 {at}, 1; ret; }}"
        );
        for execution in [Execution::CompiledOnly, Execution::Interpreted] {
            let bench = Bench::new(Options { execution, ..options() }, &text);
            let fault = format!("{:?}", bench.launch_at(1, [32, 1, 1], false, bench.buffer));
            for part in [told, "instruction red.global.add.u32"] {
                assert!(fault.contains(part), "{execution:?}: {fault}");
            }
        }
    }
}
