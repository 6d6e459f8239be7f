//! Intrinsic assignment (Fortran 2018, 10.2.1.3), and copies of whole variables.

use crate::derived;
use crate::descriptor::{Descriptor, Index, Kind, attribute};
use crate::device::{self, Line};
use crate::element::Category;
use crate::export::export;
use crate::letter::{letter_bytes, write_letter};
use core::ffi::c_char;

/// What an assignment may do to its variable.
#[derive(Clone, Copy)]
pub struct Rules {
    /// An allocatable one gets the shape of the value.
    reallocates: bool,
    /// It takes the value's type as well.
    is_polymorphic: bool,
    /// A text keeps its length.
    keeps_length: bool,
    /// The program's own assignments count.
    is_defined: bool,
}

impl Rules {
    const STATEMENT: Self =
        Self { reallocates: true, is_polymorphic: false, keeps_length: false, is_defined: true };
    const COPY: Self =
        Self { reallocates: false, is_polymorphic: false, keeps_length: false, is_defined: false };
}

/// # Safety
/// Both are flang's, and the value has elements.
unsafe fn assign(to: Descriptor, from: Descriptor, rules: Rules, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        if rules.is_defined {
            derived::refuse_defined_assignment(to.derived(), line);
        }
        let allocates = to.is_allocatable() && (to.base().is_null() || must_change(to, from, rules));
        if allocates {
            replace(to, from, rules, line);
        } else {
            conform(to, from, line);
            fill(to, from, line);
        }
    }
}

/// Whether the variable has to be allocated anew.
unsafe fn must_change(to: Descriptor, from: Descriptor, rules: Rules) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        if !rules.reallocates {
            return false;
        }
        let other_length = !rules.keeps_length
            && Category::of(to.code()) == Category::Character
            && to.element() != from.element();
        let other_type = rules.is_polymorphic
            && (to.code() != from.code() || to.derived() != from.derived() || to.element() != from.element());
        let other_shape = from.rank() > 0 && (0..to.rank()).any(|at| to.extent(at) != from.extent(at));
        other_length || other_type || other_shape
    }
}

/// Allocates the variable as the value is, and gives back what it had when the value is no longer needed,
/// which may be a part of it.
unsafe fn replace(to: Descriptor, from: Descriptor, rules: Rules, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        let mut old = to.copy();
        let old = old.descriptor();
        // The value may be the variable itself, of another length.
        let mut source = from.copy();
        let source = source.descriptor();
        if !rules.keeps_length {
            to.set_element(from.element());
        }
        if rules.is_polymorphic {
            to.set_code(from.code());
            to.set_derived(from.derived());
        }
        if from.rank() > 0 {
            if to.rank() != from.rank() {
                device::fail(line, c"the ranks of variable and value differ in an assignment");
            }
            for at in 0..to.rank() {
                let dimension = *source.dimension(at);
                *to.dimension(at) = dimension;
            }
        } else if to.rank() > 0 && old.base().is_null() {
            device::fail(line, c"a scalar is assigned to an array that is not allocated");
        }
        to.set_strides();
        if !to.allocate() {
            device::fail(line, c"no memory for the variable of an assignment (LIBOMPTARGET_HEAP_SIZE)");
        }
        copy_elements(to, source);
        separate_elements(to, line);
        derived::destroy_variable(old, old.derived());
    }
}

unsafe fn conform(to: Descriptor, from: Descriptor, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        if from.rank() > 0 && to.elements() != from.elements() {
            device::fail(line, c"variable and value of an assignment have not as many elements");
        }
        if Category::of(to.code()) != Category::Character && to.element() > from.element() {
            device::fail(line, c"variable and value of an assignment are not of one type");
        }
    }
}

/// Fills a variable that has its shape.
unsafe fn fill(to: Descriptor, from: Descriptor, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        let derived = to.derived();
        if may_overlap(to, from) {
            let plain = !derived::owns_memory(derived) && to.element() == from.element();
            if plain && to.rank() == from.rank() && to.is_contiguous() && from.is_contiguous() {
                core::ptr::copy(from.base(), to.base(), to.elements() * to.element());
                return;
            }
            let mut temporary = from.copy();
            let temporary = temporary.descriptor();
            temporary.set_strides();
            if !temporary.allocate() {
                device::fail(line, c"no memory for the value of an assignment (LIBOMPTARGET_HEAP_SIZE)");
            }
            copy_elements(temporary, from);
            separate_elements(temporary, line);
            derived::destroy_elements(to, derived);
            copy_elements(to, temporary);
            if from.rank() == 0 && to.rank() > 0 {
                // Each element of the variable has memory of its own.
                separate_elements(to, line);
                derived::destroy_elements(temporary, derived);
            }
            device::release(temporary.base());
            return;
        }
        derived::destroy_elements(to, derived);
        copy_elements(to, from);
        separate_elements(to, line);
    }
}

