//! `gangway cc`, `c++` and `fc`: the stock compilers, told what offloading needs.
//!
//! Nothing is compiled here. The user's arguments are read as far as they concern devices
//! (`request`), what the compiler has to be told is put before them (`flags`), and the
//! compiler takes the place of this process. So messages, exit status and everything that
//! a build system knows of clang and flang stay as they are. Only a file that uses what
//! clang lacks is translated before (`translate`).

mod compiler;
mod faultless;
mod flags;
mod openacc;
mod request;
mod response;
mod target;
mod toolkit;
mod translate;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{Write, stdout};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;

use crate::arguments::Gangway;
use crate::environment::prepended;
use crate::exit::{FAILURE, Failure, NOT_EXECUTABLE, Outcome, SUCCESS};
use crate::faults::{Fault, RELEASE};
pub use compiler::{Compiler, KNOWN};
use flags::Flags;
use request::{Part, Request};
pub use target::GpuKind;
use target::{AMD_TRIPLE, GPU_TRIPLE, Target};
use toolkit::Toolkit;
pub use toolkit::linked_by_flang;

/// What flang's stand-ins call: the folder with the real ones.
pub const FLANG_TOOLS: &str = "GANGWAY_FLANG_TOOLS";

/// A language, and with it a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    /// The subcommand.
    pub const fn command(self) -> &'static str {
        match self {
            Self::C => "cc",
            Self::Cxx => "c++",
            Self::Fortran => "fc",
        }
    }

    /// The language that a program's name asks for: `gangway-cc` and its like.
    pub fn named(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?.strip_prefix("gangway-")?;
        [Self::C, Self::Cxx, Self::Fortran].into_iter().find(|language| language.command() == name)
    }

    /// The compiler as a release of LLVM calls it.
    const fn compiler(self, release: u32) -> &'static str {
        match self {
            Self::C => "clang",
            Self::Cxx => "clang++",
            Self::Fortran if release < FLANG_RENAMED => "flang-new",
            Self::Fortran => "flang",
        }
    }
}

/// The first release whose `flang` is not called `flang-new`.
const FLANG_RENAMED: u32 = 20;

/// Has a function called before each load and store, which is Gangway's library's and no sanitizer's.
const TELLS_ACCESSES: [&str; 2] =
    ["-fsanitize-coverage=edge,trace-loads,trace-stores", "-fno-sanitize-link-runtime"];
/// The same of copies, which compilers have for structures also, and of fills.
const TELLS_COPIES: &str = "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset";

/// The arguments with those of response files in the place of the files' names.
pub fn expanded(arguments: &[OsString]) -> Vec<OsString> {
    response::expand(arguments).into_iter().map(|word| word.text).collect()
}

