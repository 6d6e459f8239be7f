//! Objects of derived types: their components' memory, and their initial values.
//!
//! The compiler describes each type by a table (`flang/module/__fortran_type_info.f90`). User-defined
//! assignment and final procedures would be called through addresses in it; a type that has one ends the
//! kernel with a message where one would have to run.

use crate::descriptor::{Descriptor, Index, Kind, attribute};
use crate::device::{self, Line};
use crate::element::{Category, STRUCTURE};
use crate::export::export;
use crate::type_table::{Component, DerivedType};

/// `Component::Genre`
mod genre {
    pub const DATA: u8 = 1;
    pub const POINTER: u8 = 2;
    pub const ALLOCATABLE: u8 = 3;
    pub const AUTOMATIC: u8 = 4;
}

/// The number of derived types among flang's categories.
const DERIVED: u8 = 6;
const CHARACTER: u8 = 4;
const COMPLEX: u8 = 3;

impl Component {
    fn derived(&self) -> *const DerivedType {
        if self.category == DERIVED { self.derived } else { core::ptr::null() }
    }

    const fn is_owned(&self) -> bool {
        matches!(self.genre, genre::ALLOCATABLE | genre::AUTOMATIC)
    }

    fn kind(&self) -> Kind {
        let kind = usize::from(self.kind);
        let derived = self.derived();
        let bytes = match self.category {
            CHARACTER => kind * self.length.value.max(0) as usize,
            COMPLEX => 2 * kind,
            // SAFETY: the compiler has made a table for the type.
            DERIVED if !derived.is_null() => unsafe { (*derived).bytes as usize },
            DERIVED => 0,
            _ => kind,
        };
        let code = if self.category == DERIVED {
            STRUCTURE
        } else {
            Category::code(i32::from(self.category), i32::from(self.kind))
        };
        Kind { code, bytes, derived }
    }

    /// How many elements a component that is no pointer has.
    fn elements(&self) -> usize {
        let bounds = |at| {
            // SAFETY: the table has lower and upper bound of each dimension.
            let [lower, upper] = unsafe { &*self.bounds.add(at) };
            (upper.value - lower.value + 1).max(0) as usize
        };
        (0..usize::from(self.rank)).map(bounds).product()
    }
}

/// How large an object of the type is.
///
/// # Safety
/// It is null or a table of the compiler's.
#[must_use]
pub unsafe fn bytes(derived: *const DerivedType) -> usize {
    // SAFETY: as the caller says.
    if derived.is_null() { 0 } else { unsafe { (*derived).bytes as usize } }
}

/// Whether objects of the type have memory of their own.
///
/// # Safety
/// It is null or a table of the compiler's.
#[must_use]
pub unsafe fn owns_memory(derived: *const DerivedType) -> bool {
    // SAFETY: the compiler has made a table for the type.
    !derived.is_null() && unsafe { (*derived).no_destruction == 0 }
}

/// Ends the kernel where the program's own assignment would have to run.
///
/// # Safety
/// It is null or a table of the compiler's.
pub unsafe fn refuse_defined_assignment(derived: *const DerivedType, line: Line) {
    // SAFETY: the compiler has made a table for the type.
    if !derived.is_null() && unsafe { (*derived).special_bits & 0b110 != 0 } {
        device::fail(line, c"assignment of a type with an assignment of its own is not there on a GPU");
    }
}

/// Ends the kernel where a final procedure would have to run.
fn refuse_final(derived: &DerivedType) {
    if derived.special_bits >> 7 != 0 {
        device::fail(Line::UNKNOWN, c"an object whose type has a final procedure ends: not there on a GPU");
    }
}

