//! Tables of private functions, `cuGetExportTable`: there is one of Gangway's own, and none of
//! NVIDIA's. In which cases that is told.
//!
//! Gangway's runtime asks for its table before it starts the driver, to say that reports and traces
//! are its own. A driver of NVIDIA's does not have the table.
//!
//! The CUDA runtime cannot do without them, so the program is about to fail and its user is told at
//! once. NVRTC asks for one and works as well without it, which is nothing to tell. What others do
//! is not known; they are told at the end of a process that has not used a device in any other way.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gangway_engine::{AccessKind, By, Facts, HostAccess, Origin, Transfer};
use gangway_private_table::{
    Accessed, Address, FindPlace, Handle, HostCopy, KernelFault, NUMBER, Obtained, Place, ReceiveAccess,
    ReceiveFault, ReceivePlace, Source, Table, Text, access, task,
};
use gangway_streams::{Follows, Task};

use crate::abi::{CUcontext, CUmodule, CUstream};
use crate::objects::context;
use crate::objects::device::{Device, host, leaks, names};
use crate::objects::process::report::report;
use crate::objects::process::{faults, state, trace};
use crate::objects::program::module::Module;
use crate::objects::stream::{StreamRef, runtimes};
use crate::objects::work::watched::{self, copy_of_host};

static TABLE: Table = Table {
    size: size_of::<Table>(),
    runtime_reports,
    when_warps_wait,
    runtimes_module,
    take_fault,
    checks_memory,
    runtimes_memory,
    requires_unified_memory,
    wants_names,
    name_memory,
    runtimes_stream,
    copies_are,
    take_accesses,
    watch_reads,
    access_place,
    looks_for_races,
    hear_host,
    host_accessed,
    host_freed,
    host_copied,
    task: task_does,
    memory_obtained,
    memory_given_up,
};

extern "C" fn checks_memory(device: gangway_private_table::Device) -> bool {
    Device::get(device).is_ok_and(Device::checks_accesses)
}

extern "C" fn wants_names(device: gangway_private_table::Device) -> bool {
    Device::get(device).is_ok_and(Device::tells_names)
}

extern "C" fn name_memory(address: Address, size: u64, name: &Text<'_>) {
    names::put(address, size, name.copy());
}

extern "C" fn runtimes_stream(stream: Handle) {
    if Device::looks_for_races()
        && let Ok(queue) = StreamRef::queue_of(CUstream::from_raw(stream), false)
    {
        runtimes::add(&queue);
    }
}

extern "C" fn copies_are(copies: u8) -> u8 {
    runtimes::copies_are(copies)
}

extern "C" fn take_accesses(
    device: gangway_private_table::Device,
    address: Address,
    size: u64,
    receive: ReceiveAccess,
    argument: *mut c_void,
) -> u64 {
    let Some(engine) = Device::get(device).ok().and_then(Device::notes_accesses) else { return 0 };
    let unseen = engine.take_accesses(address, size, &mut |accessed| {
        let gangway_engine::Accessed { address, size, kind, number } = accessed;
        let kind = match kind {
            AccessKind::Read => access::READ,
            AccessKind::Write => access::WRITE,
            AccessKind::Change => access::CHANGE,
        };
        receive(argument, &Accessed { address, size, kind, number });
    });
    unseen.map_or(0, |unseen| unseen + 1)
}

extern "C" fn watch_reads(device: gangway_private_table::Device, address: Address, size: u64, whether: bool) {
    if let Some(engine) = Device::get(device).ok().and_then(Device::notes_accesses) {
        engine.watch_reads(address, size, whether);
    }
}

extern "C" fn access_place(
    device: gangway_private_table::Device,
    number: u32,
    receive: ReceivePlace,
    argument: *mut c_void,
) {
    let engine = Device::get(device).ok().and_then(Device::notes_accesses);
    let Some(place) = engine.and_then(|engine| engine.access_place(number)) else { return };
    let source = place.source.as_ref().map(|(file, line, column)| (&**file, *line, *column));
    let [function, instruction] = [&place.function, &place.instruction].map(|text| Text::of(text));
    receive(argument, &Place { function, instruction, source: Source::of(source) });
}

extern "C" fn looks_for_races() -> bool {
    Device::looks_for_races()
}

extern "C" fn hear_host(pages: *const AtomicU64, words: usize, find: FindPlace) -> bool {
    // SAFETY: the runtime's table of so many words, which it keeps.
    let pages = unsafe { std::slice::from_raw_parts(pages, words) };
    host::hear(pages, find)
}

extern "C" fn host_accessed(address: u64, size: u64, code: u64, write: bool) {
    host::accessed(&HostAccess { address, size, write, code });
}

extern "C" fn host_freed(address: u64, size: u64) {
    host::freed(address, size);
}

extern "C" fn host_copied(stream: Handle, copy: &HostCopy<'_>) {
    let &HostCopy { address, size, ref source, write, mapped } = copy;
    let source = source.copy();
    let what = if write { "a copy to the host" } else { "a copy to the device" };
    let origin = Origin { by: By::Copy { what, mapped }, function: String::new(), source };
    if let Ok(stream) = StreamRef::resolve(CUstream::from_raw(stream), false) {
        // A stream that takes nothing any more has failed, and that is told elsewhere.
        let _ = copy_of_host(&stream, origin, Transfer { address, size, write });
    }
}

