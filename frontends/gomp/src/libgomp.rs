//! What this library needs of the real libgomp, which runs the host's threads.
//!
//! It stands behind this library in the search order, so its functions are the next ones of
//! their names. They are looked up at run time: a program that loads its offload code with
//! `dlopen` may keep libgomp private.

use once_cell::race::OnceBox;
use std::ffi::{CStr, c_void};

/// The body of a region or task.
pub type Body = unsafe extern "C" fn(*mut c_void);

/// `GOMP_target_ext`.
pub type TargetExt = unsafe extern "C" fn(
    i32,
    Body,
    usize,
    *mut usize,
    *mut usize,
    *mut u16,
    u32,
    *mut *mut c_void,
    *const isize,
);
type Register = unsafe extern "C" fn(u32, *const c_void, i32, *const c_void);
type Task = unsafe extern "C" fn(
    Body,
    *mut c_void,
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    isize,
    isize,
    bool,
    u32,
    *mut *mut c_void,
    i32,
    *mut c_void,
);
type WaitDependences = unsafe extern "C" fn(*mut *mut c_void);

/// The functions; `None` where the process has no libgomp.
#[derive(Debug)]
pub struct Libgomp {
    /// `omp_get_default_device`.
    pub default_device: Option<unsafe extern "C" fn() -> i32>,
    /// Runs a region on the host, if told so.
    pub target: Option<TargetExt>,
    /// `GOMP_task`.
    pub task: Option<Task>,
    /// `omp_in_final`.
    pub in_final: Option<unsafe extern "C" fn() -> i32>,
    /// `GOMP_taskwait_depend`.
    pub wait_dependences: Option<WaitDependences>,
    /// `GOMP_offload_register_ver`.
    pub register: Option<Register>,
    /// `GOMP_offload_unregister_ver`.
    pub unregister: Option<Register>,
}

/// The process's libgomp. Two threads may look it up at the same time: waiting for the
/// other one, which waits for the loader, could be for ever where this one holds the
/// loader's lock.
#[inline]
pub fn libgomp() -> &'static Libgomp {
    static LIBGOMP: OnceBox<Libgomp> = OnceBox::new();
    LIBGOMP.get_or_init(|| Box::new(Libgomp::find()))
}

/// Looks a symbol up behind this library, then in a libgomp that is loaded privately.
fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: plain look-ups by name; RTLD_NOLOAD only finds what is loaded.
    unsafe {
        let found = libc::dlsym(libc::RTLD_NEXT, name.as_ptr());
        if !found.is_null() {
            return found;
        }
        let private = libc::dlopen(c"libgomp.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        if private.is_null() { private } else { libc::dlsym(private, name.as_ptr()) }
    }
}

impl Libgomp {
    fn find() -> Self {
        // SAFETY: each name is libgomp's, and the field's type is its signature.
        unsafe {
            Self {
                default_device: function(c"omp_get_default_device"),
                target: function(c"GOMP_target_ext"),
                task: function(c"GOMP_task"),
                in_final: function(c"omp_in_final"),
                wait_dependences: function(c"GOMP_taskwait_depend"),
                register: function(c"GOMP_offload_register_ver"),
                unregister: function(c"GOMP_offload_unregister_ver"),
            }
        }
    }
}

/// # Safety
/// `F` is the type of a pointer to the function called `name`.
unsafe fn function<F>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let found = symbol(name);
    // SAFETY: the caller's promise; the sizes are equal.
    if found.is_null() { None } else { Some(unsafe { std::mem::transmute_copy(&found) }) }
}
