//! `nvlink`: joins PTX.
//!
//! Link-time optimisation leaves one module, which is passed on unchanged, with all that it
//! says about source lines. Several (LTO in partitions, say) are joined as the driver's
//! linker would join them, and printed as one text. Names that nothing defines are errors
//! here, where the user can see them, and not when the program runs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use gangway_linker::{Input, LinkError, LinkErrors};

use super::fortran_calls;
use super::options::Options;
use super::ptxas::{check, read, version, write};
use crate::exit::{FAILURE, Failure, Outcome, SUCCESS};

const HELP: &str = "\
usage: nvlink [-arch sm_NN] [-v] -o OUTPUT INPUT...

Gangway's stand-in for NVIDIA's linker of device code: joins PTX.
Options of the real one that only tune machine code are accepted without effect.
";

/// What users mostly have forgotten, and what there is not.
const HELP_UNDEFINED: &str = "\n  help: GPU code finds functions and variables that are defined with `declare target`, \
     constants of classes (`constexpr`) among them, and what `docs/host-calls.md` lists of the C library";

/// Functions of flang's that Gangway's device runtime has not.
const HELP_FLANG: &str = "\n  help: flang-22 calls its run-time library for some intrinsic procedures and statements, and GPU code has no \
     such function: write a loop, or leave it to the host";

pub fn link(arguments: &[OsString]) -> Outcome {
    let options = Options::read(arguments);
    if options.help || options.version {
        stdout().write_all(if options.help { HELP.into() } else { version("nvlink") }.as_bytes())?;
        return Ok(SUCCESS);
    }
    if options.inputs.is_empty() {
        return Err(Failure::new(FAILURE, format!("no input is given\n{HELP}")));
    }
    let mut inputs = Vec::new();
    let mut texts = Vec::new();
    for path in &options.inputs {
        let text = read(path)?;
        if text.starts_with(b"\x7fELF") {
            let text = format!(
                "{} is machine code; Gangway joins PTX only: build all parts with `gangway cc`, or all \
                 with NVIDIA's toolkit (--cuda-path=)",
                path.display()
            );
            return Err(Failure::new(FAILURE, text));
        }
        let module = check("nvlink", path, &text)?;
        inputs.push(module.map(|module| Input::new(path.display().to_string(), module)));
        texts.push(text);
    }
    let output = options.output_for("out");
    let all = inputs.into_iter().collect::<Option<Vec<_>>>();
    let linked = match all {
        Some(inputs) => gangway_linker::link(inputs).map_err(|errors| {
            let help = about_undefined(&errors, &texts);
            Failure::new(FAILURE, format!("the device code does not fit together\n{errors}{help}"))
        })?,
        // It was said what Gangway's reader does not take. There is nothing to join in one.
        None if texts.len() == 1 => return write(&output, &texts[0]),
        None => return Err(Failure::new(FAILURE, "modules that Gangway cannot read cannot be joined")),
    };
    match &texts[..] {
        [only] => write(&output, only),
        _ => write(&output, linked.to_string().as_bytes()),
    }
}

/// Where flang's functions that are missing are called, and what helps.
fn about_undefined(errors: &LinkErrors, texts: &[Vec<u8>]) -> String {
    let names: BTreeSet<&str> = errors.0.iter().filter_map(undefined).collect();
    let (flangs, others): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| name.starts_with(fortran_calls::PREFIX));
    let mut text = String::new();
    for name in &flangs {
        let places = |text: &Vec<u8>| fortran_calls::places(&String::from_utf8_lossy(text), name);
        for place in texts.iter().flat_map(places).collect::<BTreeSet<_>>() {
            let _ = write!(text, "\n{place}: calls '{name}'");
        }
    }
    if !flangs.is_empty() {
        text += HELP_FLANG;
    }
    if !others.is_empty() {
        text += HELP_UNDEFINED;
    }
    text
}

fn undefined(error: &LinkError) -> Option<&str> {
    match error {
        LinkError::Undefined { name, .. } => Some(name),
        _ => None,
    }
}