/// Gives back the memory that an object has beside its own.
///
/// # Safety
/// The object is of the type, and initialized.
pub unsafe fn destroy(object: *mut u8, derived: *const DerivedType) {
    // SAFETY: as the caller says.
    if !unsafe { owns_memory(derived) } {
        return;
    }
    // SAFETY: the compiler's table belongs to the object.
    unsafe {
        refuse_final(&*derived);
        for component in (*derived).components.entries() {
            let place = object.add(component.offset as usize);
            if component.is_owned() {
                destroy_variable(descriptor(place), component.derived());
            } else if component.genre == genre::DATA && owns_memory(component.derived()) {
                let bytes = (*component.derived).bytes as usize;
                (0..component.elements()).for_each(|at| destroy(place.add(at * bytes), component.derived()));
            }
        }
    }
}

unsafe fn descriptor(place: *mut u8) -> Descriptor {
    // SAFETY: a descriptor is handed around as its address.
    unsafe { core::mem::transmute(place) }
}

/// Deallocates a variable, if it is allocated, with all that its elements have.
///
/// # Safety
/// It is allocatable, or a pointer to memory that is its own.
pub unsafe fn destroy_variable(variable: Descriptor, declared: *const DerivedType) {
    // SAFETY: as the caller says.
    unsafe {
        let base = variable.base();
        if base.is_null() {
            return;
        }
        let dynamic = variable.derived();
        let derived = if dynamic.is_null() { declared } else { dynamic };
        destroy_elements(variable, derived);
        device::release(base);
        variable.set_base(core::ptr::null_mut());
    }
}

/// Gives back what the elements of a variable have beside their own memory.
///
/// # Safety
/// As for [`destroy`].
pub unsafe fn destroy_elements(variable: Descriptor, derived: *const DerivedType) {
    // SAFETY: as the caller says.
    if !unsafe { owns_memory(derived) } {
        return;
    }
    let mut index = Index::default();
    // SAFETY: as the caller says.
    unsafe {
        for _ in 0..variable.elements() {
            destroy(variable.at(&index), derived);
            variable.next(&mut index);
        }
    }
}

/// An object has been copied byte by byte: what it has beside its own memory is copied as well.
///
/// # Safety
/// As for [`destroy`]; the object shares memory with the one that it was copied from.
pub unsafe fn separate(object: *mut u8, derived: *const DerivedType, line: Line) {
    // SAFETY: as the caller says.
    if !unsafe { owns_memory(derived) } {
        return;
    }
    // SAFETY: the compiler's table belongs to the object.
    unsafe {
        for component in (*derived).components.entries() {
            let place = object.add(component.offset as usize);
            if component.is_owned() {
                separate_variable(descriptor(place), component.derived(), line);
            } else if component.genre == genre::DATA && owns_memory(component.derived()) {
                let bytes = (*component.derived).bytes as usize;
                (0..component.elements())
                    .for_each(|at| separate(place.add(at * bytes), component.derived(), line));
            }
        }
    }
}

unsafe fn separate_variable(variable: Descriptor, declared: *const DerivedType, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        let shared = variable.base();
        if shared.is_null() {
            return;
        }
        if !variable.allocate() {
            device::fail(line, c"no memory for an allocatable component (LIBOMPTARGET_HEAP_SIZE)");
        }
        let (bytes, elements) = (variable.element(), variable.elements());
        core::ptr::copy_nonoverlapping(shared, variable.base(), bytes * elements);
        let dynamic = variable.derived();
        let derived = if dynamic.is_null() { declared } else { dynamic };
        (0..elements).for_each(|at| separate(variable.base().add(at * bytes), derived, line));
    }
}

/// Gives an object its initial values.
///
/// # Safety
/// The object is of the type, and has no values yet.
pub unsafe fn initialize(object: *mut u8, derived: *const DerivedType) {
    // SAFETY: the compiler's table belongs to the object.
    unsafe {
        if derived.is_null() || (*derived).no_initialization != 0 {
            return;
        }
        for component in (*derived).components.entries() {
            initialize_component(object.add(component.offset as usize), component);
        }
        for procedure in (*derived).procedures.entries() {
            object.add(procedure.offset as usize).cast::<*const u8>().write(procedure.initial);
        }
    }
}

