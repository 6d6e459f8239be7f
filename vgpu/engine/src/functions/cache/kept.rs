//! Compiled code in memory, for whoever loads the same module again: on another device, or after it
//! has been unloaded.
//!
//! Programs share the code, which is the same wherever their variables are. What no program uses
//! any more stays until there is too much of it; then what was asked for longest ago goes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::key::Key;
use crate::functions::object::CodeObject;

/// Bytes of code that may stay without being used.
const MOST: usize = 32 << 20;
/// Each piece counts for as many bytes at least: it is a mapping, of which a process has not many.
const LEAST: usize = 16 << 10;

/// Where the code of a key is, or is to be. Whoever makes it has it locked meanwhile.
pub(super) type Place = Arc<Mutex<Option<Arc<CodeObject>>>>;

#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Places>);

#[derive(Debug, Default)]
struct Places {
    known: FxHashMap<Key, Entry>,
    /// How often one has been asked for.
    asked: u64,
    /// Bytes of code, in use or not, from which on it is looked at whether there is too much.
    look_at: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    place: Place,
    asked: u64,
    /// What it counts for; nothing before there is code.
    bytes: usize,
}

impl Entry {
    /// Nobody uses the code, and nobody makes it.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.place) == 1
            && lock(&self.place).as_ref().is_none_or(|object| Arc::strong_count(object) == 1)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// The place of a key's code.
    pub fn place(&self, key: &Key) -> Place {
        let mut places = lock(&self.0);
        places.asked += 1;
        let asked = places.asked;
        let new = || Entry { place: Place::default(), asked, bytes: 0 };
        let entry = places.known.entry(*key).or_insert_with(new);
        entry.asked = asked;
        entry.place.clone()
    }

    /// Says how much code has been put into a key's place.
    pub fn count(&self, key: &Key, bytes: usize) {
        let mut places = lock(&self.0);
        let bytes = bytes.max(LEAST);
        if let Some(entry) = places.known.get_mut(key) {
            entry.bytes = bytes;
            places.bytes += bytes;
        }
        if places.bytes > places.look_at.max(MOST) {
            places.trim();
        }
    }
}

impl Places {
    /// Lets go of what nobody uses until no more than `MOST` of that is left.
    fn trim(&mut self) {
        let idle = self.known.iter().filter(|(_, entry)| entry.is_idle());
        let mut idle: Vec<_> = idle.map(|(key, entry)| (entry.asked, *key, entry.bytes)).collect();
        idle.sort_unstable();
        let mut unused: usize = idle.iter().map(|&(_, _, bytes)| bytes).sum();
        for (_, key, bytes) in idle {
            // Places without code are of keys that the compiler refused.
            if unused > MOST / 2 || bytes == 0 {
                self.known.remove(&key);
                self.bytes -= bytes;
                unused -= bytes;
            }
        }
        // So that a process that uses much code does not look at all of it time and again.
        self.look_at = self.bytes + MOST / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Compiled;

    fn put(kept: &Kept, number: u8, bytes: usize) -> Arc<CodeObject> {
        let place = kept.place(&[number; 32]);
        let compiled = Compiled { code: vec![0xcc; 16], ..Compiled::default() };
        let object = Arc::new(CodeObject::new(0, compiled).expect("memory"));
        *lock(&place) = Some(object.clone());
        drop(place);
        kept.count(&[number; 32], bytes);
        object
    }

    fn has(kept: &Kept, number: u8) -> bool {
        lock(&kept.0).known.contains_key(&[number; 32])
    }

    #[test]
    fn what_is_used_stays_and_of_the_rest_what_was_asked_for_last() {
        let kept = Kept::default();
        let used = put(&kept, 0, MOST / 4);
        for number in 1..=4 {
            drop(put(&kept, number, MOST / 4));
        }
        assert!(has(&kept, 0), "in use");
        assert!(!has(&kept, 1), "asked for longest ago");
        assert!((2..=4).all(|number| has(&kept, number)));
        // Nobody uses it any more: it goes as all do.
        drop(used);
        for number in 5..=8 {
            drop(put(&kept, number, MOST / 4));
        }
        assert!(!has(&kept, 0) && has(&kept, 8));
    }

    #[test]
    fn much_code_in_use_is_not_looked_at_each_time() {
        let kept = Kept::default();
        let used: Vec<_> = (0..8).map(|number| put(&kept, number, MOST / 2)).collect();
        let places = lock(&kept.0);
        assert!(places.look_at >= places.bytes);
        drop(places);
        assert!((0..8).all(|number| has(&kept, number)));
        drop(used);
    }
}
