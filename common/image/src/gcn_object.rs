//! A code object of GCC's for AMD's GPUs with what a program says of its kernels, in one piece: as the front end
//! gives it to the runtime.
//!
//! The code object alone does not say which of its kernels are OpenACC's: their launches have other shapes. The
//! program's tables do, so the front end puts the names of those kernels behind the code object. The format is
//! Gangway's own and never in a file.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

const MAGIC: [u8; 8] = *b"\x93GW-GCN\n";
/// The magic and the size of the code object.
const HEADER: usize = 16;

/// What [`parts`] finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The code object: an ELF file.
    pub code: &'a [u8],
    /// Symbols of the kernels that are OpenACC's.
    pub openacc: Vec<&'a str>,
}

/// Whether `bytes` start like such an image.
pub fn is_gcn_object(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// One image of a code object and the symbols of its OpenACC kernels.
pub fn joined(code: &[u8], openacc: &[&str]) -> Vec<u8> {
    let names = openacc.iter().map(|name| name.len() + 1).sum::<usize>();
    let mut image = Vec::with_capacity(HEADER + code.len() + names);
    image.extend(MAGIC);
    image.extend((code.len() as u64).to_le_bytes());
    image.extend_from_slice(code);
    for name in openacc {
        image.extend_from_slice(name.as_bytes());
        image.push(0);
    }
    image
}

/// An image without code: the header of a code object, for `gfx900`. It is recognised, and no device loads it.
#[must_use]
pub fn empty() -> Vec<u8> {
    let mut header = [0; 64];
    // A 64-bit little-endian shared object, of HSA (`ELFOSABI_AMDGPU_HSA`), for AMD's GPUs (`EM_AMDGPU`, gfx900).
    header[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x40");
    (header[16], header[18], header[20], header[48]) = (3, 224, 1, 0x2c);
    // The sizes of the header and of what it would lead to.
    (header[52], header[54]) = (64, 56);
    joined(&header, &[])
}

/// The code object and the names.
pub fn parts(image: &[u8]) -> Result<Parts<'_>> {
    let bytes = Bytes(image);
    let size = bytes.u64("the size of the code object", 8)?;
    let code = bytes.slice("the code object", HEADER as u64, size)?;
    let rest = &image[HEADER + code.len()..];
    let names = rest.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    let name = |name| {
        std::str::from_utf8(name).map_err(|_| {
            Error::malformed(
                "a kernel's name",
                (HEADER + code.len()) as u64,
                "UTF-8",
                "other bytes".to_owned(),
            )
        })
    };
    Ok(Parts { code, openacc: names.map(name).collect::<Result<_>>()? })
}

/// What a program's variable is called whose device code has no name for it, but a place in a table.
const VARIABLE: &str = "$offload_variable_";

/// The name of the variable at a place.
#[must_use]
pub fn variable_name(place: usize) -> String {
    format!("{VARIABLE}{place}")
}

/// The place that [`variable_name`] has named.
#[must_use]
pub fn variable_place(name: &str) -> Option<usize> {
    name.strip_prefix(VARIABLE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_again() {
        let image = joined(b"\x7fELF...", &["main._omp_fn.0", "f"]);
        assert!(is_gcn_object(&image) && !is_gcn_object(b"\x7fELF"));
        let expected = Parts { code: b"\x7fELF...", openacc: vec!["main._omp_fn.0", "f"] };
        assert_eq!(parts(&image), Ok(expected));
        assert!(parts(&joined(b"", &[])).unwrap().openacc.is_empty());
    }

    #[test]
    fn variables_have_places() {
        assert_eq!(variable_place(&variable_name(12)), Some(12));
        assert_eq!(variable_place("counter"), None);
    }

    #[test]
    fn damaged_ones_are_refused() {
        let image = joined(b"\x7fELF...", &["f"]);
        for size in 0..HEADER + 7 {
            assert!(parts(&image[..size]).is_err(), "{size}");
        }
        let mut name = image;
        let at = name.len() - 2;
        name[at] = 0xff;
        assert!(parts(&name).is_err());
    }
}
