//! Compute constructs (OpenACC 3.3 section 2.5): data, and the launch between.

use super::abi::{AccItem, AccLaunch, LAUNCH, LAUNCH_ON_HOST, Site};
use super::assembled::{self, Assembled};
use super::data::{Structured, arguments, device_for, failed, find};
use super::grid;
use crate::libomp::Libomp;
use gangway_frontend::construct::{Construct, complete};
use gangway_frontend::guard::guard;
use gangway_frontend::message;
use gangway_frontend::state::RUNTIME;
use gangway_frontend::words::Words;
use gangway_openacc::device_type::{DeviceType, SYNC};
use gangway_openacc::dimensions::{self, GANGS, WORKERS};
use gangway_openacc::failure::mistake;
use gangway_openacc::profiling::{self, ErrorCode, Event, Scope, Span};
use gangway_openacc::waits::Wait;
use gangway_openacc::words::OpenAcc;
use gangway_openacc::{debug, device, queues, thread};
use gangway_runtime::{Device, Items, Result, Shape, events, memory};
use std::cell::{RefCell, UnsafeCell};
use std::ffi::{CStr, c_char, c_void};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many threads every device can have in a gang.
const THREADS: u32 = 512;

thread_local! {
    /// The constructs that this thread is in: what runs on the host may have others in it.
    static OPEN: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
}

/// A construct under way.
struct Open {
    structured: Structured,
    scope: Scope,
    span: Span,
    /// The gangs of each dimension that are asked for.
    gangs: [u32; 3],
    /// The workers that its kernel has been compiled for.
    workers: u32,
    /// Objects that are there for it alone.
    assembled: Vec<Assembled>,
}

/// Begins a compute construct: makes its data present and says where it is.
///
/// # Safety
/// Called by translated code: the arguments are what it says.
pub unsafe extern "C" fn __gangway_acc_compute_begin(
    site: *const Site,
    items: *mut AccItem,
    count: u32,
    launch: *mut AccLaunch,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        let construct = unsafe { &*site }.profiled();
        // SAFETY: as above.
        let ((site, items), launch) = unsafe { (arguments(site, items, count), &mut *launch) };
        let current = device::current::<Libomp>();
        let mut scope = device::scope(&current, SYNC);
        let span = scope.start(Event::ComputeConstructStart, construct, false);
        let device = device_for(launch);
        let workers = launch.workers;
        // What the host computes is not in a queue, and has its data there.
        if device.is_some() {
            scope.set_asynchronous(launch.asynchronous);
            scope.begin_data();
        } else {
            scope.set_device_type(DeviceType::Host as i32);
        }
        let mut structured = Structured::begin(site, device, items, launch.asynchronous);
        let assembled = assembled(&mut structured, items, construct);
        find(device, &structured.site, items);
        if device.is_some() {
            launch.device = LAUNCH as i32;
            let defaults = dimensions::in_environment();
            if launch.gangs[0] == 0 {
                launch.gangs[0] = defaults[GANGS];
            }
            if launch.open != 0 && defaults[WORKERS] != 0 {
                launch.workers = defaults[WORKERS];
            }
        } else {
            // A gang is a thread of the host's, which does the work of its workers and lanes.
            launch.device = LAUNCH_ON_HOST as i32;
            let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let most = u32::try_from(processors).unwrap_or(1);
            launch.grid = grid::filled(launch.gangs, most);
            launch.gangs = [grid::all(launch.grid).min(most), 1, 1];
            (launch.workers, launch.vector) = (1, 1);
            thread::bind_to_host();
        }
        let gangs = launch.gangs;
        OPEN.with_borrow_mut(|open| open.push(Open { structured, scope, span, gangs, workers, assembled }));
    });
}

/// Puts objects together of which members are missing on the device. The construct is waited for then.
fn assembled(
    structured: &mut Structured,
    items: &mut [AccItem],
    construct: profiling::Construct,
) -> Vec<Assembled> {
    let Some(device) = structured.device else { return Vec::new() };
    let wanted = assembled::wanted(device, items);
    if !wanted.is_empty() && structured.asynchronous != SYNC {
        let queues = Some(&[structured.asynchronous][..]);
        Wait { asynchronous: SYNC, device: None, queues, construct }.run::<Libomp>();
        structured.asynchronous = SYNC;
    }
    wanted.into_iter().map(|at| Assembled::new(device, &structured.site, at, items)).collect()
}

/// Where this thread knows how many gangs each dimension has, while it is a gang of several. The first is 0
/// otherwise.
pub extern "C" fn __gangway_acc_grid() -> *mut u32 {
    thread_local!(static GRID: UnsafeCell<[u32; 3]> = const { UnsafeCell::new([0; 3]) });
    GRID.with(|grid| grid.get().cast())
}

