//! `declare target link`: variables that the device has a pointer for, and no storage.
//!
//! When such a variable is mapped, the pointer has to point to where. It stands in a symbol of
//! the device without a counterpart in the program, so each gets a word of the host's here:
//! a pointer to the variable, which is attached like any other when the variable, or part of it,
//! becomes present.

use gangway_runtime::{Item, Label, MapKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A variable, and the word that stands for its pointer.
struct Link {
    /// The image that it belongs to.
    image: usize,
    begin: usize,
    size: usize,
    /// The variable's address, which the device's pointer is made from.
    word: Box<usize>,
}

static LINKS: RwLock<Vec<Link>> = RwLock::new(Vec::new());
/// How many there are: most programs have none, and no construct of theirs looks for any.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn read() -> RwLockReadGuard<'static, Vec<Link>> {
    LINKS.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Vec<Link>> {
    LINKS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub(crate) fn hold() -> impl Sized + 'static {
    write()
}

/// Adds a variable of an image; answers the address of its word.
pub(crate) fn add(image: usize, begin: usize, size: usize) -> usize {
    let word = Box::new(begin);
    let address = std::ptr::from_ref(&*word).expose_provenance();
    let mut links = write();
    links.push(Link { image, begin, size, word });
    COUNT.store(links.len(), Ordering::Release);
    address
}

/// Removes the variables of an image.
pub(crate) fn remove(image: usize) {
    let mut links = write();
    links.retain(|link| link.image != image);
    COUNT.store(links.len(), Ordering::Release);
}

/// The items that attach the pointers of those variables that the ranges are parts of. Where images for several kinds of
/// devices have the variable, a device has one of the words only; what is not there is not attached.
#[inline]
pub(crate) fn items(ranges: impl Iterator<Item = (usize, usize)>) -> Vec<Item> {
    if COUNT.load(Ordering::Acquire) == 0 { Vec::new() } else { find(ranges) }
}

#[cold]
fn find(ranges: impl Iterator<Item = (usize, usize)>) -> Vec<Item> {
    let links = read();
    let items = |(begin, size): (usize, usize)| {
        let inside = move |link: &&Link| begin.wrapping_sub(link.begin) < link.size && size != 0;
        links.iter().filter(inside).map(move |link| {
            let base = std::ptr::from_ref(&*link.word).expose_provenance();
            let kind = MapKind::ATTACH;
            Item { base, begin, size: size_of::<usize>(), kind, label: Label::NONE }
        })
    };
    ranges.flat_map(items).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_of_what_is_mapped_are_attached() {
        assert!(items([(0x1000, 8)].into_iter()).is_empty());
        let first = add(1, 0x1000, 0x100);
        let second = add(2, 0x2000, 8);
        let found = items([(0x1080, 16), (0x1100, 16), (0x2000, 8), (0x2000, 0)].into_iter());
        let found: Vec<_> = found.iter().map(|item| (item.base, item.begin)).collect();
        assert_eq!(found, [(first, 0x1080), (second, 0x2000)]);
        remove(1);
        assert_eq!(items([(0x1080, 16), (0x2000, 8)].into_iter()).len(), 1);
        remove(2);
        assert!(items([(0x2000, 8)].into_iter()).is_empty());
    }
}
