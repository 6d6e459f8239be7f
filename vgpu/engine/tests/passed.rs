//! Races of loops in which all lanes do the same: LLVM's code tells of what they have gone through behind their turns, and
//! what is found is the same as in Cranelift's code, which tells of it access by access.

mod bench;

use std::sync::{Mutex, PoisonError};

use bench::{Bench, Random, has_llvm, options};
use gangway_engine::{Checks, Listeners, Options, Races, Tier, lanewise};

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// One test at a time has what is told.
static ONE: Mutex<()> = Mutex::new(());

const LISTENERS: Listeners = Listeners {
    name: |address| Some(format!("word {}", (address / 4) % 64)),
    obtained: |_| None,
    code: |_| (String::new(), None),
    tell: |finding| TOLD.lock().unwrap_or_else(PoisonError::into_inner).push(finding.to_string()),
};

/// What is found in a kernel of so many blocks of a warp, by one worker: how often, and in which words.
fn found(target: &str, tier: Tier, body: &str, blocks: u32) -> (Races, Vec<String>) {
    let header = format!(".version 7.8\n.target {target}\n.address_size 64\n");
    let text = format!(
        ".visible .entry k(.param .u64 buffer)\n{{\n  .reg .b32 %r<20>;\n  .reg .b64 %rd<20>;\n  .reg .f64 %d<8>;\n  .reg .pred %p<8>;\n  .shared .align 8 .b8 mem[64];
  ld.param.u64 %rd1, [buffer];\n  mov.u32 %r1, %ctaid.x;\n{body}\n  ret;\n}}\n"
    );
    let options = Options { checks: Checks::RACE, listeners: LISTENERS, tier, workers: 1, ..options() };
    let before = lanewise().len();
    let bench = Bench::of_target(options, &header, &text);
    bench.clear();
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clear();
    bench.launch_grid([blocks, 1, 1], [32, 1, 1]).unwrap_or_else(|fault| panic!("{fault}"));
    let made =
        lanewise()[before..].iter().any(|noted| noted.outcome.as_ref().is_ok_and(|&regions| regions > 0));
    assert_eq!(made, tier == Tier::Llvm, "{text}");
    let told = std::mem::take(&mut *TOLD.lock().unwrap_or_else(PoisonError::into_inner));
    (bench.engine.races().expect("they are looked for"), told)
}

/// What both kinds of code find, for both ways in which lanes of a warp go together.
#[track_caller]
fn agree(body: &str, blocks: u32) -> [Races; 2] {
    ["sm_80", "sm_35"].map(|target| {
        let [wanted, other] = [Tier::Cranelift, Tier::Llvm].map(|tier| found(target, tier, body, blocks));
        assert_eq!(other, wanted, "{target}, {blocks} blocks: {body}");
        wanted.0
    })
}

/// A loop over elements from `%rd2` on, of which each block has so many bytes for itself.
fn walk(own: u32, turns: u32, step: u32, turn: &str) -> String {
    format!(
        "  mul.wide.u32 %rd2, %r1, {own};\n  add.u64 %rd2, %rd2, %rd1;\n  mov.u64 %rd3, %rd2;\n  mov.u32 %r4, 0;\nNEXT:
{turn}\n  add.u64 %rd3, %rd3, {step};\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, {turns};\n  @%p1 bra NEXT;"
    )
}

const COPY: &str = "  ld.global.f64 %d1, [%rd3+16384];\n  st.global.f64 [%rd3], %d1;";

/// Blocks whose parts do not touch, and those of which each writes the next one's first element, in one turn or more.
#[test]
fn parts_that_touch_and_do_not() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !has_llvm() {
        return;
    }
    for (turns, own) in [(64, 512), (600, 4800), (5, 40)] {
        assert_eq!(agree(&walk(own, turns, 8, COPY), 3), [Races::default(); 2]);
        // What is written is the same, and so is the instruction: of what lanes read that is told all the same.
        let turn = format!("{COPY}\n  ld.global.u32 %r5, [%rd3+4];\n  add.u32 %r9, %r9, %r5;");
        assert_eq!(agree(&walk(own, turns, 8, &turn), 1), [Races::default(); 2]);
        let different = "  cvt.rn.f64.u32 %d1, %r1;\n  st.global.f64 [%rd3], %d1;";
        assert_eq!(agree(&walk(own, turns, 8, different), 3), [Races::default(); 2]);
        let races = agree(&walk(own - 8, turns, 8, different), 3);
        assert_eq!(races.map(|races| races.places), [1; 2], "{turns}");
    }
}

/// The same value by the same instruction is no race, another one is: also where memory has the last one's by then.
#[test]
fn values_are_those_that_were_stored() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !has_llvm() {
        return;
    }
    let same = "  st.global.u32 [%rd3], %r4;";
    assert_eq!(agree(&walk(0, 300, 4, same), 4), [Races::default(); 2]);
    let one = "  xor.b32 %r5, %r4, 250;\n  setp.eq.u32 %p2, %r5, 0;\n  selp.u32 %r6, %r1, %r4, %p2;\n  st.global.u32 [%rd3], %r6;";
    let races = agree(&walk(0, 300, 4, one), 4);
    assert!(races.iter().all(|races| races.places == 1 && races.count > 0), "{races:?}");
}

/// Random loops over memory that blocks share in part: loads and stores at several distances, up and down, with what one turn
/// stores and another one loads, guards, and places that stay.
#[test]
fn random_loops() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !has_llvm() {
        return;
    }
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let step = random.of(&["4", "8", "16", "8"]).parse().expect("a number");
        let pairs = step % 8 == 0;
        let mut turn =
            String::from("  add.u32 %r5, %r4, %r1;\n  and.b32 %r6, %r4, 3;\n  setp.eq.u32 %p2, %r6, 1;\n");
        for _ in 0..1 + random.below(5) {
            let guard = random.of(&["", "", "", "", "@%p2 "]);
            let from = random.of(&["%rd3", "%rd3", "%rd3", "%rd2", "%rd1"]);
            let offset = 4 * random.below(4) + 8192 * random.below(2);
            let access = match random.below(if pairs { 3 } else { 2 }) {
                0 => format!("st.global.u32 [{from}+{offset}], %r5;"),
                1 => format!("ld.global.u32 %r7, [{from}+{offset}];"),
                _ => format!("ld.global.v2.u32 {{%r7, %r8}}, [{from}+{}];", offset & !7),
            };
            turn += &format!("  {guard}{access}\n");
            if access.starts_with("ld") {
                turn += "  add.u32 %r9, %r9, %r7;\n";
            }
        }
        let turns = 3 + random.below(80) as u32;
        let own = (4 * random.below(200) as u32) & !7;
        agree(&(walk(own, turns, step, &turn) + "\n  st.shared.u32 [mem], %r9;"), 1 + random.below(4) as u32);
    }
}
