//! What is refused: each message once and not too long, as every thread of a kernel may do the same.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

unsafe extern "C" {
    static stderr: *mut libc::FILE;
}

/// Bytes that a message has at most. What a device has sent is a part of some.
const LONGEST: usize = 400;

/// Messages that differ.
const MOST: usize = 100;

const THE_LAST: &str = "gangway: device code does more that is refused; further messages are left out\n";

static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A message of ours.
pub(super) fn say(message: &str) {
    // SAFETY: the C library's variable, and a text with its length.
    unsafe { libc::fwrite(message.as_ptr().cast(), 1, message.len(), stderr) };
}

/// Says that something is refused, unless it has been said.
pub(super) fn refuse(message: &str) {
    let new = news(&mut TOLD.lock().unwrap_or_else(PoisonError::into_inner), message);
    // Without the lock: the stream may be another thread's for long.
    if let Some(line) = new {
        say(&line);
    }
}

/// The line to write, if any.
fn news(told: &mut BTreeSet<String>, message: &str) -> Option<String> {
    if told.len() > MOST {
        return None;
    }
    let line = match message.get(..message.floor_char_boundary(LONGEST)) {
        Some(start) if start.len() < message.len() => format!("{start}...\n"),
        _ => format!("{message}\n"),
    };
    let line = if told.len() < MOST || told.contains(&line) { line } else { THE_LAST.to_owned() };
    told.insert(line.clone()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_once() {
        let told = &mut BTreeSet::new();
        assert_eq!(news(told, "one").as_deref(), Some("one\n"));
        assert_eq!(news(told, "two").as_deref(), Some("two\n"));
        assert_eq!((news(told, "one"), news(told, "two")), (None, None));
    }

    #[test]
    fn messages_have_bounds() {
        let told = &mut BTreeSet::new();
        let line = news(told, &"\u{e9}".repeat(1000)).unwrap();
        assert!(line.len() <= LONGEST + 4 && line.ends_with("\u{e9}...\n"), "{line}");
        let lines = (0..1000).filter_map(|number: u32| news(told, &number.to_string())).collect::<Vec<_>>();
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (MOST, Some(THE_LAST)));
        assert_eq!(news(told, "5"), None);
    }
}
