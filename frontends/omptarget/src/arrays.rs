//! The argument arrays of a construct, as every function of the ABI passes them.

use crate::abi::KernelArguments;
use crate::mapper::MapperFunction;
use crate::{map_type, section};
use gangway_runtime::{Components, Damage, Item, Items, Label, MapKind, Section};
use std::marker::PhantomData;

/// Parallel arrays in the caller's memory; `names` and `mappers` may be null.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    pub(crate) count: i32,
    pub(crate) bases: *mut usize,
    pub(crate) begins: *mut usize,
    pub(crate) sizes: *mut i64,
    pub(crate) types: *mut u64,
    pub(crate) names: *mut Label,
    pub(crate) mappers: *mut Option<MapperFunction>,
}

impl Arrays {
    /// The arrays of a launch.
    #[inline]
    pub(crate) fn of(kernel: &KernelArguments) -> Self {
        Self {
            count: kernel.own_count() as i32,
            bases: kernel.bases,
            begins: kernel.begins,
            sizes: kernel.sizes,
            types: kernel.types,
            names: kernel.names,
            mappers: kernel.mappers,
        }
    }

    /// The arrays as list items; nothing is copied.
    ///
    /// # Safety
    /// They are the compiler's, of one call that lasts as long as the result.
    #[inline]
    pub(crate) unsafe fn arguments<'a>(self) -> Arguments<'a> {
        Arguments { arrays: self, count: self.count.max(0) as usize, caller: PhantomData }
    }
}

/// The list items of a construct, read where the compiler put them.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    arrays: Arrays,
    count: usize,
    caller: PhantomData<&'a mut usize>,
}

impl Arguments<'_> {
    #[inline]
    fn mapper(&self, index: usize) -> Option<MapperFunction> {
        assert!(index < self.count);
        // SAFETY: inside the array, by the promise of `arguments`.
        if self.arrays.mappers.is_null() { None } else { unsafe { *self.arrays.mappers.add(index) } }
    }
}

impl Items for Arguments<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.count
    }

    #[inline]
    fn kind(&self, index: usize) -> MapKind {
        assert!(index < self.count);
        // SAFETY: inside the array, by the promise of `arguments`.
        map_type::kind(unsafe { *self.arrays.types.add(index) })
    }

    #[inline]
    fn item(&self, index: usize) -> Item {
        assert!(index < self.count);
        let Arrays { bases, begins, sizes, types, names, .. } = self.arrays;
        // SAFETY: inside the arrays, by the promise of `arguments`.
        unsafe {
            Item {
                base: *bases.add(index),
                begin: *begins.add(index),
                size: *sizes.add(index) as usize,
                kind: map_type::kind(*types.add(index)),
                label: if names.is_null() { Label::NONE } else { *names.add(index) },
            }
        }
    }

    #[inline]
    fn knows(&self, kind: MapKind) -> bool {
        map_type::is_known(kind)
    }

    #[cold]
    fn explain_unknown(&self, kind: MapKind) -> String {
        map_type::explain_unknown(kind)
    }

    #[inline]
    fn has_mapper(&self, index: usize) -> bool {
        self.mapper(index).is_some()
    }

    #[cold]
    fn expand(&self, index: usize, components: &mut Components) {
        let Some(mapper) = self.mapper(index) else { return };
        let Item { base, begin, size, kind, label } = self.item(index);
        // SAFETY: the compiler emitted the mapper for this item, and the handle is what
        // `__tgt_push_mapper_component` expects.
        unsafe {
            mapper(std::ptr::from_mut(components).cast(), base, begin, size as i64, kind.bits(), label);
        }
    }

    #[cold]
    fn section<'i>(&'i self, item: &'i Item) -> Result<Box<dyn Section + 'i>, Damage> {
        // SAFETY: the compiler says that the item's section is described by dimensions.
        unsafe { section::of(item) }
    }

    #[inline]
    fn return_address(&self, index: usize, address: usize) {
        assert!(index < self.count);
        // SAFETY: inside the array, by the promise of `arguments`; nobody else writes it.
        unsafe { *self.arrays.bases.add(index) = address };
    }
}
