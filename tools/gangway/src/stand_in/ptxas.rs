//! `ptxas`: takes PTX, and gives it back when it is right.
//!
//! Two things are changed ([`gangway_bitcode::mended`]): the alignment of arrays, and accesses to a thread's memory
//! that may be others.
//!
//! Real drivers compile PTX themselves, so what the real assembler would do is done when the
//! program runs. What clang and flang would learn from it, that the text is wrong, they learn.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;

use gangway_ptx::{Code, Errors, Module};

use super::options::Options;
use super::warn;
use crate::exit::{FAILURE, Failure, Outcome, SUCCESS};
use crate::faults::{Fault, called_release};

/// Mistakes that one message shows; code that is generated repeats them.
const SHOWN: usize = 10;

const HELP: &str = "\
usage: ptxas [-arch sm_NN] [-v] [-o OUTPUT] INPUT

Gangway's stand-in for NVIDIA's assembler: checks PTX and passes it on.
Arrays get the alignment that LLVM takes them to have, and accesses that LLVM takes for ones of
the thread's memory without reason become generic; all else stays.
Options of the real one that only tune machine code are accepted without effect.
";

pub fn assemble(arguments: &[OsString]) -> Outcome {
    let options = Options::read(arguments);
    if options.help || options.version {
        stdout().write_all(if options.help { HELP.into() } else { version("ptxas") }.as_bytes())?;
        return Ok(SUCCESS);
    }
    let [input] = &options.inputs[..] else {
        let count = options.inputs.len();
        return Err(Failure::new(
            FAILURE,
            format!("one PTX file is expected, and {count} are given\n{HELP}"),
        ));
    };
    let output = options.output_for("cubin");
    let text = read(input)?;
    // flang's code, on its way to link-time optimisation.
    if is_bitcode(&text) {
        return write(&output, &text);
    }
    if options.part && output.extension().is_some_and(|ending| ending == "o") {
        return Err(Failure::new(
            FAILURE,
            "GPU code is joined with the device runtime as LLVM bitcode; compile with -foffload-lto, \
             or with `gangway cc`, which says so to clang",
        ));
    }
    let checked = check("ptxas", input, &text)?;
    if let Some(module) = &checked {
        fits(module, options.architecture.as_deref())?;
    }
    if options.verbose {
        let what = checked.map_or_else(|| "not checked".to_owned(), |module| summary(&module));
        eprintln!("ptxas info    : {}: {what}; passed on as PTX", input.display());
    }
    let generic = Fault::LocalMemory.is_in(called_release());
    write(&output, &gangway_bitcode::mended(&text, generic))
}

/// The module in a text, nothing if it is correct but beyond what Gangway's own reader takes:
/// a real GPU may still run that.
pub fn check(tool: &str, name: &Path, text: &[u8]) -> Result<Option<Module>, Failure> {
    match gangway_ptx::parse_bytes(text) {
        Ok(module) => Ok(Some(module)),
        Err(errors) if errors.0.iter().all(|error| error.code != Code::InvalidPtx) => {
            let first = &errors.0[0];
            let (file, line) = (name.display(), first.line);
            warn(tool, &format!("{file}:{line}: the virtual GPU cannot run this: {}", first.message));
            Ok(None)
        }
        Err(errors) => Err(Failure::new(FAILURE, described(name, &errors))),
    }
}

fn described(name: &Path, errors: &Errors) -> String {
    let mut text = format!("{} is not correct PTX", name.display());
    for error in errors.0.iter().take(SHOWN) {
        let (line, column) = (error.line, error.column);
        let _ = write!(text, "\n{}:{line}:{column}: {}", name.display(), error.message);
        let _ = write!(text, "\n  {line} | {}", error.excerpt.trim_end());
    }
    if errors.0.len() > SHOWN {
        let _ = write!(text, "\n{} more", errors.0.len() - SHOWN);
    }
    text
}

/// Code for a newer processor does not run on an older one.
fn fits(module: &Module, architecture: Option<&str>) -> Result<(), Failure> {
    let wanted = architecture.and_then(|name| name.strip_prefix("sm_"));
    let wanted =
        wanted.and_then(|number| number.trim_end_matches(|c: char| c.is_alphabetic()).parse::<u16>().ok());
    match wanted {
        Some(wanted) if module.target.processor > wanted => Err(Failure::new(
            FAILURE,
            format!("the PTX is for sm_{}, which sm_{wanted} cannot run", module.target.processor),
        )),
        _ => Ok(()),
    }
}

fn summary(module: &Module) -> String {
    let defined = || module.functions.iter().filter(|function| function.body.is_some());
    let kernels = defined().filter(|function| function.entry).count();
    let functions = defined().count() - kernels;
    let (version, processor) = (module.version, module.target.processor);
    format!("PTX {version} for sm_{processor}, kernels: {kernels}, functions: {functions}")
}

/// The toolkit whose PTX is the newest that is taken (PTX ISA, "Release notes": 8.7 came with CUDA 12.8).
/// Triton reads the release to choose the version of its PTX, XLA the number behind `V`.
const RELEASE: &str = "release 12.8, V12.8.0";

pub fn version(tool: &str) -> String {
    format!(
        "{tool}: Gangway's stand-in for the tool of NVIDIA's CUDA toolkit\nGangway {}\n\
         Stands in for Cuda compilation tools, {RELEASE}\n",
        env!("CARGO_PKG_VERSION")
    )
}

pub fn is_bitcode(text: &[u8]) -> bool {
    text.starts_with(b"BC\xc0\xde")
}

pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::new(FAILURE, format!("cannot read {}: {error}", path.display())))
}

pub fn write(path: &Path, content: &[u8]) -> Outcome {
    gangway_trace::write_whole(path, &|out| out.write_all(content))
        .map_err(|error| Failure::new(FAILURE, format!("cannot write {}: {error}", path.display())))?;
    Ok(SUCCESS)
}
