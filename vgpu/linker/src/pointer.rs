//! Images by pointer: `cuModuleLoadData` and its relatives get no length, so it is read
//! from the image's header, or is that of a C string.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::container;
use crate::error::ImageError;

const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// The record that compilers place around a fat binary: magic, version, and a pointer
/// to the fat binary.
const WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const WRAPPER_POINTER: usize = 8;
const FATBIN_HEADER: usize = 16;
const ELF_HEADER: usize = 64;
const ARCHIVE: [u8; 4] = *b"!<ar";

/// The bytes of an image.
///
/// # Safety
///
/// `image` must be null, or point to a whole image of a kind that [`recognise`]
/// describes, which no one changes for the lifetime `'a`.
///
/// [`recognise`]: crate::recognise()
pub unsafe fn bytes<'a>(image: *const c_void) -> Result<&'a [u8], ImageError> {
    if image.is_null() {
        return Err(ImageError::invalid("the image is a null pointer"));
    }
    // SAFETY: as the caller promises; nothing is read beyond what the magic asks for.
    unsafe {
        if starts_with(image, &WRAPPER) {
            let inner = image.cast::<u8>().add(WRAPPER_POINTER).cast::<*const c_void>().read_unaligned();
            if inner.is_null() || !starts_with(inner, &FATBIN) {
                return Err(ImageError::invalid("the wrapper of a fat binary points to something else"));
            }
            return fat_binary(inner);
        }
        if starts_with(image, &FATBIN) {
            return fat_binary(image);
        }
        if starts_with(image, container::MAGIC) {
            let length = container::length(&*image.cast());
            return sized(image, length, "the linked image");
        }
        if starts_with(image, b"\x7fELF") {
            // Its length does not matter: machine code is refused by its header.
            return Ok(std::slice::from_raw_parts(image.cast(), ELF_HEADER));
        }
        if starts_with(image, &ARCHIVE) {
            return Err(ImageError::invalid("an archive cannot be loaded without its length"));
        }
        Ok(CStr::from_ptr(image.cast::<c_char>()).to_bytes())
    }
}

/// # Safety
///
/// As for [`bytes`]. Reads no further than to the first byte that differs, so a short
/// string is safe too.
unsafe fn starts_with(image: *const c_void, magic: &[u8]) -> bool {
    // SAFETY: a byte is only read when all before it are those of the magic. No kind of image is a
    // prefix of a magic, so the image is at least that long.
    magic.iter().enumerate().all(|(at, &byte)| unsafe { *image.cast::<u8>().add(at) == byte })
}

/// # Safety
///
/// `image` must point to a whole fat binary.
unsafe fn fat_binary<'a>(image: *const c_void) -> Result<&'a [u8], ImageError> {
    // SAFETY: a whole fat binary has a header.
    let header = unsafe { &*image.cast::<[u8; FATBIN_HEADER]>() };
    let own = u64::from(u16::from_le_bytes([header[6], header[7]]));
    let content = u64::from_le_bytes(header[8..].try_into().expect("eight bytes"));
    // SAFETY: the header of a whole fat binary says how long it is.
    unsafe { sized(image, content.saturating_add(own), "the fat binary") }
}

/// # Safety
///
/// `image` must point to `length` bytes, unless that is more than memory can hold.
unsafe fn sized<'a>(image: *const c_void, length: u64, what: &str) -> Result<&'a [u8], ImageError> {
    match isize::try_from(length) {
        // SAFETY: as the caller promises.
        Ok(length) => Ok(unsafe { std::slice::from_raw_parts(image.cast(), length as usize) }),
        Err(_) => Err(ImageError::invalid(format!("{what} claims to have {length} bytes"))),
    }
}
