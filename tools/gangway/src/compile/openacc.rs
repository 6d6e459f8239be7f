//! OpenACC: translated into kernels and calls of the runtime, which clang compiles then.

use std::ffi::OsString;
use std::io::{Write, stderr, stdout};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use gangway_translator::openacc;

use super::Language;
use super::faultless::may_need_mending;
use super::flags::Flags;
use super::request::{Request, takes_value};
use super::target::{GPU_TRIPLE, Target};
use super::toolkit::Toolkit;
use super::translate::{Reading, Translation, identity_of};
use crate::exit::{FAILURE, Failure, NOT_EXECUTABLE, Outcome, SUCCESS};

/// What clang says `_OPENACC` is, as of OpenACC 3.3.
const OPENACC: &str = "-D_OPENACC=202211";

/// LLVM's pass for OpenMP, at the link: in a program without a kernel that starts the device runtime it takes
/// functions that ask for room for their variables as never called, and removes what follows.
const WITHOUT_OPENMP_OPT: [&str; 2] = ["-mllvm", "-openmp-opt-disable"];

/// Options that the preprocessor has done its work for, with the words behind them that are theirs.
const DONE: [(&str, bool); 10] = [
    ("-D", true),
    ("-U", true),
    ("-include", true),
    ("-imacros", true),
    ("-MD", false),
    ("-MMD", false),
    ("-MP", false),
    ("-MF", true),
    ("-MT", true),
    ("-MQ", true),
];

/// Compiles sources with what OpenACC's constructs have become in their place.
pub fn compile(
    language: Language,
    compiler: &Path,
    request: &Request,
    mut command: Command,
    flags: Option<Flags>,
) -> Outcome {
    let words = |flags: Option<Flags>| flags.map(|flags| flags.for_command(request.links));
    // Sources without a directive may call routines.
    let headers = headers()?;
    let only_looks = ["-E", "-M", "-MM"].iter().any(|option| request.words.iter().any(|word| word == option));
    if only_looks {
        command.args(words(flags).unwrap_or_default());
        return execute(command.args(headers).args(&request.rest), compiler);
    }
    let files = translated(language, compiler, request)?;
    let sources = Reading::of(language, &request.words).sources;
    let harmless = files.len() == sources.len()
        && sources.iter().all(|(_, is_cxx)| !is_cxx)
        && !files.iter().any(|found| may_need_mending(&found.file.text));
    let flags = flags.map(|flags| if harmless { flags.without_mending() } else { flags });
    command.args(words(flags).unwrap_or_default()).args(headers);
    let target = Target::asked(request);
    if target.cpu {
        // Routines with `nohost` are for processors as devices, too.
        command.arg("-D__GANGWAY_ACC_PROCESSORS");
    }
    if !request.openmp {
        command.arg("-fopenmp");
    }
    if request.links {
        for triple in target.gpu_triples() {
            for word in WITHOUT_OPENMP_OPT {
                command.arg("-Xlinker").arg(format!("--device-linker={triple}={word}"));
            }
        }
    }
    if files.is_empty() {
        // Objects that are linked, or sources without a directive.
        return execute(command.args(without(&request.rest, &[("-fopenacc", false)])), compiler);
    }
    let done: Vec<(&str, bool)> = DONE.into_iter().chain([("-fopenacc", false)]).collect();
    let mut rest = without(&request.rest, &done);
    // What there is to warn of has been said of the user's source.
    // Headers for GPUs would declare again what the text has already.
    rest.extend(["-w".into(), "-Wno-error".into(), "-nogpuinc".into()]);
    if target.gpu() {
        rest.extend(maths());
    }
    let translation = Translation { files: files.into_iter().map(|found| found.file).collect() };
    translation.compile(command, &rest)
}

/// Has functions of `math.h` called in GPU code. clang takes GPUs to have no `errno` and makes instructions of LLVM's of
/// them, such as `llvm.sin`, and LLVM stops, as GPUs have most of them not. Behind the user's options:
/// `-ffast-math` would do the same.
fn maths() -> impl Iterator<Item = OsString> {
    // These have instructions whatever `errno` is.
    ["-fmath-errno", "-fno-builtin-modf", "-fno-builtin-modff"]
        .into_iter()
        .flat_map(|option| [format!("-Xopenmp-target={GPU_TRIPLE}"), option.to_owned()])
        .map(OsString::from)
}

/// The options for the version of OpenACC and for its headers.
fn headers() -> Result<Vec<OsString>, Failure> {
    let headers = Toolkit::headers_of_translated()?;
    let openacc = headers.join("gangway/openacc");
    let mut options = ["-U_OPENACC", OPENACC].map(OsString::from).to_vec();
    for folder in [headers, openacc] {
        options.extend(["-idirafter".into(), folder.into()]);
    }
    Ok(options)
}

/// Prints what clang gets instead of the sources.
pub fn print(language: Language, compiler: &Path, request: &Request) -> Outcome {
    let mut out = stdout().lock();
    let files = translated(language, compiler, request)?;
    for (source, _) in Reading::of(language, &request.words).sources {
        match files.iter().find(|found| found.file.file == source) {
            Some(found) => out.write_all(&found.file.text)?,
            None => out.write_all(&std::fs::read(&source)?)?,
        }
    }
    Ok(SUCCESS)
}

fn execute(command: &mut Command, compiler: &Path) -> Outcome {
    let error = command.exec();
    Err(Failure::new(NOT_EXECUTABLE, format!("cannot execute {}: {error}", compiler.display())))
}

