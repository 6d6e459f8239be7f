//! Statements that come in parts, and what they have written to variables until the device has
//! fetched it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that a statement may have.
const LARGEST: usize = 1 << 28;

/// Statements that may be under way; devices run fewer threads.
const MOST: usize = 1 << 20;

#[derive(Default)]
struct Statements {
    last: u64,
    /// By number: bytes of the statement, or of its result.
    bytes: BTreeMap<u64, Vec<u8>>,
}

static STATEMENTS: Mutex<Statements> = Mutex::new(Statements { last: 0, bytes: BTreeMap::new() });

fn lock() -> MutexGuard<'static, Statements> {
    STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to a statement, or to a new one for 0, and answers its number.
pub(super) fn add(number: u64, part: &[u8]) -> Option<u64> {
    let mut statements = lock();
    if number == 0 {
        if statements.bytes.len() >= MOST {
            return None;
        }
        statements.last += 1;
        let number = statements.last;
        statements.bytes.insert(number, part.to_vec());
        return Some(number);
    }
    let bytes = statements.bytes.get_mut(&number)?;
    if bytes.len() + part.len() > LARGEST {
        // Nobody will ask for it again.
        statements.bytes.remove(&number);
        return None;
    }
    bytes.extend_from_slice(part);
    Some(number)
}

/// Takes a statement that is complete.
pub(super) fn take(number: u64) -> Option<Vec<u8>> {
    lock().bytes.remove(&number)
}

/// Keeps what a statement has written.
pub(super) fn keep(number: u64, written: Vec<u8>) {
    lock().bytes.insert(number, written);
}

/// Reads what a statement has written. False: there is not as much. With the last byte it goes.
pub(super) fn read(number: u64, from: usize, to: &mut [u8]) -> bool {
    let mut statements = lock();
    let Some(bytes) = statements.bytes.get(&number) else { return false };
    let Some(end) = from.checked_add(to.len()) else { return false };
    let Some(found) = bytes.get(from..end) else { return false };
    to.copy_from_slice(found);
    if end == bytes.len() {
        statements.bytes.remove(&number);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_and_results_fetched() {
        let number = add(0, b"ab").unwrap();
        let other = add(0, b"x").unwrap();
        assert_ne!(number, other);
        assert_eq!(add(number, b"cd"), Some(number));
        assert_eq!(take(number).as_deref(), Some(&b"abcd"[..]));
        assert_eq!((take(number), add(number, b"")), (None, None));
        keep(number, b"result".to_vec());
        let mut room = [0; 3];
        assert!(!read(number, 4, &mut room) && !read(number, usize::MAX, &mut room));
        assert!(read(number, 1, &mut room) && &room == b"esu");
        assert!(read(number, 3, &mut room) && &room == b"ult");
        assert!(!read(number, 0, &mut room), "the last byte has been read");
        assert!(take(other).is_some());
    }
}
