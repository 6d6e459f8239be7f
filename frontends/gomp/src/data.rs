//! Data constructs: `target data`, `enter data`, `exit data`, `update`.

use crate::abi::flags;
use crate::arrays::Arrays;
use crate::construct::{Aim, Owned, site};
use crate::pending::Deferred;
use crate::structured::Structured;
use crate::table::{Construct, Table};
use crate::tasks::{defer, wait_for};
use crate::words::WORDS;
use gangway_frontend::construct::{self, UnderWay};
use gangway_frontend::guard::guard;
use gangway_frontend::policy::settle;
use gangway_openmp::devices::Destination;
use gangway_runtime::events::Site;
use gangway_runtime::placement::Place;
use gangway_runtime::{DataOperation, Device, Result};
use std::cell::RefCell;
use std::ffi::c_void;

thread_local! {
    /// The `target data` constructs that this thread is in. A task stays with its thread, and
    /// one that runs while another waits ends before it, so the last one begun ends first.
    static OPEN: RefCell<Vec<Structured>> = const { RefCell::new(Vec::new()) };
}

/// Begins structured data.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_target_data_ext(
    device: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *mut u16,
) {
    guard((), || {
        // SAFETY: the compiler's arrays live until the call returns.
        let arrays = unsafe { Arrays::new(count, hosts, sizes, kinds) };
        begin_structured(device, &arrays.table(Construct::Begin));
        arrays.give_back();
    });
}

fn begin_structured(number: i32, table: &Table<'_>) {
    let site = site();
    let place = place(number, DataOperation::Begin, &site, table);
    // Before the construct gives addresses back in the arrays.
    let mut structured = Structured::of(place.as_ref().map(Place::device), table);
    if let Some(place) = place
        && !perform(place, site, DataOperation::Begin, table)
    {
        structured.device = None;
    }
    OPEN.with_borrow_mut(|open| open.push(structured));
}

/// Ends the structured data that was begun last.
pub extern "C" fn GOMP_target_end_data() {
    guard((), || {
        let Some(structured) = OPEN.with_borrow_mut(Vec::pop) else { return };
        if let Some(device) = structured.device {
            perform(device.into(), site(), DataOperation::End, &structured.table(Construct::EndOfStructured));
        }
        structured.recycle();
    });
}

/// Begins or ends unstructured data.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_target_enter_exit_data(
    device: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *mut u16,
    flags: u32,
    dependences: *mut *mut c_void,
) {
    guard((), || {
        let (construct, operation) = match flags & flags::EXIT_DATA {
            0 => (Construct::Begin, DataOperation::Begin),
            _ => (Construct::End, DataOperation::End),
        };
        // SAFETY: the compiler's arrays live until the call returns.
        let arrays = unsafe { Arrays::new(count, hosts, sizes, kinds) };
        let table = arrays.table(construct);
        // SAFETY: the caller's promise.
        unsafe { perform_after(device, operation, construct, &table, flags, dependences) };
    });
}

/// Moves data of what is present.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_target_update_ext(
    device: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *mut u16,
    flags: u32,
    dependences: *mut *mut c_void,
) {
    guard((), || {
        // SAFETY: the compiler's arrays live until the call returns.
        let arrays = unsafe { Arrays::new(count, hosts, sizes, kinds) };
        let table = arrays.table(Construct::Update);
        let (operation, construct) = (DataOperation::Update, Construct::Update);
        // SAFETY: the caller's promise.
        unsafe { perform_after(device, operation, construct, &table, flags, dependences) };
    });
}

/// Performs a construct when its dependences are fulfilled, in a task if nobody waits for it.
///
/// # Safety
/// The table and the dependences are the compiler's.
unsafe fn perform_after(
    number: i32,
    operation: DataOperation,
    construct: Construct,
    table: &Table<'_>,
    flags: u32,
    dependences: *mut *mut c_void,
) {
    let site = site();
    if flags & flags::NOWAIT != 0
        && let Ok(aim) = Aim::of(number, &site)
    {
        let likely = aim.likely(operation.purpose(true), &site, table);
        let deferred = DeferredData { aim, likely, site, operation, construct, arrays: Owned::copy(table) };
        // SAFETY: the caller's promise.
        if unsafe { defer(dependences, Box::new(deferred)) } {
            return;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { wait_for(dependences) };
    perform_on(number, operation, table);
}

/// A data construct that a task issues.
struct DeferredData {
    aim: Aim,
    likely: &'static Device,
    site: Site,
    operation: DataOperation,
    construct: Construct,
    arrays: Owned,
}

impl Deferred for DeferredData {
    fn issue(&self) -> Option<Result<UnderWay>> {
        let &Self { aim, site, operation, construct, ref arrays, .. } = self;
        let table = arrays.table(construct);
        let destination = aim.destination(operation.purpose(true), &site, &table);
        let Destination::Device(place) = destination else { return None };
        let device = place.device();
        match issue(place, site, operation, &table) {
            Ok(under_way) => Some(Ok(under_way)),
            Err(error) => {
                settle(&error, Some(device), WORDS);
                None
            }
        }
    }

    fn holds_up(&self) -> bool {
        self.arrays.holds_up(self.likely, self.construct)
    }

    fn is_due_at_once(&self, has_dependences: bool) -> bool {
        self.arrays.is_due_at_once(self.likely, self.construct, has_dependences)
    }
}

fn perform_on(device: i32, operation: DataOperation, table: &Table<'_>) {
    let site = site();
    if let Some(place) = place(device, operation, &site, table) {
        perform(place, site, operation, table);
    }
}

/// Where a construct that begins now finds its data, or puts it; `None`: on the host.
fn place(number: i32, operation: DataOperation, site: &Site, table: &Table<'_>) -> Option<Place> {
    let aim = Aim::of(number, site).ok()?;
    match aim.destination(operation.purpose(false), site, table) {
        Destination::Device(place) => Some(place),
        Destination::Host(_) => None,
    }
}

/// Issues a construct.
#[inline]
fn issue(place: Place, site: Site, operation: DataOperation, table: &Table<'_>) -> Result<UnderWay> {
    let construct = construct::Construct::data(place.device(), &site, title(operation), table);
    construct.perform(place, operation, table)
}

/// Whether the device has the data now; otherwise the host goes on without.
fn perform(place: Place, site: Site, operation: DataOperation, table: &Table<'_>) -> bool {
    let device = place.device();
    match issue(place, site, operation, table).and_then(UnderWay::complete) {
        Ok(()) => true,
        Err(error) => {
            settle(&error, Some(device), WORDS);
            false
        }
    }
}

/// What the information output calls an operation.
fn title(operation: DataOperation) -> &'static str {
    match operation {
        DataOperation::Begin => "Entering OpenMP data region",
        DataOperation::End => "Exiting OpenMP data region",
        DataOperation::Update => "Updating data within the OpenMP data region",
    }
}
