//! What Gangway's virtual GPU is told, whose driver reports and traces by itself otherwise.

use super::types::{Address, Code, DeviceNumber, Handle, SUCCESS};
use gangway_backend::{
    Access, AccessPlace, Accesses, Copies, FaultReport, FindCode, HostAccess, HostCopy, HostWatcher,
    SourceLocation, TaskEvent,
};
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

/// The number of a table of private functions that only the virtual GPU's driver has.
const TABLE: [u8; 16] = *b"gangway-runtime\0";

#[repr(C)]
struct Table {
    size: usize,
    runtime_reports: extern "C" fn(),
    when_warps_wait: WhenWarpsWait,
    runtimes_module: RuntimesModule,
    take_fault: TakeFault,
    checks_memory: extern "C" fn(device: DeviceNumber) -> bool,
    runtimes_memory: extern "C" fn(address: Address),
    requires_unified_memory: extern "C" fn(),
    wants_names: extern "C" fn(device: DeviceNumber) -> bool,
    name_memory: NameMemory,
    runtimes_stream: extern "C" fn(stream: Handle),
    copies_are: extern "C" fn(copies: u8) -> u8,
    take_accesses: TakeAccesses,
    access_place: TellPlace,
    looks_for_races: extern "C" fn() -> bool,
    hear_host: extern "C" fn(pages: *const AtomicU64, words: usize, find: FindPlace) -> bool,
    host_accessed: extern "C" fn(address: u64, size: u64, code: u64, write: bool),
    host_freed: extern "C" fn(address: u64, size: u64),
    host_copied: extern "C" fn(stream: Handle, copy: &Copied),
    task: extern "C" fn(event: u32, value: u64) -> u64,
}

/// Tells the place of an instruction of the program's: calls a function with an argument.
type FindPlace = extern "C" fn(code: u64, receive: ReceivePlace, argument: *mut c_void);

/// A copy's part that is memory of the program, and the construct.
#[repr(C)]
struct Copied {
    address: u64,
    size: u64,
    file: Text,
    line: u32,
    column: u32,
    write: bool,
    mapped: bool,
}

/// How places of instructions are found: one way for the process.
static FIND: OnceLock<FindCode> = OnceLock::new();

extern "C" fn find_place(code: u64, receive: ReceivePlace, argument: *mut c_void) {
    let Some(find) = FIND.get() else { return };
    let AccessPlace { function, instruction, source } = find(code as usize);
    let (file, line, column) = source.unwrap_or_default();
    receive(argument, &Text::of(&function), &Text::of(&instruction), &Text::of(&file), line, column);
}

/// Takes what is noted of the accesses to so many bytes. Answers whether accesses are noted.
type TakeAccesses =
    extern "C" fn(DeviceNumber, address: Address, size: u64, reads: *mut u32, writes: *mut u32) -> bool;

/// Tells the place of an access that has a number: calls a function with an argument.
type TellPlace = extern "C" fn(DeviceNumber, number: u32, receive: ReceivePlace, argument: *mut c_void);

type ReceivePlace = extern "C" fn(*mut c_void, &Text, &Text, file: &Text, line: u32, column: u32);

extern "C" fn receive_place(
    told: *mut c_void,
    function: &Text,
    instruction: &Text,
    file: &Text,
    line: u32,
    column: u32,
) {
    // SAFETY: what `VirtualGpu::access_place` passes; the texts are there during the call.
    unsafe {
        let file = file.copy();
        *told.cast::<Option<AccessPlace>>() = Some(AccessPlace {
            function: function.copy(),
            instruction: instruction.copy(),
            source: (!file.is_empty()).then_some((file, line, column)),
        });
    }
}

/// Says what memory at an address is, and how many bytes of it.
type NameMemory = extern "C" fn(address: Address, size: u64, name: &Text);

/// Has a function called, with an argument, again and again while warps of any device wait.
pub(crate) type WhenWarpsWait = extern "C" fn(listener: extern "C" fn(*mut c_void), context: *mut c_void);

/// Says that the runtime has loaded a module, and reports its kernels.
pub(crate) type RuntimesModule = extern "C" fn(module: Handle);

