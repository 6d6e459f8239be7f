//! The construct a thread is in: `target` callbacks, and what the operations of
//! the construct refer to.

use super::abi::{Data, Endpoint};
use super::callbacks::{callbacks, next_identifier};
use gangway_runtime::Device;
use gangway_runtime::events::{self, Site};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A construct, by its `ompt_target_t`. The stock library reports deferred
/// constructs under the same numbers.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Construct {
    /// `target`.
    Target = 1,
    /// `target enter data`, and the beginning of `target data`.
    EnterData = 2,
    /// `target exit data`, and the end of `target data`.
    ExitData = 3,
    /// `target update`.
    Update = 4,
}

/// A construct that a tool has been told of. Boxed, as tools are given the
/// address of its data word.
struct State {
    construct: Construct,
    device: i32,
    return_address: *const c_void,
    task: *mut Data,
    target_task: *mut Data,
    target: Data,
    /// The construct around it on this thread, if any.
    outer: *mut State,
}

thread_local! {
    static INNERMOST: Cell<*mut State> = const { Cell::new(null_mut()) };
    /// The data word of operations outside any construct (memory routines).
    static OUTSIDE: Cell<u64> = const { Cell::new(0) };
}

/// A construct under way on this thread; tells the tool of its end when dropped.
#[must_use]
#[derive(Debug)]
pub struct Region(*mut State);

/// Tells a tool, if there is one, that a construct begins.
#[inline]
pub fn begin(construct: Construct, device: &Device, site: &Site) -> Region {
    if events::observed() { begin_now(construct, device.number(), site) } else { Region(null_mut()) }
}

#[cold]
fn begin_now(construct: Construct, device: i32, site: &Site) -> Region {
    let Some(callbacks) = callbacks() else { return Region(null_mut()) };
    // SAFETY: libomp's functions, called from a thread of the program.
    let data = |get: Option<super::abi::GetTaskData>| get.map_or(null_mut(), |get| unsafe { get() });
    let state = Box::new(State {
        construct,
        device,
        return_address: site.return_address,
        task: data(callbacks.task_data),
        target_task: data(callbacks.target_task_data),
        // With the EMI callback the word is the tool's; without it is our identifier.
        target: Data { value: if callbacks.target_emi.is_some() { 0 } else { next_identifier() } },
        outer: INNERMOST.get(),
    });
    let state = Box::into_raw(state);
    INNERMOST.set(state);
    // SAFETY: just made; lives until the region ends.
    unsafe { tell(state, Endpoint::Begin) };
    Region(state)
}

/// # Safety
/// The state is alive.
unsafe fn tell(state: *mut State, endpoint: Endpoint) {
    let Some(callbacks) = callbacks() else { return };
    // SAFETY: the caller's promise; the tool's callbacks with what their types say.
    unsafe {
        let State { construct, device, return_address, task, target_task, .. } = *state;
        let kind = construct as i32;
        if let Some(callback) = callbacks.target_emi {
            let target = &raw mut (*state).target;
            callback(kind, endpoint, device, task, target_task, target, return_address);
        } else if let Some(callback) = callbacks.target {
            callback(kind, endpoint, device, task, (*state).target.value, return_address);
        }
    }
}

impl Drop for Region {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_null() {
            end(self.0);
        }
    }
}

#[cold]
fn end(state: *mut State) {
    // A region that was suspended meanwhile is the task's business.
    if INNERMOST.get() == state {
        // SAFETY: the innermost region is alive and nobody else's.
        unsafe {
            tell(state, Endpoint::End);
            INNERMOST.set((*state).outer);
            drop(Box::from_raw(state));
        }
    }
}

/// A construct whose operations go on after its call has returned.
#[derive(Debug)]
pub struct Suspended(*mut State);

// SAFETY: the state is on the heap and this alone leads to it. What it points to is
// libomp's data of the task, which goes from thread to thread with the task.
unsafe impl Send for Suspended {}

/// Takes the innermost construct off this thread, to be ended by another call.
pub fn suspend() -> Option<Suspended> {
    let state = INNERMOST.get();
    // SAFETY: what is innermost is alive.
    let outer = unsafe { state.as_ref() }?.outer;
    INNERMOST.set(outer);
    Some(Suspended(state))
}

impl Suspended {
    /// Goes on with the construct on this thread.
    pub fn resume(self) -> Region {
        // SAFETY: a suspended state is alive and nobody else's.
        unsafe { (*self.0).outer = INNERMOST.get() };
        INNERMOST.set(self.0);
        Region(self.0)
    }
}

