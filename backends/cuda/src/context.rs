//! The context of one device, in which everything else happens.
//!
//! Every call of the driver on behalf of a device goes through here, so that the right
//! context is current on the calling thread, and every failure becomes an error once.
//!
//! The driver keeps the current context per thread, and a program may change it between two
//! constructs. Operations on streams, kernels and events are refused by the driver in
//! another context: they are tried as they are, and again in ours if that has been the
//! reason. What the driver would do in any context, such as allocating, sets ours first.

use crate::driver::Driver;
use crate::driver::failure::{self, DEINITIALIZED};
use crate::driver::table::Api;
use crate::driver::types::{Code, DeviceNumber, Handle, SUCCESS};
use crate::driver::virtual_gpu::Told;
use crate::under_way::{KernelName, UnderWay};
use gangway_backend::{Error, Result, SourceText, Suspect};
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// `settings.rs` reads the variable.
const STACK_FULL: &str = "LIBOMPTARGET_STACK_SIZE=BYTES gives each thread of a kernel a larger stack; large local \
                          arrays and deep recursion are what fills it";

thread_local! {
    /// The context that this back end has last made current on this thread.
    static CURRENT: Cell<Handle> = const { Cell::new(0) };
}

/// A device's primary context.
pub(crate) struct Context {
    pub driver: &'static Driver,
    pub device: DeviceNumber,
    pub handle: Handle,
    /// What has put an end to it: set once, by the first who hears of it.
    fault: OnceLock<Error>,
    /// Its streams, to find out which kernels were under way.
    streams: Mutex<Vec<ListedStream>>,
}

/// A stream, which is removed from the list before it is freed.
#[derive(Clone, Copy)]
pub(crate) struct ListedStream {
    pub handle: Handle,
    /// The program's.
    pub adopted: bool,
    /// What it notes of its kernels.
    pub kernels: *const UnderWay,
}

// SAFETY: what streams note is shared between threads.
unsafe impl Send for ListedStream {}

impl Context {
    /// Retains a device's primary context, which it shares with the program's own use of
    /// CUDA.
    ///
    /// # Errors
    /// What the driver says.
    pub fn retain(driver: &'static Driver, device: DeviceNumber) -> Result<Self> {
        let mut handle = 0;
        // SAFETY: the driver writes one handle.
        let code = unsafe { (driver.api.primary_context_retain)(&raw mut handle, device) };
        if code != SUCCESS {
            return Err(plain(driver, code, "cuDevicePrimaryCtxRetain"));
        }
        let streams = Mutex::new(Vec::new());
        Ok(Self { driver, device, handle, fault: OnceLock::new(), streams })
    }

    /// Calls the driver for what belongs to a stream, an event or a kernel of this context.
    ///
    /// `call` may be called twice: a call that is refused because of its context has done
    /// nothing.
    #[inline]
    pub fn with(&self, operation: &'static str, call: impl Fn(&Api) -> Code) -> Result<()> {
        match self.code_with(call) {
            SUCCESS => Ok(()),
            code => Err(self.failure(code, operation)),
        }
    }

    /// As [`with`](Self::with), for who has to know the code.
    #[inline]
    pub fn code_with(&self, call: impl Fn(&Api) -> Code) -> Code {
        let code = if CURRENT.get() == self.handle { call(&self.driver.api) } else { self.bound(&call) };
        if failure::is_wrong_context(code) { self.bound(&call) } else { code }
    }

    /// Calls the driver for what it does in whichever context is current.
    pub fn within(&self, operation: &'static str, call: impl Fn(&Api) -> Code) -> Result<()> {
        self.checked(self.bound(call), operation)
    }

    /// As [`within`](Self::within), for who has to know the code.
    pub fn code_within(&self, call: impl Fn(&Api) -> Code) -> Code {
        self.bound(call)
    }

