//! What Gangway's virtual AMD GPU is asked, whose library tells of failures by itself otherwise.

use super::types::{Code, Handle, SUCCESS};
use gangway_backend::{Access, FaultReport};
use gangway_device_code::told_function;
use gangway_private_table::amd::{EXTENSION, Table, VERSION};
use gangway_private_table::{KernelFault, Place};
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;

/// The library's function that gives tables of extensions. It is younger than the others, and asked for apart.
pub(super) const EXTENSION_TABLE: &CStr = c"hsa_system_get_major_extension_table";

type ExtensionTable = unsafe extern "C" fn(number: u16, major: u16, bytes: usize, table: *mut c_void) -> Code;

/// A failure as the library tells it.
pub(crate) struct Told {
    /// The symbol of the kernel that has failed.
    pub kernel: String,
    pub report: FaultReport,
}

/// The virtual GPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VirtualGpu(Table);

impl VirtualGpu {
    /// Asks for the table; the library of a real card does not have it.
    pub(super) fn find(function: *mut c_void) -> Option<Self> {
        if function.is_null() {
            return None;
        }
        // SAFETY: `hsa.h` declares this type for the name.
        let function = unsafe { std::mem::transmute::<*mut c_void, ExtensionTable>(function) };
        let mut table = MaybeUninit::<Table>::uninit();
        // SAFETY: there is room for as many bytes as are said to be.
        let code = unsafe { function(EXTENSION, VERSION, size_of::<Table>(), table.as_mut_ptr().cast()) };
        // SAFETY: who knows the number has written a table of this form.
        (code == SUCCESS).then(|| Self(unsafe { table.assume_init() }))
    }

    /// Failures of kernels in a queue of ours are ours to tell.
    pub(crate) fn queue_is_ours(self, queue: usize) {
        (self.0.runtimes_queue)(queue as u64);
    }

    /// The program requires devices that use the host's memory. They do from now on, unless the user has forbidden it.
    pub(crate) fn require_unified_memory(self) {
        (self.0.requires_unified_memory)();
    }

    /// Why a kernel has failed, if the library knows; once.
    pub(crate) fn fault(self, agent: Handle) -> Option<Told> {
        let mut told: Option<Told> = None;
        (self.0.take_fault)(agent.0, receive, (&raw mut told).cast());
        told
    }
}

extern "C" fn receive(told: *mut c_void, fault: &KernelFault<'_>) {
    let Place { function, instruction, source } = &fault.place;
    let (kernel, function) = (fault.kernel.copy(), function.copy());
    let access = Access {
        address: fault.address as usize,
        size: fault.size as usize,
        write: fault.write,
        foreign: fault.foreign,
        unified: false,
    };
    let report = FaultReport {
        what: fault.what.copy(),
        access: fault.accessed.then_some(access),
        near: fault.near.copy(),
        remark: fault.remark.copy(),
        function: told_function(&kernel, &function),
        instruction: instruction.copy(),
        threads: fault.threads.copy(),
        source: source.copy(),
        ..FaultReport::default()
    };
    // SAFETY: what `VirtualGpu::fault` passes.
    unsafe { *told.cast::<Option<Told>>() = Some(Told { kernel, report }) };
}
