//! Random kernels, in which the race check finds the same whether warps remember lines of what they access or tell of
//! each access when they make it, as they do where accesses are noted for `map` as well.
//!
//! Of reads of a word the shadow keeps the first and the last, so that the pairs may differ. What is in them may not.

mod bench;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Mutex;

use bench::{Bench, Random, options};
use gangway_engine::{Checks, Execution, Listeners, Options};

static FOUND: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Lines of the kernel that race, and whether they write.
fn tell(finding: gangway_findings::Finding) {
    let of_side = |side: &gangway_findings::Side| {
        let line = side.source.as_ref().map_or(0, |source| source.line);
        format!("{line} {}", side.what.split(" by ").next().unwrap_or_default())
    };
    FOUND.lock().expect("no panic").extend(finding.sides.iter().map(of_side));
}

const START: &str = "
    .reg .u64 %base, %at, %from, %to, %wide, %turn<4>; .reg .u32 %i, %b, %w, %v, %x<4>, %n<4>, %s, %own;
    .reg .pred %p, %first, %q, %some; .shared .align 128 .b8 mem[512];
    ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x; shr.u32 %w, %i, 5; mov.u32 %v, 7;
    mul.wide.u32 %wide, %i, 4; add.u64 %at, %base, %wide; mov.u64 %from, %base; mov.u32 %s, mem;
    mul.lo.u32 %own, %i, 4; add.u32 %own, %own, %s; mov.u32 %x0, 1; mov.u32 %x1, 2; mov.u32 %x2, 3; mov.u32 %x3, 4;
    setp.eq.u32 %first, %i, 0;\n";

/// A kernel that is made up.
struct Made {
    random: Random,
    text: String,
    labels: usize,
    lines: usize,
}

impl Made {
    fn line(&mut self, text: &str) {
        self.lines += 1;
        let _ = writeln!(self.text, ".loc 1 {} 1\n{text}", self.lines);
    }

    fn place(&mut self) -> (&'static str, String) {
        let offset = 4 * self.random.below(6) + 120 * self.random.below(2);
        match self.random.below(8) {
            0 => ("global", format!("[%at+{offset}]")),
            1 => ("shared", format!("[%s+{offset}]")),
            2 => ("shared", format!("[%own+{offset}]")),
            _ => ("global", format!("[%from+{offset}]")),
        }
    }

    fn access(&mut self) {
        let (space, place) = self.place();
        let guard = self.random.of(&["", "", "", "", "@%first "]);
        let value = self.random.of(&["%v", "%v", "%x0", "%b", "%w", "%n1", "%i"]);
        let text = match self.random.below(24) {
            0 => format!("{guard}atom.{space}.add.u32 %x3, {place}, 1;"),
            1 => format!("{guard}ld.relaxed.gpu.{space}.u32 %x2, {place};"),
            2 => format!("{guard}st.relaxed.gpu.{space}.u32 {place}, {value};"),
            3 => format!("{guard}ld.{space}.u8 %x2, {place};"),
            4..=12 => format!("{guard}ld.{space}.u32 %x1, {place};"),
            _ => format!("{guard}st.{space}.u32 {place}, {value};"),
        };
        self.line(&text);
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// `depth`: of loops and branches around it; `together`: all threads of the block come here.
    fn statements(&mut self, count: u64, depth: u64, together: bool) {
        for _ in 0..count {
            match self.random.below(14) {
                0 if depth < 3 => self.turns(depth, together),
                1 | 2 if depth < 3 => self.branch(depth),
                3 if together => self.line("bar.sync 0;"),
                4 if together => self.line("bar.warp.sync -1;"),
                5 => {
                    let fence = self.random.of(&["fence.acq_rel.gpu;", "membar.cta;", "fence.sc.gpu;"]);
                    self.line(fence);
                }
                6 if self.random.below(3) == 0 => {
                    self.line("{ call.uni helper, (%from); }");
                }
                _ => self.access(),
            }
        }
    }

    fn turns(&mut self, depth: u64, together: bool) {
        let (label, many) = (self.label(), 1 + self.random.below(40) / (1 + 6 * depth));
        let step = self.random.of(&["0", "4", "4", "4", "12", "128"]);
        let _ = writeln!(self.text, "mov.u32 %n{depth}, 0; mov.u64 %turn{depth}, %from; {label}:");
        let count = 1 + self.random.below(3);
        self.statements(count, depth + 1, together);
        let _ = writeln!(
            self.text,
            "add.u64 %from, %from, {step}; add.u32 %n{depth}, %n{depth}, 1; setp.lt.u32 %p, %n{depth}, {many};
             @%p bra {label}; mov.u64 %from, %turn{depth};"
        );
    }

    fn branch(&mut self, depth: u64) {
        let label = self.label();
        let (what, less) = [("%b", 1), ("%w", 1), ("%i", 8), ("%i", 40)][self.random.below(4) as usize];
        let _ = writeln!(self.text, "setp.lt.u32 %q, {what}, {less}; @%q bra {label};");
        let count = 1 + self.random.below(3);
        self.statements(count, depth + 1, false);
        let _ = writeln!(self.text, "{label}:");
    }
}

/// A module with a kernel that calls a function.
fn module(seed: u64) -> String {
    let mut made = Made { random: Random::new(seed), text: String::new(), labels: 0, lines: 0 };
    made.access();
    made.access();
    let helper = std::mem::take(&mut made.text).replace("%first", "%q");
    let count = 3 + made.random.below(8);
    made.statements(count, 0, true);
    let Made { text, .. } = made;
    let first = "setp.eq.u32 %q, %i, 0;";
    let start = START.replace("ld.param.u64 %base, [buffer];", "ld.param.u64 %base, [given];");
    format!(
        ".file 1 \"k.cu\"\n.func helper(.param .b64 given) {{ {start} mov.u32 %n1, 0; {first}\n{helper} ret; }}
         .visible .entry k(.param .u64 buffer) {{ {START} mov.u32 %n1, 0;\n{text} ret; }}"
    )
}

/// What is found in a kernel.
fn found(text: &str, map: bool, (blocks, threads): (u32, u32)) -> BTreeSet<String> {
    let listeners = Listeners { tell, ..Listeners::default() };
    let checks = Checks { map, ..Checks::RACE };
    let options = Options { workers: 1, checks, listeners, execution: Execution::CompiledOnly, ..options() };
    let bench = Bench::new(options, text);
    bench.clear();
    bench.launch(blocks, [threads, 1, 1], false).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    std::mem::take(&mut *FOUND.lock().expect("no panic"))
}

/// `GANGWAY_RACE_PROGRAMS` says how many.
#[test]
fn what_warps_remember_changes_no_finding() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let many = number("GANGWAY_RACE_PROGRAMS").unwrap_or(100);
    let (mut racy, mut differ) = (0, Vec::new());
    for seed in 0..many {
        let text = module(seed);
        for shape in [(1, 32), (1, 64), (2, 48)] {
            let [remembered, exact] = [false, true].map(|map| found(&text, map, shape));
            racy += u64::from(!exact.is_empty());
            if remembered != exact {
                differ.push(format!("{seed} {shape:?}: {remembered:?} and not {exact:?}\n{text}"));
            }
        }
    }
    assert!(differ.is_empty(), "{} differ. {}", differ.len(), differ[0]);
    assert!((many..3 * many).contains(&racy), "{racy} of three times {many} race");
}
