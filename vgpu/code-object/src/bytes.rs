//! Reads within a slice that say what was being read. All numbers are little-endian.

use crate::error::{Error, Result};

/// The longest name that is looked for.
const NAME_LIMIT: usize = 1 << 16;

pub fn slice<'a>(data: &'a [u8], what: &'static str, offset: u64, size: u64) -> Result<&'a [u8]> {
    let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
    range.and_then(|(start, size)| data.get(start..start.checked_add(size)?)).ok_or(Error::Truncated {
        what,
        offset,
        size,
    })
}

pub fn array<const N: usize>(data: &[u8], what: &'static str, offset: u64) -> Result<[u8; N]> {
    let mut value = [0; N];
    value.copy_from_slice(slice(data, what, offset, N as u64)?);
    Ok(value)
}

pub fn u16(data: &[u8], what: &'static str, offset: u64) -> Result<u16> {
    Ok(u16::from_le_bytes(array(data, what, offset)?))
}

pub fn u32(data: &[u8], what: &'static str, offset: u64) -> Result<u32> {
    Ok(u32::from_le_bytes(array(data, what, offset)?))
}

pub fn u64(data: &[u8], what: &'static str, offset: u64) -> Result<u64> {
    Ok(u64::from_le_bytes(array(data, what, offset)?))
}

/// The text up to a NUL byte.
pub fn name<'a>(data: &'a [u8], what: &'static str, offset: u64) -> Result<&'a str> {
    let rest = usize::try_from(offset).ok().and_then(|start| data.get(start..)).unwrap_or_default();
    let rest = &rest[..rest.len().min(NAME_LIMIT)];
    let end = rest.iter().position(|&byte| byte == 0);
    let end = end.ok_or(Error::Truncated { what, offset, size: rest.len() as u64 + 1 })?;
    std::str::from_utf8(&rest[..end]).map_err(|_| Error::malformed(what, "no UTF-8", "a name"))
}
