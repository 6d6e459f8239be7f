//! The signals that the check of pages needs, and who wants them besides.
//!
//! The check's handlers come first. A program that installs its own later does so by `libgangway-host-access.so`, which
//! asks here: its action is kept, and gets what is not the check's. One that goes to the system directly is
//! noticed before pages are closed.

use super::lock::{Lock, this_thread};
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// Actions that are remembered: a handler may read one while the program sets the next.
const SLOTS: usize = 64;

// SAFETY: `sigaction` is plain data, zeros of which are the default action.
const DEFAULT: libc::sigaction = unsafe { std::mem::zeroed() };

/// A signal, and the program's action for it.
pub struct Kept {
    signal: c_int,
    installed: AtomicBool,
    slots: [UnsafeCell<libc::sigaction>; SLOTS],
    /// How many actions there have been: the last is in force.
    count: AtomicUsize,
}

// SAFETY: a slot is written by a thread that has `SETTING`, and read again much later than that.
unsafe impl Sync for Kept {}

pub static SEGMENTATION: Kept = Kept::new(libc::SIGSEGV);
pub static TRAP: Kept = Kept::new(libc::SIGTRAP);

static SETTING: Lock<()> = Lock::new(());
/// The thread that asks the system itself.
static ASKING: AtomicUsize = AtomicUsize::new(0);

/// Asks the system, whoever is in between. The thread has `SETTING`.
fn ask(signal: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    ASKING.store(this_thread(), Ordering::Relaxed);
    let mut old = DEFAULT;
    // SAFETY: both actions are there.
    let done = unsafe { libc::sigaction(signal, new.map_or(ptr::null(), ptr::from_ref), &raw mut old) == 0 };
    ASKING.store(0, Ordering::Relaxed);
    done.then_some(old)
}

impl Kept {
    const fn new(signal: c_int) -> Self {
        Self {
            signal,
            installed: AtomicBool::new(false),
            slots: [const { UnsafeCell::new(DEFAULT) }; SLOTS],
            count: AtomicUsize::new(0),
        }
    }

    fn get(&self) -> libc::sigaction {
        // SAFETY: a slot is not written again before there have been as many others.
        unsafe { *self.slots[self.count.load(Ordering::Acquire) % SLOTS].get() }
    }

    fn set(&self, action: libc::sigaction) {
        let next = self.count.load(Ordering::Relaxed) + 1;
        // SAFETY: the thread has `SETTING`, so it is the only one that writes.
        unsafe { *self.slots[next % SLOTS].get() = action };
        self.count.store(next, Ordering::Release);
    }

    /// Has a handler called first. False: the program has put its own in the place of it, or there is none.
    pub fn install(&self, handler: Handler) -> bool {
        let ours = handler as *const () as usize;
        let installed = SETTING.try_with(|()| {
            let now = ask(self.signal, None)?;
            if self.installed.load(Ordering::Relaxed) {
                return (now.sa_sigaction == ours).then_some(());
            }
            self.set(now);
            let mut new = DEFAULT;
            new.sa_sigaction = ours;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            // Nobody's handler comes between what one of the check's begins and ends.
            // SAFETY: a set, and signals that there are. Faults of the handler's own are still told.
            unsafe {
                libc::sigfillset(&raw mut new.sa_mask);
                for fault in [libc::SIGSEGV, libc::SIGTRAP, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
                    libc::sigdelset(&raw mut new.sa_mask, fault);
                }
            }
            ask(self.signal, Some(&new))?;
            self.installed.store(true, Ordering::Release);
            Some(())
        });
        installed.flatten().is_some()
    }

    /// Leaves a signal to the program.
    ///
    /// # Safety
    /// The arguments are those of the handler that was installed.
    pub unsafe fn pass_on(&self, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let action = self.get();
        // SAFETY: as the caller says; the action is the program's, so its handler is one for these arguments.
        unsafe {
            let sent = (*info).si_code <= 0;
            if action.sa_sigaction == libc::SIG_IGN && sent {
                return;
            }
            // A fault cannot be ignored: the instruction would be repeated for ever.
            if [libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
                SETTING.try_with(|()| ask(self.signal, Some(&DEFAULT)));
                if sent || self.signal == libc::SIGTRAP {
                    libc::raise(self.signal);
                }
                return;
            }
            if action.sa_flags & libc::SA_RESETHAND != 0 {
                SETTING.try_with(|()| self.set(DEFAULT));
            }
            // What the system would have blocked.
            let mut mask = action.sa_mask;
            let before = &raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask;
            for signal in (1..=libc::SIGRTMAX()).filter(|&signal| libc::sigismember(before, signal) == 1) {
                libc::sigaddset(&raw mut mask, signal);
            }
            if action.sa_flags & libc::SA_NODEFER == 0 {
                libc::sigaddset(&raw mut mask, self.signal);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut());
            if action.sa_flags & libc::SA_SIGINFO != 0 {
                std::mem::transmute::<usize, Handler>(action.sa_sigaction)(self.signal, info, context);
            } else {
                std::mem::transmute::<usize, unsafe extern "C" fn(c_int)>(action.sa_sigaction)(self.signal);
            }
        }
    }
}

/// Has the program's calls for signals come here, if `libgangway-host-access.so` is in this process.
pub fn listen() {
    type Action = extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> bool;
    // SAFETY: a name with a null behind it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_listen_to_signals".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the library's function of that name has this type.
        unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn(Action)>(found)(action) };
    }
}

/// `sigaction` of the program's. False: the system is to be asked.
extern "C" fn action(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> bool {
    let Some(kept) = [&SEGMENTATION, &TRAP].into_iter().find(|kept| kept.signal == signal) else {
        return false;
    };
    if !kept.installed.load(Ordering::Acquire) || ASKING.load(Ordering::Relaxed) == this_thread() {
        return false;
    }
    let before = kept.get();
    // SAFETY: the caller of `sigaction` has an action at each that is not null; they may be the same.
    let new = unsafe { new.as_ref() }.copied();
    if let Some(new) = new {
        // In a handler that has interrupted this very thread here.
        let reentered = SETTING.try_with(|()| kept.set(new)).is_none();
        if reentered {
            kept.set(new);
        }
    }
    if !old.is_null() {
        // SAFETY: as above.
        unsafe { old.write(before) };
    }
    true
}