pub fn compile(language: Language, arguments: &[OsString]) -> Outcome {
    if let [only] = arguments
        && matches!(only.to_str(), Some("--help" | "-help" | "-h"))
    {
        return help(language);
    }
    let mut request = Request::read(arguments, env::var_os("GANGWAY_CUDA_PATH"))?;
    if let Some(part) = request.print {
        return print(language, &request, part);
    }
    if request.tells_accesses && language == Language::Fortran {
        eprintln!(
            "gangway: note: --check: flang cannot have accesses told; `map` sees the host's by pages, and `race` does not"
        );
    } else if request.tells_accesses && request.sanitized {
        let text = "--check= and -fsanitize= do not go together: a sanitizer's runtime has functions of the names that \
                    accesses are told with; compile once for each";
        return Err(Failure::new(FAILURE, text));
    } else if request.tells_accesses {
        let copies = request.links.then_some(TELLS_COPIES);
        request.rest.splice(0..0, TELLS_ACCESSES.into_iter().chain(copies).map(OsString::from));
    }
    if language == Language::Fortran {
        // flang has neither this nor what stands behind it, and is to name the user's word alone.
        request.rest.retain(|word| word != request::FOR_THE_HOST);
    }
    // What is read and translated before it is compiled is read without.
    request.words.retain(|word| !word.as_encoded_bytes().starts_with(request::CHECK.as_bytes()));
    let compiler = Compiler::find(
        language,
        request.llvm.as_deref(),
        request.offloads() && Target::asked(&request).any_gpu(),
    )?;
    if request.openacc && language == Language::Fortran {
        let text = "flang makes no code of OpenACC; compile OpenACC in Fortran with gfortran, whose programs Gangway runs";
        return Err(Failure::new(FAILURE, text));
    }
    if language == Language::Fortran
        && Target::of(&request).is_some_and(|target| target.gpu() && target.amd())
    {
        let text = "flang compiles for the GPUs of one maker at a time: it gives each --offload-arch to all of them; \
                    compile twice";
        return Err(Failure::new(FAILURE, text));
    }
    if request.emit_translated && request.openacc {
        return openacc::print(language, &compiler.program, &request);
    }
    if request.emit_translated {
        return translate::print(language, &compiler.program, &request);
    }
    let mut command = Command::new(&compiler.program);
    command.env(RELEASE, compiler.release.to_string());
    let flags = match Target::of(&request) {
        Some(target) => {
            let toolkit = Toolkit::find(language, &target, request.links)?;
            if request.makes_code {
                compiler.check(&target, request.links)?;
                toolkit::check_native(&compiler.tools, &target)?;
            }
            if target.gpu() {
                if Fault::Scan.is_in(Some(compiler.release)) {
                    translate::warn_of_wrong_code(&compiler, language, &request);
                }
                let hides = Fault::DebugVariables.is_in(Some(compiler.release));
                if language != Language::Fortran && hides && request.describes_gpu_variables() {
                    flags::describe_lines_only(&mut request.rest, GPU_TRIPLE);
                }
            }
            if language != Language::Fortran && target.amd() && request.describes_optimised_variables() {
                flags::describe_lines_only(&mut request.rest, AMD_TRIPLE);
            }
            if language == Language::Fortran && target.any_gpu() {
                // flang has no option for these; it looks for ptxas in PATH, and for its own
                // tools in COMPILER_PATH.
                let before =
                    |name, first: PathBuf| prepended(first.as_os_str(), env::var_os(name).as_deref());
                if target.gpu() {
                    command.env("PATH", before("PATH", toolkit.cuda_tools(&target)));
                }
                if request.debug {
                    eprintln!(
                        "gangway: note: -g is for the host's code only: LLVM refuses the debug information \
                         that {} makes for GPU code",
                        compiler.name()
                    );
                }
                if !request.device_only {
                    command.env("COMPILER_PATH", before("COMPILER_PATH", toolkit.flang_tools()));
                    command.env(FLANG_TOOLS, &compiler.tools);
                }
            }
            let links_gpu_code = compiler.links_gpu_code();
            let mut flags = Flags::new(language, &target, &toolkit, compiler.release, links_gpu_code);
            if request.unoptimised {
                flags.without_unused_functions();
            }
            // LLD has been chosen for bitcode, and takes the runtime into a library.
            if request.sanitized && !target.links_bitcode_for_cpu() {
                flags.without_sanitizers(&toolkit);
            }
            Some(flags)
        }
        None => None,
    };
    if request.openacc {
        return openacc::compile(language, &compiler.program, &request, command, flags);
    }
    command.args(flags.into_iter().flat_map(|flags| flags.for_command(request.links)));
    if let Some(translated) = translate::translated(language, &compiler.program, &request)? {
        return translated.compile(command, &request.rest);
    }
    let error = command.args(&request.rest).exec();
    Err(Failure::new(NOT_EXECUTABLE, format!("cannot execute {}: {error}", compiler.program.display())))
}

fn help(language: Language) -> Outcome {
    let mut gangway = Gangway::command();
    gangway.build();
    let command = gangway.find_subcommand_mut(language.command());
    let text = command.map(|command| command.render_long_help().to_string()).unwrap_or_default();
    stdout().write_all(text.as_bytes())?;
    Ok(SUCCESS)
}

/// One line, quoted as compilers read it from a response file and shells read it with `eval`.
fn print(language: Language, request: &Request, part: Part) -> Outcome {
    // Whoever asks for the flags wants to offload.
    let target = Target::asked(request);
    if language == Language::Fortran && target.any_gpu() {
        return Err(Failure::new(
            FAILURE,
            "flang has no flags for what GPU code needs; let the build system call \
             `gangway-fc` as the Fortran compiler instead",
        ));
    }
    let toolkit = Toolkit::find(language, &target, part != Part::Compile)?;
    let release = compiler::release_of_flags(request.llvm.as_deref())?;
    let words = Flags::new(language, &target, &toolkit, release, true).for_print(part);
    let line = words.iter().map(|word| response::quoted(word)).collect::<Vec<_>>();
    let mut line = line.join(OsStr::new(" ")).into_encoded_bytes();
    line.push(b'\n');
    stdout().write_all(&line)?;
    Ok(SUCCESS)
}
