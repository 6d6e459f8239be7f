//! `data`, `enter data`, `exit data`, `update`, `host_data`, `declare`, `wait`, `init` and `shutdown` (OpenACC 3.3
//! sections 2.6, 2.8, 2.13, 2.14, 2.16).

use super::abi::{AccItem, AccLaunch, Construct, Site, flag, kind};
use super::items::{List, Listed, find_object};
use super::supposed;
use crate::libomp::Libomp;
use gangway_backend::SourceText;
use gangway_frontend::caller;
use gangway_frontend::construct::{self, UnderWay};
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_frontend::words::Words as _;
use gangway_openacc::device_type::SYNC;
use gangway_openacc::failure;
use gangway_openacc::present::{self, Parts};
use gangway_openacc::profiling::{self, Event, Scope};
use gangway_openacc::thread::{self, Place};
use gangway_openacc::waits::Wait;
use gangway_openacc::words::OpenAcc;
use gangway_openacc::{device, queues, shutdown};
use gangway_runtime::{
    DataOperation, Device, Error, ErrorKind, HostRange, Items, Label, Result, events, memory,
};
use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    /// The `data` constructs that this thread is in.
    static OPEN: RefCell<Vec<Structured>> = const { RefCell::new(Vec::new()) };
}

/// Structured data that has begun.
pub(super) struct Structured {
    pub site: events::Site,
    /// `None` on the host.
    pub device: Option<&'static Device>,
    pub asynchronous: i32,
    pub listed: Listed,
}

/// The arguments of a call.
///
/// # Safety
/// They are what translated code passes: `items` has `count` elements.
pub(super) unsafe fn arguments<'a>(
    site: *const Site,
    items: *mut AccItem,
    count: u32,
) -> (events::Site, &'a mut [AccItem]) {
    // SAFETY: the caller's promise.
    unsafe {
        let source = SourceText::new((*site).source);
        let items = std::slice::from_raw_parts_mut(items, count as usize);
        (events::Site { source, return_address: caller::noted() }, items)
    }
}

/// Ends the program with an error, which names the variable and the line.
#[cold]
pub(super) fn failed(error: &Error) -> ! {
    failure::terminate_by(Libomp::END, error, &OpenAcc)
}

/// Begins, ends or updates items.
pub(super) fn perform(
    device: &'static Device,
    site: &events::Site,
    operation: DataOperation,
    items: &List<'_>,
    asynchronous: i32,
) {
    if items.is_empty() {
        return;
    }
    let title = match operation {
        DataOperation::Begin => "Entering OpenACC data region",
        DataOperation::End => "Exiting OpenACC data region",
        DataOperation::Update => "Updating data within the OpenACC data region",
    };
    let construct = construct::Construct::data(device, site, title, items);
    let issued = match queues::get(device, asynchronous) {
        None => construct.perform(device, operation, items),
        Some(queue) => construct.perform_in(&queue, operation, items),
    };
    let done: Result<()> = issued.and_then(UnderWay::complete);
    if let Err(mut error) = done {
        error.explain(Some(device), items, |remedy| OpenAcc.remedy(remedy));
        failed(&error);
    }
}

impl Structured {
    /// Makes items present.
    pub fn begin(
        site: events::Site,
        device: Option<&'static Device>,
        items: &[AccItem],
        asynchronous: i32,
    ) -> Self {
        // The thread's default queue may be another one at the end.
        let asynchronous = queues::resolved(asynchronous);
        let mut listed = Listed::default();
        if let Some(device) = device {
            listed = Listed::of(Construct::Structured, Some(device), items);
            perform(device, &site, DataOperation::Begin, &listed.data(), asynchronous);
            listed.keep_present(device);
            perform(device, &site, DataOperation::Begin, &listed.pointers(), asynchronous);
        }
        Self { site, device, asynchronous, listed }
    }

    /// Gives them up.
    pub fn end(mut self) {
        let Some(device) = self.device else { return };
        self.listed.end();
        perform(device, &self.site, DataOperation::End, &self.listed.pointers(), self.asynchronous);
        perform(device, &self.site, DataOperation::End, &self.listed.data(), self.asynchronous);
    }
}

