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

use gangway_engine::{Facts, HostAccess, Origin, Transfer};
use gangway_findings::Source;
use gangway_streams::Task;

use crate::abi::{CUcontext, CUdevice, CUdeviceptr, CUmodule, CUstream};
use crate::objects::context;
use crate::objects::device::{Device, host, leaks, names};
use crate::objects::process::report::report;
use crate::objects::process::{faults, state, trace};
use crate::objects::program::module::Module;
use crate::objects::stream::{StreamRef, runtimes};
use crate::objects::work::watched::copy_of_host;

/// What Gangway's runtime asks for; `backends/cuda/src/driver/virtual_gpu.rs` has it, too.
const GANGWAY: u128 = u128::from_be_bytes(*b"gangway-runtime\0");

/// As NVIDIA's tables begin: with their size.
#[repr(C)]
struct Table {
    size: usize,
    runtime_reports: extern "C" fn(),
    /// Has a function called, with an argument, again and again while warps of any device wait.
    when_warps_wait: extern "C" fn(listener: gangway_engine::Listener, context: *mut c_void),
    /// The runtime has loaded this module, and reports what its kernels do.
    runtimes_module: extern "C" fn(module: CUmodule),
    /// Tells why a kernel has failed and with it the context, once: calls a function with an
    /// argument. Answers whether it has.
    take_fault: extern "C" fn(context: CUcontext, receive: Receive, argument: *mut c_void) -> bool,
    /// Whether each access of a device's kernels is checked to the byte: each variable is to have memory of its
    /// own.
    checks_memory: extern "C" fn(device: CUdevice) -> bool,
    /// The runtime keeps what it has allocated at an address.
    runtimes_memory: extern "C" fn(address: CUdeviceptr),
    /// The program requires that devices use the host's memory.
    requires_unified_memory: extern "C" fn(),
    /// Whether reports of a device want to know which variables its memory is of.
    wants_names: extern "C" fn(device: CUdevice) -> bool,
    /// So many bytes at an address are of a variable.
    name_memory: extern "C" fn(address: CUdeviceptr, size: u64, name: &Text),
    /// The runtime has made a stream.
    runtimes_stream: extern "C" fn(stream: CUstream),
    /// Whose affair it is what the calling thread copies and waits for from now on: 0 the runtime's, 1 the program has
    /// asked for it, 2 that of somebody who watches. Answers whose it was.
    copies_are: extern "C" fn(copies: u8) -> u8,
    /// Takes what is noted of the accesses to so many bytes: a number for the first read of each before any write, and
    /// one for its last write. Answers whether accesses are noted.
    take_accesses: extern "C" fn(
        device: CUdevice,
        address: CUdeviceptr,
        size: u64,
        reads: *mut u32,
        writes: *mut u32,
    ) -> bool,
    /// Tells the place that has such a number: calls a function with an argument.
    access_place: extern "C" fn(device: CUdevice, number: u32, receive: ReceivePlace, argument: *mut c_void),
    /// Whether races are looked for, also with what the program itself does.
    looks_for_races: extern "C" fn() -> bool,
    /// The program tells its accesses to pages that have their bit in a table of so many words, by the low bits of their
    /// numbers; the driver sets it for pages that devices use. `find` tells the place of an instruction. Answers whether
    /// they are wanted.
    hear_host: extern "C" fn(pages: *const AtomicU64, words: usize, find: FindPlace) -> bool,
    /// The program is about to access so many bytes, by the instruction at an address.
    host_accessed: extern "C" fn(address: u64, size: u64, code: u64, write: bool),
    /// Memory of the program is given back.
    host_freed: extern "C" fn(address: u64, size: u64),
    /// The runtime has put a copy into a stream that reads or writes memory of the program.
    host_copied: extern "C" fn(stream: CUstream, copy: &HostCopy),
    /// What the program's tasks do, see [`task`].
    task: extern "C" fn(event: u32, value: u64) -> u64,
}

/// Tells the place of an instruction of the program's: calls a function with an argument.
type FindPlace = extern "C" fn(code: u64, receive: ReceivePlace, argument: *mut c_void);

/// A copy's part that is memory of the program.
#[repr(C)]
struct HostCopy {
    address: u64,
    size: u64,
    /// The construct.
    file: Text,
    line: u32,
    column: u32,
    write: bool,
    /// It is a part of mapping data, and not what the program asks for.
    mapped: bool,
}

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
    access_place,
    looks_for_races,
    hear_host,
    host_accessed,
    host_freed,
    host_copied,
    task,
};

type Receive = extern "C" fn(argument: *mut c_void, fault: &KernelFault);