/// The sources that have directives, translated. Says what clang warns of, and the notes.
fn translated(
    language: Language,
    compiler: &Path,
    request: &Request,
) -> Result<Vec<openacc::Result>, Failure> {
    let reading = Reading::of(language, &request.words);
    let dimensions = request.openacc_dimensions.as_deref().map_or(Ok([None; 3]), dimensions)?;
    let mut found = Vec::new();
    for (source, is_cxx) in &reading.sources {
        let mut arguments: Vec<OsString> = vec![compiler.into()];
        let mine = |word: &&OsString| {
            word.to_str().is_some_and(|word| {
                matches!(word, "-fopenacc" | "-fopenacc-notes")
                    || ["--param=", "-fopenacc-dim="].iter().any(|option| word.starts_with(option))
            })
        };
        arguments.extend(reading.arguments.iter().filter(|word| !mine(word)).cloned());
        arguments.extend(dependencies(&request.words, source));
        arguments.extend(headers()?);
        arguments.extend(["-x", if *is_cxx { "c++" } else { "c" }].map(OsString::from));
        arguments.push(source.into());
        let identity = identity_of(source, request)?;
        let request = gangway_translator::Request {
            arguments: arguments.into_iter().map(OsString::into_encoded_bytes).collect(),
            file: source,
            is_cxx: *is_cxx,
            identity,
        };
        let result = openacc::translate(&request, dimensions)
            .map_err(|error| Failure::new(FAILURE, error.to_string()))?;
        found.extend(result);
    }
    let quiet = request.words.iter().any(|word| word == "-w");
    // Not `eprintln`: a build system may have closed the pipe.
    let mut out = stderr().lock();
    for result in &found {
        if !quiet {
            let _ = out.write_all(result.warnings.as_bytes());
        }
        for note in result.notes.iter().filter(|_| request.openacc_notes) {
            let _ = writeln!(out, "{}:{}: note: {}", note.file, note.line, note.text);
        }
    }
    if !quiet
        && found.iter().any(|result| !result.warnings.is_empty())
        && request.words.iter().any(|word| word == "-Werror")
    {
        return Err(Failure::new(FAILURE, "there are warnings, and -Werror makes them errors"));
    }
    Ok(found)
}

/// `-fopenacc-dim=`: numbers between colons, each of which may be left out; `-` leaves it open, too.
fn dimensions(text: &str) -> Result<[Option<u64>; 3], Failure> {
    let mut found = [None; 3];
    let parts: Vec<&str> = text.split(':').collect();
    let read = |part: &&str| match *part {
        "" | "-" => Some(None),
        number => number.parse().ok().filter(|&number: &u64| number > 0).map(Some),
    };
    let numbers: Option<Vec<_>> = parts.iter().map(read).collect();
    match numbers {
        Some(numbers) if numbers.len() <= found.len() => {
            found[..numbers.len()].copy_from_slice(&numbers);
            Ok(found)
        }
        _ => Err(Failure::new(
            FAILURE,
            format!(
                "-fopenacc-dim={text}: write gangs, workers and lanes with colons between, as in 32:4:64"
            ),
        )),
    }
}

/// What has the preprocessor write which files a source depends on, where that is asked for: it reads them, and
/// who compiles the result does not. Names are those that clang would take.
fn dependencies(words: &[OsString], source: &Path) -> Vec<OsString> {
    let Some(kind) = words.iter().find(|word| *word == "-MD" || *word == "-MMD") else { return Vec::new() };
    let value = |option: &str| {
        let at = words.iter().rposition(|word| word == option);
        let attached = words
            .iter()
            .rev()
            .find_map(|word| word.to_str()?.strip_prefix(option))
            .filter(|rest| !rest.is_empty());
        at.and_then(|at| words.get(at + 1).cloned()).or_else(|| attached.map(OsString::from))
    };
    let object = value("-o")
        .unwrap_or_else(|| Path::new(source.file_name().unwrap_or_default()).with_extension("o").into());
    let file = value("-MF").unwrap_or_else(|| Path::new(&object).with_extension("d").into());
    let mut options = vec![kind.clone(), "-MF".into(), file];
    match (value("-MQ"), value("-MT")) {
        (Some(target), _) => options.extend(["-MQ".into(), target]),
        (None, target) => options.extend(["-MT".into(), target.unwrap_or(object)]),
    }
    options.extend(words.iter().filter(|word| *word == "-MP").cloned());
    options
}

/// Arguments without some options; of those that have a value, without that.
fn without(arguments: &[OsString], options: &[(&str, bool)]) -> Vec<OsString> {
    let mut rest = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        if options.iter().any(|(option, _)| *option == text) {
            let has_value = options.iter().any(|(option, value)| *option == text && *value);
            if has_value {
                words.next();
            }
            continue;
        }
        let attached = |(option, value): &(&str, bool)| {
            *value && matches!(*option, "-D" | "-U" | "-MF" | "-MT" | "-MQ") && text.starts_with(option)
        };
        if options.iter().any(attached) {
            continue;
        }
        rest.push(word.clone());
        if takes_value(text) {
            rest.extend(words.next().cloned());
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::dimensions;

    #[test]
    fn dimensions_have_colons_between() {
        assert_eq!(dimensions("32").unwrap(), [Some(32), None, None]);
        assert_eq!(dimensions(":2:128").unwrap(), [None, Some(2), Some(128)]);
        assert_eq!(dimensions("-:-:64").unwrap(), [None, None, Some(64)]);
        for wrong in ["x", "0", "1:2:3:4", "-1", "1:2:3:"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
    }
}
