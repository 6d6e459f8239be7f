//! The images that callers pass, by pointer or by the path of a file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::abi::{Result, Status, Text, Untyped};
use crate::objects::process::report::report;

/// The bytes of an image that a caller passes without its length.
pub fn bytes(image: &Untyped) -> Result<&[u8]> {
    if image.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, so by the contract of the C function an image, which stays as long as
    // the call.
    unsafe { gangway_linker::pointer::bytes(image.0) }.map_err(|error| {
        report!("{error}");
        Status::from(error.code)
    })
}

/// A path as a caller gives it.
pub fn path(path: &Text) -> Result<&Path> {
    Ok(Path::new(OsStr::from_bytes(path.bytes()?)))
}

/// The bytes of a file.
pub fn read(file: &Text) -> Result<Vec<u8>> {
    std::fs::read(path(file)?).map_err(|_| Status::FILE_NOT_FOUND)
}
