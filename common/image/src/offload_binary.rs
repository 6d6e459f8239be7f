//! LLVM's offload binary: the container in which clang embeds a device image together
//! with its triple and architecture.
//!
//! clang-22 writes version 1, with one image each; later versions hold several, and
//! version 3 may compress them. A section holds any number of these, one after the
//! other, each aligned to 8 bytes.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

pub const MAGIC: [u8; 4] = [0x10, 0xff, 0x10, 0xad];
const ENTRY: u64 = 40;
/// Images that one binary may hold; real ones hold a handful.
const ENTRY_LIMIT: u64 = 1 << 12;
/// Strings that one image may carry; real ones carry a handful.
const STRING_LIMIT: u64 = 64;

/// One image of an offload binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What clang says the image is; `recognise` says what it really is.
    pub declared_kind: DeclaredKind,
    pub offload_kind: OffloadKind,
    pub flags: u32,
    /// Key and value pairs; `triple` and `arch` among them.
    pub strings: Vec<(&'a str, &'a str)>,
    pub image: &'a [u8],
    /// Where `image` starts, from the start of the binary.
    pub offset: u64,
}

/// `ImageKind` in LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredKind {
    None,
    Object,
    Bitcode,
    Cubin,
    FatBinary,
    Ptx,
    SpirV,
    Other(u16),
}

/// Which language asked for the image; a set of bits in entry tables, one here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffloadKind {
    None,
    OpenMp,
    Cuda,
    Hip,
    Sycl,
    Other(u16),
}

impl<'a> Entry<'a> {
    pub fn string(&self, key: &str) -> Option<&'a str> {
        self.strings.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }
}

/// The size that a binary declares, checked against the slice.
pub fn declared_size(bytes: &[u8]) -> Result<u64> {
    let (version, size) = header(Bytes(bytes))?;
    let smallest = header_size(version) + ENTRY;
    if size < smallest {
        return Err(Error::malformed(
            "the size of the offload binary",
            8,
            "room for a header and an entry",
            format!("{size} bytes"),
        ));
    }
    Bytes(bytes).slice("the offload binary", 0, size)?;
    Ok(size)
}

fn header(bytes: Bytes<'_>) -> Result<(u32, u64)> {
    let magic = bytes.slice("the offload binary's header", 0, 32)?;
    if magic[..4] != MAGIC {
        return Err(Error::malformed(
            "the offload binary's magic",
            0,
            "10 ff 10 ad",
            format!("{:02x?}", &magic[..4]),
        ));
    }
    let version = bytes.u32("the version", 4)?;
    if !(1..=3).contains(&version) {
        return Err(Error::Unsupported {
            what: "the offload binary's version",
            offset: 4,
            expected: "versions 1 to 3",
            found: version.to_string().into(),
        });
    }
    Ok((version, bytes.u64("the size", 8)?))
}

fn header_size(version: u32) -> u64 {
    if version >= 3 { 40 } else { 32 }
}

/// The images of the binary at the start of `bytes`.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>> {
    let size = declared_size(bytes)?;
    let bytes = Bytes(&bytes[..size as usize]);
    let (version, _) = header(bytes)?;
    let table = bytes.u64("the offset of the entries", 16)?;
    let count = match version {
        // Version 1 has the size of its single entry here.
        1 => 1,
        _ => bytes.u64("the number of entries", 24)?,
    };
    if count > ENTRY_LIMIT {
        return Err(Error::malformed("the number of entries", 24, "a few", count.to_string()));
    }
    if version >= 3 && bytes.u64("the inflated size", 32)? != 0 {
        return Err(Error::Unsupported {
            what: "the offload binary",
            offset: 32,
            expected: "uncompressed ones",
            found: "compressed".into(),
        });
    }
    // Nothing is reserved before the whole table is known to be there.
    bytes.slice("the entries", table, count * ENTRY)?;
    (0..count).map(|number| entry(bytes, version, table + number * ENTRY)).collect()
}

fn entry(bytes: Bytes<'_>, version: u32, at: u64) -> Result<Entry<'_>> {
    let strings = bytes.u64("an entry's strings", at + 8)?;
    let count = bytes.u64("an entry's number of strings", at + 16)?;
    if count > STRING_LIMIT {
        return Err(Error::malformed("an entry's number of strings", at + 16, "a few", count.to_string()));
    }
    let offset = bytes.u64("an entry's image", at + 24)?;
    let size = bytes.u64("an entry's image size", at + 32)?;
    Ok(Entry {
        declared_kind: DeclaredKind::from_number(bytes.u16("an entry's image kind", at)?),
        offload_kind: OffloadKind::from_number(bytes.u16("an entry's offload kind", at + 2)?),
        flags: bytes.u32("an entry's flags", at + 4)?,
        strings: string_table(bytes, version, strings, count)?,
        image: bytes.slice("the device image", offset, size)?,
        offset,
    })
}

fn string_table(bytes: Bytes<'_>, version: u32, table: u64, count: u64) -> Result<Vec<(&str, &str)>> {
    let pair = if version == 1 { 16 } else { 24 };
    bytes.slice("the string table", table, count * pair)?;
    (0..count)
        .map(|number| {
            let at = table + number * pair;
            let key = bytes.text("a key", bytes.u64("a key's offset", at)?)?;
            let offset = bytes.u64("a value's offset", at + 8)?;
            let value = if version == 1 {
                bytes.text("a value", offset)?
            } else {
                let value = bytes.slice("a value", offset, bytes.u64("a value's size", at + 16)?)?;
                std::str::from_utf8(value)
                    .map_err(|_| Error::malformed("a value", offset, "UTF-8 text", "other bytes"))?
            };
            Ok((key, value))
        })
        .collect()
}

/// The offsets of all binaries in a section, or the first thing that is neither a
/// binary nor padding.
pub fn starts(section: &[u8]) -> impl Iterator<Item = Result<u64>> {
    let mut at = 0usize;
    let mut failed = false;
    std::iter::from_fn(move || {
        while !failed && section.get(at) == Some(&0) {
            at += 1;
        }
        if failed || at >= section.len() {
            return None;
        }
        let start = at as u64;
        match declared_size(&section[at..]) {
            Ok(size) => {
                at += size as usize;
                Some(Ok(start))
            }
            Err(error) => {
                failed = true;
                Some(Err(error.moved_by(start)))
            }
        }
    })
}

impl DeclaredKind {
    fn from_number(number: u16) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Object,
            2 => Self::Bitcode,
            3 => Self::Cubin,
            4 => Self::FatBinary,
            5 => Self::Ptx,
            6 => Self::SpirV,
            other => Self::Other(other),
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Object => "object",
            Self::Bitcode => "bitcode",
            Self::Cubin => "cubin",
            Self::FatBinary => "fatbin",
            Self::Ptx => "ptx",
            Self::SpirV => "spirv",
            Self::Other(_) => "other",
        }
    }
}

impl OffloadKind {
    pub(crate) fn from_number(number: u16) -> Self {
        match number {
            0 => Self::None,
            1 => Self::OpenMp,
            2 => Self::Cuda,
            4 => Self::Hip,
            8 => Self::Sycl,
            other => Self::Other(other),
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OpenMp => "openmp",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
            Self::Sycl => "sycl",
            Self::Other(_) => "other",
        }
    }
}
