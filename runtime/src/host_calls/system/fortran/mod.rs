//! Output statements of Fortran that device code has made: put together ([`parts`]), taken apart
//! ([`items`]), and repeated with the program's own library ([`library`], [`replay`]). So formats,
//! units and errors are the host's.

mod items;
mod library;
mod parts;
mod replay;

use super::process::begin_to_end;
use super::streams::say;
use super::{Block, FAILED};
use gangway_system::fortran::end;
use items::Items;
use std::ffi::CString;
use std::fmt;

/// Why a statement is not repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FortranError {
    /// The bytes are no statement.
    Malformed(&'static str),
    /// The program has a library without this function, or hides it.
    NoFunction(&'static str),
}

impl fmt::Display for FortranError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "the device has sent a statement that cannot be read: {what}"),
            Self::NoFunction(name) => {
                write!(
                    f,
                    "the program does not export {name}; link it with `gangway fc`, or with \
                           `-Wl,--export-dynamic-symbol=_FortranA*`"
                )
            }
        }
    }
}

/// Keeps a part of a statement.
pub(super) fn part(block: &Block<'_>) -> u64 {
    parts::add(block.first, block.text()).unwrap_or_else(|| {
        say("gangway: Fortran output in device code: a statement is too long, or too many are under way\n");
        FAILED
    })
}

/// Repeats a statement, and hands back what it has written to variables.
pub(super) fn run(block: Block<'_>) -> u64 {
    let last = usize::try_from(block.second).ok().and_then(|length| block.text().get(..length));
    let Some(last) = last else { return FAILED };
    let bytes = match block.first {
        0 => last.to_vec(),
        number => match parts::take(number) {
            Some(mut bytes) => {
                bytes.extend_from_slice(last);
                bytes
            }
            None => return FAILED,
        },
    };
    match repeat(&bytes) {
        Ok((status, written)) => {
            let here = written.len().min(block.length);
            block.text[..here].copy_from_slice(&written[..here]);
            if here < written.len() && block.first != 0 {
                parts::keep(block.first, written);
            }
            i64::from(status).cast_unsigned()
        }
        Err(error) => {
            say(&format!("gangway: Fortran output in device code: {error}\n"));
            FAILED
        }
    }
}

fn repeat(bytes: &[u8]) -> Result<(i32, Vec<u8>), FortranError> {
    // All of it is read before anything is written.
    let items = Items::of(bytes).collect::<Result<Vec<_>, _>>()?;
    replay::replay(&items)
}

/// Puts what a statement has written over the text, from a place on.
pub(super) fn result(block: Block<'_>) -> u64 {
    let Ok(from) = usize::try_from(block.second) else { return FAILED };
    match parts::read(block.first, from, &mut block.text[..block.length]) {
        true => 0,
        false => FAILED,
    }
}

/// A text as a format that gives it: Fortran's library takes the message of an error as one.
fn literal(text: &[u8]) -> CString {
    let doubled = |&byte: &u8| std::iter::repeat_n(byte, if byte == b'%' { 2 } else { 1 });
    CString::new(text.iter().flat_map(doubled).collect::<Vec<u8>>()).unwrap_or_default()
}

/// Ends the process as Fortran does.
pub(super) fn finish(block: &Block<'_>) -> u64 {
    begin_to_end();
    let (is_error, is_quiet) = (block.second & end::IS_ERROR != 0, block.second & end::IS_QUIET != 0);
    let number = block.first as i32;
    let ended = match block.second & 0xff {
        end::STOP => library::stop(number, is_error, is_quiet),
        end::STOP_TEXT => library::stop_text(block.text(), is_error, is_quiet),
        end::EXIT => library::exit(number),
        end::ABORT => library::abort(),
        _ => {
            let mut texts = block.text().splitn(2, |&byte| byte == 0);
            let mut text = || texts.next().unwrap_or_default();
            let (message, file) = (literal(text()), CString::new(text()).unwrap_or_default());
            library::error(&message, &file, number)
        }
    };
    let Err(error) = ended;
    say(&format!("gangway: Fortran's stop in device code: {error}\n"));
    super::process::leave(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_devices_text_is_no_format() {
        assert_eq!(literal(b"50% of %n%s").to_bytes(), b"50%% of %%n%%s");
        assert_eq!(literal(b"").to_bytes(), b"");
    }
}
