//! C++'s operators `new` and `delete` (C++17 21.6.2). On NVIDIA's GPUs clang's headers have them.
//!
//! As there, what finds no memory answers null: nothing can be thrown. A program's own operators come first.

use crate::image::{free, malloc};
use crate::{ALIGNMENT, aligned_alloc};
use core::ffi::c_void;

/// Memory of at least one byte, so that each object has an address of its own.
fn allocate(bytes: usize) -> *mut c_void {
    malloc(bytes.max(1))
}

fn allocate_aligned(bytes: usize, alignment: usize) -> *mut c_void {
    aligned_alloc(alignment.max(ALIGNMENT), bytes.max(1))
}

macro_rules! new {
    ($($name:ident($($other:ident: $type:ty),*) -> $call:ident($($argument:ident),*);)*) => {
        $(#[unsafe(no_mangle)]
        #[linkage = "weak"]
        #[allow(non_snake_case)]
        pub extern "C" fn $name(bytes: usize, $($other: $type),*) -> *mut c_void {
            $call(bytes, $($argument),*)
        })*
    };
}

new! {
    _Znwm() -> allocate();
    _Znam() -> allocate();
    _ZnwmRKSt9nothrow_t(_tag: *const c_void) -> allocate();
    _ZnamRKSt9nothrow_t(_tag: *const c_void) -> allocate();
    _ZnwmSt11align_val_t(alignment: usize) -> allocate_aligned(alignment);
    _ZnamSt11align_val_t(alignment: usize) -> allocate_aligned(alignment);
    _ZnwmSt11align_val_tRKSt9nothrow_t(alignment: usize, _tag: *const c_void) -> allocate_aligned(alignment);
    _ZnamSt11align_val_tRKSt9nothrow_t(alignment: usize, _tag: *const c_void) -> allocate_aligned(alignment);
}

macro_rules! delete {
    ($($name:ident($($other:ident: $type:ty),*);)*) => {
        $(/// # Safety
        /// The memory is of an operator `new` and not in use, or null.
        #[unsafe(no_mangle)]
        #[linkage = "weak"]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name(memory: *mut c_void, $($other: $type),*) {
            // SAFETY: the caller's promise.
            unsafe { free(memory) };
        })*
    };
}

delete! {
    _ZdlPv();
    _ZdaPv();
    _ZdlPvm(_bytes: usize);
    _ZdaPvm(_bytes: usize);
    _ZdlPvRKSt9nothrow_t(_tag: *const c_void);
    _ZdaPvRKSt9nothrow_t(_tag: *const c_void);
    _ZdlPvSt11align_val_t(_alignment: usize);
    _ZdaPvSt11align_val_t(_alignment: usize);
    _ZdlPvmSt11align_val_t(_bytes: usize, _alignment: usize);
    _ZdaPvmSt11align_val_t(_bytes: usize, _alignment: usize);
}
