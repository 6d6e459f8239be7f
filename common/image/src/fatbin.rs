//! CUDA fat binaries: a header and one record per PTX text or cubin.
//!
//! The records may be compressed, as an LZ4 block or a Zstandard frame. Nothing is
//! unpacked here: the virtual GPU's linker does that where it needs a content.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

const MAGIC: u32 = 0xba55_ed50;
/// The record that `__cudaRegisterFatBinary` is given; it holds a pointer, not data.
const WRAPPER_MAGIC: u32 = 0x4662_43b1;
const HEADER: u64 = 16;
const COMPRESSED_LZ4: u64 = 0x2000;
const COMPRESSED_ZSTD: u64 = 0x8000;

/// One record of a fat binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub kind: RecordKind,
    /// The `sm` number.
    pub processor: u32,
    pub compression: Option<Compression>,
    /// As it stands in the file: compressed, or with some zero bytes at its end.
    pub payload: &'a [u8],
}

/// How a record's content is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// A block without frame; the content has `unpacked` bytes.
    Lz4 { unpacked: u64 },
    /// A whole frame.
    Zstd { unpacked: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    Ptx,
    Cubin,
    Other(u16),
}

/// Whether `bytes` start like a fat binary or the wrapper of one.
pub fn is_fatbin(bytes: &[u8]) -> bool {
    let start = bytes.first_chunk().map(|start| u32::from_le_bytes(*start));
    matches!(start, Some(MAGIC | WRAPPER_MAGIC))
}

/// The size that the header declares, header included, checked against the slice.
pub fn declared_size(bytes: &[u8]) -> Result<u64> {
    let bytes = Bytes(bytes);
    if bytes.u32("the fat binary header", 0)? == WRAPPER_MAGIC {
        return Err(Error::Unsupported {
            what: "the start",
            offset: 0,
            expected: "the fat binary itself",
            found: "a fat binary's wrapper, which only points to it".into(),
        });
    }
    bytes.slice("the fat binary header", 0, HEADER)?;
    let header = u64::from(bytes.u16("the header size", 6)?);
    let size = bytes.u64("the fat binary size", 8)?;
    if header < HEADER {
        return Err(Error::malformed("the header size", 6, "at least 16", header.to_string()));
    }
    let whole = size.saturating_add(header);
    bytes.slice("the fat binary", 0, whole)?;
    Ok(whole)
}

/// The records of a fat binary.
pub fn records(bytes: &[u8]) -> Result<Vec<Record<'_>>> {
    let whole = declared_size(bytes)?;
    let bytes = Bytes(&bytes[..whole as usize]);
    let mut at = u64::from(bytes.u16("the header size", 6)?);
    let mut records = Vec::new();
    while at < whole {
        let kind = match bytes.u16("a record", at)? {
            1 => RecordKind::Ptx,
            2 => RecordKind::Cubin,
            other => RecordKind::Other(other),
        };
        let header = u64::from(bytes.u32("a record's header size", at + 4)?);
        let size = bytes.u64("a record's size", at + 8)?;
        if header < 64 {
            return Err(Error::malformed(
                "a record's header size",
                at + 4,
                "at least 64",
                header.to_string(),
            ));
        }
        bytes.slice("a record's header", at, header)?;
        let payload = bytes.slice("a record's content", at + header, size)?;
        let flags = bytes.u64("a record's flags", at + 40)?;
        let unpacked = bytes.u64("a record's unpacked size", at + 56)?;
        let compression = match (flags & COMPRESSED_LZ4 != 0, flags & COMPRESSED_ZSTD != 0) {
            (false, false) => None,
            (true, _) => Some(Compression::Lz4 { unpacked }),
            (false, true) => Some(Compression::Zstd { unpacked }),
        };
        // What follows up to the record's size is padding.
        let packed = u64::from(bytes.u32("a record's packed size", at + 16)?);
        let payload = match compression {
            Some(_) if packed != 0 => {
                bytes.slice("a record's packed content", at + header, packed.min(size))?
            }
            _ => payload,
        };
        let processor = bytes.u32("a record's processor", at + 28)?;
        records.push(Record { kind, processor, compression, payload });
        at += header + size;
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fatbin() -> Vec<u8> {
        let text = b".version 7.0\n.target sm_80\n\0\0\0\0\0";
        let mut record = vec![0u8; 64];
        record[0] = 1;
        record[4] = 64;
        record[8] = text.len() as u8;
        record[28] = 80;
        let mut whole = MAGIC.to_le_bytes().to_vec();
        whole.extend([1, 0, 16, 0]);
        whole.extend(((record.len() + text.len()) as u64).to_le_bytes());
        whole.extend(record);
        whole.extend(text);
        whole
    }

    #[test]
    fn reads_records() {
        let bytes = fatbin();
        let records = records(&bytes).unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!((records[0].kind, records[0].processor), (RecordKind::Ptx, 80));
        assert!(records[0].payload.starts_with(b".version") && records[0].compression.is_none());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = fatbin();
        for length in 4..bytes.len() {
            assert!(matches!(records(&bytes[..length]), Err(Error::Truncated { .. })), "{length}");
        }
    }
}
