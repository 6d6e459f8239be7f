//! Interoperability objects: `interop` and `dispatch` constructs, as compilers call them.
//!
//! Layouts and numbers are those of the stock library 22.1, found in its code:
//! its headers changed them since.

use crate::abi::{Dependence, FAIL, Ident, SUCCESS};
use crate::libomp::{self, Libomp};
use gangway_frontend::guard::guard;
use gangway_openmp::interop::{self, Completion, Interop, Kind, Wanted};
use std::ffi::c_void;

/// An item of a `prefer_type` modifier (`interop_spec_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Preference {
    /// The foreign runtime.
    pub foreign_runtime: i32,
    /// Bit 0: in order.
    pub attributes: u32,
    /// Attributes of the implementation.
    pub implementation_attributes: i64,
}

const _: () = assert!(size_of::<Preference>() == 16);

/// The circumstances of a call (`interop_ctx_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// 0.
    pub version: u32,
    /// See [`flag`].
    pub flags: u32,
    /// libomp's number of the thread.
    pub thread: i32,
}

const _: () = assert!(size_of::<Context>() == 12);

/// Bits of [`Context::flags`].
pub mod flag {
    /// Of a `dispatch` construct: the object is the runtime's.
    pub const IMPLICIT: u32 = 1;
    /// `nowait`.
    pub const NOWAIT: u32 = 2;
}

/// The dependences of a construct (`dep_pack_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Dependences {
    /// How many.
    pub count: i32,
    /// How many that do not alias others.
    pub no_alias_count: i32,
    /// The list.
    pub list: *const Dependence,
    /// The list of those that do not alias others.
    pub no_alias_list: *const Dependence,
}

const _: () = assert!(size_of::<Dependences>() == 24);

/// `kmp_interop_type_targetsync`; `target` is 0.
const TARGETSYNC: i32 = 1;
/// What clang passes to [`__tgt_interop_init`] for `targetsync`; for `target`,
/// alone or with `targetsync`, it passes 1.
const CLANG_TARGETSYNC: i32 = 2;

/// Makes (or, for `dispatch`, finds) an object; null is `omp_interop_none`.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn __tgt_interop_get(
    location: *const Ident,
    kind: i32,
    device: i64,
    preference_count: i32,
    preferences: *const Preference,
    context: *const Context,
    dependences: *const Dependences,
) -> *mut Interop {
    guard(std::ptr::null_mut(), || {
        let count = if preferences.is_null() { 0 } else { preference_count.max(0) as usize };
        // SAFETY: the caller's promise.
        let (preferences, context) = unsafe {
            let first = if count == 0 { std::ptr::NonNull::dangling().as_ptr() } else { preferences };
            (std::slice::from_raw_parts(first, count), &*context)
        };
        // SAFETY: as above.
        unsafe { wait(location, context, dependences) };
        let kind = if kind == TARGETSYNC { Kind::TargetSync } else { Kind::Target };
        let owner = (context.flags & flag::IMPLICIT != 0).then_some(context.thread);
        let wanted = Wanted { kind, stream: kind == Kind::TargetSync, owner };
        let preferences = preferences.iter().map(|p| (p.foreign_runtime, p.implementation_attributes));
        interop::get::<Libomp>(device, wanted, preferences)
    })
}

/// Waits for the dependences of a construct. They order it with other tasks whatever
/// becomes of its object: `omp_interop_none`, a device without a foreign runtime and
/// switched-off offloading make no difference (OpenMP 6.0 section 16.1).
///
/// # Safety
/// `dependences` is null or the compiler's.
unsafe fn wait(location: *const Ident, context: &Context, dependences: *const Dependences) {
    let thread = context.thread;
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(&Dependences { count, no_alias_count, list, no_alias_list }) = dependences.as_ref() {
            let lists = [(count, list), (no_alias_count, no_alias_list)];
            libomp::wait_dependences(location, thread, lists);
        }
    }
}

