//! The tables by which the compiler describes derived types
//! (`flang/module/__fortran_type_info.f90`).

/// A pointer to an array of the table's, as a descriptor with addendum.
#[repr(C)]
pub struct Table<T> {
    pub start: *const T,
    _head: [u64; 2],
    _lower: i64,
    pub extent: i64,
    _stride: i64,
    _addendum: [u64; 2],
}

impl<T> Table<T> {
    /// The array.
    #[must_use]
    pub fn entries(&self) -> &[T] {
        if self.start.is_null() || self.extent <= 0 {
            return &[];
        }
        // SAFETY: the compiler's table has so many entries.
        unsafe { core::slice::from_raw_parts(self.start, self.extent as usize) }
    }
}

#[repr(C)]
pub struct DerivedType {
    _bindings: Table<u8>,
    pub name: *const u8,
    pub name_length: usize,
    _name_head: u64,
    pub bytes: u64,
    _uninstantiated: [u64; 5],
    _kind_parameters: [u64; 6],
    _length_kinds: [u64; 6],
    pub components: Table<Component>,
    pub procedures: Table<Procedure>,
    _special: Table<u8>,
    /// Bit 1: assignment of scalars, bit 2: elemental assignment, from bit 7 on: final procedures.
    pub special_bits: u32,
    pub has_parent: u8,
    pub no_initialization: u8,
    pub no_destruction: u8,
    pub no_finalization: u8,
    pub no_defined_assignment: u8,
}

#[repr(C)]
pub struct Component {
    _name: [u64; 3],
    pub genre: u8,
    pub category: u8,
    pub kind: u8,
    pub rank: u8,
    pub offset: u64,
    pub length: Value,
    pub derived: *const DerivedType,
    _derived_rest: [u64; 4],
    _length_values: Table<Value>,
    pub bounds: *const [Value; 2],
    _bounds_rest: [u64; 10],
    pub initial: *const u8,
}

#[repr(C)]
pub struct Value {
    _genre: u64,
    pub value: i64,
}

#[repr(C)]
pub struct Procedure {
    _name: [u64; 3],
    pub offset: u64,
    pub initial: *const u8,
}

const _: () = {
    assert!(size_of::<Component>() == 256 && size_of::<DerivedType>() == 440);
    assert!(core::mem::offset_of!(Component, derived) == 56);
    assert!(core::mem::offset_of!(Component, bounds) == 160);
    assert!(core::mem::offset_of!(DerivedType, components) == 232);
    assert!(core::mem::offset_of!(DerivedType, special_bits) == 424);
};
