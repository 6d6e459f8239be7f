//! Where CUDA compilers put fat binaries in a program.
//!
//! nvcc and clang write them one after the other into `.nv_fatbin` (relocatable code into
//! `__nv_relfatbin`), with zero bytes between them. For each, `.nvFatBinSegment` has the
//! record that the program registers; it points to the fat binary, wherever that is.

use std::collections::BTreeSet;

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::fatbin;
use crate::host::{CUDA_WRAPPERS, Host, Pointer};

const CONTAINERS: [&str; 3] = [".nv_fatbin", "__nv_fatbin", "__nv_relfatbin"];
/// Magic number, version, pointer to the fat binary, pointer for the toolkit's own use.
const WRAPPER: u64 = 24;
const WRAPPER_POINTER: u64 = 8;

/// One fat binary of a program.
pub struct Found<'a> {
    pub section: &'a str,
    /// Where it starts in the ELF file.
    pub offset: u64,
    pub bytes: &'a [u8],
}

/// What could not be read, with the section it is in.
pub type Damage<'a> = (&'a str, Error);

/// Finds the fat binaries of an ELF file; what is damaged does not hide the others.
pub fn find<'a>(host: &Host<'a>) -> (Vec<Found<'a>>, Vec<Damage<'a>>) {
    let (mut found, mut damage) = (Vec::new(), Vec::new());
    // A record may point to one that has been found already.
    let mut known = BTreeSet::new();
    for section in host.sections.iter().filter(|section| CONTAINERS.contains(&section.name)) {
        let mut at = 0;
        while let Some(start) = next(section.data, at) {
            known.insert(section.offset + start as u64);
            let bytes = &section.data[start..];
            match whole(bytes) {
                Ok(bytes) => {
                    at = start + bytes.len();
                    found.push(Found { section: section.name, offset: section.offset + start as u64, bytes });
                }
                Err(error) => {
                    damage.push((section.name, error.moved_by(section.offset + start as u64)));
                    break;
                }
            }
        }
    }
    for (number, section) in host.named(CUDA_WRAPPERS) {
        for at in (0..section.data.len() as u64 / WRAPPER).map(|index| index * WRAPPER) {
            match registered(host, number, at) {
                Ok(Some(one)) if known.insert(one.offset) => found.push(one),
                Ok(_) => {}
                Err(error) => damage.push((section.name, error)),
            }
        }
    }
    (found, damage)
}

/// Where the next fat binary starts: its first byte is not zero, as padding is.
fn next(data: &[u8], at: usize) -> Option<usize> {
    Some(at + data.get(at..)?.iter().position(|&byte| byte != 0)?)
}

fn whole(bytes: &[u8]) -> Result<&[u8]> {
    let start = Bytes(bytes).u32("the start of a fat binary", 0)?;
    if !fatbin::is_fatbin(bytes) {
        return Err(Error::malformed("the start of a fat binary", 0, "0xba55ed50", format!("{start:#x}")));
    }
    let size = fatbin::declared_size(bytes)?;
    Bytes(bytes).slice("the fat binary", 0, size)
}

/// The fat binary that a registration record points to; none where another file has it.
fn registered<'a>(host: &Host<'a>, number: usize, at: u64) -> Result<Option<Found<'a>>> {
    let section = &host.sections[number];
    let place = section.offset + at;
    let pointer = host.pointer(number, at + WRAPPER_POINTER)?;
    let Pointer::Inside { section: target, offset, .. } = pointer else {
        return match pointer {
            Pointer::External(_) => Ok(None),
            _ => {
                let expected = "the address of a fat binary in this file";
                let found = format!("{pointer:x?}").to_lowercase();
                Err(Error::malformed("a fat binary's record", place, expected, found))
            }
        };
    };
    let target = &host.sections[target];
    let offset_in_file = target.offset + offset;
    let bytes = host.content(pointer).unwrap_or_default();
    let bytes = whole(bytes).map_err(|error| error.moved_by(offset_in_file))?;
    Ok(Some(Found { section: target.name, offset: offset_in_file, bytes }))
}
