//! The self-describing PTX tests of the virtual GPU, for everything that can run PTX. That is the
//! interpreter, the engine, and any library with the CUDA driver API, a real card's included.
//!
//! A test is PTX text that starts with what to do:
//!
//! ```text
//! // launch KERNEL BLOCKS THREADS [SHARED BYTES]
//! // buffer TYPE COUNT [VALUE...]     a parameter: the address of so many elements
//! // value TYPE VALUE                 a parameter
//! // limit COUNT                      how many instructions it may run, otherwise 4 million
//! ```
//!
//! At its end, lines that start with `//=` say what is expected. That is what was printed (`out:`
//! and `err:`), then the buffers after the launch in hexadecimal, or the fault. A value is decimal,
//! hexadecimal bits (`0x...`) or, of `f32` and `f64`, what Rust reads as one.
#![forbid(unsafe_code)]
#![warn(clippy::must_use_candidate, clippy::use_self)]

pub mod compiled;

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

/// What begins a line of expectations.
pub const MARK: &str = "//=";

/// Its results are approximations, of which the ISA bounds the error and does not tell the bits.
const APPROXIMATE: &str = "approximations.ptx";

/// A test that has been read.
#[derive(Clone, Debug)]
pub struct Test {
    /// The file's name.
    pub name: String,
    /// The text of the module.
    pub source: String,
    pub kernel: String,
    pub blocks: u32,
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// How many instructions it may run.
    pub limit: u64,
    pub parameters: Vec<Parameter>,
    /// What is expected, line by line, without the marks.
    pub expected: Vec<String>,
}

/// A kernel parameter.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// The address of memory that holds these bytes, elements of so many bytes each.
    Buffer {
        bytes: Vec<u8>,
        width: usize,
    },
    Value(Vec<u8>),
}

/// The files of all tests, sorted.
#[must_use]
pub fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("files");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder of tests").flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    files
}

/// All tests, read.
///
/// # Panics
/// If one of them cannot be read: then it is wrong, and so is the run.
#[must_use]
pub fn tests() -> Vec<Test> {
    let read = |path: &PathBuf| {
        Test::read(path).unwrap_or_else(|error| panic!("{}: {:?}", path.display(), error.message()))
    };
    files().iter().map(read).collect()
}

impl Test {
    pub fn read(path: &Path) -> Result<Self, Failed> {
        let text = fs::read_to_string(path)?;
        let (source, expected) = match text.find(&format!("\n{MARK}")) {
            Some(at) => text.split_at(at + 1),
            None => (text.as_str(), ""),
        };
        let mut test = Self {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            source: source.to_owned(),
            kernel: String::new(),
            blocks: 0,
            threads: 0,
            shared: 0,
            limit: 4_000_000,
            parameters: Vec::new(),
            expected: expected.lines().map(|line| line[MARK.len()..].trim().to_owned()).collect(),
        };
        for line in source.lines().map_while(|line| line.strip_prefix("// ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["launch", kernel, blocks, threads, ref shared @ ..] => {
                    test.kernel = kernel.to_owned();
                    (test.blocks, test.threads) = (blocks.parse()?, threads.parse()?);
                    test.shared = shared.first().map_or(Ok(0), |bytes| bytes.parse())?;
                }
                ["buffer", ty, count, ref values @ ..] => {
                    let (width, count) = (size(ty)?, count.parse::<usize>()?);
                    let mut bytes = vec![0; width * count];
                    for (place, value) in bytes.chunks_mut(width).zip(values) {
                        place.copy_from_slice(&bits(ty, value)?.to_le_bytes()[..width]);
                    }
                    test.parameters.push(Parameter::Buffer { bytes, width });
                }
                ["value", ty, value] => {
                    let bytes = bits(ty, value)?.to_le_bytes()[..size(ty)?].to_vec();
                    test.parameters.push(Parameter::Value(bytes));
                }
                ["limit", count] => test.limit = count.parse()?,
                _ => {}
            }
        }
        if test.kernel.is_empty() { Err("it launches nothing".into()) } else { Ok(test) }
    }

    /// What is to be printed, and what is to be in memory or the fault.
    pub fn printed_and_left(&self) -> (Vec<&str>, Vec<&str>) {
        let lines = self.expected.iter().map(String::as_str);
        lines.partition(|line| line.starts_with("out: ") || line.starts_with("err: "))
    }

    /// The fault that is expected, if one is.
    pub fn fault(&self) -> Option<&str> {
        self.expected.iter().map(String::as_str).find(|line| line.contains(" in '"))
    }

    /// Compares what a launch has left in the buffers with what is expected.
    pub fn compare(&self, found: &[String]) -> Result<(), Failed> {
        let (_, expected) = self.printed_and_left();
        if expected == found || self.name == APPROXIMATE && are_near(&expected, found) {
            return Ok(());
        }
        Err(format!("expected:\n{}\nfound:\n{}", expected.join("\n"), found.join("\n")).into())
    }

    /// Compares what was printed with what is expected: as many times, in any order.
    pub fn compare_printed(&self, out: &str, err: &str) -> Result<(), Failed> {
        let (printed, _) = self.printed_and_left();
        for line in &printed {
            let (stream, text) = match line.strip_prefix("out: ") {
                Some(text) => (out, text),
                None => (err, line.trim_start_matches("err: ")),
            };
            let wanted = printed.iter().filter(|other| other == &line).count();
            if stream.lines().filter(|found| *found == text).count() != wanted {
                return Err(format!("expected {wanted} times:\n{text}\nfound:\n{out}{err}").into());
            }
        }
        Ok(())
    }
}

/// A buffer as expectations have it: eight elements a line, in hexadecimal.
#[must_use]
pub fn render(bytes: &[u8], width: usize) -> Vec<String> {
    let element = |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
    let line = |line: &[u8]| line.chunks(width).map(element).collect::<Vec<_>>().join(" ");
    bytes.chunks(width * 8).map(line).collect()
}

/// Whether single-precision results are the expected ones but for the last two bits.
fn are_near(expected: &[&str], found: &[String]) -> bool {
    let words = |line: &str| -> Vec<i64> {
        line.split(' ').map(|word| i64::from_str_radix(word, 16).unwrap_or(i64::MIN)).collect()
    };
    let pairs = expected.iter().zip(found).map(|(expected, found)| (words(expected), words(found)));
    let near = |(a, b): (&i64, &i64)| *a != i64::MIN && a.abs_diff(*b) <= 2;
    expected.len() == found.len()
        && pairs.into_iter().all(|(a, b)| a.len() == b.len() && a.iter().zip(&b).all(near))
}

/// The width of a type's elements in bytes.
fn size(ty: &str) -> Result<usize, Failed> {
    let bits: usize = ty[1..].parse().map_err(|_| format!("no type '{ty}'"))?;
    Ok(bits / 8)
}

fn bits(ty: &str, value: &str) -> Result<u64, Failed> {
    let wrong = || format!("no value of {ty}: '{value}'");
    Ok(match (value.strip_prefix("0x"), ty) {
        (Some(digits), _) => u64::from_str_radix(digits, 16)?,
        (None, "f32") => value.parse::<f32>()?.to_bits().into(),
        (None, "f64") => value.parse::<f64>()?.to_bits(),
        (None, _) => value.parse::<i128>().map_err(|_| wrong())? as u64,
    })
}
