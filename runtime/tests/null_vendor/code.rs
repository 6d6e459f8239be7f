//! Code objects: the vendor's images, and the code of kernels.
//!
//! An image is a text. It says for which instruction set it is, which kernels and globals it has,
//! and how its kernels take their arguments. A processor would find the instructions there, too; this
//! one knows its kernels by name.

use crate::card::{Stop, Wave};
use crate::support::construct::EXPECTED;
use crate::support::streams::Access as Argument;
use gangway_backend::{CallingConvention, Error, Parameter, Parameters, Result};

/// What an image begins with.
pub const MAGIC: &str = "NULL VENDOR'S CODE\n";

/// What an image says of a kernel.
#[derive(Debug, Clone)]
pub struct KernelCode {
    pub name: String,
    pub convention: CallingConvention,
    pub code: Code,
}

/// A global, with its first value.
#[derive(Debug, Clone)]
pub struct Global {
    pub name: String,
    pub value: u64,
}

/// An image that has been read.
#[derive(Debug, Clone, Default)]
pub struct CodeObject {
    /// The version of the instruction set.
    pub version: u32,
    pub kernels: Vec<KernelCode>,
    pub globals: Vec<Global>,
    /// The kernel that runs when the image has been loaded.
    pub constructor: Option<String>,
    pub calls_host: bool,
}

impl CodeObject {
    /// Reads an image.
    ///
    /// # Errors
    /// A line of it is damaged.
    pub fn read(image: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(image).ok().and_then(|text| text.strip_prefix(MAGIC));
        let text = text.ok_or(Error::InvalidImage { reason: "it is no code of this vendor's".to_owned() })?;
        let mut read = Self::default();
        for line in text.lines() {
            read.add(line).ok_or(Error::InvalidImage { reason: format!("`{line}` says nothing") })?;
        }
        Ok(read)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words {
            ["version", version] => self.version = version.parse().ok()?,
            ["kernel", name, ref parameters @ ..] => {
                let &(_, code) = KERNELS.iter().find(|(known, _)| *known == name)?;
                let convention = convention(parameters)?;
                self.kernels.push(KernelCode { name: name.to_owned(), convention, code });
            }
            ["global", name, value] => {
                self.globals.push(Global { name: name.to_owned(), value: value.parse().ok()? });
            }
            ["constructor", name] => self.constructor = Some(name.to_owned()),
            ["calls-host"] => self.calls_host = true,
            _ => return None,
        }
        Some(())
    }
}

/// How a kernel takes its arguments: `slots`, or the sizes of its parameters in a packed segment.
/// `hidden` is the one that the driver writes: how many teams there are.
fn convention(parameters: &[&str]) -> Option<CallingConvention> {
    if parameters == ["slots"] {
        return Some(CallingConvention { leading: Some(0), ..CallingConvention::SLOTS });
    }
    let trailing = usize::from(parameters.last() == Some(&"hidden"));
    let mut end = 0_u32;
    let parameter = |size: &&str| {
        let size: u32 = if *size == "hidden" { 8 } else { size.parse().ok()? };
        let offset = end.next_multiple_of(size);
        end = offset + size;
        Some(Parameter { offset, size })
    };
    let list: Vec<Parameter> = parameters.iter().map(parameter).collect::<Option<_>>()?;
    let packed = CallingConvention::packed(Parameters::new(list)?);
    Some(CallingConvention { leading: Some(0), trailing, ..packed })
}

/// A kernel's code.
pub type Code = fn(&Wave<'_>) -> std::result::Result<(), Stop>;

const KERNELS: [(&str, Code); 8] = [
    ("increment", increment),
    ("scale", scale),
    ("shape", shape),
    ("begin", begin),
    ("ask", ask),
    ("trap", |_| Err(Stop::Trap("a wave has come to a trap"))),
    ("stray", stray),
    ("linger", linger),
];

/// Adds one to each byte of its arguments, or checks them, as the harness asks.
fn increment(wave: &Wave<'_>) -> std::result::Result<(), Stop> {
    let slots: Vec<u64> = (0..wave.kernarg.len() / 8).map(|slot| wave.word(slot * 8)).collect();
    Argument::list(&slots).into_iter().try_for_each(|Argument { begin, size, check }| {
        let right = wave.access(begin, size, true, |bytes| {
            if check {
                return bytes.iter().all(|byte| *byte == EXPECTED);
            }
            bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            true
        })?;
        if right { Ok(()) } else { Err(Stop::Trap("a wave has found wrong data")) }
    })
}

/// `scale(data, count, by)`: multiplies words by an argument, and by the global `factor`; adds the
/// number of teams.
fn scale(wave: &Wave<'_>) -> std::result::Result<(), Stop> {
    let (count, by, teams) = (wave.half_word(8), wave.half_word(12), wave.half_word(16));
    let factor = wave.access(wave.globals, 4, false, |bytes| word_of(bytes))?;
    wave.access(wave.address(0), count as usize * 4, true, |bytes| {
        for word in bytes.chunks_exact_mut(4) {
            let value = word_of(word).wrapping_mul(by).wrapping_mul(factor).wrapping_add(teams);
            word.copy_from_slice(&value.to_ne_bytes());
        }
    })
}

fn word_of(bytes: &[u8]) -> u32 {
    u32::from_ne_bytes(bytes.try_into().expect("4 bytes"))
}

/// `shape(to)`: writes how many teams and threads there are.
fn shape(wave: &Wave<'_>) -> std::result::Result<(), Stop> {
    let counts = [wave.teams, wave.threads].concat();
    wave.access(wave.address(0), 24, true, |bytes| {
        for (word, count) in bytes.chunks_exact_mut(4).zip(counts) {
            word.copy_from_slice(&count.to_ne_bytes());
        }
    })
}

/// The constructor: adds 100 to the global `factor`.
fn begin(wave: &Wave<'_>) -> std::result::Result<(), Stop> {
    wave.access(wave.globals, 4, true, |bytes| bytes[0] += 100)
}

/// `ask(word, function)`: has a function of the host change a word.
fn ask(wave: &Wave<'_>) -> std::result::Result<(), Stop> {
    let word = wave.address(0);
    let mut block = [0; 8];
    wave.access(word, 8, false, |bytes| block.copy_from_slice(bytes))?;
    wave.call(wave.word(8), &mut block)?;
    wave.access(word, 8, true, |bytes| bytes.copy_from_slice(&block))
}

/// `stray(data, offset)`: writes at an offset from its data, where nothing may be.
fn stray(wave: &Wave<'_>) -> std::result::Result<(), Stop> {
    wave.access(wave.address(0).offset(wave.word(8) as isize), 8, true, |bytes| bytes.fill(0))
}

/// Ends when the card is lost.
fn linger(wave: &Wave<'_>) -> std::result::Result<(), Stop> {
    wave.wait_for_loss();
    Ok(())
}
