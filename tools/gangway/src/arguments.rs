//! The command line.
//!
//! The man page and the completions are generated from these definitions, so what is
//! written here is the documentation.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell as CompletionShell;

use crate::exit;

/// Run offload programs on Gangway
///
/// Programs that stock clang-22 built for offloading run on Gangway without being
/// linked again; programs for NVIDIA GPUs, such as GCC's, run on its virtual GPU. This
/// command starts them so, and shows what programs carry.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_long_help = exit_codes(), max_term_width = 100)]
pub struct Gangway {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program on Gangway
    ///
    /// Puts Gangway's libomptarget in the place of the stock one and executes the
    /// program. The exit status is the program's.
    ///
    /// With `--device vgpu` it puts the virtual GPU, a libcuda of Gangway's own, in the
    /// place of NVIDIA's driver instead: any program that uses the CUDA driver
    /// runs on the CPU.
    #[command(after_long_help = exit_codes())]
    Run(Run),
    /// Show the back ends and their devices, and why one is missing
    Info(Info),
    /// Show the device images in an executable, library, object or archive
    ///
    /// Reads files of clang and of GCC, and bare device images.
    Inspect(Inspect),
    /// Print shell commands that make every program run on Gangway
    ///
    /// Use it as: eval "$(gangway env)"
    Env(Env),
    /// Print a completion script for a shell
    Completions { shell: CompletionShell },
    /// Print the man page
    #[command(hide = true)]
    Man,
}

#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub settings: Settings,

    /// The program and its arguments
    // Hyphens are not allowed for the first of them: a misspelt option must not be the program.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM",
          value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// What `run` and `env` can set for programs.
#[derive(Debug, Default, Args)]
pub struct Settings {
    /// Use only devices of this back end (`gangway info` lists them), or `vgpu`, the
    /// virtual GPU
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Print a table of kernels and transfers when the program ends
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub report: Option<ReportForm>,

    /// Write the report to this file instead of standard error
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report_file: Option<PathBuf>,

    /// Write a trace that Perfetto and chrome://tracing open
    ///
    /// %p in the name becomes the process id.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    /// Aligned tables
    Text,
    /// One JSON object
    Json,
}

#[derive(Debug, Args)]
pub struct Info {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Inspect {
    /// The file to look into
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Write device image number N to a file
    ///
    /// An image of several parts, as GCC leaves them, becomes OUT.0, OUT.1 and so on.
    #[arg(long, value_name = "N", requires = "output", conflicts_with = "json")]
    pub extract: Option<usize>,

    /// Where --extract writes to
    #[arg(short, long, value_name = "OUT", requires = "extract", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Env {
    /// The shell to print for [default: what $SHELL names, or sh]
    #[arg(long, value_name = "SHELL")]
    pub shell: Option<Shell>,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// sh, bash, zsh and their kin
    Sh,
    Fish,
    /// csh and tcsh
    Csh,
}

fn exit_codes() -> String {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in exit::MEANINGS {
        text.push_str(&format!("  {code:<6} {meaning}\n"));
    }
    text
}