unsafe fn may_overlap(to: Descriptor, from: Descriptor) -> bool {
    // SAFETY: as the caller says.
    let (to, from) = unsafe { (to.range(), from.range()) };
    to.0 < from.1 && from.0 < to.1
}

/// Copies bytes of elements; texts are cut or filled with blanks.
unsafe fn copy_elements(to: Descriptor, from: Descriptor) {
    // SAFETY: as the caller says.
    unsafe {
        let (mut target, mut source) = (Index::default(), Index::default());
        let Kind { code, bytes, .. } = to.kind();
        let common = bytes.min(from.element());
        let elements = to.elements();
        if common == bytes
            && from.rank() > 0
            && to.is_contiguous()
            && from.is_contiguous()
            && from.element() == bytes
        {
            core::ptr::copy_nonoverlapping(from.base(), to.base(), elements * bytes);
            return;
        }
        for _ in 0..elements {
            let place = to.at(&target);
            core::ptr::copy_nonoverlapping(from.at(&source), place, common);
            fill_with_blanks(place, code, common, bytes);
            to.next(&mut target);
            from.next(&mut source);
        }
    }
}

/// Blanks from one byte of a text to another.
unsafe fn fill_with_blanks(text: *mut u8, code: i8, from: usize, to: usize) {
    let letter = letter_bytes(code);
    for at in (from..to).step_by(letter) {
        // SAFETY: the text has the bytes.
        unsafe { write_letter(text.add(at), letter, u32::from(b' ')) };
    }
}

unsafe fn separate_elements(to: Descriptor, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        let derived = to.derived();
        if !derived::owns_memory(derived) {
            return;
        }
        let mut index = Index::default();
        for _ in 0..to.elements() {
            derived::separate(to.at(&index), derived, line);
            to.next(&mut index);
        }
    }
}

/// Copies a value into memory that has nothing yet.
///
/// # Safety
/// Both have as many elements; the target's are not initialized.
pub unsafe fn copy_into_new(to: Descriptor, from: Descriptor, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        copy_elements(to, from);
        separate_elements(to, line);
    }
}

export! {
    /// An assignment statement.
    fn Assign(to: Descriptor, from: Descriptor, file: *const c_char, line: i32) {
        assign(to, from, Rules::STATEMENT, Line::new(file, line));
    }

    /// To a variable of `class`.
    fn AssignPolymorphic(to: Descriptor, from: Descriptor, file: *const c_char, line: i32) {
        assign(to, from, Rules { is_polymorphic: true, ..Rules::STATEMENT }, Line::new(file, line));
    }

    /// To a text whose length is not deferred.
    fn AssignExplicitLengthCharacter(to: Descriptor, from: Descriptor, file: *const c_char, line: i32) {
        assign(to, from, Rules { keeps_length: true, ..Rules::STATEMENT }, Line::new(file, line));
    }

    /// To a variable of the compiler's own, whose memory has no values.
    fn AssignTemporary(to: Descriptor, from: Descriptor, file: *const c_char, line: i32) {
        let line = Line::new(file, line);
        if to.is_allocatable() && to.base().is_null() {
            replace(to, from, Rules { is_polymorphic: true, ..Rules::COPY }, line);
        } else {
            copy_into_new(to, from, line);
        }
    }

    /// An argument that has to lie without gaps is copied for the procedure.
    fn CopyInAssign(temporary: Descriptor, from: Descriptor, file: *const c_char, line: i32) {
        // The descriptor has nothing yet.
        temporary.copy_from(from);
        temporary.set_attribute(attribute::ALLOCATABLE);
        temporary.set_strides();
        if !temporary.allocate() {
            device::fail(Line::new(file, line), c"no memory for an argument (LIBOMPTARGET_HEAP_SIZE)");
        }
        // What the elements own stays the variable's.
        copy_elements(temporary, from);
    }

    /// And copied back, if there is a variable for it.
    fn CopyOutAssign(to: Descriptor, temporary: Descriptor, _file: *const c_char, _line: i32) {
        if !to.is_null() {
            copy_elements(to, temporary);
        }
        // What the elements own is the variable's again.
        device::release(temporary.base());
        temporary.set_base(core::ptr::null_mut());
    }

    /// Copies bytes into a variable of the same shape.
    fn ShallowCopyDirect(to: Descriptor, from: Descriptor) {
        copy_elements(to, from);
    }

    /// The same, allocating the variable if need be.
    fn ShallowCopy(to: Descriptor, from: Descriptor) {
        if to.base().is_null() {
            let mut extents = [0; crate::descriptor::RANKS];
            (0..from.rank()).for_each(|at| extents[at] = from.extent(at));
            to.result(from.kind(), &extents[..from.rank()], Line::UNKNOWN);
        }
        copy_elements(to, from);
    }
}
