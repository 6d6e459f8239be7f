//! Functions that give memory back, or make it something else.
//!
//! The next allocator is whoever comes behind this library: the C library, or what the program is linked with. It is
//! called before anything else is set up, and also while the loader looks for it.

use crate::{Access, listener, next, tell, tell_end};
use libc::{c_int, c_void, off_t, size_t};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Somebody looks for the functions: what is freed meanwhile is the loader's.
static LOOKING: AtomicBool = AtomicBool::new(false);
/// The functions have been looked for, and whether sizes are those of blocks that `free` frees.
static FOUND: AtomicU8 = AtomicU8::new(0);
const WITHOUT_SIZES: u8 = 1;
const WITH_SIZES: u8 = 2;

/// Looks for the functions. False: it is looked for already, by a caller of this one.
pub(crate) fn find() -> bool {
    if FOUND.load(Ordering::Acquire) != 0 {
        return true;
    }
    if LOOKING.swap(true, Ordering::Acquire) {
        return false;
    }
    let of = [&next::free, &next::realloc, &next::malloc_usable_size].map(|next| {
        next.find();
        object(next.get())
    });
    // Sizes of blocks are asked of whoever made them.
    let sizes = of[0] != 0 && of.iter().all(|object| *object == of[0]);
    FOUND.store(if sizes { WITH_SIZES } else { WITHOUT_SIZES }, Ordering::Release);
    LOOKING.store(false, Ordering::Release);
    true
}

/// Where the library or program is that has an address, or 0.
fn object(address: *const c_void) -> usize {
    // SAFETY: plain data that the call fills.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &raw mut found) == 0 { 0 } else { found.dli_fbase.addr() }
    }
}

/// Whether callers of `free` come to this library. An executable comes before it.
pub(crate) fn is_asked_first() -> bool {
    // The name `free` leads to whoever is first, from here also.
    let mine = (&raw const FOUND).cast();
    // SAFETY: a name with a null behind it.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"free".as_ptr()) };
    object(first) == object(mine)
}

/// How large a block is, as far as that is known: 1 otherwise.
fn size_of_block(block: *mut c_void) -> size_t {
    if FOUND.load(Ordering::Relaxed) != WITH_SIZES {
        return 1;
    }
    type Size = unsafe extern "C" fn(*mut c_void) -> size_t;
    let next = next!(malloc_usable_size: Size);
    // SAFETY: it is that of the allocator which has made the block.
    unsafe { next(block) }
}

#[inline]
fn tell_of_block(block: *mut c_void) {
    if listener().is_some() && !block.is_null() {
        tell(block, size_of_block(block), Access::Free);
    }
}

/// What moves is read and freed; nothing says beforehand whether it will.
fn tell_of_move(address: *mut c_void, size: size_t) {
    tell(address, size, Access::Read);
    tell_end(address, size);
    tell(address, size, Access::Free);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    if FOUND.load(Ordering::Acquire) == 0 && !find() {
        // The loader's own, once. It stays.
        return;
    }
    tell_of_block(block);
    let next = next!(free: unsafe extern "C" fn(*mut c_void));
    // SAFETY: the caller's block.
    unsafe { next(block) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: size_t) -> *mut c_void {
    if FOUND.load(Ordering::Acquire) == 0 && !find() {
        return ptr::null_mut();
    }
    if listener().is_some() && !block.is_null() {
        tell_of_move(block, size_of_block(block));
    }
    type Realloc = unsafe extern "C" fn(*mut c_void, size_t) -> *mut c_void;
    let next = next!(realloc: Realloc);
    // SAFETY: the caller's block.
    unsafe { next(block, size) }
}

/// Functions that are told of and then do what the next ones of their names do.
macro_rules! told {
    ($(fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty { $($tell:tt)* })+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $of),*) -> $result {
            $($tell)*
            let next = next!($name: unsafe extern "C" fn($($of),*) -> $result);
            // SAFETY: as this function's caller has promised.
            unsafe { next($($argument),*) }
        }
    )+};
}

told! {
    fn reallocarray(block: *mut c_void, count: size_t, size: size_t) -> *mut c_void {
        if listener().is_some() && !block.is_null() {
            tell_of_move(block, size_of_block(block));
        }
    }
    fn munmap(address: *mut c_void, size: size_t) -> c_int { tell(address, size, Access::Free); }
    fn mmap(
        address: *mut c_void, size: size_t, protection: c_int, flags: c_int, file: c_int, at: off_t
    ) -> *mut c_void { tell_of_mapping(address, size, flags); }
    fn mmap64(
        address: *mut c_void, size: size_t, protection: c_int, flags: c_int, file: c_int, at: off_t
    ) -> *mut c_void { tell_of_mapping(address, size, flags); }
    // Its fifth parameter is there for some flags only, and read by the system for those.
    fn mremap(address: *mut c_void, size: size_t, new: size_t, flags: c_int, at: *mut c_void) -> *mut c_void {
        if flags & libc::MREMAP_FIXED != 0 {
            tell(at, new, Access::Free);
        }
        tell(address, size, Access::Free);
    }
    // The program's own protection is the one that counts.
    fn mprotect(address: *mut c_void, size: size_t, protection: c_int) -> c_int {
        tell(address, size, Access::Protect);
    }
    fn pkey_mprotect(address: *mut c_void, size: size_t, protection: c_int, key: c_int) -> c_int {
        tell(address, size, Access::Protect);
    }
    fn madvise(address: *mut c_void, size: size_t, advice: c_int) -> c_int {
        if [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE].contains(&advice) {
            tell(address, size, Access::Free);
        }
    }
    fn shmdt(address: *const c_void) -> c_int { tell(address, 1, Access::Free); }
}

fn tell_of_mapping(address: *mut c_void, size: size_t, flags: c_int) {
    if flags & libc::MAP_FIXED != 0 {
        tell(address, size, Access::Free);
    }
}

/// C++'s `operator delete`, which allocators of programs have, too (Itanium C++ ABI, section 5.1).
macro_rules! deleted {
    ($($name:ident($($argument:ident: $of:ty),*);)+) => {told! {$(
        fn $name(block: *mut c_void $(, $argument: $of)*) -> () { tell_of_block(block); }
    )+}};
}

deleted! {
    _ZdlPv();
    _ZdaPv();
    _ZdlPvm(size: size_t);
    _ZdaPvm(size: size_t);
    _ZdlPvSt11align_val_t(alignment: size_t);
    _ZdaPvSt11align_val_t(alignment: size_t);
    _ZdlPvmSt11align_val_t(size: size_t, alignment: size_t);
    _ZdaPvmSt11align_val_t(size: size_t, alignment: size_t);
}
