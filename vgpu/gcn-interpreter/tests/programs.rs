//! C programs that clang compiles for the host and for every processor, at every level of
//! optimisation: the results are equal to the bit. `GANGWAY_GCN_PROGRAM` names one more source.

#[path = "support/generator.rs"]
mod generator;
#[path = "support/host.rs"]
mod host;
#[path = "support/interpreted.rs"]
mod interpreted;
mod support;

use std::path::Path;

use gangway_code_object::CodeObject;
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::Flat;
use host::{LEVELS, Run};
use libtest_mimic::{Arguments, Trial};
use support::Device;

const PROGRAMS: &[&str] = &["integers.c", "floats.c", "structures.c", "group.c"];

fn main() {
    let ignored = !support::is_possible();
    let mut trials = Vec::new();
    let own = std::env::var("GANGWAY_GCN_PROGRAM").ok();
    for program in PROGRAMS.iter().copied().map(str::to_owned).chain(own) {
        for gpu in Gpu::ALL {
            for level in LEVELS {
                let source = host::sources().join(&program);
                let trial =
                    Trial::test(format!("{program}/{gpu}{level}"), move || Ok(compare(gpu, level, &source)?));
                trials.push(trial.with_ignored_flag(ignored));
            }
        }
    }
    // `GANGWAY_GCN_SEEDS=FIRST,COUNT` chooses the random programs.
    let seeds = std::env::var("GANGWAY_GCN_SEEDS").unwrap_or_default();
    let mut seeds = seeds.split(',').filter_map(|number| number.parse().ok());
    let (first, count) = (seeds.next().unwrap_or(0), seeds.next().unwrap_or(SEEDS));
    for seed in first..first + count {
        let trial = Trial::test(format!("random/{seed}"), move || Ok(host::random(seed, compare)?));
        trials.push(trial.with_ignored_flag(ignored));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// How many random programs are tried.
const SEEDS: u64 = 40;

/// Runs a program here and there.
fn compare(gpu: Gpu, level: &str, source: &Path) -> Result<(), String> {
    let image = support::compile(gpu, level, source, &[])?;
    let object = CodeObject::read(&image).map_err(|error| error.to_string())?;
    let device = Device::new(gpu, Flat::new(), &object);
    let run = Run::new(&device);
    interpreted::run(&device, &object, "k", run.size(), &run.arguments(), interpreted::LIMIT)
        .map_err(|fault| fault.to_string())?;
    run.compare(&device, source)
}