/// Says where each item is.
pub(super) fn find(device: Option<&'static Device>, site: &events::Site, items: &mut [AccItem]) {
    for index in 0..items.len() {
        let item = &items[index];
        if item.kind == kind::FLEXIBLE {
            if let Some(why) = device.and_then(|device| flexible(device, item)) {
                failed(&Error::new(why, device.map_or(0, Device::number), site.location()));
            }
            continue;
        }
        // It has been put together.
        if item.is_object() && !item.device.is_null() {
            continue;
        }
        let begin = item.begin.addr();
        let on = device.filter(|_| item.kind != kind::DEVICEPTR);
        let of_object = || {
            let device = on.filter(|_| item.is_object())?;
            match find_object(device, item, items) {
                Parts::Nothing => None,
                Parts::Of(address) => Some(address),
                Parts::Apart(wanted, mapped) => {
                    let apart = ErrorKind::MembersApart { wanted, mapped };
                    failed(&Error::new(apart, device.number(), site.location()))
                }
            }
        };
        let of_pointer = || supposed::address(on.filter(|_| supposed::is_supposed(item))?, item);
        let whole = || Some(memory::mapped_address(on?, begin)?.0);
        let address = of_object().or_else(of_pointer).or_else(whole);
        items[index].device = address.map_or(item.begin, std::ptr::with_exposed_provenance_mut);
    }
}

/// What is wrong with a flexible array that a construct uses.
fn flexible(device: &'static Device, item: &AccItem) -> Option<ErrorKind> {
    let Range { start, end } = item.range();
    // With the last byte of what stands before it.
    match present::parts_of(device, &(start - 1..end)) {
        Parts::Apart(wanted, mapped) => Some(ErrorKind::MembersApart { wanted, mapped }),
        _ if item.flags & flag::IF_PRESENT != 0 || memory::mapped_address(device, end - 1).is_some() => None,
        _ => {
            let wanted = HostRange { begin: start, size: end - start, label: Label::from_ptr(item.label) };
            Some(ErrorKind::NotPresent { wanted, near: Vec::new() })
        }
    }
}

/// The device of a construct; `None` is the host.
pub(super) fn device_for(launch: &AccLaunch) -> Option<&'static Device> {
    // A wrong queue is a mistake on the host, too.
    let _ = queues::resolved(launch.asynchronous);
    match device::current::<Libomp>().place {
        Place::Device(device) if launch.on_host == 0 => Some(device),
        _ => None,
    }
}

fn scope(asynchronous: i32) -> Scope {
    device::scope(&device::current::<Libomp>(), asynchronous)
}

/// Begins a `data` construct, or what `declare` says in a function.
///
/// # Safety
/// Called by translated code: the arguments are what it says.
pub unsafe extern "C" fn __gangway_acc_data_begin(
    site: *const Site,
    items: *mut AccItem,
    count: u32,
    launch: *mut AccLaunch,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        let ((site, items), launch) = unsafe { (arguments(site, items, count), &*launch) };
        let mut scope = scope(launch.asynchronous);
        let mut span = scope.start(Event::EnterDataStart, profiling::Construct::Data, false);
        let structured = Structured::begin(site, device_for(launch), items, launch.asynchronous);
        thread::begin_structured();
        OPEN.with_borrow_mut(|open| open.push(structured));
        scope.end(Event::EnterDataEnd, &mut span);
    });
}

/// Ends what was begun last.
pub extern "C" fn __gangway_acc_data_end() {
    guard((), || {
        let Some(structured) = OPEN.with_borrow_mut(Vec::pop) else { return };
        let mut scope = scope(structured.asynchronous);
        let mut span = scope.start(Event::ExitDataStart, profiling::Construct::Data, false);
        structured.end();
        thread::end_structured();
        scope.end(Event::ExitDataEnd, &mut span);
    });
}

/// `enter data`.
///
/// # Safety
/// As [`__gangway_acc_data_begin`].
pub unsafe extern "C" fn __gangway_acc_enter_data(
    site: *const Site,
    items: *mut AccItem,
    count: u32,
    launch: *mut AccLaunch,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        let ((site, items), launch) = unsafe { (arguments(site, items, count), &*launch) };
        let Some(device) = device_for(launch) else { return };
        let mut scope = scope(launch.asynchronous);
        let mut span = scope.start(Event::EnterDataStart, profiling::Construct::EnterData, false);
        let mut listed = Listed::of(Construct::Enter, Some(device), items);
        perform(device, &site, DataOperation::Begin, &listed.data(), launch.asynchronous);
        listed.keep_present(device);
        perform(device, &site, DataOperation::Begin, &listed.pointers(), launch.asynchronous);
        scope.end(Event::EnterDataEnd, &mut span);
    });
}

