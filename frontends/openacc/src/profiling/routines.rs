//! What tools call (section 5.3).

use super::abi::Callback;
use super::{registry, steps};
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_frontend::message;
use std::ffi::{CStr, c_char, c_void};

/// Registers a callback for an event, or switches callbacks on (section 5.3.1).
pub extern "C" fn acc_prof_register<H: Host>(event: i32, callback: Option<Callback>, what: i32) {
    guard((), || register(event, callback, what, H::OPENACC));
}

fn register(event: i32, callback: Option<Callback>, what: i32, version: i32) {
    if registry::enable() {
        steps::watch();
    }
    registry::change(event, callback, what, Some(version));
}

/// The opposite of [`acc_prof_register`].
pub extern "C" fn acc_prof_unregister(event: i32, callback: Option<Callback>, what: i32) {
    guard((), || {
        if registry::has_been_enabled() {
            registry::change(event, callback, what, None);
        }
    });
}

/// Looks up functions by name that the specification may have one day; there are none.
///
/// # Safety
/// The name is null or a string.
pub unsafe extern "C" fn acc_prof_lookup(name: *const c_char) -> *const c_void {
    guard(std::ptr::null(), || {
        if !name.is_null() {
            // SAFETY: the caller's promise.
            let name = unsafe { CStr::from_ptr(name) };
            message::debug(format_args!("acc_prof_lookup knows no function `{}`", name.to_string_lossy()));
        }
        std::ptr::null()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiling::abi::{ApiInfo, EVENTS, Event, EventInfo, ProfInfo};
    use crate::profiling::registry::{REGISTER, TOGGLE, TOGGLE_PER_THREAD, call, is_enabled};

    unsafe extern "C" fn first(_: *mut ProfInfo, event: *mut EventInfo, _: *mut ApiInfo) {
        // SAFETY: the test passes its own.
        unsafe { (*event).words[0] = (*event).words[0] * 10 + 1 };
    }

    unsafe extern "C" fn second(_: *mut ProfInfo, event: *mut EventInfo, _: *mut ApiInfo) {
        // SAFETY: as above.
        unsafe { (*event).words[0] = (*event).words[0] * 10 + 2 };
    }

    fn on(event: i32, callback: Option<Callback>, what: i32) {
        register(event, callback, what, 202_211);
    }

    /// Who is called for an event, in order.
    fn called(event: Event) -> usize {
        use crate::profiling::scope::Told;
        let mut told = Told::new();
        let mut information = EventInfo::new(crate::profiling::Construct::Data, false);
        information.event_type = event as i32;
        told.information.event_type = event as i32;
        if is_enabled() {
            // SAFETY: of this event it is what callbacks are given.
            unsafe { call(&mut told.information, &mut information, &mut told.api) };
            assert!([0, 202_211].contains(&told.information.version));
        }
        information.words[0]
    }

    /// One test, as the registry is the process's.
    #[test]
    fn callbacks_come_and_go() {
        let (start, end) = (Event::UpdateStart, Event::UpdateEnd);
        for event in [start, end] {
            on(event as i32, Some(first), REGISTER);
            on(event as i32, Some(second), REGISTER);
        }
        assert_eq!((called(start), called(end)), (12, 21));
        // Registered twice, called once.
        on(start as i32, Some(first), REGISTER);
        assert_eq!(called(start), 12);
        acc_prof_unregister(start as i32, Some(first), REGISTER);
        assert_eq!(called(start), 12);
        acc_prof_unregister(start as i32, Some(second), TOGGLE);
        assert_eq!(called(start), 1);
        on(start as i32, Some(second), TOGGLE);
        acc_prof_unregister(start as i32, Some(first), REGISTER);
        assert_eq!(called(start), 2);
        // All callbacks of an event, of a thread, and all.
        acc_prof_unregister(end as i32, None, TOGGLE);
        assert_eq!((called(start), called(end)), (2, 0));
        on(end as i32, None, TOGGLE);
        acc_prof_unregister(0, None, TOGGLE_PER_THREAD);
        assert_eq!(called(start), 0);
        assert_eq!(std::thread::spawn(move || called(start)).join().unwrap(), 2);
        on(0, None, TOGGLE_PER_THREAD);
        acc_prof_unregister(0, None, TOGGLE);
        assert_eq!(called(start), 0);
        on(0, None, TOGGLE);
        assert_eq!((called(start), called(end)), (2, 21));
        // What is wrong changes nothing.
        for event in [-1, EVENTS as i32 - 1, EVENTS as i32, 99, 101, i32::MAX] {
            on(event, Some(first), REGISTER);
        }
        on(start as i32, Some(first), 7);
        on(start as i32, None, REGISTER);
        on(0, Some(first), TOGGLE);
        acc_prof_unregister(start as i32, Some(first), REGISTER);
        assert_eq!((called(start), called(end)), (2, 21));
        for event in [start, end] {
            acc_prof_unregister(event as i32, Some(first), REGISTER);
            acc_prof_unregister(event as i32, Some(second), REGISTER);
        }
        assert_eq!((called(start), called(end)), (0, 0));
    }
}
