//! The `interop` construct, and the routines that ask for properties, as GCC 15 and newer call them.
//!
//! The objects are those of [`gangway_openmp::interop`]. What is here is how libgomp answers: a
//! device is a number, and CUDA's runtime has no context.

use crate::abi::device;
use crate::libgomp::Libgomp;
use crate::tasks::wait_for;
use gangway_frontend::guard::guard;
use gangway_openmp::devices::DEFAULT_DEVICE;
use gangway_openmp::interop::{
    self, Interop, Kind, NO_VALUE, OTHER, OUT_OF_RANGE, SUCCESS, TYPE_INT, Wanted,
};
use std::ffi::{CStr, c_char, c_void};

/// The bit of an object's type for `targetsync`.
const TARGETSYNC: i32 = 1 << 1;

/// What stands between the parts of a `prefer_type` modifier.
const SEPARATOR: c_char = c_char::MIN;

/// `omp_ipr_platform`, `omp_ipr_device`, `omp_ipr_device_context`, `omp_ipr_targetsync`.
const PLATFORM: i32 = -6;
const DEVICE: i32 = -7;
const CONTEXT: i32 = -8;
const STREAM: i32 = -9;

/// `omp_initial_device`: the number is as the program has it.
const INITIAL_DEVICE: i32 = -1;

/// Destroys, makes and uses objects. All is done when this returns, `nowait` or not.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_interop(
    number: i32,
    made: i32,
    make: *const *mut *mut Interop,
    types: *const i32,
    preferences: *const *const c_char,
    used: i32,
    using: *const *mut Interop,
    destroyed: i32,
    destroy: *const *mut *mut Interop,
    _flags: u32,
    dependences: *mut *mut c_void,
) {
    guard((), || {
        // SAFETY: the caller's promise: the arrays have so many elements.
        unsafe {
            wait_for(dependences);
            for &variable in list(destroy, destroyed) {
                let _ = interop::destroy(*variable);
                *variable = std::ptr::null_mut();
            }
            for (at, &variable) in list(make, made).iter().enumerate() {
                let stream = *types.add(at) & TARGETSYNC != 0;
                let kind = if stream { Kind::TargetSync } else { Kind::Target };
                let preferred = if preferences.is_null() { std::ptr::null() } else { *preferences.add(at) };
                *variable = match number {
                    INITIAL_DEVICE => std::ptr::null_mut(),
                    device::DEFAULT => create(DEFAULT_DEVICE, kind, preferred),
                    number => create(number.into(), kind, preferred),
                };
            }
            for &object in list(using, used) {
                let _ = interop::use_object(object, true);
            }
        }
    });
}

/// # Safety
/// There are so many elements.
unsafe fn list<'a, T>(first: *const T, count: i32) -> &'a [T] {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller's promise.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(first, count) } }
}

/// # Safety
/// The preferences are null or the compiler's.
unsafe fn create(device: i64, kind: Kind, preferences: *const c_char) -> *mut Interop {
    // SAFETY: the caller's promise.
    let preferences = unsafe { foreign_runtimes(preferences) };
    let wanted = Wanted { kind, stream: kind == Kind::TargetSync, owner: None };
    interop::get::<Libgomp>(device, wanted, preferences.into_iter().map(|runtime| (runtime, 0)))
}

/// The foreign runtimes of a `prefer_type` modifier. Of each item there is a separator, the
/// runtimes, a separator, and the attributes as strings, of which an empty one is the last.
///
/// # Safety
/// The text is null or the compiler's.
unsafe fn foreign_runtimes(mut text: *const c_char) -> Vec<i32> {
    let mut found = Vec::new();
    if text.is_null() {
        return found;
    }
    // SAFETY: the caller's promise: the loops end where the text does.
    unsafe {
        while *text == SEPARATOR {
            text = text.add(1);
            while *text != SEPARATOR {
                found.push((*text).into());
                text = text.add(1);
            }
            text = text.add(1);
            while *text != 0 {
                text = text.add(CStr::from_ptr(text).count_bytes() + 1);
            }
            text = text.add(1);
        }
    }
    found
}

/// The number of properties that are the implementation's own: none.
pub extern "C" fn omp_get_num_interop_properties(_object: *const Interop) -> i32 {
    0
}

/// What libgomp says of a property of an object before anything else: the code of a failure.
///
/// # Safety
/// `object` is `omp_interop_none` or an object.
unsafe fn refusal(object: *const Interop, number: i32) -> Option<i32> {
    if interop::name(number).is_none() {
        return Some(OUT_OF_RANGE);
    }
    // SAFETY: the caller's promise.
    let object = unsafe { object.as_ref() }?;
    let has_none = number == PLATFORM || number == CONTEXT && object.is_of_cuda_runtime();
    has_none.then_some(NO_VALUE)
}

