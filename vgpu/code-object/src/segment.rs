//! What of the image is loaded where.

use std::ops::Range;

use object::elf;

use crate::bytes;
use crate::error::{Error, Result};

/// More than any image has.
const COUNT: u16 = 256;
/// An image's addresses are below this: 4 GiB, as code reaches its data with 32 bits.
pub(crate) const ADDRESS_SPACE: u64 = 1 << 32;

/// The image's program headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers<'a> {
    pub loaded: Vec<Segment<'a>>,
    pub notes: Vec<&'a [u8]>,
    /// Address and size of the dynamic table.
    pub dynamic: Option<(u64, u64)>,
    /// Address and size of what only relocations write.
    pub relocated: Option<(u64, u64)>,
}

/// Bytes of the image, and zeros behind them, at an address relative to where it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    pub address: u64,
    /// How much memory it takes; at least as much as its data.
    pub size: u64,
    pub align: u64,
    pub access: Access,
    pub data: &'a [u8],
}

/// What code does with a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub writes: bool,
    pub executes: bool,
}

impl Segment<'_> {
    pub(crate) fn end(&self) -> u64 {
        self.address + self.size
    }

    /// Whether these bytes lie in it.
    #[must_use]
    pub fn contains(&self, address: u64, size: u64) -> bool {
        address >= self.address && address.checked_add(size).is_some_and(|end| end <= self.end())
    }
}

impl<'a> Headers<'a> {
    pub fn read(image: &'a [u8]) -> Result<Self> {
        let what = "the program headers";
        let (offset, entry, count) =
            (bytes::u64(image, what, 32)?, bytes::u16(image, what, 54)?, bytes::u16(image, what, 56)?);
        if count > COUNT {
            return Err(Error::unsupported(what, format!("{count} of them"), "at most 256"));
        }
        if count > 0 && entry != 56 {
            return Err(Error::malformed("a program header's size", entry.to_string(), "56"));
        }
        let table = bytes::slice(image, what, offset, u64::from(entry) * u64::from(count))?;
        let mut headers = Self::default();
        for header in table.chunks_exact(56) {
            headers.add(image, header)?;
        }
        headers.loaded.sort_by_key(|segment| segment.address);
        let overlap = headers.loaded.windows(2).any(|pair| pair[0].end() > pair[1].address);
        if overlap {
            return Err(Error::malformed("the load segments", "overlapping", "apart"));
        }
        Ok(headers)
    }

    fn add(&mut self, image: &'a [u8], header: &[u8]) -> Result<()> {
        let what = "a program header";
        let (kind, flags) = (bytes::u32(header, what, 0)?, bytes::u32(header, what, 4)?);
        let (offset, address) = (bytes::u64(header, what, 8)?, bytes::u64(header, what, 16)?);
        let (file_size, size) = (bytes::u64(header, what, 32)?, bytes::u64(header, what, 40)?);
        match kind {
            elf::PT_LOAD => {
                let data = bytes::slice(image, "a load segment", offset, file_size)?;
                let align = bytes::u64(header, what, 48)?.max(1);
                let end = address.checked_add(size).filter(|end| *end <= ADDRESS_SPACE);
                if end.is_none() || size < file_size {
                    let found = format!("{size:#x} bytes at {address:#x} for {file_size:#x} of the file");
                    return Err(Error::malformed("a load segment", found, "one within 4 GiB"));
                }
                if !align.is_power_of_two() || align > 1 << 21 {
                    return Err(Error::malformed(
                        "a load segment's alignment",
                        align.to_string(),
                        "a power of two",
                    ));
                }
                let access = Access { writes: flags & elf::PF_W != 0, executes: flags & elf::PF_X != 0 };
                self.loaded.push(Segment { address, size, align, access, data });
            }
            elf::PT_NOTE => self.notes.push(bytes::slice(image, "a note segment", offset, file_size)?),
            elf::PT_DYNAMIC => self.dynamic = Some((address, size)),
            elf::PT_GNU_RELRO => self.relocated = Some((address, size)),
            _ => {}
        }
        Ok(())
    }

    /// Segments that are not written, and the part of another one that only relocations write.
    pub fn constant(&self) -> Vec<Range<u64>> {
        let fixed = self.loaded.iter().filter(|segment| !segment.access.writes);
        let relocated = self
            .relocated
            .filter(|&(address, size)| self.loaded.iter().any(|segment| segment.contains(address, size)));
        let relocated = relocated.map(|(address, size)| address..address + size);
        fixed.map(|segment| segment.address..segment.end()).chain(relocated).collect()
    }

    /// The bytes of the file that are loaded at an address, to the end of their segment.
    pub fn data_at(&self, what: &'static str, address: u64) -> Result<&'a [u8]> {
        let segment = self.loaded.iter().find(|segment| segment.contains(address, 1));
        segment
            .and_then(|segment| segment.data.get(usize::try_from(address - segment.address).ok()?..))
            .ok_or(Error::Truncated { what, offset: address, size: 1 })
    }

    /// So many of them.
    pub fn bytes_at(&self, what: &'static str, address: u64, size: u64) -> Result<&'a [u8]> {
        let data = if size == 0 { &[][..] } else { self.data_at(what, address)? };
        bytes::slice(data, what, 0, size).map_err(|_| Error::Truncated { what, offset: address, size })
    }

    /// How much memory all segments take, from address 0.
    pub fn memory_size(&self) -> u64 {
        self.loaded.last().map_or(0, Segment::end)
    }
}
