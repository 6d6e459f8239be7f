//! What Gangway's virtual GPU is told, whose driver reports and traces by itself otherwise.

use super::types::{Address, Code, DeviceNumber, Handle, SUCCESS};
use gangway_backend::Access;
use std::ffi::{CStr, c_void};

/// The number of a table of private functions that only the virtual GPU's driver has.
const TABLE: [u8; 16] = *b"gangway-runtime\0";

#[repr(C)]
struct Table {
    size: usize,
    runtime_reports: extern "C" fn(),
    when_warps_wait: WhenWarpsWait,
    runtimes_module: RuntimesModule,
    refused_access: RefusedAccess,
    checks_memory: extern "C" fn(device: DeviceNumber) -> bool,
    runtimes_memory: extern "C" fn(address: Address),
}

/// Has a function called, with an argument, again and again while warps of any device wait.
pub(crate) type WhenWarpsWait = extern "C" fn(listener: extern "C" fn(*mut c_void), context: *mut c_void);

/// Says that the runtime has loaded a module, and reports its kernels.
pub(crate) type RuntimesModule = extern "C" fn(module: Handle);

/// Tells the access of a kernel for which a context was lost. Answers whether there is one.
pub(crate) type RefusedAccess = extern "C" fn(context: Handle, access: &mut RefusedByGpu) -> bool;

/// An access of a kernel that was refused.
#[repr(C)]
#[derive(Default)]
pub(crate) struct RefusedByGpu {
    /// The first byte that is wrong.
    address: u64,
    size: u64,
    write: bool,
    /// No device has this address.
    foreign: bool,
}

/// What the virtual GPU's driver does for the runtime alone.
#[derive(Clone, Copy)]
pub(crate) struct VirtualGpu {
    pub when_warps_wait: WhenWarpsWait,
    pub runtimes_module: RuntimesModule,
    refused_access: RefusedAccess,
    checks_memory: extern "C" fn(device: DeviceNumber) -> bool,
    runtimes_memory: extern "C" fn(address: Address),
}

impl VirtualGpu {
    /// Whether each access of a device's kernels is checked to the byte.
    pub(crate) fn checks_memory(&self, device: DeviceNumber) -> bool {
        (self.checks_memory)(device)
    }

    /// Says that the runtime keeps memory that it has allocated, so that the program is not told of it
    /// as memory that it has never freed.
    pub(crate) fn keep(&self, address: Address) {
        (self.runtimes_memory)(address);
    }

    /// The access of a kernel for which a context was lost.
    pub(crate) fn access(&self, context: Handle) -> Option<Box<Access>> {
        let mut refused = RefusedByGpu::default();
        (self.refused_access)(context, &mut refused).then(|| {
            let RefusedByGpu { address, size, write, foreign } = refused;
            Box::new(Access {
                address: address as usize,
                size: size as usize,
                write,
                foreign,
                place: Vec::new(),
            })
        })
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
    let Table { when_warps_wait, runtimes_module, refused_access, checks_memory, runtimes_memory, .. } =
        *table;
    Some(VirtualGpu { when_warps_wait, runtimes_module, refused_access, checks_memory, runtimes_memory })
}
