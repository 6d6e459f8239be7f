//! What this library needs of the real libgomp, which runs the host's threads.
//!
//! It has functions of the same names as this library, and a program that loads its offload
//! code with `dlopen` may keep it private. So its functions are looked up in it, by its name.

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
/// What brings a task's data to where it stays.
pub type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);
type Task = unsafe extern "C" fn(
    Body,
    *mut c_void,
    Option<Copy>,
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
    /// `omp_set_default_device`.
    pub set_default_device: Option<unsafe extern "C" fn(i32)>,
    /// Runs a region on the host, if told so.
    pub target: Option<TargetExt>,
    /// `GOMP_task`.
    pub task: Option<Task>,
    /// `omp_get_level`.
    pub level: Option<unsafe extern "C" fn() -> i32>,
    /// `GOMP_taskwait`.
    pub wait: Option<unsafe extern "C" fn()>,
    /// `GOMP_taskgroup_end`.
    pub end_group: Option<unsafe extern "C" fn()>,
    /// `GOMP_barrier`.
    pub barrier: Option<unsafe extern "C" fn()>,
    /// `omp_in_final`.
    pub in_final: Option<unsafe extern "C" fn() -> i32>,
    /// `GOMP_taskwait_depend`.
    pub wait_dependences: Option<WaitDependences>,
    /// It is of GCC 14 or newer: a pointer to what is not mapped keeps its value in a region
    /// (OpenMP 5.2 section 5.4.8), which was null before.
    pub keeps_pointers: bool,
}

/// The process's libgomp. Two threads may look it up at the same time: waiting for the
/// other one, which waits for the loader, could be for ever where this one holds the
/// loader's lock.
#[inline]
pub fn libgomp() -> &'static Libgomp {
    static LIBGOMP: OnceBox<Libgomp> = OnceBox::new();
    LIBGOMP.get_or_init(|| Box::new(Libgomp::find()))
}

/// The library, which is loaded if any code that GCC has built for OpenMP is.
fn library() -> *mut c_void {
    // SAFETY: finds what is loaded, and loads nothing.
    unsafe { libc::dlopen(c"libgomp.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) }
}

impl Libgomp {
    fn find() -> Self {
        let library = library();
        // SAFETY: each name is libgomp's, and the field's type is its signature.
        unsafe {
            Self {
                default_device: function(library, c"omp_get_default_device"),
                set_default_device: function(library, c"omp_set_default_device"),
                target: function(library, c"GOMP_target_ext"),
                task: function(library, c"GOMP_task"),
                level: function(library, c"omp_get_level"),
                wait: function(library, c"GOMP_taskwait"),
                end_group: function(library, c"GOMP_taskgroup_end"),
                barrier: function(library, c"GOMP_barrier"),
                in_final: function(library, c"omp_in_final"),
                wait_dependences: function(library, c"GOMP_taskwait_depend"),
                keeps_pointers: function::<unsafe extern "C" fn()>(library, c"GOMP_is_alloc").is_some(),
            }
        }
    }
}

/// # Safety
/// `F` is the type of a pointer to the function called `name`.
unsafe fn function<F>(library: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    if library.is_null() {
        return None;
    }
    // SAFETY: a plain look-up by name in a library that is loaded.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: the caller's promise; the sizes are equal.
    if found.is_null() { None } else { Some(unsafe { std::mem::transmute_copy(&found) }) }
}