/// The `use` clause: what the program has put into the object's stream is done
/// when this returns, with `nowait` before what comes later in the stream.
///
/// # Safety
/// As [`__tgt_interop_get`]; `interop` is `omp_interop_none` or an object.
pub unsafe extern "C" fn __tgt_interop_use60(
    location: *const Ident,
    interop: *mut Interop,
    context: *const Context,
    dependences: *const Dependences,
) -> i32 {
    guard(FAIL, || {
        // SAFETY: the caller's promise.
        unsafe {
            let context = &*context;
            wait(location, context, dependences);
            let nowait = context.flags & flag::NOWAIT != 0;
            if interop::use_object(interop, !nowait || !dependences.is_null()) { SUCCESS } else { FAIL }
        }
    })
}

/// The `destroy` clause: waits for the object's stream and ends the object. An
/// object of a `dispatch` construct is the runtime's and stays.
///
/// # Safety
/// As [`__tgt_interop_use60`]; the object is not used again.
pub unsafe extern "C" fn __tgt_interop_release(
    location: *const Ident,
    interop: *mut Interop,
    context: *const Context,
    dependences: *const Dependences,
) -> i32 {
    guard(FAIL, || {
        // SAFETY: the caller's promise.
        unsafe {
            wait(location, &*context, dependences);
            if interop::destroy(interop) { SUCCESS } else { FAIL }
        }
    })
}

/// Registers a function to be called when the object's stream has been waited for.
///
/// # Safety
/// `interop` is `omp_interop_none` or an object; the function may be called with
/// `data` until the object is destroyed.
pub unsafe extern "C" fn ompx_interop_add_completion_callback(
    interop: *mut Interop,
    function: Option<Completion>,
    data: *mut c_void,
) -> i32 {
    guard(interop::OTHER, || {
        let Some(function) = function else { return interop::OTHER };
        // SAFETY: the caller's promise.
        let added = unsafe { interop::add_completion(interop, function, data) };
        if added { interop::SUCCESS } else { interop::OTHER }
    })
}

/// `__tgt_interop_{init,use,destroy}` pass their circumstances one by one.
///
/// # Safety
/// As [`__tgt_interop_get`].
unsafe fn with_circumstances<R>(
    thread: i32,
    nowait: i32,
    (count, list): (i32, *const Dependence),
    call: impl FnOnce(&Context, *const Dependences) -> R,
) -> R {
    let flags = if nowait != 0 { flag::NOWAIT } else { 0 };
    let context = Context { version: 0, flags, thread };
    let dependences = Dependences { count, no_alias_count: 0, list, no_alias_list: std::ptr::null() };
    call(&context, if count > 0 { &raw const dependences } else { std::ptr::null() })
}

/// `interop init`, as clang calls it.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn __tgt_interop_init(
    location: *const Ident,
    thread: i32,
    variable: *mut *mut Interop,
    kind: i32,
    device: i32,
    count: i32,
    list: *const Dependence,
    nowait: i32,
) {
    guard((), || {
        let kind = if kind == CLANG_TARGETSYNC { Kind::TargetSync } else { Kind::Target };
        // An object for `target` gets a stream too: clang passes the same for `target` and
        // for `target, targetsync`.
        let wanted = Wanted { kind, stream: true, owner: None };
        // SAFETY: the caller's promise.
        unsafe {
            *variable = with_circumstances(thread, nowait, (count, list), |context, dependences| {
                wait(location, context, dependences);
                interop::get::<Libomp>(i64::from(device), wanted, std::iter::empty())
            });
        }
    });
}

/// `interop use`, as clang calls it.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn __tgt_interop_use(
    location: *const Ident,
    thread: i32,
    variable: *mut *mut Interop,
    _device: i32,
    count: i32,
    list: *const Dependence,
    nowait: i32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with_circumstances(thread, nowait, (count, list), |context, dependences| {
            __tgt_interop_use60(location, *variable, context, dependences)
        });
    }
}

/// `interop destroy`, as clang calls it: the variable becomes `omp_interop_none`.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn __tgt_interop_destroy(
    location: *const Ident,
    thread: i32,
    variable: *mut *mut Interop,
    _device: i32,
    count: i32,
    list: *const Dependence,
    nowait: i32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with_circumstances(thread, nowait, (count, list), |context, dependences| {
            __tgt_interop_release(location, *variable, context, dependences)
        });
        *variable = std::ptr::null_mut();
    }
}
