//! The list of what is measured and what is wanted of it.
//!
//! `main.rs` walks it top to bottom; adding a benchmark is adding a program to
//! `benches/programs/` and an entry here.

/// One program with its arguments, and the figures it yields.
pub struct Case {
    /// What `--only` matches.
    pub name: &'static str,
    /// Words of the command, the first a program in `build/bench/`.
    pub command: &'static [&'static str],
    pub metrics: Vec<Metric>,
}

/// One row of the table.
#[derive(Clone)]
pub struct Metric {
    pub title: &'static str,
    pub quantity: Quantity,
    /// Largest ratio Gangway / stock that passes; none for reference figures.
    pub wanted: Option<f64>,
}

/// Which of a program's figures a metric reads, and its unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Quantity {
    /// Time of one operation, shown in microseconds.
    Latency,
    /// The same in the typical batch, for operations whose own threads disturb each other.
    Typical,
    /// Wall time of a process, shown in milliseconds.
    Process,
    /// Peak resident memory of a process, shown in MiB.
    Memory,
    /// Rate of one pass over this many bytes, shown in GB/s; its ratio is one
    /// of times, so that smaller is better in every row.
    Bandwidth { bytes: f64 },
}

/// Bytes of one array of the stream program.
const ARRAY: f64 = 8.0 * (1_u64 << 25) as f64;

/// "At least equal" for a memory-bound loop, of which two runs differ by this
/// much even on a quiet machine.
const EQUAL: f64 = 1.03;

pub fn cases() -> Vec<Case> {
    vec![
        latency("empty", &["empty"], "empty target", 0.4),
        latency("present-1", &["present", "1"], "1 present map", 0.4),
        latency("present-5", &["present", "5"], "5 present maps", 0.4),
        latency("present-10", &["present", "10"], "10 present maps", 0.4),
        latency("fresh", &["fresh"], "fresh small tofrom", 0.4),
        latency("enter-exit", &["enter_exit"], "enter data + exit data", 0.4),
        latency("update", &["update"], "update of 8 bytes", 0.4),
        latency("lookup", &["lookup"], "launch, 100,000 arrays mapped", 0.4),
        latency("threads-fresh", &["threads", "fresh"], "2 host threads, fresh tofrom", 0.2),
        latency("threads-present", &["threads", "present"], "2 host threads, present maps", 0.2),
        latency("nowait", &["nowait"], "nowait + taskwait", 0.8),
        Case {
            name: "nowait-queue",
            command: &["nowait_queue"],
            metrics: vec![Metric {
                title: "20,000 nowait, one taskwait",
                quantity: Quantity::Typical,
                wanted: Some(0.8),
            }],
        },
        Case {
            name: "start-up",
            command: &["spawn", "20", "./trivial"],
            metrics: process(
                ["trivial program, wall time", "trivial program, peak memory"],
                [Some(0.3), Some(0.25)],
            ),
        },
        Case {
            name: "without-offload",
            command: &["spawn", "20", "./trivial-plain"],
            metrics: process(["without OpenMP, wall time", "without OpenMP, peak memory"], [None, None]),
        },
        bandwidth("triad", &["stream", "triad"], "triad of 2^25 doubles", 3.0),
        bandwidth("dot", &["stream", "dot"], "dot of 2^25 doubles", 2.0),
    ]
}

fn latency(name: &'static str, command: &'static [&'static str], title: &'static str, wanted: f64) -> Case {
    Case { name, command, metrics: vec![Metric { title, quantity: Quantity::Latency, wanted: Some(wanted) }] }
}

fn bandwidth(name: &'static str, command: &'static [&'static str], title: &'static str, arrays: f64) -> Case {
    let bytes = arrays * ARRAY;
    Case {
        name,
        command,
        metrics: vec![Metric { title, quantity: Quantity::Bandwidth { bytes }, wanted: Some(EQUAL) }],
    }
}

/// The two figures of a whole process: wall time and peak memory.
fn process(titles: [&'static str; 2], wanted: [Option<f64>; 2]) -> Vec<Metric> {
    [Quantity::Process, Quantity::Memory]
        .into_iter()
        .zip(titles)
        .zip(wanted)
        .map(|((quantity, title), wanted)| Metric { title, quantity, wanted })
        .collect()
}