/// # Safety
/// `code` is null or a variable.
unsafe fn tell(code: *mut i32, value: i32) {
    // SAFETY: the caller's promise.
    if let Some(code) = unsafe { code.as_mut() } {
        *code = value;
    }
}

/// As [`interop::omp_get_interop_int`]; handles are numbers, too.
///
/// # Safety
/// As there.
pub unsafe extern "C" fn omp_get_interop_int(object: *const Interop, number: i32, code: *mut i32) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(why) = refusal(object, number) {
            tell(code, why);
            return 0;
        }
        if matches!(number, DEVICE | STREAM) && !object.is_null() {
            let handle = interop::omp_get_interop_ptr(object, number, code);
            return handle.addr().cast_signed();
        }
        interop::omp_get_interop_int(object, number, code)
    }
}

/// As [`interop::omp_get_interop_ptr`]; a device is no pointer.
///
/// # Safety
/// As there.
pub unsafe extern "C" fn omp_get_interop_ptr(
    object: *const Interop,
    number: i32,
    code: *mut i32,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        let is_number = number == DEVICE && !object.is_null();
        if let Some(why) = refusal(object, number).or(is_number.then_some(TYPE_INT)) {
            tell(code, why);
            return std::ptr::null_mut();
        }
        interop::omp_get_interop_ptr(object, number, code)
    }
}

/// As [`interop::omp_get_interop_str`].
///
/// # Safety
/// As there.
pub unsafe extern "C" fn omp_get_interop_str(
    object: *const Interop,
    number: i32,
    code: *mut i32,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(why) = refusal(object, number) {
            tell(code, why);
            return std::ptr::null();
        }
        interop::omp_get_interop_str(object, number, code)
    }
}

/// The name of a property, whatever the object.
pub extern "C" fn omp_get_interop_name(_object: *const Interop, number: i32) -> *const c_char {
    interop::name(number).map_or(std::ptr::null(), CStr::as_ptr)
}

/// As [`interop::omp_get_interop_type_desc`], in libgomp's words where there is no value.
///
/// # Safety
/// As there.
pub unsafe extern "C" fn omp_get_interop_type_desc(object: *const Interop, number: i32) -> *const c_char {
    // SAFETY: the caller's promise.
    let text = unsafe { interop::omp_get_interop_type_desc(object, number) };
    if text.is_null() {
        return text;
    }
    // SAFETY: the routine's text.
    match unsafe { CStr::from_ptr(text) }.to_bytes() {
        b"void *" => c"N/A".as_ptr(),
        b"omp_interop_fr_t" => c"omp_interop_t".as_ptr(),
        _ => text,
    }
}

/// What a code of these routines means; null if it is none of theirs.
pub extern "C" fn omp_get_interop_rc_desc(_object: *const Interop, code: i32) -> *const c_char {
    const FIRST: i32 = NO_VALUE;
    const MEANINGS: [&CStr; 7] = [
        c"there is no value",
        c"success",
        c"the object is omp_interop_none",
        c"there is no such property",
        c"the value is an integer: use omp_get_interop_int",
        c"the value is a pointer: use omp_get_interop_ptr",
        c"the value is a string: use omp_get_interop_str",
    ];
    const { assert!(FIRST - OTHER == MEANINGS.len() as i32 && SUCCESS == FIRST - 1) };
    let index = usize::try_from(i64::from(FIRST) - i64::from(code)).ok();
    index.and_then(|index| MEANINGS.get(index)).map_or(std::ptr::null(), |text| text.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtimes(bytes: &[i8]) -> Vec<i32> {
        // SAFETY: the texts of the tests are complete.
        unsafe { foreign_runtimes(bytes.as_ptr().cast()) }
    }

    #[test]
    fn what_a_modifier_prefers() {
        let separator = i8::MIN;
        // SAFETY: null is a construct without the modifier.
        assert_eq!(unsafe { foreign_runtimes(std::ptr::null()) }, [0_i32; 0]);
        assert_eq!(runtimes(&[0]), [0_i32; 0]);
        assert_eq!(runtimes(&[separator, 1, separator, 0, separator, 5, 2, separator, 0, 0]), [1, 5, 2]);
        // Attributes, and an item without a runtime.
        let text = [separator, separator, 97, 98, 0, 99, 0, 0, separator, 7, separator, 0, 0];
        assert_eq!(runtimes(&text), [7]);
    }

    #[test]
    fn codes_have_meanings() {
        let text = |code| {
            let text = omp_get_interop_rc_desc(std::ptr::null(), code);
            // SAFETY: a text of the table.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
        };
        assert_eq!(text(SUCCESS), Some(c"success"));
        assert!(text(TYPE_INT).unwrap().to_str().unwrap().contains("integer"));
        assert_eq!([2, OTHER, i32::MIN, i32::MAX].map(text), [None; 4]);
    }
}
