//! Which variables memory is of, as the runtime has told it: for what is said of races.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use gangway_device_memory::distance;

/// Ranges by where they begin: how long they are, and what they are.
type Names = BTreeMap<u64, (u64, String)>;

static NAMES: Mutex<Names> = Mutex::new(Names::new());

/// Whether there has been a name. Where nobody asks for names, freeing takes no lock for them.
static ANY: AtomicBool = AtomicBool::new(false);

fn with<R>(work: impl FnOnce(&mut Names) -> R) -> R {
    work(&mut NAMES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// So many bytes at an address are of a variable now.
pub fn put(address: u64, size: u64, name: String) {
    ANY.store(true, Ordering::Relaxed);
    with(|names| {
        remove(names, address, size);
        names.insert(address, (size, name));
    });
}

/// Memory is given back.
pub fn forget(address: u64, size: u64) {
    if ANY.load(Ordering::Relaxed) {
        with(|names| remove(names, address, size));
    }
}

fn remove(names: &mut Names, address: u64, size: u64) {
    let end = address.saturating_add(size);
    let inside = |(&start, (length, _)): (&u64, &(u64, String))| {
        (start.saturating_add(*length) > address).then_some(start)
    };
    let old: Vec<u64> = names.range(..end).filter_map(inside).collect();
    old.iter().for_each(|start| {
        names.remove(start);
    });
}

/// The variable at an address, in words.
pub fn find(address: u64) -> Option<String> {
    with(|names| {
        let (start, (size, name)) = names.range(..=address).next_back()?;
        (address - start < *size).then(|| distance(address, *start, *size) + name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_to_have_memory_gives_it_its_name() {
        let base = 1 << 20;
        put(base, 16, "`a`".to_owned());
        put(base + 16, 16, "`b`".to_owned());
        let at = |offset| find(base + offset);
        assert_eq!(at(0).as_deref(), Some("`a`"));
        assert_eq!(at(15).as_deref(), Some("15 bytes into `a`"));
        assert_eq!((at(17).as_deref(), at(32)), (Some("1 byte into `b`"), None));
        put(base + 8, 16, "`c`".to_owned());
        assert_eq!((at(0), at(8).as_deref(), at(24)), (None, Some("`c`"), None));
        forget(base, 64);
        assert_eq!(at(8), None);
    }
}
