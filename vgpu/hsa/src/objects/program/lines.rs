//! Where in the source an instruction comes from, as the debug information of its image says.

use std::sync::Arc;

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, Error, LittleEndian, SectionId};
use object::{Object, ObjectSection};

/// An image that has debug information; it is read when a kernel has failed.
#[derive(Clone, Debug)]
pub struct Lines(Arc<[u8]>);

/// A place in the source: file, line, column (0 if it is not known), and the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub source: (String, u32, u32),
    pub function: Option<String>,
}

impl Lines {
    /// Keeps an image, if there is anything in it to be found.
    #[must_use]
    pub fn of(image: &[u8]) -> Option<Self> {
        let file = object::File::parse(image).ok()?;
        file.section_by_name(SectionId::DebugLine.name())?;
        Some(Self(image.into()))
    }

    /// The place of the instruction at an address of the image.
    #[must_use]
    pub fn place(&self, address: u64) -> Option<Place> {
        let file = object::File::parse(&*self.0).ok()?;
        // What is compressed is left out: no compiler for these devices does that by itself.
        let section = |id: SectionId| {
            let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
            Ok::<_, Error>(EndianSlice::new(data.unwrap_or_default(), LittleEndian))
        };
        let context = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
        let mut frames = context.find_frames(address).skip_all_loads().ok()?;
        let frame = frames.next().ok()??;
        let location = frame.location?;
        let source = (location.file?.to_owned(), location.line?, location.column.unwrap_or(0));
        let function = frame.function.and_then(|function| Some(function.raw_name().ok()?.into_owned()));
        Some(Place { source, function })
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn what_is_no_image_has_no_lines() {
        assert!(Lines::of(b"").is_none() && Lines::of(b"\x7fELF").is_none());
        assert_eq!(Lines(b"no image".as_slice().into()).place(0), None);
    }
}
