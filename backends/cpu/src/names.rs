//! What the user calls a byte of a variable, from the debug information of the program.
//!
//! The [command](crate::command) reads it. It is asked when a message is made, which may be in a signal
//! handler. Without the command, and without debug information, the message has numbers.

use crate::command;
use gangway_backend::Described;
use std::ffi::CStr;
use std::fmt::Write as _;
use std::ptr;

/// What of a variable has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The pointer that begins at a byte: `x.d`.
    Pointer,
    /// The element that a byte belongs to; it may lie outside of the section: `a[100]`.
    Element,
}

/// A name, or a part of a command's line.
#[derive(Debug)]
pub struct Name {
    bytes: [u8; Self::MOST],
    length: usize,
}

impl Name {
    const MOST: usize = 256;

    const fn new() -> Self {
        Self { bytes: [0; Self::MOST], length: 0 }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Ended by a null, for which `write_str` leaves room.
    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

impl std::fmt::Write for Name {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(std::fmt::Error)?;
        if self.length + text.len() == Self::MOST || text.contains('\0') {
            return Err(std::fmt::Error);
        }
        room.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

/// A name as text.
fn name(text: impl std::fmt::Display) -> Option<Name> {
    let mut name = Name::new();
    write!(name, "{text}").ok()?;
    Some(name)
}

/// The name of what is at a byte of a variable's section. Its text stands in the program itself, which
/// tells whose debug information it is.
#[must_use]
pub fn name_of(part: Part, variable: Described, offset: isize) -> Option<Name> {
    command::prepare();
    name_by_command(part, variable, offset)
}

/// As [`name_of`], for signal handlers, which cannot look for the command.
pub(crate) fn name_by_command(part: Part, variable: Described, offset: isize) -> Option<Name> {
    let (text, at) = (variable.name?, variable.location?);
    let own;
    let object = readable(command::object_of(text.as_ptr().addr())?, {
        own = own_program()?;
        &own
    });
    let subcommand = match part {
        Part::Pointer => c"member-name",
        Part::Element => c"element-name",
    };
    let (text, line, offset) = (name(text)?, name(at.line)?, name(offset)?);
    let arguments = [subcommand, object, text.as_c_str(), line.as_c_str(), offset.as_c_str()];
    ask(&arguments).filter(|name| name.length > 0)
}

/// The file of an object. A program that was found in PATH has no path: then the process's own.
fn readable<'a>(object: &'a CStr, own: &'a Name) -> &'a CStr {
    // SAFETY: asks for a file.
    if unsafe { libc::access(object.as_ptr(), libc::R_OK) } == 0 { object } else { own.as_c_str() }
}

fn own_program() -> Option<Name> {
    name(format_args!("/proc/{}/exe", std::process::id()))
}

/// The place of an instruction of the host's code: `file:line:column`, and the function on the next line.
#[must_use]
pub fn place_of(address: usize) -> Option<Name> {
    command::prepare();
    let (object, begin) = command::object_at(address)?;
    let own = own_program()?;
    // SAFETY: an object that is loaded begins with its header, of which this is the type.
    let kind = unsafe { ptr::with_exposed_provenance::<u16>(begin + 16).read() };
    let address = if kind == ET_EXEC { address } else { address - begin };
    let address = name(address)?;
    ask(&[c"code-place", readable(object, &own), address.as_c_str()]).filter(|name| name.length > 0)
}

/// A program that stands where it was linked to (ELF-64 specification, `e_type`).
const ET_EXEC: u16 = 2;

/// What the command prints.
fn ask(arguments: &[&CStr]) -> Option<Name> {
    let mut answer = Name::new();
    let mut ends = [0_i32; 2];
    // SAFETY: descriptors of ours; what is read is as long as its room.
    unsafe {
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) != 0 {
            libc::close(nothing);
            return None;
        }
        let done = nothing >= 0 && command::run(arguments, &[(nothing, 0), (ends[1], 1), (nothing, 2)]);
        let got = libc::read(ends[0], answer.bytes.as_mut_ptr().cast(), Name::MOST - 1);
        answer.length = usize::try_from(got).unwrap_or(0);
        for descriptor in [nothing, ends[0], ends[1]] {
            libc::close(descriptor);
        }
        done.then_some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_an_end() {
        assert_eq!(name("a[0:n]").unwrap().as_c_str(), c"a[0:n]");
        assert_eq!(name("x".repeat(255)).unwrap().as_c_str().to_bytes().len(), 255);
        assert!(name("x".repeat(256)).is_none() && name("x".repeat(300)).is_none());
        assert!(name("a\0b").is_none());
    }
}
