//! OpenACC, of which clang checks the syntax and makes no code, made into kernels and calls of the runtime.
//!
//! A compute construct becomes `#pragma omp target teams ompx_bare` in its place: clang outlines it, and adds
//! no runtime call. Its text stands there twice, for GPUs and for processors. On GPUs a gang is a block of
//! (lanes, workers) threads, and the text says which of them do what. The steps:
//!
//! 1. [`source`] preprocesses the file, [`variants`] hides from libclang what that cannot read of it, and [`directive`]
//!    reads its directives; [`kernels`] writes out what `kernels` says of its loops, [`numbers`] what constant expressions are.
//! 2. [`index`] asks libclang for the variables that are used, and what each use does.
//! 3. [`dependence`] shows that iterations are independent where nobody says it ([`affine`], [`pure`], [`left`]), and [`nest`]
//!    gives each loop its levels: gang, worker, vector; [`share`] divides its iterations.
//! 4. [`region`] decides how each variable reaches the device ([`extent`]: what of a pointer's data), [`items`] what
//!    data clauses say of it ([`sections`]; [`members`]: what is used of objects that they do not name), [`rows`] what becomes of arrays whose rows have no length that is known.
//! 5. [`gpu`] writes the text for GPUs: who computes what ([`mode`]), what is private to whom ([`iteration`]),
//!    [`reduction`]s, which bytes of shared memory variables have ([`layout`]), if it has room for them
//!    ([`slab`]), what [`cache`] copies there, and copies whose length is known when the program runs ([`slice`],
//!    [`room`]). [`cpu`] writes the text for processors, [`data`] the other directives, [`routine`] functions that
//!    devices call, [`lambdas`] what lambda expressions need to have one number on all devices.
//!
//! [`notes`] are for users who want to know what has become of their loops and variables.

mod affine;
mod cache;
mod cpu;
mod data;
mod dependence;
mod directive;
mod extent;
mod gpu;
mod header;
mod index;
mod items;
mod iteration;
mod kernels;
mod lambdas;
mod layout;
mod left;
mod loops;
mod members;
mod mode;
mod nest;
mod notes;
mod numbers;
mod pure;
mod reduction;
mod region;
mod room;
mod routine;
mod rows;
mod sections;
mod share;
mod slab;
mod slice;
mod source;
mod variants;
mod writer;

use std::path::Path;

pub use notes::Note;

use crate::ast::{Unit, load_meanwhile};
use crate::error::Error;
use crate::{Request, Translated};
use directive::Directive;
use source::Source;
use writer::Writer;

/// What the calls are written with.
const HEADER: &str = "#include <gangway/openacc_translated.h>\n";

/// A translated file, and what there is to say about it.
#[derive(Debug)]
pub struct Result {
    pub file: Translated,
    pub notes: Vec<Note>,
    /// What clang warns of.
    pub warnings: String,
}

/// Whether a text may have directives of OpenACC; fast, and right when it says no.
#[must_use]
pub fn may_concern(text: &[u8]) -> bool {
    text.windows(4).any(|part| part == b"acc " || part == b"acc\t")
}

/// Translates a file. `None`: it has no directive. `dimensions` are the gangs, workers and lanes of constructs
/// that do not say how many.
///
/// # Errors
/// What is wrong with the source, or what cannot be translated in it.
pub fn translate(
    request: &Request<'_>,
    dimensions: [Option<u64>; 3],
) -> std::result::Result<Option<Result>, Error> {
    let parsed = parsing(request);
    let parse = |source: &Source| {
        let mut text = variants::hidden(&source.text);
        for variable in source.directives.iter().filter_map(Directive::type_variable) {
            let blank = format!("{:1$}", "*", variable.range.len());
            text.to_mut().replace_range(variable.range.clone(), &blank);
        }
        let unsaved = [crate::ast::Unsaved { file: request.file, text: text.as_bytes() }];
        Unit::parse(&parsed, &unsaved)
    };
    let compiler = request.arguments.first().map_or(&[][..], Vec::as_slice);
    let mut source = load_meanwhile(compiler, || Source::read(&request.arguments, request.is_cxx))?;
    if source.directives.is_empty() {
        return Ok(None);
    }
    let mut unit = parse(&source)?;
    if let Some(plain) = source.plain.take()
        && errors(&unit, &source).is_some()
    {
        // A directive that was added may stand where clang wants none; the user's own errors stay.
        source = Source::of(plain)?;
        unit = parse(&source)?;
    }
    if let Some(errors) = errors(&unit, &source) {
        return Err(Error::Clang(errors));
    }
    numbers::spell(&mut source.directives, &unit);
    let mut writer = Writer::new(&source, &unit, request.identity);
    writer.dimensions = dimensions;
    let text = writer.file().map_err(|complaint| source.error(&complaint))?;
    let notes = writer.notes.into_notes(&source);
    let text = format!("{HEADER}# 1 \"{}\"\n{text}", display(request.file));
    let file = Translated { file: request.file.to_owned(), text: text.into_bytes() };
    Ok(Some(Result { file, notes, warnings: warnings(&unit, &source) }))
}

/// What clang-22 says of private arrays without constant bounds: that they become pointers, which is not so here.
const DECAYS: &str = "initialization will happen after decay";

/// What is wrong with the source. clang-22 does not reduce complex numbers, which OpenACC does (section 2.5.15).
fn errors(unit: &Unit, source: &Source) -> Option<String> {
    unit.errors_but(|line| {
        let is_complex = line.contains("invalid type '_Complex ") && line.contains("OpenACC 'reduction'");
        is_complex || line.contains(DECAYS) || is_used(line, source)
    })
}

/// What clang warns of.
fn warnings(unit: &Unit, source: &Source) -> String {
    let all = unit.warnings();
    all.split_inclusive('\n').filter(|line| !line.contains(DECAYS) && !is_used(line, source)).collect()
}

/// Whether clang says of a variable that nothing uses it, which a directive does where clang is not shown it.
fn is_used(line: &str, source: &Source) -> bool {
    let mut variables = source.directives.iter().filter_map(Directive::type_variable);
    let says_so = line.contains("unused ") || line.contains("set but not used");
    says_so && variables.any(|variable| line.contains(&format!("'{}'", variable.text)))
}

/// The arguments for a file that is preprocessed already: macros of the user's would change it again.
fn parsing(request: &Request<'_>) -> Vec<Vec<u8>> {
    let mut arguments = Vec::new();
    let mut words = request.arguments.iter();
    while let Some(word) = words.next() {
        match &word[..] {
            b"-D" | b"-U" | b"-include" | b"-imacros" | b"-MF" | b"-MT" | b"-MQ" => {
                words.next();
            }
            b"-MD" | b"-MMD" | b"-MP" => {}
            word if word.starts_with(b"-D") || word.starts_with(b"-U") => {}
            // What stands in OpenMP's constructs libclang shows nobody.
            word if word.starts_with(b"-fopenmp") => {}
            word => arguments.push(word.to_vec()),
        }
    }
    arguments.insert(1, b"-fopenacc".to_vec());
    // The preprocessor's lines are not the user's: `-pedantic` has nothing to say of them.
    arguments.push(b"-Wno-gnu-line-marker".to_vec());
    arguments.push(b"-Wno-source-uses-openmp".to_vec());
    // Notes say what `cache` does. clang warns of the variables of loops, which section 2.10 allows.
    arguments.push(b"-Wno-openacc-cache-var-inside-loop".to_vec());
    arguments
}

fn display(file: &Path) -> String {
    file.display().to_string().replace('\\', "\\\\").replace('"', "\\\"")
}

/// A text as a literal.
fn quoted(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
