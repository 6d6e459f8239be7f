//! What the C library does with the host's memory, as `libgangway-host-access.so` tells it (`tools/host-access`).

use super::pages::Errno;
use super::tracker::{Mistake, TRACKER, Tracker};
use super::uses::User;
use super::{accesses, advice, contents, handlers, pages};
use std::ffi::c_void;

/// What the library says is about to be done, by its numbers.
mod access {
    pub const READ: u32 = 0;
    pub const WRITE: u32 = 1;
    /// The memory is given back.
    pub const FREE: u32 = 2;
    /// The program protects it in another way.
    pub const PROTECT: u32 = 3;
    /// Nobody tells when it has ended.
    pub const OPEN: u32 = 4;
}

/// As the library has it.
#[repr(C)]
struct Listener {
    about: extern "C" fn(*const c_void, usize, u32),
    done: extern "C" fn(*const c_void, usize),
    action: extern "C" fn(i32, *const libc::sigaction, *mut libc::sigaction) -> bool,
}

/// What is heard of what the program does by the C library.
pub enum Heard {
    All,
    /// And why not.
    NotAll(&'static str),
}

/// Listens, if the library is in this process: `gangway run` puts it there.
pub fn listen() -> Heard {
    static LISTENER: Listener = Listener { about, done, action: handlers::action };
    // SAFETY: names with a null behind them.
    let [listen, unblock] = [c"gangway_listen_to_host_access", c"gangway_unblock_kept_signals"]
        .map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
    if listen.is_null() || unblock.is_null() {
        return Heard::NotAll("the program was not started by `gangway run --check=map`");
    }
    // Its first call loads a library.
    let _ = caller();
    // SAFETY: the library's functions of those names have these types.
    let hears_all = unsafe {
        std::mem::transmute::<*mut c_void, extern "C" fn()>(unblock)();
        std::mem::transmute::<*mut c_void, extern "C" fn(&'static Listener) -> bool>(listen)(&LISTENER)
    };
    if hears_all { Heard::All } else { Heard::NotAll("the program has its own `free`") }
}

/// The program's instruction that has called the C library, or 0.
fn caller() -> usize {
    let mut frames = [std::ptr::null_mut(); 32];
    // SAFETY: there is room for so many.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as i32) };
    let is_librarys = |frame: &usize| {
        // SAFETY: plain data that the call fills; the name is the loader's, for as long as this takes.
        let name = unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(std::ptr::with_exposed_provenance(*frame), &raw mut found) == 0 {
                return true;
            }
            std::ffi::CStr::from_ptr(found.dli_fname)
        };
        let name = name.to_string_lossy();
        let file = name.rsplit('/').next().unwrap_or_default();
        ["libgangway-", "libomptarget.", "libc.", "libgfortran.", "libstdc++."]
            .iter()
            .any(|start| file.starts_with(start))
    };
    let mut calls = frames[..count.max(0) as usize].iter().map(|frame| frame.addr() - 1);
    calls.find(|frame| !is_librarys(frame)).unwrap_or(0)
}

/// The runtime's own memory is allocated and freed with the locks held, too.
fn is_of_interest() -> bool {
    (pages::are_closed() || accesses::are_told()) && !pages::are_mine() && !advice::is_mine()
}

extern "C" fn about(address: *const c_void, size: usize, access: u32) {
    if !is_of_interest() {
        return;
    }
    let _errno = Errno::keep();
    let address = address.addr();
    // A program may say any number.
    let size = size.min(usize::MAX - address);
    match access {
        access::FREE => {
            pages::release(address, size);
            TRACKER.try_with(|tracker| tracker.ledger.free(address, size));
        }
        access::PROTECT => pages::release(address, size),
        access::OPEN => pages::open(address, size),
        // How much is written shows later, in the contents.
        access::WRITE => pages::begin_use(User::Library, address, size),
        access::READ => {
            pages::begin_use(User::Library, address, size);
            look_at_read(address, size);
        }
        _ => {}
    }
}

extern "C" fn done(address: *const c_void, size: usize) {
    if is_of_interest() {
        let address = address.addr();
        pages::end_use(User::Library, address, size.min(usize::MAX - address));
    }
}

/// Tells of what is old of what the system is about to read.
fn look_at_read(address: usize, size: usize) {
    // No more is of interest than what is mapped.
    let mapped = |tracker: &mut Tracker| {
        let ledger = &tracker.ledger;
        let ends = ledger.covering(address, size).map(|(key, pair)| key.0 + pair.size());
        ends.max().filter(|_| ledger.has_newer_on_devices(address, size))
    };
    let Some(Some(end)) = TRACKER.try_with(mapped) else { return };
    // Without an allocation: signal handlers write, too.
    let mut now = [0; 4096];
    let mut at = address;
    while at < end.min(address + size) {
        let part = now.len().min(end.min(address + size) - at);
        let now = &mut now[..part];
        if !contents::read_into(at, now) {
            return;
        }
        let old = TRACKER.try_with(|tracker| tracker.ledger.host_reads(at, now)).flatten();
        if let Some(access) = old {
            let code = caller();
            TRACKER.try_with(|tracker| {
                let place = tracker.places.code(code);
                tracker.note(Mistake::HostReads, access.key, access.stale, place);
            });
            return;
        }
        at += part;
    }
}
