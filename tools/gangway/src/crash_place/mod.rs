//! Where in the source a kernel of a CPU device has crashed, and what pointer led there.
//!
//! The signal handler of the crashed process starts this command, with the image and a record
//! of the crash (`gangway_cpu::crash_record`), and prints its own lines around the ones that
//! come from here. What the debug information does not say is left out.

mod variables;

use std::fs;
use std::io::{Write, stderr, stdout};
use std::path::Path;

use addr2line::gimli::{self, Dwarf, EndianSlice, NativeEndian};
use addr2line::{Context, Location};
use gangway_cpu::crash_record::RECORD_WORDS;
use object::{Object, ObjectSection};

use crate::exit::{FAILURE, Outcome, SUCCESS};

/// Debug information in memory.
type Reader = EndianSlice<'static, NativeEndian>;

/// What the process was doing.
struct Crash {
    /// In the image's file.
    address: u64,
    /// The address is where a call would have returned to.
    called: bool,
    touched: Option<u64>,
    /// By DWARF's numbers.
    registers: [u64; 16],
    /// Address of the first byte of `stack`.
    stack_begin: u64,
    stack: Vec<u8>,
}

/// Prints the lines.
pub fn print(image: &Path, record: &Path) -> Outcome {
    let (image, record) = (fs::read(image)?, fs::read(record)?);
    if let Some(text) = Crash::read(&record).and_then(|crash| describe(&image, &crash)) {
        // One piece, between what the process writes.
        stderr().write_all(text.as_bytes())?;
    }
    Ok(SUCCESS)
}

impl Crash {
    fn read(record: &[u8]) -> Option<Self> {
        let (words, stack) = record.split_at_checked(RECORD_WORDS * 8)?;
        let words: Vec<u64> = words.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        Some(Self {
            address: words[0],
            called: words[1] != 0,
            touched: (words[2] != 0).then_some(words[3]),
            stack_begin: words[4],
            registers: words[5..].try_into().ok()?,
            stack: stack.to_vec(),
        })
    }

    /// The address of an instruction, not of the one behind it.
    const fn instruction(&self) -> u64 {
        if self.called { self.address.saturating_sub(1) } else { self.address }
    }

    /// Bytes of the stack.
    fn read_stack<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let offset = usize::try_from(address.checked_sub(self.stack_begin)?).ok()?;
        self.stack.get(offset..offset.checked_add(N)?)?.try_into().ok()
    }
}

fn describe(image: &[u8], crash: &Crash) -> Option<String> {
    let context = context(image)?;
    let mut text = lines(&context, crash.instruction())?;
    // The registers of a function that has called another one are not known.
    if !crash.called
        && let Some(pointer) = variables::pointer(&context, crash)
    {
        text += &pointer;
    }
    Some(text)
}

fn context(image: &[u8]) -> Option<Context<Reader>> {
    let file = object::File::parse(image).ok()?;
    let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        // Sections may be compressed. What is read stays until the process ends, which is soon.
        Ok(EndianSlice::new(Vec::leak(data.unwrap_or_default().into_owned()), NativeEndian))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}

/// Prints the place of an instruction, at its address in a program or library: `file:line:column` and the function, a
/// line each.
pub fn print_code(file: &Path, address: u64) -> Outcome {
    let file = fs::read(file)?;
    let place = || {
        let context = context(&file)?;
        let unit = context.find_dwarf_and_unit(address).skip_all_loads()?;
        let folder = unit.comp_dir.as_ref().and_then(|folder| str::from_utf8(folder.slice()).ok());
        let mut frames = context.find_frames(address).skip_all_loads().ok()?;
        let frame = frames.next().ok()??;
        let function = frame.function.as_ref().and_then(|function| function.demangle().ok());
        Some(format!("{}\n{}", place(&frame.location?, folder)?, function.unwrap_or_default()))
    };
    let Some(place) = place() else { return Ok(FAILURE) };
    stdout().write_all(place.as_bytes())?;
    Ok(SUCCESS)
}

/// The place, and those that it has been inlined into.
fn lines(context: &Context<Reader>, address: u64) -> Option<String> {
    let unit = context.find_dwarf_and_unit(address).skip_all_loads()?;
    let folder = unit.comp_dir.as_ref().and_then(|folder| str::from_utf8(folder.slice()).ok());
    let mut frames = context.find_frames(address).skip_all_loads().ok()?;
    let (mut text, mut inner) = (String::new(), String::new());
    while let Ok(Some(frame)) = frames.next() {
        let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
        let name = name.unwrap_or_default().into_owned();
        // With debug information, clang calls the region's code from a function of its own.
        let wraps = inner.strip_suffix("_debug__") == Some(&name);
        let (Some(place), false) = (frame.location.and_then(|location| place(&location, folder)), wraps)
        else {
            continue;
        };
        text += if text.is_empty() { "  line:    " } else { "           inlined at " };
        text += &place;
        // Of the region itself the report has told.
        if !name.is_empty() && !name.starts_with("__omp_offloading_") && !name.contains(".omp_outlined") {
            text += &format!(" in {}", gangway_trace::pretty_kernel_name(&name));
        }
        text.push('\n');
        inner = name;
    }
    (!text.is_empty()).then_some(text)
}

/// `file:line:column`, the file as the compiler was told it.
fn place(location: &Location<'_>, folder: Option<&str>) -> Option<String> {
    let (file, line) = (location.file?, location.line.filter(|line| *line != 0)?);
    let below = folder.and_then(|folder| file.strip_prefix(folder)?.strip_prefix('/'));
    let column = location.column.filter(|column| *column != 0);
    let column = column.map(|column| format!(":{column}")).unwrap_or_default();
    Some(format!("{}:{line}{column}", below.unwrap_or(file)))
}
