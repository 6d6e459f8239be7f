//! What every benchmark program is: what it can be asked, the page below `docs` that it writes, and
//! how it ends. A `main.rs` has only what it measures.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, CommandFactory, FromArgMatches, Parser};

use crate::machine;

/// A program.
pub struct Program {
    pub name: &'static str,
    /// What it does, for its help.
    pub about: &'static str,
    /// How often every case runs, unless the caller says.
    pub rounds: &'static str,
    /// Its page: the file, and what stands above the facts.
    pub page: &'static str,
    pub head: &'static str,
    /// What a user may want to see alone.
    pub example: &'static str,
}

/// What it can be asked; `More` is its own.
#[derive(Parser)]
struct Options<More: Args> {
    /// How often every case runs.
    #[arg(long)]
    rounds: usize,

    /// Run only the cases whose name contains this text (nothing is saved).
    #[arg(long)]
    only: Option<String>,

    /// End with status 1 if any figure misses its bar.
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    more: More,

    /// Where the report goes.
    #[arg(long)]
    save: PathBuf,
}

/// An option of programs that use a whole installation.
#[derive(Debug, Args)]
pub struct Staged {
    /// Gangway's installation.
    #[arg(long, default_value = "build/stage")]
    pub stage: PathBuf,
}

/// An option of programs that run on GPUs.
#[derive(Debug, Args)]
pub struct OnGpu {
    /// Use the virtual GPU even if there is a card.
    #[arg(long)]
    pub r#virtual: bool,

    #[command(flatten)]
    pub staged: Staged,
}

/// What a program measures with.
#[derive(Debug)]
pub struct Setting {
    /// The root of the repository, whatever the current folder is.
    pub root: PathBuf,
    /// The program's own folder, for what it builds.
    pub build: PathBuf,
    pub only: Option<String>,
    pub rounds: usize,
}

impl Setting {
    /// Whether a case is to be run.
    #[must_use]
    pub fn wants(&self, case: &str) -> bool {
        self.only.as_ref().is_none_or(|text| case.contains(text.as_str()))
    }
}

/// What a program has found.
#[derive(Debug, Default)]
pub struct Found {
    /// What is shown; nothing where no case has been run.
    pub shown: String,
    /// What the page has besides the facts about the machine, and below them. Without anything
    /// below it is not written.
    pub facts: Vec<(&'static str, String)>,
    pub below: String,
    /// No figure misses its bar.
    pub passes: bool,
}

/// Runs a program. Its status is 0 if all is well, 1 if `--check` was given and a figure missed its
/// bar, 2 for an error, which is said.
pub fn main<More: Args>(
    program: &Program,
    measure: impl FnOnce(&Setting, &More) -> Result<Found>,
) -> ExitCode {
    match run(program, measure) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{}: {error:#}", program.name);
            ExitCode::from(2)
        }
    }
}

fn run<More: Args>(
    program: &Program,
    measure: impl FnOnce(&Setting, &More) -> Result<Found>,
) -> Result<bool> {
    let command = Options::<More>::command().name(program.name).about(program.about);
    let command = command.mut_arg("rounds", |rounds| rounds.required(false).default_value(program.rounds));
    let command = command.mut_arg("save", |save| save.required(false).default_value(program.page));
    let options = Options::<More>::from_arg_matches(&command.get_matches())?;
    if options.rounds == 0 {
        bail!("--rounds must be at least 1");
    }
    let root = repository_root()?;
    let build = root.join("build").join(program.name.trim_start_matches("gangway-"));
    std::fs::create_dir_all(&build).with_context(|| format!("cannot create {}", build.display()))?;
    let setting = Setting { root, build, only: options.only, rounds: options.rounds };
    let found = measure(&setting, &options.more)?;
    if found.shown.is_empty() {
        bail!("no case has such a name");
    }
    println!("\n{}", found.shown);
    if setting.only.is_none() && !found.below.is_empty() {
        let path = setting.root.join(&options.save);
        std::fs::write(&path, page(program, &setting.root, &found))
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("saved to {}", options.save.display());
    }
    Ok(found.passes || !options.check)
}

/// The root of the repository, whatever the current folder is.
fn repository_root() -> Result<PathBuf> {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = benches.parent().context("the crate has no parent folder")?.to_path_buf();
    if !root.join("benches/programs").is_dir() {
        bail!("{} is gone: build gangway-bench again", root.join("benches/programs").display());
    }
    Ok(root)
}

/// A page: its head, facts about the machine, those that the benchmark has besides, and the rest.
fn page(program: &Program, root: &Path, found: &Found) -> String {
    let mut text = program.head.to_owned();
    for (label, value) in machine::describe(root).iter().chain(&found.facts) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {label}: {value}");
    }
    let Program { name, example, .. } = program;
    let make = format!("make {}", name.trim_start_matches("gangway-"));
    let _ = write!(
        text,
        "\n{}\n\
         ## Reproduce\n\n\
         ```sh\n\
         {make:<70} # everything, and rewrite this file\n\
         cargo run --release -p gangway-bench --bin {name} -- --only {example}\n\
         ```\n",
        found.below
    );
    text
}
