//! The list items of a construct, as the front end hands them over.

use crate::label::Label;
use std::ffi::c_void;

/// A user-defined mapper as the compiler emits it: it calls the front end's
/// push function once per component, with `components` as the handle.
pub type MapperFunction =
    unsafe extern "C" fn(*mut c_void, base: usize, begin: usize, size: i64, map_type: u64, label: Label);

/// One list item.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// Address of the variable (or of the pointer, for pointer maps).
    pub base: usize,
    /// First byte of the section.
    pub begin: usize,
    /// Bytes; for non-contiguous sections the number of dimensions.
    pub size: i64,
    /// What to do with it, see [`map_type`](crate::map_type).
    pub map_type: u64,
    /// Its name.
    pub label: Label,
    /// The mapper to expand it with.
    pub mapper: Option<MapperFunction>,
}

/// The components a mapper produced.
#[derive(Debug, Default)]
pub struct Components(Vec<Item>);

impl Components {
    /// Adds a component; called from inside a mapper.
    pub fn push(&mut self, item: Item) {
        self.0.push(item);
    }

    /// How many there are so far; mappers number the members of structures by it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those there are so far.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.0
    }

    /// Runs an item's mapper.
    pub(crate) fn of(item: &Item, mapper: MapperFunction) -> Vec<Item> {
        let mut components = Self::default();
        // SAFETY: the compiler emitted the mapper for this item, and the handle is
        // what the front end's push function expects.
        unsafe {
            mapper((&raw mut components).cast(), item.base, item.begin, item.size, item.map_type, item.label);
        }
        components.0
    }
}

/// The arguments of a construct: parallel arrays in the caller's memory.
///
/// Cheap to copy and index; nothing is converted up front.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    count: usize,
    bases: *mut usize,
    begins: *const usize,
    sizes: *const i64,
    types: *const u64,
    labels: *const Label,
    mappers: *const Option<MapperFunction>,
    caller: std::marker::PhantomData<&'a mut usize>,
}

impl<'a> Arguments<'a> {
    /// No arguments.
    pub const NONE: Self = Self {
        count: 0,
        bases: std::ptr::null_mut(),
        begins: std::ptr::null(),
        sizes: std::ptr::null(),
        types: std::ptr::null(),
        labels: std::ptr::null(),
        mappers: std::ptr::null(),
        caller: std::marker::PhantomData,
    };

    /// Wraps the arrays of a construct. `labels` and `mappers` may be null.
    ///
    /// # Safety
    /// The other arrays have `count` elements and live for `'a`; nobody else
    /// writes them meanwhile. Mappers are null or compiler-made.
    #[must_use]
    #[inline]
    pub const unsafe fn from_raw(
        count: usize,
        bases: *mut usize,
        begins: *const usize,
        sizes: *const i64,
        types: *const u64,
        labels: *const Label,
        mappers: *const Option<MapperFunction>,
    ) -> Self {
        Self { count, bases, begins, sizes, types, labels, mappers, caller: std::marker::PhantomData }
    }

    /// Number of arguments.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The map type alone.
    #[must_use]
    #[inline]
    pub fn map_type(&self, index: usize) -> u64 {
        assert!(index < self.count);
        // SAFETY: inside the array, by the promise of `from_raw`.
        unsafe { *self.types.add(index) }
    }

    /// One argument.
    #[must_use]
    #[inline]
    pub fn item(&self, index: usize) -> Item {
        assert!(index < self.count);
        // SAFETY: inside the arrays, by the promise of `from_raw`.
        unsafe {
            Item {
                base: *self.bases.add(index),
                begin: *self.begins.add(index),
                size: *self.sizes.add(index),
                map_type: *self.types.add(index),
                label: if self.labels.is_null() { Label::NONE } else { *self.labels.add(index) },
                mapper: if self.mappers.is_null() { None } else { *self.mappers.add(index) },
            }
        }
    }

    /// Gives the caller a device address in place of a base
    /// ([`RETURN_PARAM`](crate::map_type::RETURN_PARAM)).
    pub fn return_base(&self, index: usize, address: usize) {
        assert!(index < self.count);
        // SAFETY: inside the array, by the promise of `from_raw`.
        unsafe { *self.bases.add(index) = address };
    }

    /// All arguments in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Item> + use<'_, 'a> {
        (0..self.count).map(|index| self.item(index))
    }
}