/// Whether two host addresses are in data that was mapped apart, on the device of the construct that was begun
/// last: what is computed with one of them then is nothing that the other leads to. Answers no where
/// that is not known, as on the host.
pub extern "C" fn __gangway_acc_apart(one: *const c_void, other: *const c_void) -> i32 {
    guard(0, || {
        let device = OPEN.with_borrow(|open| open.last().and_then(|open| open.structured.device));
        let apart = device.is_some_and(|device| memory::are_mapped_apart(device, one.addr(), other.addr()));
        i32::from(apart)
    })
}

/// Where the next address is that only devices have: no pointer of a program leads there, as no processor has such
/// addresses.
static ROOM: AtomicUsize = AtomicUsize::new(1 << 62);

/// An address that no data of the program has, for so many bytes that a construct needs on the device.
pub extern "C" fn __gangway_acc_room(bytes: usize) -> *mut c_void {
    // What lies between makes an access behind the end a mistake.
    let bytes = bytes.saturating_add(1 << 12).next_multiple_of(1 << 12);
    std::ptr::without_provenance_mut(ROOM.fetch_add(bytes, Ordering::Relaxed))
}

/// Ends the construct that was begun last.
pub extern "C" fn __gangway_acc_compute_end() {
    guard((), || {
        let Some(mut open) = OPEN.with_borrow_mut(Vec::pop) else { return };
        if open.structured.device.is_none() {
            thread::unbind_from_host();
        }
        for object in open.assembled.drain(..) {
            object.end(&open.structured.site);
        }
        open.structured.end();
        open.scope.end_data();
        open.scope.end(Event::ComputeConstructEnd, &mut open.span);
    });
}

/// The host has called a routine whose directive says `nohost`.
///
/// # Safety
/// Called by translated code: the name is a constant of the program.
pub unsafe extern "C" fn __gangway_acc_nohost(name: *const c_char) {
    guard((), || {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        mistake(
            ErrorCode::Other,
            format_args!(
                "the host has called routine {name}, whose directive says nohost\n  \
             help: run the construct that calls it on a device, or leave nohost out"
            ),
        );
    });
}

/// Launches the region of the construct that the thread is in. Answers whether it is the host's to run.
pub(crate) fn launch(number: i64, host: usize, items: &impl Items, shape: &Shape) -> bool {
    if number == LAUNCH_ON_HOST {
        return true;
    }
    let of_construct = OPEN.with_borrow(|open| {
        open.last().and_then(|open| {
            let structured = &open.structured;
            let shape = Shape { teams: open.gangs, ..*shape };
            Some((structured.device?, structured.site, structured.asynchronous, shape, open.workers))
        })
    });
    let Some((device, site, asynchronous, shape, workers)) = of_construct else { return true };
    if let Err(mut error) = run(device, site, asynchronous, host, items, shape, workers) {
        error.explain(Some(device), items, |remedy| OpenAcc.remedy(remedy));
        failed(&error);
    }
    false
}

/// Whether a number is of the launch of a construct.
pub(crate) const fn is_launch(number: i64) -> bool {
    number == LAUNCH || number == LAUNCH_ON_HOST
}

fn run(
    device: &'static Device,
    site: events::Site,
    asynchronous: i32,
    host: usize,
    items: &impl Items,
    mut shape: Shape,
    compiled_for: u32,
) -> Result<()> {
    let [vector, workers, _] = shape.thread_limit;
    let may_be_too_many = workers > compiled_for || vector.saturating_mul(workers) > THREADS;
    let is_open = shape.teams.contains(&0);
    if is_open || may_be_too_many || message::is_debug() {
        let kernel = RUNTIME.questions_about(device, host, &site)?;
        let most = kernel.limits.threads.map_or(u32::MAX, NonZeroU32::get);
        if let Err(why) = dimensions::check(kernel.name, [0, workers, vector], most) {
            mistake(ErrorCode::Other, format_args!("{why}"));
        }
        // More workers than it has room for the variables of it does not need.
        shape.thread_limit[1] = workers.min(compiled_for);
        let threads = shape.thread_limit[0].saturating_mul(shape.thread_limit[1]).max(1);
        if is_open && let Some(occupancy) = kernel.occupancy(threads)? {
            // Where nobody says how many gangs there are: all that the device runs at once. One without
            // blocks of threads knows itself.
            shape.teams = grid::filled(shape.teams, occupancy.teams);
        }
        debug::launch(&kernel, [grid::all(shape.teams), shape.thread_limit[1], vector]);
    }
    let told = || format!("NumGangs={}", grid::all(shape.teams));
    let construct = Construct::region(device, &site, "Entering OpenACC compute region", items, told);
    match queues::get(device, asynchronous) {
        None => construct.run(device, host, items, &shape)?.end_by(complete),
        Some(queue) => construct.run_in(&queue, host, items, &shape)?.end_by(complete),
    }
}
