//! The command lines of `ptxas` and `nvlink`, as far as they matter here.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What a call asks for. Options that only tune machine code are passed over.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub inputs: Vec<PathBuf>,
    pub output: Option<PathBuf>,
    pub architecture: Option<String>,
    pub verbose: bool,
    pub version: bool,
    pub help: bool,
    /// `-c`: a part of a program, that is linked later.
    pub part: bool,
}

/// Those whose value is the next argument, unless it follows an equals sign.
const WITH_VALUE: &[&str] = &[
    "-O",
    "--opt-level",
    "-maxrregcount",
    "--maxrregcount",
    "-m",
    "--machine",
    "-e",
    "--entry",
    "-dlcm",
    "--def-load-cache",
    "-dscm",
    "--def-store-cache",
    "-ias",
    "--input-as-string",
    "-optf",
    "--options-file",
    "-L",
    "--library-path",
    "-l",
    "--library",
    "-report-file",
    "--report-file",
    "-split-compile",
    "--split-compile",
    "-extra-warn",
    "-cpu-arch",
    "--cpu-arch",
];

impl Options {
    pub fn read(arguments: &[OsString]) -> Self {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let bytes = argument.as_bytes();
            if bytes.first() != Some(&b'-') || bytes == b"-" {
                options.inputs.push(argument.into());
                continue;
            }
            let (name, value) = match bytes.iter().position(|&byte| byte == b'=') {
                Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
                None => (bytes, None),
            };
            let mut value = || value.clone().or_else(|| arguments.next().cloned());
            match String::from_utf8_lossy(name).as_ref() {
                "-o" | "--output-file" => options.output = value().map(PathBuf::from),
                "-arch" | "--arch" | "--gpu-name" => {
                    options.architecture = value().map(|name| name.to_string_lossy().into_owned());
                }
                "-v" | "--verbose" => options.verbose = true,
                "-V" | "--version" => options.version = true,
                "-h" | "--help" => options.help = true,
                "-c" | "--compile-only" => options.part = true,
                name if WITH_VALUE.contains(&name) => drop(value()),
                _ => {}
            }
        }
        options
    }

    /// The output, or `input` with another ending, as the real tools name it.
    pub fn output_for(&self, ending: &str) -> PathBuf {
        let named = || self.inputs.first().map(|input| input.with_extension(ending));
        self.output.clone().or_else(named).unwrap_or_else(|| OsString::from_vec(ending.into()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Options {
        Options::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn calls_of_clang_are_understood() {
        let options = read("-m64 -c /tmp/t.s -O2 -arch sm_80 -o /tmp/t.cubin");
        assert_eq!((&options.inputs[..], options.part), (&["/tmp/t.s".into()][..], true));
        assert_eq!(
            (options.output, options.architecture.as_deref()),
            (Some("/tmp/t.cubin".into()), Some("sm_80"))
        );
        let options = read("-m64 -O2 --gpu-name sm_90 --output-file t.o t.s -c");
        assert_eq!((options.architecture.as_deref(), options.output), (Some("sm_90"), Some("t.o".into())));
        let options = read("-o t.img -v -arch sm_80 -L /lib --arch sm_80 a.cubin b.cubin");
        assert_eq!((options.inputs.len(), options.verbose), (2, true));
    }

    #[test]
    fn unknown_options_pass() {
        let options = read("--new-option --maxrregcount=32 --maxrregcount 64 -frob=1 a.ptx --gpu-name=sm_70");
        assert_eq!(
            (&options.inputs[..], options.architecture.as_deref()),
            (&["a.ptx".into()][..], Some("sm_70"))
        );
        assert_eq!(options.output_for("cubin"), PathBuf::from("a.cubin"));
    }
}
