//! Output statements of Fortran that device code has made: put together ([`parts`]), taken apart
//! ([`items`]), measured ([`extent`]), and repeated with the program's own library ([`library`], [`replay`]). So formats,
//! units and errors are the host's.

mod extent;
mod items;
mod library;
mod parts;
mod replay;

use super::messages::refuse;
use super::process::begin_to_end;
use super::{Block, FAILED};
use gangway_system::fortran::end;
use items::{Item, Items};
use std::ffi::CString;
use std::fmt;

/// Why a statement is not repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FortranError {
    /// The bytes are no statement.
    Malformed(&'static str),
    /// The program has a library without this function, or hides it.
    NoFunction(&'static str),
    /// What statements have written to variables, and nobody has fetched.
    Full,
}

impl fmt::Display for FortranError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "the device has sent a statement that cannot be read: {what}"),
            Self::Full => f.write_str("too much that statements have written waits to be fetched"),
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
pub(super) fn part(device: i32, block: &Block<'_>) -> u64 {
    parts::add(device, block.first, block.text()).unwrap_or_else(|| {
        refuse("gangway: Fortran output in device code: a statement is too long, or too many are under way");
        FAILED
    })
}

/// Forgets what a device has begun whose kernels have died.
pub(super) fn forget(device: i32) {
    parts::forget(device);
}

/// Repeats a statement, and hands back what it has written to variables.
pub(super) fn run(device: i32, block: Block<'_>) -> u64 {
    run_or_refuse(device, block).unwrap_or_else(|error| {
        refuse(&format!("gangway: Fortran output in device code: {error}"));
        FAILED
    })
}

fn run_or_refuse(device: i32, block: Block<'_>) -> Result<u64, FortranError> {
    let last = usize::try_from(block.second).ok().and_then(|length| block.text().get(..length));
    let last = last.ok_or(FortranError::Malformed("its last part"))?;
    let (bytes, room) = match block.first {
        0 => (last.to_vec(), block.length),
        number => {
            let missing = FortranError::Malformed("its earlier parts are missing");
            let mut bytes = parts::take(device, number).ok_or(missing)?;
            if bytes.len() + last.len() > parts::LARGEST {
                return Err(FortranError::Malformed("it is too long"));
            }
            bytes.extend_from_slice(last);
            // The rest of what it has written is fetched later.
            (bytes, usize::MAX)
        }
    };
    // All of it is read before anything is written.
    let items = Items::of(&bytes).collect::<Result<Vec<_>, _>>()?;
    if written_at_most(&items) > room {
        return Err(FortranError::Malformed("a variable's length"));
    }
    extent::check(&items, bytes.len())?;
    let (status, written) = replay::replay(&items)?;
    let here = written.len().min(block.length);
    block.text[..here].copy_from_slice(&written[..here]);
    if here < written.len() && !parts::keep(device, block.first, written) {
        return Err(FortranError::Full);
    }
    Ok(i64::from(status).cast_unsigned())
}

/// Bytes that a statement writes to variables.
fn written_at_most(items: &[Item<'_>]) -> usize {
    let written = |item: &Item<'_>| match item {
        Item::Begin(begin) => begin.length,
        Item::Message(text) => text.len(),
        _ => 0,
    };
    items.iter().map(written).fold(0, usize::saturating_add)
}

/// Puts what a statement has written over the text, from a place on.
pub(super) fn result(device: i32, block: Block<'_>) -> u64 {
    let Ok(from) = usize::try_from(block.second) else { return FAILED };
    match parts::read(device, block.first, from, &mut block.text[..block.length]) {
        true => 0,
        false => FAILED,
    }
}

/// A text as a format that gives it: Fortran's library takes the message of an error as one.
fn literal(text: &[u8]) -> CString {
    let doubled = |&byte: &u8| std::iter::repeat_n(byte, if byte == b'%' { 2 } else { 1 });
    CString::new(text.iter().flat_map(doubled).collect::<Vec<u8>>()).unwrap_or_default()
}

/// How a program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Stop { is_error: bool, is_quiet: bool },
    StopText { is_error: bool, is_quiet: bool },
    Exit,
    Abort,
    Error,
}

impl End {
    /// What the second word of a block means; none where it means nothing.
    fn of(word: u64) -> Option<Self> {
        let (is_error, is_quiet) = (word & end::IS_ERROR != 0, word & end::IS_QUIET != 0);
        Some(match word & !(end::IS_ERROR | end::IS_QUIET) {
            end::STOP => Self::Stop { is_error, is_quiet },
            end::STOP_TEXT => Self::StopText { is_error, is_quiet },
            _ if is_error || is_quiet => return None,
            end::EXIT => Self::Exit,
            end::ABORT => Self::Abort,
            end::ERROR => Self::Error,
            _ => return None,
        })
    }
}

