//! The callbacks that tools have registered.

use super::abi::{ApiInfo, Callback, EVENTS, Event, EventInfo, ProfInfo};
use gangway_frontend::message;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is to be registered or unregistered (`acc_register_t`).
pub(super) const REGISTER: i32 = 0;
pub(super) const TOGGLE: i32 = 1;
pub(super) const TOGGLE_PER_THREAD: i32 = 2;

/// A tool has registered something: from then on events are told.
static ENABLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// A tool has switched its callbacks off for this thread.
    static SWITCHED_OFF: Cell<bool> = const { Cell::new(false) };
}

#[derive(Clone, Copy)]
struct Entry {
    callback: Callback,
    /// The version of the header that the tool has been compiled with.
    version: i32,
    references: usize,
    enabled: bool,
}

struct Registry {
    entries: [Vec<Entry>; EVENTS],
    /// By event; that of [`Event::None`] is for all.
    enabled: [bool; EVENTS],
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { entries: [const { Vec::new() }; EVENTS], enabled: [true; EVENTS] });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub(super) fn hold() -> impl Sized + 'static {
    registry()
}

/// Whether events of this thread are to be told.
#[inline]
pub(super) fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed) && is_enabled_here()
}

#[cold]
fn is_enabled_here() -> bool {
    !SWITCHED_OFF.get() && registry().enabled[Event::None as usize]
}

/// Calls the callbacks of the event that the information says. No lock is held meanwhile:
/// a callback may register others.
///
/// # Safety
/// `event` points to what the specification says callbacks of the event are given.
#[cold]
pub(super) unsafe fn call(information: &mut ProfInfo, event: *mut EventInfo, api: &mut ApiInfo) {
    let place = Event::place(information.event_type).unwrap_or(0);
    let entries: Vec<Entry> = {
        let registry = registry();
        if !registry.enabled[place] {
            return;
        }
        registry.entries[place].iter().filter(|entry| entry.enabled).copied().collect()
    };
    for entry in entries {
        information.version = entry.version;
        // SAFETY: the tool promises that its callback is one, the caller what the event is; the three live until
        // it returns.
        unsafe { (entry.callback)(information, event, api) };
    }
}

/// Has events told from now on; true if they were not before.
pub(super) fn enable() -> bool {
    !ENABLED.swap(true, Ordering::AcqRel)
}

/// Whether a tool has registered something.
pub(super) fn has_been_enabled() -> bool {
    ENABLED.load(Ordering::Acquire)
}

/// Does what a tool asks for, with the numbers of the interface: switches on with the version of its header, or off.
pub(super) fn change(number: i32, callback: Option<Callback>, what: i32, version: Option<i32>) {
    let on = version.is_some();
    let Some(event) = Event::place(number) else {
        return refuse(format_args!("there is no event {number}"));
    };
    let for_all = event == Event::None as usize;
    match (what, callback) {
        (TOGGLE, None) => registry().enabled[event] = on,
        (TOGGLE, Some(_)) if for_all => refuse(format_args!("a callback is of an event")),
        (TOGGLE, Some(callback)) => {
            let mut registry = registry();
            match registry.entries[event].iter_mut().find(|entry| is(entry, callback)) {
                Some(entry) => entry.enabled = on,
                None => refuse(format_args!("the callback is not registered for event {number}")),
            }
        }
        (TOGGLE_PER_THREAD, None) if for_all => SWITCHED_OFF.set(!on),
        (TOGGLE_PER_THREAD, _) => refuse(format_args!("a thread's callbacks are switched all at once")),
        (REGISTER, None) => refuse(format_args!("there is no callback")),
        (REGISTER, Some(callback)) => match version {
            Some(version) => add(event, callback, version),
            None => remove(event, callback),
        },
        (what, _) => refuse(format_args!("there is no acc_register_t {what}")),
    }
}

fn add(event: usize, callback: Callback, version: i32) {
    let mut registry = registry();
    let entries = &mut registry.entries[event];
    if let Some(entry) = entries.iter_mut().find(|entry| is(entry, callback)) {
        entry.references += 1;
        return;
    }
    let entry = Entry { callback, version, references: 1, enabled: true };
    // The end of something is told in the opposite order of its beginning.
    let place = if Event::is_end(event) { 0 } else { entries.len() };
    entries.insert(place, entry);
}

fn remove(event: usize, callback: Callback) {
    let mut registry = registry();
    let entries = &mut registry.entries[event];
    match entries.iter().position(|entry| is(entry, callback)) {
        None => refuse(format_args!("the callback is not registered for event {event}")),
        Some(place) => {
            entries[place].references -= 1;
            if entries[place].references == 0 {
                entries.remove(place);
            }
        }
    }
}

fn is(entry: &Entry, callback: Callback) -> bool {
    std::ptr::fn_addr_eq(entry.callback, callback)
}

/// The specification has a wrong request ignored.
#[cold]
fn refuse(why: std::fmt::Arguments<'_>) {
    message::debug(format_args!("acc_prof_register or acc_prof_unregister does nothing: {why}"));
}