/// Bytes of UTF-8; none if there is nothing to say.
#[repr(C)]
struct Text {
    bytes: *const u8,
    size: usize,
}

impl Text {
    fn of(text: &str) -> Self {
        Self { bytes: text.as_ptr(), size: text.len() }
    }

    /// # Safety
    /// The bytes are there.
    unsafe fn copy(&self) -> String {
        if self.size == 0 {
            return String::new();
        }
        // SAFETY: the caller's promise.
        String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(self.bytes, self.size) }).into_owned()
    }

    fn of_option(text: &Option<String>) -> Self {
        Self::of(text.as_deref().unwrap_or_default())
    }
}

/// Why a kernel has failed, for the runtime: the fields of [`Facts`], valid during the call.
#[repr(C)]
struct KernelFault {
    kernel: Text,
    what: Text,
    near: Text,
    remark: Text,
    function: Text,
    instruction: Text,
    threads: Text,
    file: Text,
    line: u32,
    column: u32,
    /// The first byte of the access that is wrong.
    address: u64,
    size: u64,
    /// An access was refused: the two fields before and the two behind are its own.
    accessed: bool,
    write: bool,
    /// No device has this address.
    foreign: bool,
    stack_full: bool,
}

extern "C" fn checks_memory(device: CUdevice) -> bool {
    Device::get(device).is_ok_and(Device::checks_accesses)
}

extern "C" fn wants_names(device: CUdevice) -> bool {
    Device::get(device).is_ok_and(Device::tells_names)
}

extern "C" fn name_memory(address: CUdeviceptr, size: u64, name: &Text) {
    // SAFETY: the runtime has so many bytes there during the call.
    names::put(address, size, unsafe { name.copy() });
}

extern "C" fn runtimes_stream(stream: CUstream) {
    if Device::looks_for_races()
        && let Ok(queue) = StreamRef::queue_of(stream, false)
    {
        runtimes::add(&queue);
    }
}

extern "C" fn copies_are(copies: u8) -> u8 {
    runtimes::copies_are(copies)
}

extern "C" fn take_accesses(
    device: CUdevice,
    address: CUdeviceptr,
    size: u64,
    reads: *mut u32,
    writes: *mut u32,
) -> bool {
    let Some(engine) = Device::get(device).ok().and_then(Device::notes_accesses) else { return false };
    if size == 0 {
        return engine.take_accesses(address, &mut [], &mut []);
    }
    // SAFETY: the runtime has room for a number for each byte in both.
    let room = |place| unsafe { std::slice::from_raw_parts_mut(place, size as usize) };
    engine.take_accesses(address, room(reads), room(writes))
}

/// Gets the function, the instruction, the file, the line and the column of an access.
type ReceivePlace = extern "C" fn(
    argument: *mut c_void,
    function: &Text,
    instruction: &Text,
    file: &Text,
    line: u32,
    column: u32,
);

extern "C" fn access_place(device: CUdevice, number: u32, receive: ReceivePlace, argument: *mut c_void) {
    let engine = Device::get(device).ok().and_then(Device::notes_accesses);
    let Some(place) = engine.and_then(|engine| engine.access_place(number)) else { return };
    let (file, line, column) = place.source.unwrap_or_default();
    let [function, instruction, file] =
        [&place.function, &place.instruction, &file].map(|text| Text::of(text));
    receive(argument, &function, &instruction, &file, line, column);
}

extern "C" fn looks_for_races() -> bool {
    Device::looks_for_races()
}

extern "C" fn hear_host(pages: *const AtomicU64, words: usize, find: FindPlace) -> bool {
    // SAFETY: the runtime's table of so many words, which it keeps.
    let pages = unsafe { std::slice::from_raw_parts(pages, words) };
    extern "C" fn receive(
        found: *mut c_void,
        function: &Text,
        _instruction: &Text,
        file: &Text,
        line: u32,
        column: u32,
    ) {
        // SAFETY: what is passed below; the texts are there during the call.
        unsafe {
            let (function, file) = (function.copy(), file.copy());
            let source = (!file.is_empty()).then_some(Source { file, line, column });
            *found.cast::<(String, Option<Source>)>() = (function, source);
        }
    }
    host::hear(
        pages,
        Box::new(move |code| {
            let mut found = (String::new(), None);
            find(code, receive, (&raw mut found).cast());
            found
        }),
    )
}

extern "C" fn host_accessed(address: u64, size: u64, code: u64, write: bool) {
    host::accessed(&HostAccess { address, size, write, code });
}

extern "C" fn host_freed(address: u64, size: u64) {
    host::freed(address, size);
}

