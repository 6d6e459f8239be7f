//! Statements that come in parts, and what they have written to variables until the device has
//! fetched it. A number is of use to the device alone that has got it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that a statement may have.
pub(super) const LARGEST: usize = 1 << 28;

/// Bytes that all statements and results may have together.
const TOGETHER: usize = 1 << 30;

/// Statements that may be under way; devices run fewer threads.
const MOST: usize = 1 << 20;

struct Statements {
    last: u64,
    /// Bytes of all of them.
    together: usize,
    /// By device and number: bytes of the statement, or of its result.
    bytes: BTreeMap<(i32, u64), Vec<u8>>,
}

static STATEMENTS: Mutex<Statements> =
    Mutex::new(Statements { last: 0, together: 0, bytes: BTreeMap::new() });

fn lock() -> MutexGuard<'static, Statements> {
    STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Statements {
    /// Adds to a statement, or to a new one for 0, and answers its number.
    fn add(&mut self, device: i32, number: u64, part: &[u8]) -> Option<u64> {
        if number == 0 {
            let number = self.last + 1;
            if !self.keep(device, number, part.to_vec()) {
                return None;
            }
            self.last = number;
            return Some(number);
        }
        let bytes = self.bytes.get_mut(&(device, number))?;
        if bytes.len() + part.len() > LARGEST || self.together + part.len() > TOGETHER {
            // Nobody will ask for it again.
            self.take(device, number);
            return None;
        }
        bytes.extend_from_slice(part);
        self.together += part.len();
        Some(number)
    }

    fn take(&mut self, device: i32, number: u64) -> Option<Vec<u8>> {
        let bytes = self.bytes.remove(&(device, number))?;
        self.together -= bytes.len();
        Some(bytes)
    }

    /// Keeps bytes under a number that has none. False: there is no room for them.
    fn keep(&mut self, device: i32, number: u64, bytes: Vec<u8>) -> bool {
        let together = self.together + bytes.len();
        if self.bytes.len() >= MOST || together > TOGETHER {
            return false;
        }
        self.together = together;
        self.bytes.insert((device, number), bytes);
        true
    }

    fn read(&mut self, device: i32, number: u64, from: usize, to: &mut [u8]) -> bool {
        let Some(bytes) = self.bytes.get(&(device, number)) else { return false };
        let Some(end) = from.checked_add(to.len()) else { return false };
        let Some(found) = bytes.get(from..end) else { return false };
        to.copy_from_slice(found);
        if end == bytes.len() {
            self.take(device, number);
        }
        true
    }

    fn forget(&mut self, device: i32) {
        let gone = self.bytes.extract_if((device, 0)..=(device, u64::MAX), |_, _| true);
        self.together -= gone.map(|(_, bytes)| bytes.len()).sum::<usize>();
    }
}

/// Adds to a statement of a device, or to a new one for 0, and answers its number.
pub(super) fn add(device: i32, number: u64, part: &[u8]) -> Option<u64> {
    lock().add(device, number, part)
}

/// Takes a statement that is complete.
pub(super) fn take(device: i32, number: u64) -> Option<Vec<u8>> {
    lock().take(device, number)
}

/// Keeps what a statement has written, which has been taken. False: there is no room for it.
pub(super) fn keep(device: i32, number: u64, written: Vec<u8>) -> bool {
    lock().keep(device, number, written)
}

/// Reads what a statement has written. False: there is not as much. With the last byte it goes.
pub(super) fn read(device: i32, number: u64, from: usize, to: &mut [u8]) -> bool {
    lock().read(device, number, from, to)
}

/// Forgets the statements of a device whose kernels have died: nobody will complete them.
pub(super) fn forget(device: i32) {
    lock().forget(device);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Statements {
        Statements { last: 0, together: 0, bytes: BTreeMap::new() }
    }

    #[test]
    fn parts_are_joined_and_results_fetched() {
        let all = &mut none();
        let number = all.add(3, 0, b"ab").unwrap();
        let other = all.add(3, 0, b"x").unwrap();
        assert_ne!(number, other);
        assert_eq!(all.add(3, number, b"cd"), Some(number));
        assert_eq!(all.take(3, number).as_deref(), Some(&b"abcd"[..]));
        assert_eq!((all.take(3, number), all.add(3, number, b"")), (None, None));
        assert!(all.keep(3, number, b"result".to_vec()));
        let mut room = [0; 3];
        assert!(!all.read(3, number, 4, &mut room) && !all.read(3, number, usize::MAX, &mut room));
        assert!(all.read(3, number, 1, &mut room) && &room == b"esu");
        assert!(all.read(3, number, 3, &mut room) && &room == b"ult");
        assert!(!all.read(3, number, 0, &mut room), "the last byte has been read");
        assert!(all.take(3, other).is_some());
        assert_eq!((all.together, all.bytes.len()), (0, 0));
    }

    #[test]
    fn a_number_is_of_use_to_its_device_alone() {
        let all = &mut none();
        let number = all.add(0, 0, b"mine").unwrap();
        assert_eq!((all.add(1, number, b"yours"), all.take(1, number)), (None, None));
        assert!(!all.read(1, number, 0, &mut [0; 4]));
        assert_eq!(all.take(0, number).as_deref(), Some(&b"mine"[..]));
    }

    #[test]
    fn the_statements_of_a_lost_device_go() {
        let all = &mut none();
        let numbers = [0, 1, 2].map(|device| all.add(device, 0, b"four").unwrap());
        all.forget(1);
        assert_eq!((all.together, all.bytes.len()), (8, 2));
        let left = [0, 1, 2].map(|device| all.take(device, numbers[device as usize]).is_some());
        assert_eq!(left, [true, false, true]);
    }

    #[test]
    fn all_statements_together_have_a_bound() {
        let all = &mut none();
        // As if that much were there already.
        all.together = TOGETHER - 10;
        let number = all.add(0, 0, b"123456").unwrap();
        assert_eq!(all.add(0, 0, b"12345"), None);
        assert_eq!(all.add(0, number, b"12345"), None);
        // What is too long has gone, so that there is room again.
        assert_eq!((all.together, all.bytes.len()), (TOGETHER - 10, 0));
        assert!(!all.keep(0, number, vec![0; 11]) && all.keep(0, number, vec![0; 10]));
        all.together = LARGEST;
        all.bytes.insert((0, 7), vec![0; LARGEST]);
        assert_eq!(all.add(0, 7, b"1"), None);
    }
}
