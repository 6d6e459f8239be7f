//! Signals that the check needs.
//!
//! A program that installs a handler for one of them gets its signals by the check, which keeps its own before it. And
//! a thread that has one of them blocked would be killed where it accesses a closed page: these two are never blocked.
//! Masks are set before a runtime listens, so that holds from the beginning.

use libc::{SA_NODEFER, SA_RESETHAND, SA_RESTART, c_int, sighandler_t, sigset_t};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const KEPT: [c_int; 2] = [libc::SIGSEGV, libc::SIGTRAP];

/// As `sigaction`, for a signal that the listener keeps for itself. False: the system is to be asked.
type Listener = extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> bool;

static LISTENER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Has `listener` asked from now on. The calling thread may have been started with the signals blocked: it has them from
/// now on.
#[unsafe(no_mangle)]
pub extern "C" fn gangway_listen_to_signals(listener: Listener) {
    LISTENER.store(listener as *mut (), Ordering::Release);
    // SAFETY: plain data, and signals that there are.
    unsafe {
        let mut set = std::mem::zeroed::<sigset_t>();
        for signal in KEPT {
            libc::sigaddset(&raw mut set, signal);
        }
        pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut());
    }
}

/// Changes an action by the listener, if it has the signal.
fn kept(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> bool {
    let listener = LISTENER.load(Ordering::Acquire);
    if listener.is_null() || !KEPT.contains(&signal) {
        return false;
    }
    // SAFETY: only functions of this type are stored.
    unsafe { std::mem::transmute::<*mut (), Listener>(listener)(signal, new, old) }
}

/// A set without the signals.
///
/// # Safety
/// There is one at `set`.
unsafe fn without(set: *const sigset_t) -> sigset_t {
    // SAFETY: the caller's promise; the signals have numbers that there are.
    unsafe {
        let mut set = set.read();
        for signal in KEPT {
            libc::sigdelset(&raw mut set, signal);
        }
        set
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    if kept(signal, new, old) {
        return 0;
    }
    type Action = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    let next = next!(sigaction: Action);
    // SAFETY: the caller has an action there, or null.
    unsafe {
        let Some(action) = new.as_ref() else { return next(signal, new, old) };
        let action = libc::sigaction { sa_mask: without(&raw const action.sa_mask), ..*action };
        next(signal, &raw const action, old)
    }
}

/// What `signal` and its kin do, by an action.
fn handled(signal: c_int, handler: sighandler_t, flags: c_int) -> Option<sighandler_t> {
    if !KEPT.contains(&signal) || handler == libc::SIG_ERR {
        return None;
    }
    // SAFETY: `sigaction` is plain data, and zeros are an empty set.
    let (mut new, mut old) = unsafe { std::mem::zeroed::<(libc::sigaction, libc::sigaction)>() };
    (new.sa_sigaction, new.sa_flags) = (handler, flags);
    kept(signal, &raw const new, &raw mut old).then_some(old.sa_sigaction)
}

macro_rules! handled {
    ($($name:ident $flags:expr;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(signal: c_int, handler: sighandler_t) -> sighandler_t {
            handled(signal, handler, $flags).unwrap_or_else(|| {
                let next = next!($name: unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t);
                // SAFETY: as this function's caller has promised.
                unsafe { next(signal, handler) }
            })
        }
    )+};
}

handled! {
    signal SA_RESTART;
    bsd_signal SA_RESTART;
    ssignal SA_RESTART;
    sysv_signal SA_RESETHAND | SA_NODEFER;
    __sysv_signal SA_RESETHAND | SA_NODEFER;
}

macro_rules! masks {
    ($($name:ident)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
            let next = next!($name: unsafe extern "C" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int);
            // SAFETY: as this function's caller has promised; the copy is there for as long as the call.
            unsafe {
                if set.is_null() || how == libc::SIG_UNBLOCK {
                    return next(how, set, old);
                }
                let set = MaybeUninit::new(without(set));
                next(how, set.as_ptr(), old)
            }
        }
    )+};
}

masks! { sigprocmask pthread_sigmask }
