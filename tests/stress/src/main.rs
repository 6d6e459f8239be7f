//! `make stress`: hostile use of what Gangway offers to programs.
//!
//! Each attack is a C program in `attacks/`, compiled and run here against the staged libraries, in a process of
//! its own that is watched. What is found is a crash, a hang, a wrong result or a missing error. The same
//! seed makes the same calls again; threads may still meet differently. `README.md` tells what each attack does.

mod attack;
mod compile;
mod run;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::Parser;

use attack::Attack;
use run::{Ended, Libraries, Report};

/// Hostile use of the virtual GPU and of the OpenMP runtime.
#[derive(Debug, Parser)]
struct Arguments {
    /// Seconds for each attack.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Repeats a run; chosen by the time otherwise. Several of them share the seconds.
    #[arg(long = "seed")]
    seeds: Vec<u64>,
    /// The staged installation.
    #[arg(long, default_value = "build/stage")]
    stage: PathBuf,
    /// A library that the attacks load before all others: the runtime of a sanitizer.
    #[arg(long)]
    preload: Option<PathBuf>,
    /// Attacks to run, such as `driver/vanishing` or `openmp`; all of them if none is named.
    attacks: Vec<String>,
}

fn main() -> ExitCode {
    match stress(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("stress: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A seed that nobody has chosen.
fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_millis() as u64)
}

/// Runs the attacks; whether none of them found anything.
fn stress(arguments: &Arguments) -> Result<bool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("attacks");
    let all = attack::all(&folder)?;
    let chosen: Vec<&Attack> = all.iter().filter(|attack| attack.is_chosen(&arguments.attacks)).collect();
    if chosen.is_empty() {
        let names: Vec<_> = all.iter().map(Attack::name).collect();
        bail!("no attack is called {}; they are: {}", arguments.attacks.join(" or "), names.join(", "));
    }
    let stage = arguments.stage.canonicalize().with_context(|| {
        format!("{} holds no installation; `make build` makes one", arguments.stage.display())
    })?;
    let place = tempfile::tempdir().context("a temporary folder")?;
    let libraries = Libraries { stage, preloaded: arguments.preload.clone() };
    let seeds = if arguments.seeds.is_empty() { vec![seed_of_now()] } else { arguments.seeds.clone() };
    let seconds = arguments.seconds.div_ceil(seeds.len() as u32);
    let listed = seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    println!("stress: seed {listed}, {seconds} s for each of {} attacks with each seed", chosen.len());

    let (mut calls, mut passed, mut failed) = (0, 0, 0);
    for attack in &chosen {
        let program = compile::compile(attack, &folder, &libraries.stage, place.path())?;
        for seed in &seeds {
            let Report { ended, calls: made, output } =
                run::run(attack, &program, &libraries, *seed, seconds)?;
            calls += made;
            println!("test {} with seed {seed} ({made} calls) ... {ended}", attack.name());
            if ended == Ended::Ok {
                passed += 1;
                continue;
            }
            failed += 1;
            println!("--- what {} said\n{output}---", attack.name());
            println!("repeat with: make stress SEED={seed} SECONDS={seconds} ATTACKS={}", attack.name());
        }
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\n{calls} calls in {} attacks; seed {listed}", chosen.len());
    println!("test result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    Ok(failed == 0)
}
