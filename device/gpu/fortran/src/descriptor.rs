//! flang's descriptors of variables (`ISO_Fortran_binding.h`, `flang/Runtime/descriptor.h`).
//!
//! A descriptor has as many dimensions as its rank says, and behind them, if a bit says so, an addendum
//! with the derived type. So there is never a reference to one as a whole: [`Descriptor`] is its address.

use crate::device::{self, Line};
use crate::type_table::DerivedType;

/// The most dimensions that Fortran allows.
pub const RANKS: usize = 15;

/// Subscripts, counted from 0.
pub type Index = [i64; RANKS];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Head {
    base: *mut u8,
    element: usize,
    version: i32,
    rank: u8,
    code: i8,
    attribute: u8,
    extra: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dimension {
    pub lower: i64,
    pub extent: i64,
    /// Bytes from one element to the next.
    pub stride: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Addendum {
    derived: *const DerivedType,
    /// Length parameters, which flang-22 does not compile.
    length: i64,
}

const _: () = assert!(size_of::<Head>() == 24 && size_of::<Dimension>() == 24 && size_of::<Addendum>() == 16);

/// `CFI_VERSION` of LLVM 22.
const VERSION: i32 = 20_240_719;
/// The bit of `extra` that says there is an addendum.
const HAS_ADDENDUM: u8 = 1;

/// What a descriptor stands for: `CFI_attribute_t`.
pub mod attribute {
    pub const OTHER: u8 = 0;
    pub const POINTER: u8 = 1;
    pub const ALLOCATABLE: u8 = 2;
}

/// The address of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Descriptor(*mut Head);

/// Room for a descriptor of any rank.
#[repr(C)]
pub struct Local {
    head: Head,
    dimensions: [Dimension; RANKS],
    addendum: Addendum,
}

impl Local {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            head: Head {
                base: core::ptr::null_mut(),
                element: 0,
                version: VERSION,
                rank: 0,
                code: 0,
                attribute: attribute::OTHER,
                extra: 0,
            },
            dimensions: [Dimension { lower: 1, extent: 0, stride: 0 }; RANKS],
            addendum: Addendum { derived: core::ptr::null(), length: 0 },
        }
    }

    /// The descriptor, as long as its room is there.
    #[must_use]
    pub const fn descriptor(&mut self) -> Descriptor {
        Descriptor((&raw mut *self).cast())
    }
}

impl Default for Local {
    fn default() -> Self {
        Self::new()
    }
}

/// What is known of the elements of a variable.
#[derive(Clone, Copy)]
pub struct Kind {
    /// `CFI_type_t`
    pub code: i8,
    pub bytes: usize,
    /// Null for all but derived types.
    pub derived: *const DerivedType,
}

macro_rules! field {
    ($($name:ident $set:ident: $type:ty;)*) => {$(
        /// # Safety
        /// The descriptor is there.
        #[must_use]
        pub unsafe fn $name(self) -> $type {
            // SAFETY: as the caller says.
            unsafe { (*self.0).$name }
        }

        /// # Safety
        /// The descriptor is there, and nobody else uses it.
        pub unsafe fn $set(self, value: $type) {
            // SAFETY: as the caller says.
            unsafe { (*self.0).$name = value }
        }
    )*};
}

/// # Safety
/// What the methods ask of their caller: the descriptor is one of flang's, with as many dimensions as
/// its rank says; those that read elements ask for a variable that has them.
#[allow(clippy::missing_safety_doc, reason = "said once, above")]
impl Descriptor {
    field! {
        base set_base: *mut u8;
        element set_element: usize;
        code set_code: i8;
        attribute set_attribute: u8;
    }

