//! Failures on their way from C: status, code and message become an [`Error`].

use crate::abi::{self, RtlError, Status};
use gangway_backend::{Error, Result};

/// What was being done, for the kinds of failure that name it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Doing<'a> {
    /// Allocating so many bytes.
    Allocation(usize),
    /// Looking for a symbol.
    Symbol(&'a str),
    /// An operation, in the words of the interface.
    Operation(&'static str),
}

/// Runs `call` with a fresh error to fill, and gives its failure as an [`Error`].
#[inline]
pub(crate) fn check(doing: Doing<'_>, call: impl FnOnce(*mut RtlError) -> Status) -> Result<()> {
    let mut error = RtlError { code: 0, message: [0; 248] };
    let status = call(&mut error);
    if status == abi::OK { Ok(()) } else { Err(failure(doing, status, &error)) }
}

#[cold]
fn failure(doing: Doing<'_>, status: Status, error: &RtlError) -> Error {
    // A message without an end is cut where its memory ends.
    let length = error.message.iter().position(|b| *b == 0).unwrap_or(error.message.len());
    let message = String::from_utf8_lossy(&error.message[..length]).into_owned();
    let said = |otherwise: &str| if message.is_empty() { otherwise.to_owned() } else { message.clone() };
    match (status, doing) {
        (abi::OUT_OF_MEMORY, Doing::Allocation(requested)) => Error::OutOfMemory { requested },
        (abi::OUT_OF_MEMORY, _) => Error::Device { code: error.code, message: said("out of device memory") },
        (abi::INVALID_IMAGE, _) => Error::InvalidImage { reason: said("the back end gives no reason") },
        (abi::NO_SUCH_SYMBOL, Doing::Symbol(name)) => Error::NoSuchSymbol { name: name.to_owned() },
        (abi::UNSUPPORTED, Doing::Operation(operation)) => Error::Unsupported { operation },
        (abi::UNSUPPORTED, Doing::Allocation(_)) => Error::Unsupported { operation: "this kind of memory" },
        (abi::FAILED, _) => {
            Error::Device { code: error.code, message: said("the back end failed and gives no reason") }
        }
        (status, _) => Error::Device {
            code: error.code,
            message: format!("{} (unexpected status {status})", said("the back end failed")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(doing: Doing<'_>, status: Status, code: i64, message: &[u8]) -> Error {
        check(doing, |error| {
            // SAFETY: `check` passes a valid pointer.
            let error = unsafe { &mut *error };
            error.code = code;
            error.message[..message.len()].copy_from_slice(message);
            status
        })
        .unwrap_err()
    }

    #[test]
    fn each_status_becomes_its_error() {
        let copy = Doing::Operation("copies");
        assert!(check(copy, |_| abi::OK).is_ok());
        assert_eq!(
            fail(Doing::Allocation(8), abi::OUT_OF_MEMORY, 0, b""),
            Error::OutOfMemory { requested: 8 }
        );
        assert_eq!(fail(copy, abi::UNSUPPORTED, 0, b""), Error::Unsupported { operation: "copies" });
        assert_eq!(
            fail(Doing::Symbol("f"), abi::NO_SUCH_SYMBOL, 0, b""),
            Error::NoSuchSymbol { name: "f".to_owned() }
        );
        assert_eq!(fail(copy, abi::INVALID_IMAGE, 0, b"bad").to_string(), "image cannot be loaded: bad");
        assert_eq!(fail(copy, abi::FAILED, 700, b"link down").to_string(), "link down (error 700)");
        assert_eq!(fail(copy, 99, 0, b"").to_string(), "the back end failed (unexpected status 99)");
    }

    #[test]
    fn messages_without_an_end_or_in_no_encoding_are_shown_as_far_as_they_go() {
        let Error::Device { message, .. } = fail(Doing::Operation("x"), abi::FAILED, 0, &[b'a'; 248]) else {
            panic!("not a device error")
        };
        assert_eq!(message.len(), 248);
        assert_eq!(fail(Doing::Operation("x"), abi::FAILED, 0, b"a\xffb").to_string(), "a\u{fffd}b");
    }
}
