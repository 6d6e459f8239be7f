//! Bounds-checked little-endian reads that say what was being read.

use crate::error::{Error, Result};

/// The longest name that is looked for; bounds the work that pointers into one long
/// text can cause.
const TEXT_LIMIT: usize = 1 << 16;

/// A slice and nothing else; every read names its purpose for the error.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn slice(self, what: &'static str, offset: u64, size: u64) -> Result<&'a [u8]> {
        let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
        range.and_then(|(start, size)| self.0.get(start..start.checked_add(size)?)).ok_or(Error::Truncated {
            what,
            offset,
            size,
            length: self.0.len() as u64,
        })
    }

    fn array<const N: usize>(self, what: &'static str, offset: u64) -> Result<[u8; N]> {
        let mut value = [0; N];
        value.copy_from_slice(self.slice(what, offset, N as u64)?);
        Ok(value)
    }

    pub fn u16(self, what: &'static str, offset: u64) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what, offset)?))
    }

    pub fn u32(self, what: &'static str, offset: u64) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what, offset)?))
    }

    pub fn u64(self, what: &'static str, offset: u64) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what, offset)?))
    }

    /// The UTF-8 text up to a NUL byte.
    pub fn text(self, what: &'static str, offset: u64) -> Result<&'a str> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.0.get(start..)).unwrap_or_default();
        let rest = &rest[..rest.len().min(TEXT_LIMIT)];
        let Some(end) = rest.iter().position(|&byte| byte == 0) else {
            return Err(Error::Truncated {
                what,
                offset,
                size: rest.len() as u64 + 1,
                length: self.0.len() as u64,
            });
        };
        std::str::from_utf8(&rest[..end])
            .map_err(|_| Error::malformed(what, offset, "UTF-8 text", "other bytes"))
    }
}

/// Where `part` lies in `whole`; both come from the same file.
pub fn offset_in(whole: &[u8], part: &[u8]) -> u64 {
    (part.as_ptr().addr()).saturating_sub(whole.as_ptr().addr()) as u64
}