    /// An argument that is not given.
    pub const NULL: Self = Self(core::ptr::null_mut());

    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0.is_null()
    }

    #[must_use]
    pub unsafe fn rank(self) -> usize {
        // SAFETY: see above.
        usize::from(unsafe { (*self.0).rank })
    }

    #[must_use]
    pub unsafe fn dimension(self, at: usize) -> &'static mut Dimension {
        // SAFETY: see above; the reference is used up before another one of the same dimension is made.
        unsafe { &mut *self.0.add(1).cast::<Dimension>().add(at) }
    }

    #[must_use]
    pub unsafe fn extent(self, at: usize) -> i64 {
        // SAFETY: see above.
        unsafe { self.dimension(at).extent.max(0) }
    }

    unsafe fn addendum(self) -> *mut Addendum {
        // SAFETY: see above.
        unsafe {
            let has = (*self.0).extra & HAS_ADDENDUM != 0;
            if has {
                self.0.add(1).cast::<Dimension>().add(self.rank()).cast()
            } else {
                core::ptr::null_mut()
            }
        }
    }

    /// The dynamic type; null for intrinsic ones.
    #[must_use]
    pub unsafe fn derived(self) -> *const DerivedType {
        // SAFETY: see above.
        unsafe {
            let addendum = self.addendum();
            if addendum.is_null() { core::ptr::null() } else { (*addendum).derived }
        }
    }

    pub unsafe fn set_derived(self, derived: *const DerivedType) {
        // SAFETY: see above.
        unsafe {
            let addendum = self.addendum();
            if !addendum.is_null() {
                (*addendum).derived = derived;
            }
        }
    }

    #[must_use]
    pub unsafe fn kind(self) -> Kind {
        // SAFETY: see above.
        unsafe { Kind { code: self.code(), bytes: self.element(), derived: self.derived() } }
    }

    #[must_use]
    pub unsafe fn is_allocatable(self) -> bool {
        // SAFETY: see above.
        unsafe { self.attribute() == attribute::ALLOCATABLE }
    }

    /// How many elements there are.
    #[must_use]
    pub unsafe fn elements(self) -> usize {
        // SAFETY: see above.
        (0..unsafe { self.rank() }).map(|at| unsafe { self.extent(at) as usize }).product()
    }

    /// The address of an element.
    #[must_use]
    pub unsafe fn at(self, index: &Index) -> *mut u8 {
        // SAFETY: see above.
        unsafe {
            let mut address = self.base();
            for (at, index) in index.iter().enumerate().take(self.rank()) {
                address = address.wrapping_offset((index * self.dimension(at).stride) as isize);
            }
            address
        }
    }

    /// Goes on to the next element in Fortran's order; behind the last one to the first.
    pub unsafe fn next(self, index: &mut Index) {
        // SAFETY: see above.
        unsafe { self.next_without(index, RANKS) }
    }

    /// The same, but one subscript stays.
    pub unsafe fn next_without(self, index: &mut Index, fixed: usize) {
        // SAFETY: see above.
        let rank = unsafe { self.rank() };
        for at in (0..rank).filter(|at| *at != fixed) {
            index[at] += 1;
            // SAFETY: see above.
            if index[at] < unsafe { self.extent(at) } {
                return;
            }
            index[at] = 0;
        }
    }

    /// Whether the elements lie one behind the other.
    #[must_use]
    pub unsafe fn is_contiguous(self) -> bool {
        // SAFETY: see above.
        unsafe {
            let mut bytes = self.element() as i64;
            for at in 0..self.rank() {
                if self.extent(at) == 0 {
                    return true;
                }
                if self.extent(at) > 1 && self.dimension(at).stride != bytes {
                    return false;
                }
                bytes *= self.extent(at);
            }
            true
        }
    }

    /// The bytes between the first and behind the last element.
    #[must_use]
    pub unsafe fn range(self) -> (usize, usize) {
        // SAFETY: see above.
        unsafe {
            let (mut low, mut high) = (self.base() as i64, self.base() as i64 + self.element() as i64);
            for at in 0..self.rank() {
                let reach = (self.extent(at) - 1).max(0) * self.dimension(at).stride;
                low += reach.min(0);
                high += reach.max(0);
            }
            (low as usize, high as usize)
        }
    }

    /// Describes a variable that has no memory yet, with lower bounds of 1.
    pub unsafe fn establish(self, kind: Kind, extents: &[i64], attribute: u8) {
        let extra = if kind.derived.is_null() { 0 } else { HAS_ADDENDUM };
        // SAFETY: see above. The room is that of the rank and the type, as flang says.
        unsafe {
            *self.0 = Head {
                base: core::ptr::null_mut(),
                element: kind.bytes,
                version: VERSION,
                rank: extents.len() as u8,
                code: kind.code,
                attribute,
                extra,
            };
            self.set_extents(extents);
            if extra != 0 {
                *self.addendum() = Addendum { derived: kind.derived, length: 0 };
            }
        }
    }

    /// Extents, lower bounds of 1, and strides without gaps.
    pub unsafe fn set_extents(self, extents: &[i64]) {
        // SAFETY: see above.
        unsafe {
            for (at, extent) in extents.iter().enumerate() {
                *self.dimension(at) = Dimension { lower: 1, extent: (*extent).max(0), stride: 0 };
            }
            self.set_strides();
        }
    }

    /// Strides without gaps.
    pub unsafe fn set_strides(self) {
        // SAFETY: see above.
        unsafe {
            let mut stride = self.element() as i64;
            for at in 0..self.rank() {
                self.dimension(at).stride = stride;
                stride *= self.extent(at);
            }
        }
    }

    /// Takes memory for the elements. `false`: there is none.
    #[must_use]
    pub unsafe fn allocate(self) -> bool {
        // SAFETY: see above.
        unsafe {
            let memory = device::allocate(self.elements() * self.element());
            self.set_base(memory);
            !memory.is_null()
        }
    }

    /// A result of a function: described and allocated.
    pub unsafe fn result(self, kind: Kind, extents: &[i64], line: Line) {
        // SAFETY: see above.
        unsafe {
            self.establish(kind, extents, attribute::ALLOCATABLE);
            if !self.allocate() {
                device::fail(line, c"no memory for the result of a function (LIBOMPTARGET_HEAP_SIZE)");
            }
        }
    }

    /// A copy of the descriptor, which names the same memory.
    #[must_use]
    pub unsafe fn copy(self) -> Local {
        let mut local = Local::new();
        // SAFETY: see above.
        unsafe { local.descriptor().copy_from(self) };
        local
    }

    /// Becomes a copy of another descriptor, for which there is room.
    pub unsafe fn copy_from(self, from: Self) {
        // SAFETY: see above.
        unsafe {
            *self.0 = *from.0;
            for at in 0..from.rank() {
                *self.dimension(at) = *from.dimension(at);
            }
            if !from.addendum().is_null() {
                *self.addendum() = *from.addendum();
            }
        }
    }

    /// The value of an integer among the elements.
    #[must_use]
    pub unsafe fn integer(self, index: &Index) -> i64 {
        // SAFETY: see above.
        unsafe { integer_at(self.at(index), self.element()) }
    }
}

/// An integer or logical value of so many bytes.
///
/// # Safety
/// It is there.
#[must_use]
pub unsafe fn integer_at(address: *const u8, bytes: usize) -> i64 {
    // SAFETY: as the caller says.
    unsafe {
        match bytes {
            1 => i64::from(address.cast::<i8>().read()),
            2 => i64::from(address.cast::<i16>().read_unaligned()),
            4 => i64::from(address.cast::<i32>().read_unaligned()),
            16 => address.cast::<i128>().read_unaligned() as i64,
            _ => address.cast::<i64>().read_unaligned(),
        }
    }
}

/// Writes an integer or logical value of so many bytes.
///
/// # Safety
/// There is room.
pub unsafe fn write_integer(address: *mut u8, bytes: usize, value: i64) {
    // SAFETY: as the caller says.
    unsafe {
        match bytes {
            1 => address.cast::<i8>().write(value as i8),
            2 => address.cast::<i16>().write_unaligned(value as i16),
            4 => address.cast::<i32>().write_unaligned(value as i32),
            16 => address.cast::<i128>().write_unaligned(i128::from(value)),
            _ => address.cast::<i64>().write_unaligned(value),
        }
    }
}
