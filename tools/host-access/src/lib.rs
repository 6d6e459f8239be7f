//! `libgangway-host-access.so`, which `gangway run --check=map` and `--check=race` have the loader put before a program.
//!
//! The check of stale data closes pages of the host. The system reads and writes memory for a program without a signal: it answers
//! `EFAULT` for a closed page. So the functions of the C library that have it do so tell the runtime here what they are
//! about to read or to write, and it opens the pages. They also tell of memory that is given back, which is something
//! else when it is used again.
//!
//! It is in every process that the program starts, and does nothing before a runtime says that it listens.

#![allow(
    clippy::missing_safety_doc,
    reason = "the functions are the C library's, and so are their contracts"
)]

/// The next function of that name.
macro_rules! next {
    ($name:ident: $kind:ty) => {{
        let next = crate::next::$name.get();
        // SAFETY: what has a function of that name has one of that type.
        unsafe { std::mem::transmute::<*mut libc::c_void, $kind>(next) }
    }};
}

mod next;
mod tasks;

pub use tasks::gangway_listen_to_tasks;

use libc::{c_int, c_void, iovec, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is about to be done with memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read = 0,
    Write = 1,
    /// It is given back.
    Free = 2,
}

type Listener = extern "C" fn(address: *const c_void, size: size_t, access: Access);

static LISTENER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Has `listener` told from now on. It is called on any thread, in a signal handler also.
#[unsafe(no_mangle)]
pub extern "C" fn gangway_listen_to_host_access(listener: Listener) {
    LISTENER.store(listener as *mut (), Ordering::Release);
}

#[inline]
fn tell(address: *const c_void, size: size_t, access: Access) {
    let listener = LISTENER.load(Ordering::Acquire);
    if !listener.is_null() && !address.is_null() && size != 0 {
        // SAFETY: only functions of this type are stored.
        unsafe { std::mem::transmute::<*mut (), Listener>(listener)(address, size, access) };
    }
}

/// # Safety
/// The vectors are there.
unsafe fn tell_vectors(vectors: *const iovec, count: usize, access: Access) {
    // With more of them the call is an error (POSIX `IOV_MAX`).
    if LISTENER.load(Ordering::Relaxed).is_null() || vectors.is_null() || count > libc::UIO_MAXIOV as usize {
        return;
    }
    tell(vectors.cast(), count * size_of::<iovec>(), Access::Read);
    // SAFETY: the caller's promise.
    for vector in unsafe { std::slice::from_raw_parts(vectors, count) } {
        tell(vector.iov_base, vector.iov_len, access);
    }
}

/// A function that is told of and then does what the next one of its name does.
macro_rules! told {
    ($(fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty { $($told:tt)* })+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $of),*) -> $result {
            $($told)*
            let next = next!($name: unsafe extern "C" fn($($of),*) -> $result);
            // SAFETY: as this function's caller has promised.
            unsafe { next($($argument),*) }
        }
    )+};
}

told! {
    fn read(file: c_int, buffer: *mut c_void, size: size_t) -> ssize_t { tell(buffer, size, Access::Write); }
    fn write(file: c_int, buffer: *const c_void, size: size_t) -> ssize_t { tell(buffer, size, Access::Read); }
    fn pread(file: c_int, buffer: *mut c_void, size: size_t, at: off_t) -> ssize_t {
        tell(buffer, size, Access::Write);
    }
    fn pread64(file: c_int, buffer: *mut c_void, size: size_t, at: off_t) -> ssize_t {
        tell(buffer, size, Access::Write);
    }
    fn pwrite(file: c_int, buffer: *const c_void, size: size_t, at: off_t) -> ssize_t {
        tell(buffer, size, Access::Read);
    }
    fn pwrite64(file: c_int, buffer: *const c_void, size: size_t, at: off_t) -> ssize_t {
        tell(buffer, size, Access::Read);
    }
    fn readv(file: c_int, vectors: *const iovec, count: c_int) -> ssize_t {
        // SAFETY: as this function's caller has promised.
        unsafe { tell_vectors(vectors, count.max(0) as usize, Access::Write) };
    }
    fn writev(file: c_int, vectors: *const iovec, count: c_int) -> ssize_t {
        // SAFETY: as this function's caller has promised.
        unsafe { tell_vectors(vectors, count.max(0) as usize, Access::Read) };
    }
    fn recv(socket: c_int, buffer: *mut c_void, size: size_t, flags: c_int) -> ssize_t {
        tell(buffer, size, Access::Write);
    }
    fn send(socket: c_int, buffer: *const c_void, size: size_t, flags: c_int) -> ssize_t {
        tell(buffer, size, Access::Read);
    }
    fn recvfrom(
        socket: c_int, buffer: *mut c_void, size: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t
    ) -> ssize_t {
        tell(buffer, size, Access::Write);
    }
    fn sendto(
        socket: c_int, buffer: *const c_void, size: size_t, flags: c_int, to: *const sockaddr, length: socklen_t
    ) -> ssize_t {
        tell(buffer, size, Access::Read);
    }
    fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        // SAFETY: as this function's caller has promised.
        if let Some(message) = unsafe { message.as_ref() } {
            // SAFETY: as above.
            unsafe { tell_vectors(message.msg_iov, message.msg_iovlen, Access::Write) };
        }
    }
    fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        // SAFETY: as this function's caller has promised.
        if let Some(message) = unsafe { message.as_ref() } {
            // SAFETY: as above.
            unsafe { tell_vectors(message.msg_iov, message.msg_iovlen, Access::Read) };
        }
    }
    fn fread(buffer: *mut c_void, size: size_t, count: size_t, file: *mut libc::FILE) -> size_t {
        tell(buffer, size.saturating_mul(count), Access::Write);
    }
    fn fwrite(buffer: *const c_void, size: size_t, count: size_t, file: *mut libc::FILE) -> size_t {
        tell(buffer, size.saturating_mul(count), Access::Read);
    }
    fn munmap(address: *mut c_void, size: size_t) -> c_int { tell(address, size, Access::Free); }
}

// What gives memory back is called while the loader looks for functions: these have second names, which need no
// search.
unsafe extern "C" {
    fn __libc_free(block: *mut c_void);
    fn __libc_realloc(block: *mut c_void, size: size_t) -> *mut c_void;
    fn malloc_usable_size(block: *mut c_void) -> size_t;
}

#[inline]
fn tell_of_block(block: *mut c_void) {
    if !LISTENER.load(Ordering::Relaxed).is_null() && !block.is_null() {
        // SAFETY: a block that is about to be freed.
        tell(block, unsafe { malloc_usable_size(block) }, Access::Free);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    tell_of_block(block);
    // SAFETY: as this function's caller has promised.
    unsafe { __libc_free(block) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: size_t) -> *mut c_void {
    // What moves is read and freed; nothing says beforehand whether it will.
    if !LISTENER.load(Ordering::Relaxed).is_null() && !block.is_null() {
        // SAFETY: a block that is about to be freed.
        tell(block, unsafe { malloc_usable_size(block) }, Access::Read);
    }
    tell_of_block(block);
    // SAFETY: as this function's caller has promised.
    unsafe { __libc_realloc(block, size) }
}