/// Tells why a kernel has failed and with it the context, once: calls a function with an argument.
/// Answers whether it has.
pub(crate) type TakeFault = extern "C" fn(
    context: Handle,
    receive: extern "C" fn(*mut c_void, &KernelFault),
    argument: *mut c_void,
) -> bool;

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
    /// The driver's bytes are still there: its call has not returned.
    unsafe fn copy(&self) -> String {
        if self.size == 0 {
            return String::new();
        }
        // SAFETY: the driver has so many bytes there during its call, as the caller promises.
        let bytes = unsafe { std::slice::from_raw_parts(self.bytes, self.size) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Why a kernel has failed; `vgpu/driver/src/api/private_tables.rs` says what the fields mean.
#[repr(C)]
pub(crate) struct KernelFault {
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
    address: u64,
    size: u64,
    accessed: bool,
    write: bool,
    foreign: bool,
    stack_full: bool,
}

/// A failure as the driver tells it.
pub(crate) struct Told {
    /// The symbol of the kernel that has failed.
    pub kernel: String,
    pub stack_full: bool,
    pub report: FaultReport,
}

extern "C" fn receive(told: *mut c_void, fault: &KernelFault) {
    // SAFETY: what `VirtualGpu::fault` passes; the texts are there during the call.
    let (told, text) = unsafe { (&mut *told.cast::<Option<Told>>(), |text: &Text| text.copy()) };
    let kernel = text(&fault.kernel);
    let function = text(&fault.function);
    // What the compiler has made of the region has names that say no more.
    let own =
        function == kernel || function.starts_with("__omp_offloading_") || function.contains("omp_outlined");
    // LLVM copies functions for itself.
    let named = function.strip_suffix("_$_internalized").unwrap_or(&function);
    let function = if own { String::new() } else { named.to_owned() };
    let file = text(&fault.file);
    *told = Some(Told {
        kernel,
        stack_full: fault.stack_full,
        report: FaultReport {
            what: text(&fault.what),
            access: fault.accessed.then_some(Access {
                address: fault.address as usize,
                size: fault.size as usize,
                write: fault.write,
                foreign: fault.foreign,
                unified: false,
            }),
            near: text(&fault.near),
            remark: text(&fault.remark),
            function,
            instruction: text(&fault.instruction),
            threads: text(&fault.threads),
            source: (!file.is_empty()).then_some((file, fault.line, fault.column)),
            ..FaultReport::default()
        },
    });
}

/// What the virtual GPU's driver does for the runtime alone.
#[derive(Clone, Copy)]
pub(crate) struct VirtualGpu {
    pub when_warps_wait: WhenWarpsWait,
    pub runtimes_module: RuntimesModule,
    take_fault: TakeFault,
    checks_memory: extern "C" fn(device: DeviceNumber) -> bool,
    runtimes_memory: extern "C" fn(address: Address),
    requires_unified_memory: extern "C" fn(),
    wants_names: extern "C" fn(device: DeviceNumber) -> bool,
    name_memory: NameMemory,
    runtimes_stream: extern "C" fn(stream: Handle),
    copies_are: extern "C" fn(copies: u8) -> u8,
    take_accesses: TakeAccesses,
    access_place: TellPlace,
    looks_for_races: extern "C" fn() -> bool,
    hear_host: extern "C" fn(pages: *const AtomicU64, words: usize, find: FindPlace) -> bool,
    host_accessed: extern "C" fn(address: u64, size: u64, code: u64, write: bool),
    host_freed: extern "C" fn(address: u64, size: u64),
    host_copied: extern "C" fn(stream: Handle, copy: &Copied),
    task: extern "C" fn(event: u32, value: u64) -> u64,
}

/// It finds races with what the program itself does.
impl HostWatcher for VirtualGpu {
    fn hear(&self, pages: &'static [AtomicU64], find: FindCode) -> bool {
        let _ = FIND.set(find);
        (self.hear_host)(pages.as_ptr(), pages.len(), find_place)
    }

    fn accessed(&self, access: &HostAccess) {
        let &HostAccess { address, size, code, write } = access;
        (self.host_accessed)(address as u64, size as u64, code as u64, write);
    }

    fn freed(&self, address: usize, size: usize) {
        (self.host_freed)(address as u64, size as u64);
    }

    fn task(&self, event: TaskEvent) -> u64 {
        // As `vgpu/driver/src/api/private_tables.rs` numbers them.
        let (number, value) = match event {
            TaskEvent::Made => (0, 0),
            TaskEvent::Begin { depends } => (1, depends.into()),
            TaskEvent::BeginForDevice { made, depends: false } => (2, made),
            TaskEvent::BeginForDevice { made, depends: true } => (3, made),
            TaskEvent::End => (4, 0),
            TaskEvent::Met => (5, 0),
            TaskEvent::Spreads(true) => (6, 0),
            TaskEvent::Spreads(false) => (7, 0),
            TaskEvent::Waits(is) => (8, is.into()),
            TaskEvent::IsForDevice => (9, 0),
        };
        (self.task)(number, value)
    }
}

impl VirtualGpu {
    /// Whether it does, and wants to hear of copies from and to the program's memory.
    pub(crate) fn looks_for_races(&self) -> bool {
        (self.looks_for_races)()
    }

    /// Says that the copy that was put last into a stream reads or writes memory of the program.
    pub(crate) fn host_copied(&self, stream: Handle, copy: &HostCopy, construct: Option<SourceLocation<'_>>) {
        let &HostCopy { address, size, write, mapped } = copy;
        let (file, line, column) = construct.map_or(("", 0, 0), |at| (at.file, at.line, at.column));
        let (address, size, file) = (address as u64, size as u64, Text::of(file));
        (self.host_copied)(stream, &Copied { address, size, file, line, column, write, mapped });
    }

    /// What kernels have accessed of a range since this was last asked, if the driver notes that.
    pub(crate) fn take_accesses(&self, device: DeviceNumber, from: Address, size: usize) -> Option<Accesses> {
        let mut accesses = Accesses { first_reads: vec![0; size], writes: vec![0; size] };
        let Accesses { first_reads, writes } = &mut accesses;
        let (reads, writes) = (first_reads.as_mut_ptr(), writes.as_mut_ptr());
        (self.take_accesses)(device, from, size as u64, reads, writes).then_some(accesses)
    }

    /// The place of an access.
    pub(crate) fn access_place(&self, device: DeviceNumber, number: u32) -> Option<AccessPlace> {
        let mut told = None;
        (self.access_place)(device, number, receive_place, (&raw mut told).cast());
        told
    }

    /// Whether a device's reports want to know which variables its memory is of.
    pub(crate) fn wants_names(&self, device: DeviceNumber) -> bool {
        (self.wants_names)(device)
    }

    /// Says of which variable so many bytes at an address are.
    pub(crate) fn name(&self, address: Address, size: usize, name: &str) {
        (self.name_memory)(address, size as u64, &Text::of(name));
    }

    /// Says that a stream is the runtime's.
    pub(crate) fn keep_stream(&self, stream: Handle) {
        (self.runtimes_stream)(stream);
    }

    /// Says whose affair it is what the calling thread copies and waits for during `work`.
    pub(crate) fn on_behalf(&self, copies: Copies, work: &mut dyn FnMut()) {
        let before = (self.copies_are)(copies as u8);
        work();
        (self.copies_are)(before);
    }

    /// Whether each access of a device's kernels is checked to the byte.
    pub(crate) fn checks_memory(&self, device: DeviceNumber) -> bool {
        (self.checks_memory)(device)
    }

    /// Says that the runtime keeps memory that it has allocated, so that the program is not told of it
    /// as memory that it has never freed.
    pub(crate) fn keep(&self, address: Address) {
        (self.runtimes_memory)(address);
    }

    /// Says that the program requires devices which use the host's memory. They do from now on,
    /// unless the user has forbidden it.
    pub(crate) fn require_unified_memory(&self) {
        (self.requires_unified_memory)();
    }

    /// Why a kernel has failed, and with it a context.
    pub(crate) fn fault(&self, context: Handle) -> Option<Told> {
        let mut told = None;
        (self.take_fault)(context, receive, (&raw mut told).cast());
        told
    }
}

/// Says that reports and traces are the runtime's: nothing is to be counted twice. Before the
/// driver is started, which begins to record. Does nothing with any other driver. Answers what
/// else the driver can be told.
pub(super) fn tell(find: &dyn Fn(&CStr) -> *mut c_void) -> Option<VirtualGpu> {
    let get = find(c"cuGetExportTable");
    if get.is_null() {
        return None;
    }
    type GetExportTable = unsafe extern "C" fn(table: *mut *const c_void, id: *const u8) -> Code;
    let mut table: *const c_void = std::ptr::null();
    // SAFETY: the driver API declares this type for the name. Drivers take the call at any time,
    // and answer an error for a number that they do not know.
    let code = unsafe {
        let get = std::mem::transmute::<*mut c_void, GetExportTable>(get);
        get(&raw mut table, TABLE.as_ptr())
    };
    if code != SUCCESS || table.is_null() {
        return None;
    }
    // SAFETY: who knows the number has this table; a longer one is a newer one.
    let table = unsafe { &*table.cast::<Table>() };
    if table.size < size_of::<Table>() {
        return None;
    }
    (table.runtime_reports)();
    let &Table {
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
        ..
    } = table;
    Some(VirtualGpu {
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
    })
}
