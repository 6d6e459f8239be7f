//! The streams that device code writes to: those of the host's C library. So what both
//! write comes in the order in which it was written.

use super::messages::refuse;
use super::{Block, FAILED, format};
use gangway_system::Stream;
use std::time::Duration;

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
    fn funlockfile(stream: *mut libc::FILE);
}

/// The stream of a number; a message and `None` if there is none that can be written to.
fn stream(number: u64) -> Option<*mut libc::FILE> {
    // SAFETY: the C library's variables; a program that changes them does so by itself.
    let (output, error) = unsafe { (stdout, stderr) };
    if number == Stream::Output as u64 || number == output.addr() as u64 {
        return Some(output);
    }
    if number == Stream::Error as u64 || number == error.addr() as u64 {
        return Some(error);
    }
    refuse("gangway: device code writes to a stream that is neither stdout nor stderr; it is not written");
    None
}

/// Writes a text in one piece.
pub(super) fn write(number: u64, text: &[u8]) -> u64 {
    let Some(stream) = stream(number) else { return 0 };
    // SAFETY: an open stream, and a text with its length.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream) as u64 }
}

/// Bytes of a format that a message shows.
const SHOWN: usize = 60;

/// Writes what a format gives, in one piece.
pub(super) fn write_format(number: u64, format_length: u64, text: &[u8]) -> u64 {
    let Some(formatted) = formatted(format_length, text) else { return FAILED };
    if write(number, &formatted) == formatted.len() as u64 { formatted.len() as u64 } else { FAILED }
}

/// Puts what a format gives into the block.
pub(super) fn format_here(block: Block<'_>) -> u64 {
    let Some(formatted) = formatted(block.second, block.text()) else { return FAILED };
    let room = usize::try_from(block.first).unwrap_or(usize::MAX);
    let kept = formatted.len().min(room).min(block.length);
    block.text[..kept].copy_from_slice(&formatted[..kept]);
    formatted.len() as u64
}

/// What a format and its arguments give. C counts it in an `int`.
fn formatted(format_length: u64, text: &[u8]) -> Option<Vec<u8>> {
    let format_length = usize::try_from(format_length).ok()?;
    let format_text = text.get(..format_length)?;
    let arguments = text.get(format_length.checked_next_multiple_of(8)?..).unwrap_or(&[]);
    match format::write(format_text, arguments) {
        Ok(formatted) => i32::try_from(formatted.len()).is_ok().then_some(formatted),
        Err(error) => {
            let start = &format_text[..format_text.len().min(SHOWN)];
            let more = if start.len() < format_text.len() { "..." } else { "" };
            refuse(&format!("gangway: device code prints with `{}{more}`: {error}", start.escape_ascii()));
            None
        }
    }
}

/// Flushes a stream, or all.
pub(super) fn flush(number: u64) -> u64 {
    let stream = match number {
        0 => std::ptr::null_mut(),
        _ => match stream(number) {
            Some(stream) => stream,
            None => return FAILED,
        },
    };
    // SAFETY: null, or an open stream.
    i64::from(unsafe { libc::fflush(stream) }).cast_unsigned()
}

/// How often a stream is tried that another thread has locked, and how long in between.
const ATTEMPTS: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(1);

/// Flushes what device code writes to, before the process gives up. A stream that a thread of the
/// host keeps locked is left alone: one that reads `stdin` may keep it for ever, and so may
/// one that writes to a pipe which nobody empties.
pub(super) fn flush_what_is_free() {
    // SAFETY: the C library's variables; a program that changes them does so by itself.
    for stream in unsafe { [stdout, stderr] } {
        for _ in 0..ATTEMPTS {
            // SAFETY: an open stream.
            if unsafe { ftrylockfile(stream) } == 0 {
                // SAFETY: as above; this thread has it locked.
                unsafe {
                    libc::fflush(stream);
                    funlockfile(stream);
                }
                break;
            }
            std::thread::sleep(BETWEEN);
        }
    }
}
