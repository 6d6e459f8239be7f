//! Has the `gangway` command say where in the source a crash is, and what pointer led there.
//!
//! Reading debug information allocates, which a signal handler must not. So the handler makes
//! a process of the command, which gets the image and a [record](crate::crash_record) of the
//! crash as two files in memory, and prints the lines itself. What happens here is made of
//! system calls. Without the command beside the library, or if it takes longer than
//! [`SECONDS`], the lines are missing.

use super::images::Image;
use super::report::Crash;
use crate::crash_record::{COMMAND, RECORD_WORDS, STACK_BYTES};
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How long the command may take.
const SECONDS: u32 = 10;

/// Where the command is; null if nowhere.
static PROGRAM: AtomicPtr<libc::c_char> = AtomicPtr::new(ptr::null_mut());

/// The registers in the order of DWARF's numbers.
const DWARF_ORDER: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RDX,
    libc::REG_RCX,
    libc::REG_RBX,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_RBP,
    libc::REG_RSP,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// Looks for the command, before there is a crash.
pub(super) fn prepare() {
    let program = program().and_then(|path| CString::new(path.into_os_string().into_encoded_bytes()).ok());
    if let Some(program) = program {
        PROGRAM.store(program.into_raw(), Ordering::Release);
    }
}

/// The loader's name of the program or library that has an address. That of a program that was found in PATH
/// has no folder.
#[must_use]
pub fn object_of(address: usize) -> Option<PathBuf> {
    let address = ptr::without_provenance(address);
    // SAFETY: plain data that the call fills.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for, and there is a place for the answer.
    if unsafe { libc::dladdr(address, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of what is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(OsStr::from_bytes(name.to_bytes()).into())
}

/// `bin/gangway`, where this code is in `lib/gangway`; none for programs with more rights than their user.
pub fn program() -> Option<PathBuf> {
    // SAFETY: only asks.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    let library = object_of(prepare as *const () as usize)?.canonicalize().ok()?;
    let program = library.parent()?.parent()?.parent()?.join("bin/gangway");
    program.is_file().then_some(program)
}

/// Prints where `address` is in the source. It is a return address if `called`; the
/// registers are then not those of its function.
pub(super) fn print(crash: &Crash, image: &Image, address: usize, called: bool) {
    let program = PROGRAM.load(Ordering::Acquire);
    let Some((file, in_file)) = image.in_file(address).filter(|_| !program.is_null()) else { return };
    let mut record = [0_u64; RECORD_WORDS];
    record[0] = in_file;
    record[1] = u64::from(called);
    record[2] = u64::from(crash.touched().is_some());
    record[3] = crash.touched().unwrap_or_default() as u64;
    record[4] = crash.lowest() as u64;
    for (word, register) in record[5..].iter_mut().zip(DWARF_ORDER) {
        *word = crash.register(register);
    }
    // SAFETY: any words are bytes.
    let record = unsafe { std::slice::from_raw_parts(record.as_ptr().cast::<u8>(), size_of_val(&record)) };
    // SAFETY: the names are constants, and the descriptors our own.
    unsafe {
        let image = libc::memfd_create(c"gangway-image".as_ptr(), libc::MFD_CLOEXEC);
        let snapshot = libc::memfd_create(c"gangway-crash".as_ptr(), libc::MFD_CLOEXEC);
        if image >= 0
            && snapshot >= 0
            && write(image, file.as_ptr(), file.len()) == file.len()
            && write(snapshot, record.as_ptr(), record.len()) == record.len()
        {
            // As much as there is: the system stops at what cannot be read.
            write(snapshot, ptr::with_exposed_provenance(crash.lowest()), STACK_BYTES);
            run(program, image, snapshot);
        }
        libc::close(image);
        libc::close(snapshot);
    }
}

/// # Safety
/// The bytes need not be readable, as the kernel checks it.
unsafe fn write(to: i32, from: *const u8, size: usize) -> usize {
    let mut done = 0;
    while done < size {
        // SAFETY: the caller's promise.
        let count = unsafe { libc::write(to, from.wrapping_add(done).cast(), size - done) };
        if count <= 0 {
            break;
        }
        done += count as usize;
    }
    done
}

/// Runs the command and waits for it.
///
/// # Safety
/// The arguments are a path and two open descriptors.
unsafe fn run(program: *const libc::c_char, image: i32, snapshot: i32) {
    let arguments: [*const libc::c_char; 5] = [
        c"gangway".as_ptr(),
        COMMAND.as_ptr(),
        c"/proc/self/fd/3".as_ptr(),
        c"/proc/self/fd/4".as_ptr(),
        ptr::null(),
    ];
    let environment: [*const libc::c_char; 1] = [ptr::null()];
    // SAFETY: a copy of the process, as `fork` makes it, but without its handlers, which may
    // wait for what other threads had locked, and without a signal at its end, which would be
    // news to the program. It does nothing but system calls before it is another program.
    unsafe {
        let flags: libc::c_ulong = 0;
        let child = libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as libc::pid_t;
        if child == 0 {
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
            libc::signal(libc::SIGALRM, libc::SIG_DFL);
            libc::alarm(SECONDS);
            // Above both numbers first, so that neither replaces the other.
            let image = libc::fcntl(image, libc::F_DUPFD, 10);
            let snapshot = libc::fcntl(snapshot, libc::F_DUPFD, 10);
            if libc::dup2(image, 3) == 3 && libc::dup2(snapshot, 4) == 4 {
                libc::execve(program, arguments.as_ptr(), environment.as_ptr());
            }
            libc::_exit(127);
        }
        if child > 0 {
            let mut status = 0;
            while libc::waitpid(child, &mut status, libc::__WALL) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        }
    }
}
