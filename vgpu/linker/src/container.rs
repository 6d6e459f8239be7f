//! The linked image: what `cuLinkComplete` gives a program, which gives it back to
//! `cuModuleLoadData`, perhaps after keeping it in a file.
//!
//! A header, then the linked module as PTX text, then a zero byte. The header says how long the
//! image is, as loading by pointer needs. It also has a checksum, because text that linking made is
//! not checked against `.target` again.
//!
//! | offset | bytes | content                            |
//! |--------|-------|------------------------------------|
//! | 0      | 8     | `\x7fGANGWAY`                      |
//! | 8      | 4     | version of the format, 1           |
//! | 12     | 4     | zero                               |
//! | 16     | 8     | length of the text in bytes        |
//! | 24     | 8     | FNV-1a hash of the text            |

use std::sync::{Mutex, PoisonError};

use gangway_ptx::Module;

use crate::error::ImageError;

pub(crate) const MAGIC: &[u8; 8] = b"\x7fGANGWAY";
const VERSION: u32 = 1;
pub(crate) const HEADER: usize = 32;

/// The module that was packed last, with its text's length and checksum. Nearly every
/// program loads what it has just linked, and need not wait for it to be parsed again.
static LATEST: Mutex<Option<([u8; 16], Module)>> = Mutex::new(None);

/// The linked image of a module.
pub fn pack(module: Module) -> Vec<u8> {
    use std::io::Write;
    let mut image = vec![0; HEADER];
    write!(image, "{module}").expect("memory takes any text");
    let text = &image[HEADER..];
    let (length, sum) = (text.len() as u64, checksum(text));
    image[..8].copy_from_slice(MAGIC);
    image[8..12].copy_from_slice(&VERSION.to_le_bytes());
    image[16..24].copy_from_slice(&length.to_le_bytes());
    image[24..32].copy_from_slice(&sum.to_le_bytes());
    let described = *image[16..].first_chunk().expect("a whole header");
    *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Some((described, module));
    image.push(0);
    image
}

/// The module of a linked image that [`unpack`] has checked, if it is the one that was
/// packed last; once.
pub(crate) fn take_latest(image: &[u8]) -> Option<Module> {
    let described: &[u8; 16] = image.get(16..)?.first_chunk()?;
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    latest.take_if(|(known, _)| known == described).map(|(_, module)| module)
}

pub(crate) fn is_linked(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The length of the whole image, by its header.
pub(crate) fn length(header: &[u8; HEADER]) -> u64 {
    let text = u64::from_le_bytes(header[16..24].try_into().expect("eight bytes"));
    text.saturating_add(HEADER as u64 + 1)
}

/// The text of a linked image.
pub(crate) fn unpack(bytes: &[u8]) -> Result<&str, ImageError> {
    let Some(header) = bytes.first_chunk::<HEADER>() else {
        return Err(ImageError::invalid("the linked image is cut off in its header"));
    };
    let version = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
    if version != VERSION {
        let message =
            format!("the linked image has version {version} of its format; this library reads {VERSION}");
        return Err(ImageError::invalid(message));
    }
    let end = usize::try_from(length(header) - 1).unwrap_or(usize::MAX);
    let Some(text) = bytes.get(HEADER..end) else {
        return Err(ImageError::invalid("the linked image is cut off"));
    };
    if header[24..32] != checksum(text).to_le_bytes() {
        return Err(ImageError::invalid("the linked image is damaged: its checksum is wrong"));
    }
    std::str::from_utf8(text).map_err(|_| ImageError::invalid("the linked image holds no text"))
}

/// FNV-1a over words of eight bytes: finds damage, not forgery.
fn checksum(text: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    let (words, rest) = text.as_chunks::<8>();
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(mix(sum, text.len() as u64), |sum, &byte| mix(sum, byte.into()))
}