/// Ends the process as Fortran does. What is no end is refused, and the caller traps.
pub(super) fn finish(block: &Block<'_>) -> u64 {
    let Some(end) = End::of(block.second) else {
        refuse("gangway: Fortran's stop in device code: the device has sent an end that there is not");
        return FAILED;
    };
    begin_to_end();
    let number = block.first as i32;
    let ended = match end {
        End::Stop { is_error, is_quiet } => library::stop(number, is_error, is_quiet),
        End::StopText { is_error, is_quiet } => library::stop_text(block.text(), is_error, is_quiet),
        End::Exit => library::exit(number),
        End::Abort => library::abort(),
        End::Error => {
            let mut texts = block.text().splitn(2, |&byte| byte == 0);
            let mut text = || texts.next().unwrap_or_default();
            let (message, file) = (literal(text()), CString::new(text()).unwrap_or_default());
            library::error(&message, &file, number)
        }
    };
    let Err(error) = ended;
    refuse(&format!("gangway: Fortran's stop in device code: {error}"));
    super::process::leave(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_system::fortran::{Kind, head};

    /// An item of words.
    fn item(kind: Kind, words: &[u64]) -> Vec<u8> {
        let words = std::iter::once(head(kind, size_of_val(words) as u64)).chain(words.iter().copied());
        words.flat_map(u64::to_ne_bytes).collect()
    }

    fn refused(device: i32, first: u64, bytes: &[u8], room: usize) -> FortranError {
        let length = bytes.len().max(room);
        let mut text = bytes.to_vec();
        text.resize(length, 0);
        let block = Block { first, second: bytes.len() as u64, length, text: &mut text };
        run_or_refuse(device, block).unwrap_err()
    }

    /// The tests have no library of Fortran's: what is not refused gets as far as that.
    fn is_repeated(error: &FortranError) -> bool {
        matches!(error, FortranError::NoFunction(_))
    }

    #[test]
    fn a_statement_writes_no_more_than_its_block_has_room_for() {
        let statement = item(Kind::InternalList, &[100, 1, 0, 0]);
        assert!(is_repeated(&refused(0, 0, &statement, 100)));
        assert_eq!(refused(0, 0, &statement, 99), FortranError::Malformed("a variable's length"));
        let message = [item(Kind::ExternalList, &[6, 1, 0, 0]), item(Kind::Message, &[0; 4])].concat();
        assert!(is_repeated(&refused(0, 0, &message, 0)));
        // What is fetched later needs no room here.
        let number = parts::add(0, 0, &statement).unwrap();
        assert!(is_repeated(&refused(0, number, &[], 8)));
    }

    #[test]
    fn what_is_sent_in_parts_is_the_devices_own_and_not_too_long() {
        let statement = item(Kind::ExternalList, &[6, 1, 0, 0]);
        let number = parts::add(5, 0, &statement).unwrap();
        assert_eq!(refused(4, number, &[], 0), FortranError::Malformed("its earlier parts are missing"));
        assert!(is_repeated(&refused(5, number, &[], 0)));
        assert_eq!(refused(5, number, &[], 0), FortranError::Malformed("its earlier parts are missing"));
        let number = parts::add(5, 0, &vec![0; parts::LARGEST]).unwrap();
        assert_eq!(refused(5, number, &[0], 0), FortranError::Malformed("it is too long"));
        let number = parts::add(6, 0, &statement).unwrap();
        forget(6);
        assert_eq!(refused(6, number, &[], 0), FortranError::Malformed("its earlier parts are missing"));
    }

    #[test]
    fn a_format_gives_no_more_than_the_statement_lets_expect() {
        let begin = |format: &[u8]| {
            let length = format.len() as u64;
            let mut bytes = head(Kind::ExternalFormatted, 32 + length).to_ne_bytes().to_vec();
            bytes.extend([6, 1, 0, length].into_iter().flat_map(u64::to_ne_bytes));
            bytes.extend(format);
            bytes
        };
        let value = item(Kind::Integer, &[1]);
        let statement = |format: &[u8; 16]| [begin(format), value.clone()].concat();
        assert!(is_repeated(&refused(0, 0, &statement(b"(     999999x,a)"), 0)));
        let much = FortranError::Malformed("a format that gives far too much");
        assert_eq!(refused(0, 0, &statement(b"(99999999999x,a)"), 0), much);
    }

    #[test]
    fn a_flush_has_no_values() {
        let flush = item(Kind::Flush, &[6, 1, 0, 0]);
        assert!(is_repeated(&refused(0, 0, &[flush.clone(), item(Kind::Message, &[])].concat(), 0)));
        let wrong = [flush, item(Kind::Integer, &[1])].concat();
        assert_eq!(refused(0, 0, &wrong, 0), FortranError::Malformed("an item's place"));
    }

    #[test]
    fn only_ends_that_there_are_end_the_process() {
        let flags = end::IS_ERROR | end::IS_QUIET;
        assert_eq!(End::of(end::STOP | flags), Some(End::Stop { is_error: true, is_quiet: true }));
        let text = End::StopText { is_error: true, is_quiet: false };
        assert_eq!(End::of(end::STOP_TEXT | end::IS_ERROR), Some(text));
        assert_eq!([end::EXIT, end::ABORT].map(End::of), [Some(End::Exit), Some(End::Abort)]);
        assert_eq!(End::of(end::ERROR), Some(End::Error));
        for word in [5, 255, 1 << 10, 1 << 32, u64::MAX, end::EXIT | flags, end::ERROR | end::IS_ERROR] {
            assert_eq!(End::of(word), None, "{word:#x}");
        }
        let mut text = [];
        // Whoever comes here would end the process of the tests.
        assert_eq!(finish(&Block { first: 0, second: 9, length: 0, text: &mut text }), FAILED);
    }

    #[test]
    fn a_devices_text_is_no_format() {
        assert_eq!(literal(b"50% of %n%s").to_bytes(), b"50%% of %%n%%s");
        assert_eq!(literal(b"").to_bytes(), b"");
    }
}
