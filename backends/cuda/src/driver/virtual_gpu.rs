//! What Gangway's virtual GPU is told, whose driver reports and traces by itself otherwise.

use super::types::{Address, Code, DeviceNumber, Handle, SUCCESS};
use gangway_backend::{
    Access, AccessKind, AccessPlace, Accessed, Accesses, Copies, DevicePtr, FaultReport, FindCode, Follows,
    HostAccess, HostCopy, HostWatcher, Origin, SourceLocation, TaskEvent,
};
use gangway_device_code::told_function;
use gangway_private_table::{KernelFault, NUMBER, Place, ReceivePlace, Source, Table, Text, access, task};
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

/// How places of instructions are found: one way for the process.
static FIND: OnceLock<FindCode> = OnceLock::new();

/// How places of instructions of the program are found, for reports of the virtual GPU.
pub fn find_code_with(find: FindCode) {
    let _ = FIND.set(find);
}

extern "C" fn find_place(code: u64, receive: ReceivePlace, argument: *mut c_void) {
    let Some(find) = FIND.get() else { return };
    let AccessPlace { function, instruction, source } = find(code as usize);
    let source = Source::of(source.as_ref().map(|(file, line, column)| (&**file, *line, *column)));
    let [function, instruction] = [&function, &instruction].map(|text| Text::of(text));
    receive(argument, &Place { function, instruction, source });
}

extern "C" fn receive_place(told: *mut c_void, place: &Place<'_>) {
    let Place { function, instruction, source } = place;
    let [function, instruction] = [function, instruction].map(Text::copy);
    // SAFETY: what `VirtualGpu::access_place` passes.
    unsafe {
        *told.cast::<Option<AccessPlace>>() =
            Some(AccessPlace { function, instruction, source: source.copy() })
    };
}

extern "C" fn receive_access(told: *mut c_void, accessed: &gangway_private_table::Accessed) {
    let &gangway_private_table::Accessed { address, size, kind, number } = accessed;
    let kind = match kind {
        access::READ => AccessKind::Read,
        access::WRITE => AccessKind::Write,
        _ => AccessKind::Change,
    };
    // SAFETY: what `VirtualGpu::take_accesses` passes.
    let told = unsafe { &mut *told.cast::<Vec<Accessed>>() };
    told.push(Accessed { from: DevicePtr(address as usize), size: size as usize, kind, number });
}

/// A failure as the driver tells it.
pub(crate) struct Told {
    /// The symbol of the kernel that has failed.
    pub kernel: String,
    pub stack_full: bool,
    pub report: FaultReport,
}

extern "C" fn receive(told: *mut c_void, fault: &KernelFault<'_>) {
    // SAFETY: what `VirtualGpu::fault` passes.
    let told = unsafe { &mut *told.cast::<Option<Told>>() };
    let Place { function, instruction, source } = &fault.place;
    let (kernel, function) = (fault.kernel.copy(), function.copy());
    let function = told_function(&kernel, &function);
    *told = Some(Told {
        kernel,
        stack_full: fault.stack_full,
        report: FaultReport {
            what: fault.what.copy(),
            access: fault.accessed.then_some(Access {
                address: fault.address as usize,
                size: fault.size as usize,
                write: fault.write,
                foreign: fault.foreign,
                unified: false,
            }),
            near: fault.near.copy(),
            remark: fault.remark.copy(),
            function,
            instruction: instruction.copy(),
            threads: fault.threads.copy(),
            source: source.copy(),
            ..FaultReport::default()
        },
    });
}

/// What the virtual GPU's driver does for the runtime alone.
#[derive(Clone, Copy)]
pub(crate) struct VirtualGpu(Table);

/// It finds races with what the program itself does.
impl HostWatcher for VirtualGpu {
    fn hear(&self, pages: &'static [AtomicU64], find: FindCode) -> bool {
        find_code_with(find);
        (self.0.hear_host)(pages.as_ptr(), pages.len(), find_place)
    }

    fn accessed(&self, access: &HostAccess) {
        let &HostAccess { address, size, code, write } = access;
        (self.0.host_accessed)(address as u64, size as u64, code as u64, write);
    }

    fn freed(&self, address: usize, size: usize) {
        (self.0.host_freed)(address as u64, size as u64);
    }

    fn task(&self, event: TaskEvent) -> u64 {
        let (number, value) = match event {
            TaskEvent::Made => (task::MADE, 0),
            TaskEvent::Begin { depends } => (task::BEGIN, depends.into()),
            TaskEvent::BeginForDevice { made, depends: false } => (task::BEGIN_FOR_DEVICE, made),
            TaskEvent::BeginForDevice { made, depends: true } => (task::BEGIN_DEPENDENT_FOR_DEVICE, made),
            TaskEvent::End => (task::END, 0),
            TaskEvent::Met => (task::MET, 0),
            TaskEvent::Spreads(true) => (task::SPREADS, 0),
            TaskEvent::Spreads(false) => (task::GATHERS, 0),
            TaskEvent::Waits(made) => (task::WAITS, made),
            TaskEvent::ForDevice => (task::FOR_DEVICE, 0),
            TaskEvent::Follows(Follows::All) => (task::FOLLOWS, task::FOLLOWS_ALL),
            TaskEvent::Follows(Follows::OfProgram) => (task::FOLLOWS, task::FOLLOWS_OF_PROGRAM),
            TaskEvent::Follows(Follows::ForDevice(made)) => (task::FOLLOWS, made),
            TaskEvent::MetOne(made) => (task::MET_ONE, made),
            TaskEvent::Serves => (task::SERVES, 0),
        };
        (self.0.task)(number, value)
    }
}

