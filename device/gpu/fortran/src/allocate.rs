//! `allocate`, `deallocate`, `move_alloc`, and pointers (`flang/Runtime/allocatable.h`, `pointer.h`).

use crate::derived;
use crate::descriptor::{Descriptor, Dimension, Kind, attribute};
use crate::device::{self, Line};
use crate::element::{Category, STRUCTURE};
use crate::export::export;
use crate::type_table::DerivedType;
use crate::{assign, text};
use core::ffi::{CStr, c_char};

/// Values of `stat=` (`flang/Runtime/stat.h`).
mod status {
    pub const OK: i32 = 0;
    pub const NOT_ALLOCATED: i32 = 1;
    pub const NO_MEMORY: i32 = 12;
    pub const ALLOCATED: i32 = 9;
}

/// How a statement hears of errors.
#[derive(Clone, Copy)]
struct Outcome {
    has_status: bool,
    message: Descriptor,
    line: Line,
}

impl Outcome {
    /// # Safety
    /// The message is null, or a text variable.
    unsafe fn failed(self, status: i32, reason: &CStr) -> i32 {
        if !self.has_status {
            device::fail(self.line, reason);
        }
        if !self.message.is_null() {
            // SAFETY: as the caller says.
            unsafe { text::write(self.message.base(), self.message.element(), reason.to_bytes()) };
        }
        status
    }
}

unsafe fn allocate(variable: Descriptor, source: Option<Descriptor>, outcome: Outcome) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        if variable.is_allocatable() && !variable.base().is_null() {
            return outcome.failed(status::ALLOCATED, c"an allocatable variable is allocated already");
        }
        variable.set_strides();
        if !variable.allocate() {
            return outcome.failed(status::NO_MEMORY, c"no memory for `allocate` (LIBOMPTARGET_HEAP_SIZE)");
        }
        match source {
            Some(source) => assign::copy_into_new(variable, source, outcome.line),
            None => derived::initialize_elements(variable),
        }
        status::OK
    }
}

/// What the type of the variable and its bounds are, of another one.
unsafe fn apply(variable: Descriptor, mold: Descriptor, rank: usize) {
    // SAFETY: as the caller says.
    unsafe {
        variable.set_element(mold.element());
        variable.set_code(mold.code());
        variable.set_derived(mold.derived());
        if rank > 0 && rank == mold.rank() {
            for at in 0..rank {
                *variable.dimension(at) = Dimension { lower: 1, extent: mold.extent(at), stride: 0 };
                variable.dimension(at).lower = mold.dimension(at).lower;
            }
        }
        variable.set_strides();
    }
}

unsafe fn allocate_as(variable: Descriptor, source: Descriptor, outcome: Outcome) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        if variable.is_allocatable() && !variable.base().is_null() {
            return outcome.failed(status::ALLOCATED, c"an allocatable variable is allocated already");
        }
        if variable.element() == 0 || !source.derived().is_null() {
            apply(variable, source, 0);
        }
        allocate(variable, Some(source), outcome)
    }
}

unsafe fn deallocate(variable: Descriptor, outcome: Outcome) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        if variable.base().is_null() {
            return outcome.failed(status::NOT_ALLOCATED, c"a variable is deallocated that is not allocated");
        }
        derived::destroy_variable(variable, variable.derived());
        status::OK
    }
}

unsafe fn set_bounds(variable: Descriptor, dimension: i32, lower: i64, upper: i64) {
    // SAFETY: as the caller says.
    unsafe {
        let extent = (upper - lower + 1).max(0);
        let lower = if extent == 0 { 1 } else { lower };
        *variable.dimension(dimension as usize) = Dimension { lower, extent, stride: 0 };
        variable.set_strides();
    }
}

unsafe fn describe(variable: Descriptor, kind: Kind, rank: i32, what: u8) {
    // SAFETY: as the caller says.
    unsafe { variable.establish(kind, &[0; crate::descriptor::RANKS][..rank as usize], what) }
}

fn intrinsic(category: i32, kind: i32) -> Kind {
    let bytes = if category == 3 { 2 * kind } else { kind };
    Kind { code: Category::code(category, kind), bytes: bytes as usize, derived: core::ptr::null() }
}