unsafe fn initialize_component(place: *mut u8, component: &Component) {
    let kind = component.kind();
    let rank = usize::from(component.rank);
    // SAFETY: the place is the component's.
    unsafe {
        if component.genre != genre::DATA {
            let variable = descriptor(place);
            let is_pointer = component.genre == genre::POINTER;
            if is_pointer && !component.initial.is_null() {
                variable.copy_from(descriptor(component.initial.cast_mut()));
            } else {
                let what = if is_pointer { attribute::POINTER } else { attribute::ALLOCATABLE };
                variable.establish(kind, &[0; crate::descriptor::RANKS][..rank], what);
            }
        } else if !component.initial.is_null() {
            let bytes = kind.bytes * component.elements();
            core::ptr::copy_nonoverlapping(component.initial, place, bytes);
        } else if !kind.derived.is_null() {
            for at in 0..component.elements() {
                initialize(place.add(at * kind.bytes), kind.derived);
            }
        }
    }
}

/// Gives all elements of a variable their initial values.
///
/// # Safety
/// As for [`initialize`].
pub unsafe fn initialize_elements(variable: Descriptor) {
    let mut index = Index::default();
    // SAFETY: as the caller says.
    unsafe {
        let derived = variable.derived();
        if derived.is_null() || (*derived).no_initialization != 0 {
            return;
        }
        for _ in 0..variable.elements() {
            initialize(variable.at(&index), derived);
            variable.next(&mut index);
        }
    }
}

/// Whether both are one type: tables of one type may stand in several units of the program.
fn is_same(one: *const DerivedType, other: *const DerivedType) -> bool {
    if one == other {
        return true;
    }
    if one.is_null() || other.is_null() {
        return false;
    }
    // SAFETY: the compiler has made the tables, with names of so many bytes.
    unsafe {
        let (one, other) = (&*one, &*other);
        one.name == other.name && one.name_length == other.name_length && one.bytes == other.bytes
    }
}

/// Whether a type is another one, or an extension of it.
fn extends(mut derived: *const DerivedType, ancestor: *const DerivedType) -> bool {
    while !derived.is_null() {
        if is_same(derived, ancestor) {
            return true;
        }
        // SAFETY: the compiler's tables. The parent is the first component.
        derived = unsafe {
            match (*derived).components.entries().first() {
                Some(parent) if (*derived).has_parent != 0 => parent.derived(),
                _ => core::ptr::null(),
            }
        };
    }
    false
}

export! {
    /// Gives an object its initial values.
    fn Initialize(variable: Descriptor, _file: *const core::ffi::c_char, _line: i32) {
        initialize_elements(variable);
    }

    /// An object ends: what it has beside its own memory is given back.
    fn Destroy(variable: Descriptor) {
        destroy_elements(variable, variable.derived());
    }

    /// The same without final procedures.
    fn DestroyWithoutFinalization(variable: Descriptor) {
        destroy_elements(variable, variable.derived());
    }

    /// Runs final procedures, of which there are none on a GPU.
    fn Finalize(variable: Descriptor, _file: *const core::ffi::c_char, _line: i32) {
        let derived = variable.derived();
        if !derived.is_null() {
            refuse_final(&*derived);
        }
    }

    /// `class is`
    fn ClassIs(variable: Descriptor, derived: *const DerivedType) -> bool {
        extends(variable.derived(), derived)
    }

    /// `same_type_as`
    fn SameTypeAs(one: Descriptor, other: Descriptor) -> bool {
        let (left, right) = (one.derived(), other.derived());
        if left.is_null() && right.is_null() { one.code() == other.code() } else { is_same(left, right) }
    }

    /// `extends_type_of`
    fn ExtendsTypeOf(one: Descriptor, mold: Descriptor) -> bool {
        mold.derived().is_null() && mold.code() != one.code() || extends(one.derived(), mold.derived())
    }
}
