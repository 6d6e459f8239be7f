//! Functions of the C library that have the system read or write the program's memory.
//!
//! Each is told of before and behind it: in between no page of it is closed. Threads may be cancelled in them, so
//! frames here have nothing to clean up.

use crate::{Access, listener, tell, tell_end};
use libc::{FILE, c_char, c_int, c_uint, c_void, iovec, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};

/// Memory that a call is about.
trait Memory: Copy {
    fn begin(self, access: Access);
    fn end(self);
}

/// One range.
#[derive(Clone, Copy)]
struct Range(*const c_void, size_t);

impl Memory for Range {
    #[inline]
    fn begin(self, access: Access) {
        tell(self.0, self.1, access);
    }

    #[inline]
    fn end(self) {
        tell_end(self.0, self.1);
    }
}

/// Ranges, and their list, which the system reads.
#[derive(Clone, Copy)]
struct Vectors(*const iovec, usize);

impl Vectors {
    fn ranges(&self) -> &[iovec] {
        // With more of them the call is an error (POSIX `IOV_MAX`).
        if listener().is_none() || self.0.is_null() || self.1 > libc::UIO_MAXIOV as usize {
            return &[];
        }
        // SAFETY: the caller of the function that this is for has so many there.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }

    fn of(message: *const msghdr) -> Self {
        // SAFETY: the caller of the function that this is for has one there, or null.
        unsafe { message.as_ref() }.map_or(Self(std::ptr::null(), 0), |all| Self(all.msg_iov, all.msg_iovlen))
    }
}

impl Memory for Vectors {
    fn begin(self, access: Access) {
        tell(self.0.cast(), size_of_val(self.ranges()), Access::Read);
        self.ranges().iter().for_each(|range| tell(range.iov_base, range.iov_len, access));
    }

    fn end(self) {
        self.ranges().iter().for_each(|range| tell_end(range.iov_base, range.iov_len));
        tell_end(self.0.cast(), size_of_val(self.ranges()));
    }
}

/// All memory.
const EVERYTHING: Range = Range(std::ptr::without_provenance(1), usize::MAX - 1);

/// Strings, with a null behind the last.
type List = *const *const c_char;

/// A string.
fn text(string: *const c_char) -> Range {
    if listener().is_none() || string.is_null() {
        return Range(string.cast(), 0);
    }
    // SAFETY: the caller of the function that this is for has a string there.
    Range(string.cast(), unsafe { libc::strlen(string) } + 1)
}

/// Functions that are told of and then do what the next ones of their names do.
macro_rules! told {
    ($(fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty { $access:ident $memory:expr })+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $of),*) -> $result {
            let memory = $memory;
            memory.begin(Access::$access);
            let next = next!($name: unsafe extern "C-unwind" fn($($of),*) -> $result);
            // SAFETY: as this function's caller has promised.
            let result = unsafe { next($($argument),*) };
            memory.end();
            result
        }
    )+};
}