fn characters(length: i64, kind: i32) -> Kind {
    let code = Category::code(4, kind);
    Kind { code, bytes: length.max(0) as usize * kind as usize, derived: core::ptr::null() }
}

unsafe fn object(derived: *const DerivedType) -> Kind {
    // SAFETY: as the caller says.
    Kind { code: STRUCTURE, bytes: unsafe { derived::bytes(derived) }, derived }
}

macro_rules! descriptions {
    ($($intrinsic:ident $characters:ident $derived:ident $attribute:ident $keeps_allocated:literal;)*) => {
        export! {$(
            /// The descriptor of a variable that has no memory yet.
            fn $intrinsic(variable: Descriptor, category: i32, kind: i32, rank: i32, _corank: i32) {
                if !($keeps_allocated && !variable.base().is_null()) {
                    describe(variable, intrinsic(category, kind), rank, attribute::$attribute);
                }
            }

            /// The same for texts.
            fn $characters(variable: Descriptor, length: i64, kind: i32, rank: i32, _corank: i32) {
                if !($keeps_allocated && !variable.base().is_null()) {
                    describe(variable, characters(length, kind), rank, attribute::$attribute);
                }
            }

            /// The same for derived types.
            fn $derived(variable: Descriptor, derived: *const DerivedType, rank: i32, _corank: i32) {
                if !($keeps_allocated && !variable.base().is_null()) {
                    describe(variable, object(derived), rank, attribute::$attribute);
                }
            }
        )*}
    };
}

descriptions! {
    AllocatableInitIntrinsic AllocatableInitCharacter AllocatableInitDerived ALLOCATABLE false;
    AllocatableInitIntrinsicForAllocate AllocatableInitCharacterForAllocate AllocatableInitDerivedForAllocate
        ALLOCATABLE true;
    PointerNullifyIntrinsic PointerNullifyCharacter PointerNullifyDerived POINTER false;
}

