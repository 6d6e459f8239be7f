//! What has put an end to a device: a kernel that has failed.
//!
//! The library tells it on threads of its own: which queue has failed, and (of wrong accesses) at which address.
//! Nothing is done there but to note it. Whoever waits for an operation looks here.

use crate::driver::Driver;
use crate::driver::types::{
    Code, FAULT_HOST_ONLY, FAULT_READ_ONLY, Handle, MEMORY_FAULT, MEMORY_FAULT_EVENT, QueueRecord, SUCCESS,
    SystemEvent,
};
use gangway_backend::{Access, Error, FaultReport, SourceText, Suspect};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError, Weak};

/// What is noted of a device.
#[derive(Default)]
pub(crate) struct Faults {
    agent: Handle,
    has: AtomicBool,
    noted: Mutex<Noted>,
    /// What is told of it: the same to everybody.
    told: OnceLock<Error>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Noted {
    code: Code,
    /// The queue whose kernel has failed.
    queue: Option<u64>,
    access: Option<Access>,
}

/// Addresses below are those of members of what a null pointer leads to.
const NULL_ZONE: usize = 1 << 16;

/// The devices that the library's events may be about.
static DEVICES: Mutex<Vec<Weak<Faults>>> = Mutex::new(Vec::new());

impl Faults {
    /// Of an agent, whose events are noted from now on.
    pub fn of(driver: &Driver, agent: Handle) -> Arc<Self> {
        let faults = Arc::new(Self { agent, ..Self::default() });
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        devices.retain(|device| device.strong_count() > 0);
        devices.push(Arc::downgrade(&faults));
        drop(devices);
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // SAFETY: the function is as the library wants it, and needs no data. Where the library does not
            // want to tell, the queues do.
            let _ = unsafe { (driver.api.register_event_handler)(hear, std::ptr::null_mut()) };
        });
        faults
    }

    /// What the library is given to tell of a queue: [`hear_queue`] takes it.
    pub fn data(self: &Arc<Self>) -> *mut c_void {
        // For the rest of the process: the library has threads that may be late.
        Arc::into_raw(Arc::clone(self)).cast_mut().cast()
    }

    /// Whether there is one.
    #[inline]
    pub fn has(&self) -> bool {
        self.has.load(Ordering::Acquire)
    }

    /// The fault. `suspects` finds the kernels that may have been under way, of one queue or of all.
    pub fn error(&self, driver: &Driver, suspects: impl FnOnce(Option<u64>) -> Vec<Suspect>) -> Error {
        let noted = *self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let (code, message) = (noted.code.into(), driver.describe(noted.code));
            let mut suspects = suspects(noted.queue);
            if let Some(told) = driver.virtual_gpu.and_then(|gpu| gpu.fault(self.agent)) {
                suspects.retain(|suspect| suspect.kernel == told.kernel);
                if suspects.is_empty() {
                    suspects.push(Suspect { kernel: told.kernel, source: SourceText::NONE });
                }
                return Error::Fault { code, message, suspects, report: Some(Box::new(told.report)) };
            }
            let report = noted.access.map(|access| {
                let what = "a kernel accesses memory that the device does not have".to_owned();
                let near = match access {
                    Access { address: ..NULL_ZONE, .. } => "a null pointer",
                    Access { foreign: true, .. } => "memory of the host",
                    Access { .. } => "",
                };
                let near = near.to_owned();
                Box::new(FaultReport { what, near, access: Some(access), ..FaultReport::default() })
            });
            Error::Fault { code, message, suspects, report }
        };
        self.told.get_or_init(make).clone()
    }

    fn note(&self, add: impl FnOnce(&mut Noted)) {
        add(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        self.has.store(true, Ordering::Release);
    }
}

/// Hears of a queue that has failed.
pub(crate) extern "C" fn hear_queue(code: Code, queue: *mut QueueRecord, data: *mut c_void) {
    if code == SUCCESS || data.is_null() {
        return;
    }
    // SAFETY: what `data` gave, which is never freed; the queue is alive while its callback runs.
    let (faults, queue) = unsafe { (&*data.cast::<Faults>(), queue.as_ref().map(|queue| queue.id)) };
    faults.note(|noted| (noted.code, noted.queue) = (code, queue));
}

/// Hears of a wrong access.
extern "C" fn hear(event: *const SystemEvent, _data: *mut c_void) -> Code {
    // SAFETY: the library passes an event.
    let Some(event) = (unsafe { event.as_ref() }).filter(|event| event.kind == MEMORY_FAULT_EVENT) else {
        return SUCCESS;
    };
    let devices: Vec<_> = {
        let devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        devices.iter().filter_map(Weak::upgrade).collect()
    };
    let access = Access {
        address: event.address as usize,
        // The library says neither this nor, of memory that is not there, whether it was to write.
        size: 0,
        write: event.reasons & FAULT_READ_ONLY != 0,
        foreign: event.reasons & FAULT_HOST_ONLY != 0,
        unified: false,
    };
    for faults in devices.iter().filter(|faults| faults.agent == event.agent) {
        faults.note(|noted| {
            noted.access = Some(access);
            if noted.code == SUCCESS {
                noted.code = MEMORY_FAULT;
            }
        });
    }
    SUCCESS
}