told! {
    fn read(file: c_int, to: *mut c_void, size: size_t) -> ssize_t { Write Range(to, size) }
    fn write(file: c_int, from: *const c_void, size: size_t) -> ssize_t { Read Range(from, size) }
    fn pread(file: c_int, to: *mut c_void, size: size_t, at: off_t) -> ssize_t { Write Range(to, size) }
    fn pread64(file: c_int, to: *mut c_void, size: size_t, at: off_t) -> ssize_t { Write Range(to, size) }
    fn pwrite(file: c_int, from: *const c_void, size: size_t, at: off_t) -> ssize_t { Read Range(from, size) }
    fn pwrite64(file: c_int, from: *const c_void, size: size_t, at: off_t) -> ssize_t { Read Range(from, size) }
    fn readv(file: c_int, list: *const iovec, count: c_int) -> ssize_t { Write Vectors(list, count.max(0) as usize) }
    fn writev(file: c_int, list: *const iovec, count: c_int) -> ssize_t { Read Vectors(list, count.max(0) as usize) }
    fn preadv(file: c_int, list: *const iovec, count: c_int, at: off_t) -> ssize_t {
        Write Vectors(list, count.max(0) as usize)
    }
    fn preadv64(file: c_int, list: *const iovec, count: c_int, at: off_t) -> ssize_t {
        Write Vectors(list, count.max(0) as usize)
    }
    fn pwritev(file: c_int, list: *const iovec, count: c_int, at: off_t) -> ssize_t {
        Read Vectors(list, count.max(0) as usize)
    }
    fn pwritev64(file: c_int, list: *const iovec, count: c_int, at: off_t) -> ssize_t {
        Read Vectors(list, count.max(0) as usize)
    }
    fn recv(socket: c_int, to: *mut c_void, size: size_t, flags: c_int) -> ssize_t { Write Range(to, size) }
    fn send(socket: c_int, from: *const c_void, size: size_t, flags: c_int) -> ssize_t { Read Range(from, size) }
    fn recvfrom(
        socket: c_int, to: *mut c_void, size: size_t, flags: c_int, by: *mut sockaddr, length: *mut socklen_t
    ) -> ssize_t { Write Range(to, size) }
    fn sendto(
        socket: c_int, from: *const c_void, size: size_t, flags: c_int, to: *const sockaddr, length: socklen_t
    ) -> ssize_t { Read Range(from, size) }
    fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t { Write Vectors::of(message) }
    fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t { Read Vectors::of(message) }
    fn getrandom(to: *mut c_void, size: size_t, flags: c_uint) -> ssize_t { Write Range(to, size) }
    fn fread(to: *mut c_void, size: size_t, count: size_t, file: *mut FILE) -> size_t {
        Write Range(to, size.saturating_mul(count))
    }
    fn fread_unlocked(to: *mut c_void, size: size_t, count: size_t, file: *mut FILE) -> size_t {
        Write Range(to, size.saturating_mul(count))
    }
    fn fwrite(from: *const c_void, size: size_t, count: size_t, file: *mut FILE) -> size_t {
        Read Range(from, size.saturating_mul(count))
    }
    fn fwrite_unlocked(from: *const c_void, size: size_t, count: size_t, file: *mut FILE) -> size_t {
        Read Range(from, size.saturating_mul(count))
    }
    fn fputs(string: *const c_char, file: *mut FILE) -> c_int { Read text(string) }
    fn puts(string: *const c_char) -> c_int { Read text(string) }
    fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { Read text(path) }
    fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { Read text(path) }
    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int { Read text(path) }
    fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int { Read text(path) }
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE { Read text(path) }
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE { Read text(path) }
    fn stat(path: *const c_char, to: *mut c_void) -> c_int { Read text(path) }
    fn lstat(path: *const c_char, to: *mut c_void) -> c_int { Read text(path) }
    fn access(path: *const c_char, mode: c_int) -> c_int { Read text(path) }
    fn unlink(path: *const c_char) -> c_int { Read text(path) }
    // What another process is to be is read by the system, and by a child that has all signals blocked.
    fn posix_spawn(
        child: *mut c_void, path: *const c_char, actions: *const c_void, of: *const c_void, arguments: List, names: List
    ) -> c_int { Use EVERYTHING }
    fn posix_spawnp(
        child: *mut c_void, path: *const c_char, actions: *const c_void, of: *const c_void, arguments: List, names: List
    ) -> c_int { Use EVERYTHING }
    fn system(command: *const c_char) -> c_int { Use EVERYTHING }
    fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE { Use EVERYTHING }
    // These do not end, and a child of `vfork` has its parent's memory.
    fn execve(path: *const c_char, arguments: List, names: List) -> c_int { Open EVERYTHING }
    fn execv(path: *const c_char, arguments: List) -> c_int { Open EVERYTHING }
    fn execvp(path: *const c_char, arguments: List) -> c_int { Open EVERYTHING }
    fn execvpe(path: *const c_char, arguments: List, names: List) -> c_int { Open EVERYTHING }
    fn fexecve(file: c_int, arguments: List, names: List) -> c_int { Open EVERYTHING }
    // What these are with `_FORTIFY_SOURCE`.
    fn __read_chk(file: c_int, to: *mut c_void, size: size_t, room: size_t) -> ssize_t { Write Range(to, size) }
    fn __pread_chk(file: c_int, to: *mut c_void, size: size_t, at: off_t, room: size_t) -> ssize_t {
        Write Range(to, size)
    }
    fn __pread64_chk(file: c_int, to: *mut c_void, size: size_t, at: off_t, room: size_t) -> ssize_t {
        Write Range(to, size)
    }
    fn __recv_chk(socket: c_int, to: *mut c_void, size: size_t, room: size_t, flags: c_int) -> ssize_t {
        Write Range(to, size)
    }
    fn __fread_chk(to: *mut c_void, room: size_t, size: size_t, count: size_t, file: *mut FILE) -> size_t {
        Write Range(to, size.saturating_mul(count))
    }
}