/// `exit data`.
///
/// # Safety
/// As [`__gangway_acc_data_begin`].
pub unsafe extern "C" fn __gangway_acc_exit_data(
    site: *const Site,
    items: *mut AccItem,
    count: u32,
    launch: *mut AccLaunch,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        let ((site, items), launch) = unsafe { (arguments(site, items, count), &*launch) };
        let Some(device) = device_for(launch) else { return };
        let mut scope = scope(launch.asynchronous);
        let mut span = scope.start(Event::ExitDataStart, profiling::Construct::ExitData, false);
        let mut listed = Listed::of(Construct::Exit, Some(device), items);
        listed.keep_present(device);
        perform(device, &site, DataOperation::End, &listed.pointers(), launch.asynchronous);
        perform(device, &site, DataOperation::End, &listed.data(), launch.asynchronous);
        scope.end(Event::ExitDataEnd, &mut span);
    });
}

/// `update`.
///
/// # Safety
/// As [`__gangway_acc_data_begin`].
pub unsafe extern "C" fn __gangway_acc_update(
    site: *const Site,
    items: *mut AccItem,
    count: u32,
    launch: *mut AccLaunch,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        let ((site, items), launch) = unsafe { (arguments(site, items, count), &*launch) };
        let Some(device) = device_for(launch) else { return };
        let mut scope = scope(launch.asynchronous);
        let mut span = scope.start(Event::UpdateStart, profiling::Construct::Update, false);
        let listed = Listed::of(Construct::Update, None, items);
        perform(device, &site, DataOperation::Update, &listed.data(), launch.asynchronous);
        scope.end(Event::UpdateEnd, &mut span);
    });
}

/// `host_data`: says where items are.
///
/// # Safety
/// As [`__gangway_acc_data_begin`].
pub unsafe extern "C" fn __gangway_acc_host_data(
    site: *const Site,
    items: *mut AccItem,
    count: u32,
    launch: *mut AccLaunch,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        let ((site, items), launch) = unsafe { (arguments(site, items, count), &*launch) };
        let Some(device) = device_for(launch) else { return find(None, &site, items) };
        for item in items.iter().filter(|item| item.flags & flag::IF_PRESENT == 0) {
            if memory::mapped_address(device, item.begin.addr()).is_none() && !item.begin.is_null() {
                not_present(device, &site, item);
            }
        }
        find(Some(device), &site, items);
    });
}

/// Ends the program as a `present` clause would.
#[cold]
fn not_present(device: &'static Device, site: &events::Site, item: &AccItem) {
    let asked =
        AccItem { kind: kind::PRESENT, bytes: item.bytes.max(1), pointer: std::ptr::null_mut(), ..*item };
    let listed = Listed::of(Construct::Structured, None, &[asked]);
    perform(device, site, DataOperation::Begin, &listed.data(), SYNC);
}

/// The `init` directive without a number.
pub extern "C" fn __gangway_acc_init(device_type: i32) {
    guard((), || device::init_again::<Libomp>(device_type));
}

/// The `shutdown` directive without a number.
pub extern "C" fn __gangway_acc_shutdown(device_type: i32) {
    guard((), || shutdown::shut_down_if_started::<Libomp>(device_type));
}

/// The number of no device: the thread's own.
const OWN_DEVICE: i32 = i32::MIN;

/// The `wait` directive: for the queues that are listed, or for all; of a device of the thread's type, or its own. The
/// `wait` clause of a construct in a queue, as well.
///
/// # Safety
/// Called by translated code: `queues` has `count` numbers.
pub unsafe extern "C" fn __gangway_acc_wait(
    site: *const Site,
    asynchronous: i32,
    device: i32,
    count: i32,
    queues: *const i32,
) {
    guard((), || {
        let queues = match usize::try_from(count) {
            // SAFETY: the caller's promise.
            Ok(count) if count > 0 => Some(unsafe { std::slice::from_raw_parts(queues, count) }),
            _ => None,
        };
        let device = (device != OWN_DEVICE).then_some(device);
        // SAFETY: as above.
        let construct = unsafe { &*site }.profiled();
        Wait { asynchronous, device, queues, construct }.run::<Libomp>();
    });
}
