//! A front end over parallel arrays, like clang's: what reading items costs a launch.

use gangway_runtime::{Item, Items, Label, MapKind};

use crate::support::construct::ListItem;

/// The arrays of one construct.
pub struct Arrays {
    bases: Vec<usize>,
    begins: Vec<usize>,
    sizes: Vec<i64>,
    kinds: Vec<u64>,
}

impl Arrays {
    pub fn of(items: &[ListItem]) -> Self {
        Self {
            bases: items.iter().map(|item| item.base).collect(),
            begins: items.iter().map(|item| item.begin).collect(),
            sizes: items.iter().map(|item| item.size as i64).collect(),
            kinds: items.iter().map(|item| item.kind.bits()).collect(),
        }
    }

    pub fn items(&self) -> View<'_> {
        View {
            count: self.kinds.len(),
            bases: self.bases.as_ptr(),
            begins: self.begins.as_ptr(),
            sizes: self.sizes.as_ptr(),
            kinds: self.kinds.as_ptr(),
            labels: std::ptr::null(),
            mappers: std::ptr::null(),
            arrays: std::marker::PhantomData,
        }
    }
}

/// The arrays as a compiler passes them. Neither labels nor mappers are there.
pub struct View<'a> {
    count: usize,
    bases: *const usize,
    begins: *const usize,
    sizes: *const i64,
    kinds: *const u64,
    labels: *const Label,
    mappers: *const Option<fn()>,
    arrays: std::marker::PhantomData<&'a Arrays>,
}

/// All bits that mean something.
const KNOWN: u64 = 0xffff_1000_0000_7fff;

impl Items for View<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.count
    }

    #[inline]
    fn kind(&self, index: usize) -> MapKind {
        assert!(index < self.count);
        // SAFETY: inside the array.
        MapKind::from_bits(unsafe { *self.kinds.add(index) })
    }

    #[inline]
    fn item(&self, index: usize) -> Item {
        assert!(index < self.count);
        // SAFETY: inside the arrays.
        unsafe {
            Item {
                base: *self.bases.add(index),
                begin: *self.begins.add(index),
                size: *self.sizes.add(index) as usize,
                kind: MapKind::from_bits(*self.kinds.add(index)),
                label: if self.labels.is_null() { Label::NONE } else { *self.labels.add(index) },
            }
        }
    }

    #[inline]
    fn knows(&self, kind: MapKind) -> bool {
        kind.bits() & !KNOWN == 0
    }

    fn explain_unknown(&self, kind: MapKind) -> String {
        format!("{kind:?}")
    }

    #[inline]
    fn has_mapper(&self, index: usize) -> bool {
        assert!(index < self.count);
        // SAFETY: inside the array, if there is one.
        !self.mappers.is_null() && unsafe { *self.mappers.add(index) }.is_some()
    }
}