    /// Makes the context current, then calls.
    #[cold]
    fn bound(&self, call: impl Fn(&Api) -> Code) -> Code {
        // SAFETY: the context is retained for as long as this lives.
        let code = unsafe { (self.driver.api.context_set_current)(self.handle) };
        if code != SUCCESS {
            return code;
        }
        CURRENT.set(self.handle);
        call(&self.driver.api)
    }

    /// Turns a code into a result.
    pub fn checked(&self, code: Code, operation: &'static str) -> Result<()> {
        if code == SUCCESS { Ok(()) } else { Err(self.failure(code, operation)) }
    }

    /// The error for a code that is not success.
    #[cold]
    pub fn failure(&self, code: Code, operation: &'static str) -> Error {
        if !failure::is_fault(code) {
            return plain(self.driver, code, operation);
        }
        self.fault.get_or_init(|| self.fault(code)).clone()
    }

    /// What has put an end to the context, with all that the driver tells.
    fn fault(&self, code: Code) -> Error {
        let (code, message) = (code.into(), self.driver.describe(code));
        let mut suspects = self.suspects();
        let Some(told) = self.driver.virtual_gpu.and_then(|gpu| gpu.fault(self.handle)) else {
            return Error::Fault { code, message, suspects, report: None };
        };
        let Told { kernel, stack_full, mut report } = told;
        suspects.retain(|suspect| suspect.kernel == kernel);
        if suspects.is_empty() {
            // One that the program has launched by itself.
            suspects.push(Suspect { kernel, source: SourceText::NONE });
        }
        if stack_full {
            report.help.push(STACK_FULL.to_owned());
        }
        Error::Fault { code, message, suspects, report: Some(Box::new(report)) }
    }

    /// Whether nothing can be done any more in this context: memory of it is gone, so that
    /// freeing it is done.
    pub fn frees_by_itself(&self, code: Code) -> bool {
        code == DEINITIALIZED || failure::is_fault(code) || self.fault.get().is_some()
    }

    fn streams(&self) -> MutexGuard<'_, Vec<ListedStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps account of a stream.
    pub fn add(&self, stream: ListedStream) {
        self.streams().push(stream);
    }

    /// A stream is about to be freed.
    pub fn remove(&self, kernels: *const UnderWay) {
        self.streams().retain(|known| known.kernels != kernels);
    }

    /// A kernel is about to be freed: no stream refers to it any more.
    pub fn forget(&self, kernel: *const KernelName) {
        for stream in self.streams().iter() {
            // SAFETY: a stream is removed from the list before it is freed.
            unsafe { &*stream.kernels }.forget(kernel);
        }
    }

    /// Whether no kernel is under way in a stream.
    pub fn is_quiet(&self) -> bool {
        self.streams().iter().all(|stream| self.is_quiet_in(stream))
    }

    /// That no kernel is noted does not say so: whoever has waited for an earlier one may take the
    /// note of another thread's off that has come meanwhile.
    fn is_quiet_in(&self, stream: &ListedStream) -> bool {
        // SAFETY: a stream is removed from the list before it is freed.
        let was_used = unsafe { &*stream.kernels }.was_used();
        // The program may be recording what it gives to its own streams, which asking would end.
        // Once a kernel was launched in such a stream, nobody knows.
        !was_used
            || !stream.adopted
                // SAFETY: the stream is alive, as it is in the list.
                && self.code_with(|api| unsafe { (api.stream_query)(stream.handle) }) == SUCCESS
    }

    /// The kernels that have been launched and not been waited for. One of them has failed.
    fn suspects(&self) -> Vec<Suspect> {
        // The lock keeps streams and kernels where they are.
        let streams = self.streams();
        // SAFETY: a stream is removed from the list before it is freed.
        let suspects = streams.iter().filter_map(|stream| unsafe { &*stream.kernels }.suspect());
        suspects.collect()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained when this was made; nothing of it is in use.
        unsafe { (self.driver.api.primary_context_release)(self.device) };
    }
}

fn plain(driver: &Driver, code: Code, operation: &str) -> Error {
    Error::Device { code: code.into(), message: format!("{operation}: {}", driver.describe(code)) }
}
