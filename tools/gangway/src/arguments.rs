//! The command line.
//!
//! The man page and the completions are generated from these definitions, so what is
//! written here is the documentation.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell as CompletionShell;

use crate::checks::{self, Checks};
use crate::devices::DeviceNames;
use crate::exit;
use crate::reports::{ReportChoice, ReportForms};

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
    /// Compare reports
    #[command(subcommand)]
    Report(Report),
    /// Compile and link C with clang-22 for Gangway's devices
    ///
    /// Calls clang-22 with all arguments, and with what offloading needs before them if
    /// `-fopenmp` is among them. Without `--offload-arch` the devices are CPUs.
    #[command(disable_help_flag = true, disable_version_flag = true, after_long_help = COMPILING)]
    Cc(Compile),
    /// Compile and link C++ with clang++-22 for Gangway's devices; see cc
    #[command(name = "c++", disable_help_flag = true, disable_version_flag = true, after_long_help = COMPILING)]
    Cxx(Compile),
    /// Compile and link Fortran with flang-22 for Gangway's devices; see cc
    #[command(disable_help_flag = true, disable_version_flag = true, after_long_help = COMPILING)]
    Fc(Compile),
    /// Print shell commands that make every program run on Gangway
    ///
    /// Use it as: eval "$(gangway env)"
    Env(Env),
    /// Print a completion script for a shell
    Completions { shell: CompletionShell },
    /// Be one of the small programs that compilers call
    #[command(hide = true, disable_help_flag = true, disable_version_flag = true)]
    StandIn(StandIn),
    /// Say where in the source a kernel has crashed; the CPU back end calls it
    #[command(hide = true)]
    CrashPlace { image: PathBuf, record: PathBuf },
    /// Say where in the source an instruction of a program or library is; the runtime calls it
    #[command(hide = true)]
    CodePlace { file: PathBuf, address: u64 },
    /// Say what stands at a byte of a variable; the runtime calls it
    #[command(hide = true)]
    MemberName { file: PathBuf, variable: String, line: u64, offset: u64 },
    /// Say which element of a variable a byte belongs to, in the section or beside it; the runtime calls it
    #[command(hide = true, allow_negative_numbers = true)]
    ElementName { file: PathBuf, variable: String, line: u64, offset: i64 },
    /// Print the man page
    #[command(hide = true)]
    Man,
}

#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub settings: Settings,

    /// With --check, the exit status where something was found and the program's own is 0 [default: 1]
    #[arg(long, value_name = "N", requires = "check")]
    pub check_exit: Option<u8>,

    /// With --check, write what was found to this file, as SARIF 2.1, which tools for code review read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "check")]
    pub sarif: Option<PathBuf>,

    /// With --check, write what was found to this file, as a page for a browser
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "check")]
    pub check_page: Option<PathBuf>,

    /// What runs the device half of a program that GCC built [default: gangway, if it has all
    /// that the program calls]
    #[arg(long, value_name = "NAME")]
    pub gcc_runtime: Option<GccRuntime>,

    /// The program and its arguments
    // Hyphens are not allowed for the first of them: a misspelt option must not be the program.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM",
          value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Whose runtime a program of GCC's gets for its devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GccRuntime {
    /// libgomp and its plugins
    Stock,
    /// Gangway's; the host's threads stay libgomp's. Also for a library that a program brings along
    Gangway,
}

/// What `run` and `env` can set for programs.
#[derive(Debug, Default, Args)]
pub struct Settings {
    /// Use only devices of this back end, or of these, separated by commas
    ///
    /// `vgpu` is the virtual GPU, `none` leaves all to the host; `gangway info` lists the others.
    #[arg(long, value_name = "NAME", value_parser = DeviceNames)]
    pub device: Option<String>,

    /// Look for mistakes while the program runs
    ///
    /// CHECKS is a list with commas between: `memory` (accesses beside and behind what is mapped, new memory
    /// that is read, and memory that is not freed), `map` (stale data: missing copies and updates), and on the virtual GPU
    /// `race` (accesses of threads that nothing orders), `sync` (barriers that not all threads come to, and deadlocks)
    /// and `init` (uses of what nothing has written), or `all`.
    #[arg(long, value_name = "CHECKS", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = checks::named)]
    pub check: Option<Checks>,

    /// With --check, say nothing of what a line of this file fits, such as `race:heat.c:17`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "check")]
    pub suppress: Option<PathBuf>,

    /// Print a table of kernels and transfers when the program ends
    ///
    /// FORM is `text`, `json` or `html`, and may name a file: `html:page.html`.
    #[arg(long, value_name = "FORM[:FILE]", num_args = 0..=1, require_equals = true,
          default_missing_value = "text", value_parser = ReportForms)]
    pub report: Option<ReportChoice>,

    /// Write the report to this file instead of standard error
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report_file: Option<PathBuf>,

    /// Write a trace that Perfetto and chrome://tracing open
    ///
    /// %p in the name becomes the process id.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
}

