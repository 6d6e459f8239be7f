//! Random programs compute what the same source does without OpenACC, on the virtual GPU and on the host:
//! nests of loops, and loops whose iterations may depend on each other.
//!
//! `GANGWAY_NESTS=100 GANGWAY_NESTS_FROM=1000 cargo test -p gangway-openacc-suite --test nests` tries more.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use gangway_commands::{Folder, Run, gangway};
use gangway_openacc_suite::{loops, nest};

/// How many are tried: half a minute.
const NESTS: u64 = 12;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn computes_the_same(seed: u64, program_of: fn(u64) -> String) {
    let folder = Folder::new();
    folder.write("nest.c", program_of(seed));
    let (source, reference) = (folder.path("nest.c"), folder.path("reference"));
    // Sums of random numbers go around.
    let options = ["-w", "-O1", "-fwrapv"];
    Command::new("clang-22").args(options).arg(&source).arg("-o").arg(&reference).run().succeeded();
    let expected = Command::new(&reference).run().succeeded().stdout;
    for (architecture, device) in [("sm_80", "vgpu"), ("x86_64", "cpu")] {
        let program = folder.path(device);
        let mut compile = gangway();
        compile.args(["cc", "-fopenacc"]).args(options).arg(format!("--offload-arch={architecture}"));
        compile.arg(&source).arg("-o").arg(&program).run().succeeded();
        let ran = gangway().args(["run", "--device", device]).arg(&program).run();
        assert_eq!(ran.stdout, expected, "program {seed} on {device}: {ran}\n{}", program_of(seed));
    }
}

fn all_compute_the_same(program_of: fn(u64) -> String) {
    let from = number("GANGWAY_NESTS_FROM", 0);
    let (next, end) = (AtomicU64::new(from), from + number("GANGWAY_NESTS", NESTS));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < end) {
                    computes_the_same(seed, program_of);
                }
            });
        }
    });
}

#[test]
fn random_nests_compute_what_the_host_does() {
    all_compute_the_same(nest::program);
}

#[test]
fn random_loops_compute_what_the_host_does() {
    all_compute_the_same(loops::program);
}