extern "C" fn task_does(event: u32, value: u64) -> u64 {
    match event {
        task::MADE => return gangway_streams::task_made(),
        task::BEGIN => {
            if value != 0 {
                // What it knows it may hand on in many ways.
                gangway_streams::tasks_met();
            }
            host::begin_task(Task::OfProgram);
        }
        task::BEGIN_FOR_DEVICE | task::BEGIN_DEPENDENT_FOR_DEVICE => {
            let depends = event == task::BEGIN_DEPENDENT_FOR_DEVICE;
            gangway_streams::task_begins(value, depends.then(gangway_streams::task_depends));
            host::begin_task(Task::ForDevice { made: value });
        }
        task::FOLLOWS => gangway_streams::task_follows(match value {
            task::FOLLOWS_ALL => Follows::All,
            task::FOLLOWS_OF_PROGRAM => Follows::OfProgram,
            made => Follows::ForDevice(made),
        }),
        task::MET_ONE => gangway_streams::task_met(value),
        task::END => host::end_task(),
        task::MET => gangway_streams::tasks_met(),
        task::SPREADS => gangway_streams::task_spreads(true),
        task::GATHERS => gangway_streams::task_spreads(false),
        task::WAITS => return gangway_streams::wait_for_task(value),
        task::SERVES => gangway_streams::serve_kernels(),
        task::FOR_DEVICE => return gangway_streams::task_for_device(),
        _ => {}
    }
    0
}

extern "C" fn memory_obtained(address: Address, obtained: &Obtained<'_>) {
    let &Obtained { maps, ref source, code, find } = obtained;
    if !Device::all().first().is_some_and(Device::tells_origins) {
        return;
    }
    leaks::obtained(address, leaks::Origin { maps, source: source.copy().map(Into::into), code, find });
}

extern "C" fn memory_given_up(stream: Handle, address: Address, size: u64, by: &Obtained<'_>) {
    let stream = (stream != 0).then(|| StreamRef::resolve(CUstream::from_raw(stream), false));
    // A stream that takes nothing any more has failed, and that is told elsewhere.
    let _ = watched::given_up(stream.and_then(Result::ok).as_ref(), address, size, by);
}

extern "C" fn runtimes_memory(address: Address) {
    leaks::keep(address);
}

extern "C" fn requires_unified_memory() {
    Device::share_host();
}

extern "C" fn take_fault(context: Handle, receive: ReceiveFault, argument: *mut c_void) -> bool {
    let Ok(context) = CUcontext::from_raw(context).get() else { return false };
    if context.usable().is_ok() {
        return false;
    }
    // Of another context of the device, if kernels of both have failed.
    let Some(facts) = faults::take(context.device.number() as u32) else { return false };
    let Facts {
        kernel, what, access, near, remark, stack_full, function, instruction, source, threads, ..
    } = &facts;
    let none = gangway_engine::Access { address: 0, size: 0, write: false, foreign: false };
    let gangway_engine::Access { address, size, write, foreign } = access.unwrap_or(none);
    let [near, remark, function, instruction, threads] =
        [near, remark, function, instruction, threads].map(|text| Text::of_option(text.as_deref()));
    let fault = KernelFault {
        kernel: Text::of(kernel),
        what: Text::of(what),
        near,
        remark,
        place: Place {
            function,
            instruction,
            source: Source::of(source.as_ref().map(|(file, line, column)| (&**file, *line, *column))),
        },
        threads,
        address,
        size,
        accessed: access.is_some(),
        write,
        foreign,
        stack_full: *stack_full,
    };
    receive(argument, &fault);
    true
}

extern "C" fn runtimes_module(module: Handle) {
    // One that has gone meanwhile launches nothing.
    let _ = Module::leave_to_runtime(CUmodule::from_raw(module));
}

extern "C" fn when_warps_wait(listener: gangway_engine::Listener, context: *mut c_void) {
    gangway_engine::when_warps_wait(listener, context);
}

extern "C" fn runtime_reports() {
    trace::leave_to_runtime();
}

/// A table, by its number.
pub fn find(id: &[u8; 16]) -> Option<*const ()> {
    (*id == NUMBER).then_some((&raw const TABLE).cast())
}

/// What libcudart asks for before anything else, and after `cuInit`.
const RUNTIME: [u128; 2] = [0xf8cff95121468b4eb9e2fb469e7c0dd9, 0x6bd5fb6c5bf4e74a8987d93912fd9df9];
/// What NVRTC asks for after `cuInit`.
const NVRTC: u128 = 0xda9151d33ae6cc41a5c04f26d533e328;

/// No lock: a forked child may ask, too.
static TOLD: AtomicBool = AtomicBool::new(false);

fn tell() {
    if !TOLD.swap(true, Ordering::Relaxed) {
        report!(
            "the virtual GPU does not support cuGetExportTable: it runs programs that use the driver API, not those \
             that use the CUDA runtime (libcudart)"
        );
    }
}

/// A table was asked for, by its number.
pub fn refused(id: &[u8; 16]) {
    static AT_EXIT: AtomicBool = AtomicBool::new(false);
    extern "C" fn at_exit() {
        if !state::is_forked() && !context::has_been_created() {
            tell();
        }
    }
    match u128::from_be_bytes(*id) {
        NVRTC => {}
        id if RUNTIME.contains(&id) => tell(),
        _ if AT_EXIT.swap(true, Ordering::Relaxed) => {}
        // SAFETY: a function without parameters that may run at any exit.
        _ => unsafe {
            libc::atexit(at_exit);
        },
    }
}