extern "C" fn host_copied(stream: CUstream, copy: &HostCopy) {
    let &HostCopy { address, size, ref file, line, column, write, mapped } = copy;
    // SAFETY: the runtime has the text during the call.
    let file = unsafe { file.copy() };
    let source = (!file.is_empty()).then_some((file, line, column));
    let what = if write { "a copy to the host" } else { "a copy to the device" };
    if let Ok(stream) = StreamRef::resolve(stream, false) {
        // A stream that takes nothing any more has failed, and that is told elsewhere.
        let _ = copy_of_host(&stream, Origin { what, mapped, source }, Transfer { address, size, write });
    }
}

/// What the program's tasks do, by a number.
mod event {
    /// It makes one: answers the moment.
    pub const MADE: u32 = 0;
    /// The calling thread begins one that runs code of the program; the value says whether it depends on others.
    pub const BEGIN: u32 = 1;
    /// The calling thread begins one that moves data and was made at a moment: one of its own, and one that depends on
    /// others.
    pub const BEGIN_FOR_DEVICE: u32 = 2;
    pub const BEGIN_DEPENDENT_FOR_DEVICE: u32 = 3;
    /// The calling thread ends the task that it has begun last.
    pub const END: u32 = 4;
    /// The program has waited for tasks.
    pub const MET: u32 = 5;
    /// A task goes on in several threads, and does so no more.
    pub const SPREADS: u32 = 6;
    pub const GATHERS: u32 = 7;
    /// The calling thread waits on behalf of a task from now on, if the value is not 0: answers whether it did.
    pub const WAITS: u32 = 8;
    /// Answers whether the calling thread is in a task that moves data.
    pub const IS_FOR_DEVICE: u32 = 9;
}

extern "C" fn task(event: u32, value: u64) -> u64 {
    match event {
        event::MADE => return gangway_streams::task_made(),
        event::BEGIN => {
            if value != 0 {
                // What it knows it may hand on in many ways.
                gangway_streams::tasks_met();
            }
            host::begin_task(Task::OfProgram);
        }
        event::BEGIN_FOR_DEVICE => host::begin_task(Task::ForDevice { made: value, since: None }),
        event::BEGIN_DEPENDENT_FOR_DEVICE => {
            let since = Some(gangway_streams::task_depends());
            host::begin_task(Task::ForDevice { made: value, since });
        }
        event::END => host::end_task(),
        event::MET => gangway_streams::tasks_met(),
        event::SPREADS => gangway_streams::task_spreads(true),
        event::GATHERS => gangway_streams::task_spreads(false),
        event::WAITS => return gangway_streams::wait_for_task(value != 0).into(),
        event::IS_FOR_DEVICE => return gangway_streams::is_task_for_device().into(),
        _ => {}
    }
    0
}

extern "C" fn runtimes_memory(address: CUdeviceptr) {
    leaks::keep(address);
}

extern "C" fn requires_unified_memory() {
    Device::share_host();
}

extern "C" fn take_fault(context: CUcontext, receive: Receive, argument: *mut c_void) -> bool {
    let Ok(context) = context.get() else { return false };
    if context.usable().is_ok() {
        return false;
    }
    // Of another context of the device, if kernels of both have failed.
    let Some(facts) = faults::take(context.device.number() as u32) else { return false };
    let Facts { kernel, what, access, near, remark, stack_full, function, instruction, source, threads } =
        &facts;
    let (file, line, column) =
        source.as_ref().map_or(("", 0, 0), |(file, line, column)| (&**file, *line, *column));
    let none = gangway_engine::Access { address: 0, size: 0, write: false, foreign: false };
    let gangway_engine::Access { address, size, write, foreign } = access.unwrap_or(none);
    let fault = KernelFault {
        kernel: Text::of(kernel),
        what: Text::of(what),
        near: Text::of_option(near),
        remark: Text::of_option(remark),
        function: Text::of_option(function),
        instruction: Text::of_option(instruction),
        threads: Text::of_option(threads),
        file: Text::of(file),
        line,
        column,
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

extern "C" fn runtimes_module(module: CUmodule) {
    // One that has gone meanwhile launches nothing.
    let _ = Module::leave_to_runtime(module);
}

extern "C" fn when_warps_wait(listener: gangway_engine::Listener, context: *mut c_void) {
    gangway_engine::when_warps_wait(listener, context);
}

extern "C" fn runtime_reports() {
    trace::leave_to_runtime();
}

/// A table, by its number.
pub fn find(id: &[u8; 16]) -> Option<*const ()> {
    (u128::from_be_bytes(*id) == GANGWAY).then_some((&raw const TABLE).cast())
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