export! {
    fn AllocatableSetBounds(variable: Descriptor, dimension: i32, lower: i64, upper: i64) {
        set_bounds(variable, dimension, lower, upper);
    }

    fn PointerSetBounds(variable: Descriptor, dimension: i32, lower: i64, upper: i64) {
        set_bounds(variable, dimension, lower, upper);
    }

    /// `mold=`
    fn AllocatableApplyMold(variable: Descriptor, mold: Descriptor, rank: i32) {
        if variable.base().is_null() {
            apply(variable, mold, rank as usize);
        }
    }

    fn PointerApplyMold(variable: Descriptor, mold: Descriptor, rank: i32) {
        apply(variable, mold, rank as usize);
    }

    fn AllocatableAllocate(
        variable: Descriptor,
        _stream: *mut i64,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
        _copy: *const u8,
    ) -> i32 {
        allocate(variable, None, Outcome { has_status, message, line: Line::new(file, line) })
    }

    fn AllocatableAllocateSource(
        variable: Descriptor,
        source: Descriptor,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
    ) -> i32 {
        allocate_as(variable, source, Outcome { has_status, message, line: Line::new(file, line) })
    }

    fn PointerAllocate(
        variable: Descriptor,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
        _copy: *const u8,
    ) -> i32 {
        allocate(variable, None, Outcome { has_status, message, line: Line::new(file, line) })
    }

    fn PointerAllocateSource(
        variable: Descriptor,
        source: Descriptor,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
    ) -> i32 {
        allocate_as(variable, source, Outcome { has_status, message, line: Line::new(file, line) })
    }

    fn AllocatableDeallocate(
        variable: Descriptor,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
    ) -> i32 {
        deallocate(variable, Outcome { has_status, message, line: Line::new(file, line) })
    }

    fn PointerDeallocate(
        variable: Descriptor,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
    ) -> i32 {
        deallocate(variable, Outcome { has_status, message, line: Line::new(file, line) })
    }

    /// A variable of `class` has its declared type again.
    fn AllocatableDeallocatePolymorphic(
        variable: Descriptor,
        declared: *const DerivedType,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
    ) -> i32 {
        let done = deallocate(variable, Outcome { has_status, message, line: Line::new(file, line) });
        if done == status::OK {
            reset(variable, declared);
        }
        done
    }

    fn PointerDeallocatePolymorphic(
        variable: Descriptor,
        declared: *const DerivedType,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
    ) -> i32 {
        let done = deallocate(variable, Outcome { has_status, message, line: Line::new(file, line) });
        if done == status::OK {
            reset(variable, declared);
        }
        done
    }

    /// For values of the compiler's own.
    fn AllocatableDeallocateNoFinal(variable: Descriptor, _file: *const c_char, _line: i32) {
        derived::destroy_variable(variable, variable.derived());
    }

    /// `move_alloc`
    fn MoveAlloc(
        to: Descriptor,
        from: Descriptor,
        declared: *const DerivedType,
        has_status: bool,
        message: Descriptor,
        file: *const c_char,
        line: i32,
    ) -> i32 {
        if to == from && !to.base().is_null() {
            let outcome = Outcome { has_status, message, line: Line::new(file, line) };
            return outcome.failed(status::ALLOCATED, c"`move_alloc` of a variable to itself");
        }
        derived::destroy_variable(to, to.derived());
        to.copy_from(from);
        from.set_base(core::ptr::null_mut());
        if !declared.is_null() {
            reset(from, declared);
        }
        status::OK
    }

    /// `associated(p)`
    fn PointerIsAssociated(pointer: Descriptor) -> bool {
        !pointer.base().is_null()
    }

    /// `associated(p, t)` (Fortran 2018, 16.9.16): the same elements, in the same places.
    fn PointerIsAssociatedWith(pointer: Descriptor, target: Descriptor) -> bool {
        let base = pointer.base();
        if base.is_null() || target.is_null() || target.base() != base || pointer.rank() != target.rank() {
            return false;
        }
        if pointer.element() == 0 || pointer.element() != target.element() || pointer.elements() == 0 {
            return false;
        }
        (0..pointer.rank()).all(|at| {
            pointer.extent(at) == target.extent(at)
                && (pointer.extent(at) == 1 || pointer.dimension(at).stride == target.dimension(at).stride)
        })
    }

    /// `p => t` of a scalar.
    fn PointerAssociateScalar(pointer: Descriptor, target: *mut u8) {
        pointer.set_base(target);
    }

    /// `p => t`
    fn PointerAssociate(pointer: Descriptor, target: Descriptor) {
        pointer.copy_from(target);
        pointer.set_attribute(attribute::POINTER);
    }

    /// `p(l:) => t`
    fn PointerAssociateLowerBounds(pointer: Descriptor, target: Descriptor, bounds: Descriptor) {
        pointer.copy_from(target);
        pointer.set_attribute(attribute::POINTER);
        for at in 0..pointer.rank() {
            let mut index = [0; crate::descriptor::RANKS];
            index[0] = at as i64;
            pointer.dimension(at).lower = bounds.integer(&index);
        }
    }

    /// `p(l:u) => t`
    fn PointerAssociateRemapping(
        pointer: Descriptor,
        target: Descriptor,
        bounds: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        pointer.set_derived(target.derived());
        remap(pointer, target, bounds, Line::new(file, line));
    }

    fn PointerAssociateRemappingMonomorphic(
        pointer: Descriptor,
        target: Descriptor,
        bounds: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        remap(pointer, target, bounds, Line::new(file, line));
    }
}

/// A variable of `class` without memory has its declared type.
unsafe fn reset(variable: Descriptor, declared: *const DerivedType) {
    // SAFETY: as the caller says.
    unsafe {
        if !declared.is_null() {
            variable.set_derived(declared);
            variable.set_element(derived::bytes(declared));
            variable.set_code(STRUCTURE);
        }
    }
}

unsafe fn remap(pointer: Descriptor, target: Descriptor, bounds: Descriptor, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        pointer.set_base(target.base());
        pointer.set_element(target.element());
        pointer.set_code(target.code());
        let mut stride =
            if target.rank() == 1 { target.dimension(0).stride } else { target.element() as i64 };
        let mut elements = 1;
        for at in 0..pointer.rank() {
            let mut index = [0; crate::descriptor::RANKS];
            index[1] = at as i64;
            let lower = bounds.integer(&index);
            index[0] = 1;
            let extent = (bounds.integer(&index) - lower + 1).max(0);
            *pointer.dimension(at) = Dimension { lower, extent, stride };
            stride *= extent;
            elements *= extent as usize;
        }
        if elements > target.elements() {
            device::fail(line, c"the bounds of a pointer name more elements than its target has");
        }
    }
}