impl Settings {
    /// Whether a report or a trace is asked for.
    pub fn wants_recording(&self) -> bool {
        self.report.is_some() || self.report_file.is_some() || self.trace.is_some()
    }
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

#[derive(Debug, Subcommand)]
pub enum Report {
    /// Show what has changed between two reports in JSON
    ///
    /// Reports come from `gangway run --report=json:FILE`. The rows that changed most come first.
    Diff(Diff),
}

#[derive(Debug, Args)]
pub struct Diff {
    /// The report to compare with
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub old: PathBuf,

    /// The report that is compared
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub new: PathBuf,

    /// Fail (status 1) if a total has grown by more than PERCENT
    ///
    /// The totals are launches, time in kernels, transfers, bytes and time in transfers, and
    /// regions that the host ran.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32))]
    pub limit: Option<u32>,
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

#[derive(Debug, Args)]
pub struct Compile {
    /// Options and files, as for the compiler
    #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "ARGUMENT",
          value_hint = ValueHint::FilePath)]
    pub arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct StandIn {
    pub tool: Tool,

    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    pub arguments: Vec<OsString>,
}

/// The programs that there is a stand-in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tool {
    Ptxas,
    Nvlink,
    Clang,
    Flang,
    LlvmOffloadBinary,
    Ld,
}

/// What the compilers' subcommands understand themselves.
const COMPILING: &str = "\
Arguments that Gangway understands:
  --offload-arch=LIST       what to compile target regions for: sm_80, sm_90, ... and x86_64;
                            of several, a device that is present takes what suits it
  --cuda-path=DIR           let the ptxas of this CUDA toolkit make machine code;
                            GANGWAY_CUDA_PATH names one, too
  --print-flags[=compile|=link]
                            print the flags for a build system that calls the compiler itself
  -fopenacc                 compile OpenACC in C and C++: clang checks it and makes no code
  -fopenacc-dim=G:W:L       gangs, workers and lanes of constructs that do not say how many
  -fopenacc-notes           say which levels loops have got, and where private variables are
  --check=map, --check=race
                            have the host's loads and stores told to `gangway run --check=...`: `map`
                            sees each byte then, `race` what the host does beside devices (C and C++)
  --emit-translated         print C or C++ as clang gets it: with OpenACC and with reverse offload,
                            which clang lacks, written as kernels and calls
  -fopenmp-targets=TRIPLES  choose devices as clang does; nothing is chosen for you then

  --llvm=N                  the release of LLVM whose compiler is called, 19 to 23; otherwise the
                            newest of 22 and 23 that is installed. Before 22 for CPU devices only

GANGWAY_LLVM names a release, too, or the folder of an LLVM that is not in PATH.
";

/// Joins `--report json` of `run` and `env`, as completion writes it, to `--report=json`.
///
/// The value of the option is optional, so a word behind it is the program's name to the parser,
/// unless it is one of the forms. `--report -- json` runs a program of that name. Behind any other
/// subcommand the words are its own, and perhaps a compiler's.
pub fn with_report_forms(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut rest = arguments.peekable();
    let mut joined: Vec<OsString> = rest.by_ref().take(2).collect();
    let gangway = Gangway::command();
    let subcommand = joined.get(1).and_then(|name| gangway.find_subcommand(name));
    let settings: Vec<&Arg> = subcommand.map_or(Vec::new(), |known| known.get_arguments().collect());
    if settings.iter().any(|argument| argument.get_long() == Some("report")) {
        while let Some(mut word) =
            rest.next_if(|word| word.as_encoded_bytes().starts_with(b"--") && word != "--")
        {
            let is_form =
                |word: &OsString| word.to_str().is_some_and(|form| ReportChoice::of(form).is_some());
            if word == "--report"
                && let Some(form) = rest.next_if(is_form)
            {
                word.push("=");
                word.push(form);
            }
            let value = if takes_next_word(&settings, &word) { rest.next() } else { None };
            joined.push(word);
            joined.extend(value);
        }
    }
    joined.extend(rest);
    joined
}

/// Whether an option has its value in the word behind it.
fn takes_next_word(options: &[&Arg], word: &OsStr) -> bool {
    let named = |option: &&&Arg| {
        option
            .get_long()
            .is_some_and(|long| word.to_str().and_then(|word| word.strip_prefix("--")) == Some(long))
    };
    let option = options.iter().find(named);
    option.is_some_and(|option| option.get_action().takes_values() && !option.is_require_equals_set())
}

fn exit_codes() -> String {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in exit::MEANINGS {
        text.push_str(&format!("  {code:<6} {meaning}\n"));
    }
    text
}
