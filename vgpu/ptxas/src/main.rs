//! Asks NVIDIA's assembler, `ptxas`, what it takes of all that the form table describes,
//! and compares with what `gangway-ptx` takes.
//!
//! `scripts/ptxas.sh` downloads assemblers and runs this; nothing else of the project needs
//! one. Where the two differ, a rule in `differences.txt` says why. A difference without a
//! rule is a failure, and so is a rule without a difference.
//!
//! - `candidates`: the instructions to ask for, made from the form table
//! - `verdict`: what either side says
//! - `rules`: the differences that are known
#![forbid(unsafe_code)]
#![warn(clippy::must_use_candidate, clippy::use_self)]

mod candidates;
mod rules;
mod verdict;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Parser;

use crate::rules::Rules;
use crate::verdict::{Setting, verdicts};

#[derive(Parser)]
struct Options {
    /// NVIDIA's assembler of CUDA 13.5
    #[arg(long, value_name = "PTXAS")]
    newest: PathBuf,
    /// NVIDIA's assembler of CUDA 12.9, the last for older processors
    #[arg(long, value_name = "PTXAS")]
    older: PathBuf,
    /// Show every difference with its rule, and how both sides judge it
    #[arg(long)]
    all: bool,
}

/// How many differences without a rule are shown.
const SHOWN: usize = 60;

fn main() -> Result<()> {
    let options = Options::parse();
    let mut rules = Rules::known()?;
    let (mut asked, mut unknown) = (0, Vec::new());
    let newest = Setting::new(&options.newest, "9.5", 90);
    let mut runs = vec![(newest, candidates::spellings()), (newest, candidates::orders())];
    runs.push((newest, candidates::operands()));
    // What each version and processor brought, as far back as the assembler goes.
    let samples = candidates::samples();
    for processor in [53, 61, 70, 75, 80] {
        runs.push((Setting::new(&options.older, "8.8", processor), samples.clone()));
    }
    for version in ["4.2", "5.0", "6.0", "6.2", "6.3", "6.5", "7.0", "7.8"] {
        runs.push((Setting::new(&options.older, version, 53), samples.clone()));
    }
    for (setting, candidates) in runs {
        asked += candidates.len();
        for (candidate, verdict) in candidates.iter().zip(verdicts(&setting, &candidates)?) {
            if verdict.agree() {
                continue;
            }
            let difference = format!("{} {} {candidate}", setting.name(), verdict.who());
            let rule = rules.reason(&difference);
            if options.all {
                println!("{difference}\n    {}\n    {}", rule.unwrap_or("no rule"), verdict.why());
            }
            if rule.is_none() {
                unknown.push(format!("{difference}    {}", verdict.why()));
            }
        }
    }
    let unused = rules.unused();
    println!("{asked} instructions, {} differences with a rule, {} without", rules.used(), unknown.len());
    for difference in unknown.iter().take(SHOWN) {
        println!("  {difference}");
    }
    for rule in &unused {
        println!("  no difference is like {rule}");
    }
    ensure!(unknown.is_empty() && unused.is_empty(), "differences.txt does not say what there is");
    Ok(())
}