/// What of the program it is, for the driver.
fn obtained(origin: &Origin) -> gangway_private_table::Obtained<'_> {
    let &Origin { maps, location, code } = origin;
    let source = Source::of(location.map(|at| (at.file, at.line, at.column)));
    gangway_private_table::Obtained { maps, source, code: code as u64, find: find_place }
}

impl VirtualGpu {
    /// Has a function called, with an argument, again and again while warps of any device wait.
    pub(crate) fn when_warps_wait(&self, listener: extern "C" fn(*mut c_void), context: *mut c_void) {
        (self.0.when_warps_wait)(listener, context);
    }

    /// Says that the runtime has loaded a module, and reports its kernels.
    pub(crate) fn runtimes_module(&self, module: Handle) {
        (self.0.runtimes_module)(module);
    }

    /// Whether it does, and wants to hear of copies from and to the program's memory.
    pub(crate) fn looks_for_races(&self) -> bool {
        (self.0.looks_for_races)()
    }

    /// Says that the copy that was put last into a stream reads or writes memory of the program.
    pub(crate) fn host_copied(&self, stream: Handle, copy: &HostCopy, construct: Option<SourceLocation<'_>>) {
        let &HostCopy { address, size, write, mapped } = copy;
        let source = Source::of(construct.map(|at| (at.file, at.line, at.column)));
        let (address, size) = (address as u64, size as u64);
        (self.0.host_copied)(
            stream,
            &gangway_private_table::HostCopy { address, size, source, write, mapped },
        );
    }

    /// What kernels have accessed of a range since this was last asked, if the driver notes that.
    pub(crate) fn take_accesses(&self, device: DeviceNumber, from: Address, size: usize) -> Option<Accesses> {
        let mut accesses = Accesses::default();
        let argument = (&raw mut accesses.accessed).cast();
        let answer = (self.0.take_accesses)(device, from, size as u64, receive_access, argument);
        accesses.unseen = answer.checked_sub(1)?;
        Some(accesses)
    }

    /// Has reads of a range told with their numbers, or only that there were some.
    pub(crate) fn watch_reads(&self, device: DeviceNumber, from: Address, size: usize, whether: bool) {
        (self.0.watch_reads)(device, from, size as u64, whether);
    }

    /// The place of an access.
    pub(crate) fn access_place(&self, device: DeviceNumber, number: u32) -> Option<AccessPlace> {
        let mut told = None;
        (self.0.access_place)(device, number, receive_place, (&raw mut told).cast());
        told
    }

    /// Whether a device's reports want to know which variables its memory is of.
    pub(crate) fn wants_names(&self, device: DeviceNumber) -> bool {
        (self.0.wants_names)(device)
    }

    /// Says of which variable so many bytes at an address are.
    pub(crate) fn name(&self, address: Address, size: usize, name: &str) {
        (self.0.name_memory)(address, size as u64, &Text::of(name));
    }

    /// Says what of the program has had memory allocated.
    pub(crate) fn obtained(&self, address: Address, origin: &Origin) {
        (self.0.memory_obtained)(address, &obtained(origin));
    }

    /// Says what of the program gives up so many bytes of memory, in a stream; with 0 all that has been allocated there.
    pub(crate) fn given_up(&self, stream: Handle, address: Address, size: usize, by: &Origin) {
        (self.0.memory_given_up)(stream, address, size as u64, &obtained(by));
    }

    /// Says that a stream is the runtime's.
    pub(crate) fn keep_stream(&self, stream: Handle) {
        (self.0.runtimes_stream)(stream);
    }

    /// Says whose affair it is what the calling thread copies and waits for during `work`.
    pub(crate) fn on_behalf(&self, copies: Copies, work: &mut dyn FnMut()) {
        let before = (self.0.copies_are)(copies as u8);
        work();
        (self.0.copies_are)(before);
    }

    /// Whether each access of a device's kernels is checked to the byte.
    pub(crate) fn checks_memory(&self, device: DeviceNumber) -> bool {
        (self.0.checks_memory)(device)
    }

    /// Says that the runtime keeps memory that it has allocated, so that the program is not told of it
    /// as memory that it has never freed.
    pub(crate) fn keep(&self, address: Address) {
        (self.0.runtimes_memory)(address);
    }

    /// Says that the program requires devices which use the host's memory. They do from now on,
    /// unless the user has forbidden it.
    pub(crate) fn require_unified_memory(&self) {
        (self.0.requires_unified_memory)();
    }

    /// Why a kernel has failed, and with it a context.
    pub(crate) fn fault(&self, context: Handle) -> Option<Told> {
        let mut told = None;
        (self.0.take_fault)(context, receive, (&raw mut told).cast());
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
        get(&raw mut table, NUMBER.as_ptr())
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
    Some(VirtualGpu(*table))
}
