//! The arrays of a construct that may have iterators (`map(iterator(i = 0:n), to: x[i])`).
//!
//! GCC 16 passes an item with an iterator once. Its size is the largest number there is, and its
//! address leads to how many items it stands for, followed by the address and the size of each. A
//! kernel has one slot for all of them.

use crate::abi::kind::NO_SLOT;
use crate::table::{Meanings, Table};
use std::cell::Cell;

/// The size of an item that stands for several.
const ITERATED: usize = usize::MAX;

/// A construct's arrays: the compiler's, or with what iterators stand for.
pub(crate) enum Arrays {
    Compilers { count: usize, hosts: *mut usize, sizes: *const usize, kinds: *const u16 },
    Expanded(Box<Expanded>),
}

/// Arrays in which iterators have been replaced by what they stand for.
pub(crate) struct Expanded {
    hosts: Vec<Cell<usize>>,
    sizes: Vec<usize>,
    kinds: Vec<u16>,
    /// The compiler's places of the items without iterators.
    places: Vec<Option<*mut usize>>,
}

impl Arrays {
    /// The arrays of a construct.
    ///
    /// # Safety
    /// They are the compiler's, of `count` elements, and last as long as the result.
    #[inline]
    pub(crate) unsafe fn new(
        count: usize,
        hosts: *mut usize,
        sizes: *const usize,
        kinds: *const u16,
    ) -> Self {
        // SAFETY: the caller's promise.
        let has_iterators =
            count != 0 && unsafe { std::slice::from_raw_parts(sizes, count) }.contains(&ITERATED);
        if has_iterators {
            // SAFETY: the caller's promise.
            return Self::Expanded(Box::new(unsafe { Expanded::of(count, hosts, sizes, kinds) }));
        }
        Self::Compilers { count, hosts, sizes, kinds }
    }

    /// They as list items.
    #[inline]
    pub(crate) fn table(&self, construct: impl Into<Meanings>) -> Table<'_> {
        match self {
            // SAFETY: as whoever made them has promised.
            &Self::Compilers { count, hosts, sizes, kinds } => unsafe {
                Table::new(construct, count, hosts, sizes, kinds)
            },
            Self::Expanded(all) => Table::of(construct, &all.hosts, &all.sizes, &all.kinds),
        }
    }

    /// Has the compiler's arrays say what the construct has answered in the table.
    pub(crate) fn give_back(&self) {
        let Self::Expanded(all) = self else { return };
        for (host, place) in all.hosts.iter().zip(&all.places) {
            if let Some(place) = place {
                // SAFETY: as whoever made them has promised.
                unsafe { place.write(host.get()) };
            }
        }
    }
}

impl Expanded {
    /// # Safety
    /// As [`Arrays::new`].
    #[cold]
    unsafe fn of(count: usize, hosts: *mut usize, sizes: *const usize, kinds: *const u16) -> Self {
        let mut all = Self { hosts: vec![], sizes: vec![], kinds: vec![], places: vec![] };
        for at in 0..count {
            // SAFETY: the caller's promise.
            let (place, size, kind) = unsafe { (hosts.add(at), *sizes.add(at), *kinds.add(at)) };
            // SAFETY: as above.
            let host = unsafe { *place };
            if size != ITERATED {
                all.push(host, size, kind, Some(place));
                continue;
            }
            let words = host as *const usize;
            // SAFETY: the compiler says that a number is there, and so many pairs behind it.
            let (number, pairs) = unsafe { (*words, words.add(1).cast::<[usize; 2]>()) };
            for nth in 0..number {
                // SAFETY: as above.
                let [host, size] = unsafe { *pairs.add(nth) };
                all.push(host, size, if nth == 0 { kind } else { kind | NO_SLOT }, None);
            }
        }
        all
    }

    fn push(&mut self, host: usize, size: usize, kind: u16, place: Option<*mut usize>) {
        self.hosts.push(Cell::new(host));
        self.sizes.push(size);
        self.kinds.push(kind);
        self.places.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::kind::{FIRSTPRIVATE_INT, TO, USE_DEVICE_PTR};
    use crate::table::Construct;
    use gangway_runtime::{Items, MapKind};

    #[test]
    fn iterators_stand_for_several_items() {
        let iterated = [3, 0x1000, 8, 0x2000, 16, 0x3000, 24_usize];
        let mut hosts = [7, iterated.as_ptr().expose_provenance(), 0x4000];
        let sizes = [4, ITERATED, 8];
        let kinds = [FIRSTPRIVATE_INT, TO, USE_DEVICE_PTR].map(u16::from);
        // SAFETY: the arrays have three elements.
        let arrays = unsafe { Arrays::new(3, hosts.as_mut_ptr(), sizes.as_ptr(), kinds.as_ptr()) };
        let table = arrays.table(Construct::Region);
        let found = table.iter().map(|item| (item.base, item.size, item.kind.has(MapKind::PARAMETER)));
        let expected =
            [(7, 0, true), (0x1000, 8, true), (0x2000, 16, false), (0x3000, 24, false), (0x4000, 0, true)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        table.return_address(4, 0x5000);
        arrays.give_back();
        assert_eq!(hosts, [7, iterated.as_ptr().addr(), 0x5000]);
    }

    #[test]
    fn other_arrays_stay_where_they_are() {
        let (mut hosts, sizes, kinds) = ([0x1000_usize], [8_usize], [u16::from(TO)]);
        // SAFETY: the arrays have one element.
        let arrays = unsafe { Arrays::new(1, hosts.as_mut_ptr(), sizes.as_ptr(), kinds.as_ptr()) };
        assert_eq!(arrays.table(Construct::Begin).sizes().as_ptr(), sizes.as_ptr());
        // SAFETY: there are no elements.
        let none = unsafe { Arrays::new(0, std::ptr::null_mut(), std::ptr::null(), std::ptr::null()) };
        assert_eq!(none.table(Construct::Begin).len(), 0);
    }
}