/// What operations on this thread refer to: target task and data word.
pub(super) fn current() -> (*mut Data, *mut Data) {
    let state = INNERMOST.get();
    if state.is_null() {
        return (null_mut(), OUTSIDE.with(|word| word.as_ptr().cast()));
    }
    // SAFETY: what is innermost is alive.
    unsafe { ((*state).target_task, &raw mut (*state).target) }
}

/// Clears the data word of operations outside constructs.
pub(super) fn begin_outside() {
    if INNERMOST.get().is_null() {
        OUTSIDE.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ompt::callbacks::bind;
    use std::ffi::{CStr, c_char};
    use std::sync::{Mutex, Once};

    /// What the tool was told: endpoint, construct, device, data word.
    type Told = (Endpoint, i32, i32, u64);
    static TOLD: Mutex<Vec<(std::thread::ThreadId, Told)>> = Mutex::new(Vec::new());

    unsafe extern "C" fn on_target(
        kind: i32,
        endpoint: Endpoint,
        device: i32,
        _task: *mut Data,
        _target_task: *mut Data,
        target: *mut Data,
        _return_address: *const c_void,
    ) {
        // SAFETY: the region's word.
        let word = unsafe { &mut (*target).value };
        if endpoint == Endpoint::Begin {
            *word += 10 + device as u64;
        }
        TOLD.lock().unwrap().push((std::thread::current().id(), (endpoint, kind, device, *word)));
    }

    unsafe extern "C" fn get_callback(which: i32, found: *mut Option<unsafe extern "C" fn()>) -> i32 {
        if which != crate::ompt::abi::number::TARGET_EMI {
            return 0;
        }
        let callback: crate::ompt::abi::TargetEmi = on_target;
        // SAFETY: function pointers are of one size; the caller's variable.
        unsafe {
            *found =
                Some(std::mem::transmute::<crate::ompt::abi::TargetEmi, unsafe extern "C" fn()>(callback))
        };
        1
    }

    unsafe extern "C" fn lookup(name: *const c_char) -> Option<unsafe extern "C" fn()> {
        // SAFETY: a name, as libomp gets it.
        if unsafe { CStr::from_ptr(name) } != c"ompt_get_callback" {
            return None;
        }
        let get: crate::ompt::abi::GetCallback = get_callback;
        // SAFETY: function pointers are of one size.
        Some(unsafe { std::mem::transmute::<crate::ompt::abi::GetCallback, unsafe extern "C" fn()>(get) })
    }

    fn connect() {
        static CONNECTED: Once = Once::new();
        // SAFETY: the function above answers as libomp's does.
        CONNECTED.call_once(|| unsafe { bind(lookup) });
    }

    /// What this thread's constructs told since the last call.
    fn told() -> Vec<Told> {
        let me = std::thread::current().id();
        let mut all = TOLD.lock().unwrap();
        let (mine, others) = all.drain(..).partition(|(thread, _)| *thread == me);
        *all = others;
        Vec::into_iter(mine).map(|(_, told)| told).collect()
    }

    #[test]
    fn a_construct_ends_when_it_is_dropped() {
        connect();
        let region = begin_now(Construct::Update, 2, &Site::NONE);
        assert_eq!(told(), [(Endpoint::Begin, 4, 2, 12)]);
        // SAFETY: the region's word.
        assert_eq!(unsafe { (*current().1).value }, 12);
        drop(region);
        assert_eq!(told(), [(Endpoint::End, 4, 2, 12)]);
        // SAFETY: the thread's own word.
        assert_eq!(unsafe { (*current().1).value }, 0);
    }

    #[test]
    fn a_suspended_construct_ends_where_it_is_resumed() {
        connect();
        let region = begin_now(Construct::Target, 1, &Site::NONE);
        let suspended = suspend().expect("a region is under way");
        drop(region);
        assert_eq!(told(), [(Endpoint::Begin, 1, 1, 11)]);
        assert!(suspend().is_none());
        // Another construct of the thread in between is not disturbed.
        let other = begin_now(Construct::EnterData, 3, &Site::NONE);
        let resumed = suspended.resume();
        // SAFETY: the region's word.
        assert_eq!(unsafe { (*current().1).value }, 11);
        drop(resumed);
        drop(other);
        assert_eq!(
            told(),
            [(Endpoint::Begin, 2, 3, 13), (Endpoint::End, 1, 1, 11), (Endpoint::End, 2, 3, 13)]
        );
    }

    #[test]
    fn without_an_observer_nothing_is_told() {
        connect();
        assert!(!events::observed());
        assert!(suspend().is_none());
        drop(Region(null_mut()));
        assert_eq!(told(), []);
    }
}
