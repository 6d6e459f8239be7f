//! Streams, and what the back end remembers of each.
//!
//! The runtime keeps idle streams, so they are made rarely.

use crate::context::{Context, ListedStream};
use crate::driver::failure::NOT_READY;
use crate::driver::types::{Address, Code, Handle, STREAM_NON_BLOCKING, SUCCESS};
use crate::memory;
use crate::symbol::allocate_now;
use crate::under_way::UnderWay;
use gangway_backend::{Completion, Result, VisibleMemory};
use gangway_device_code::StreamMemory;
use gangway_device_code::gcc::{Stacks, Tables};
use gangway_device_code::llvm::{Reductions, Replacements};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A stream of a device. Threads that launch at the same time have one each, and share no cache
/// line by them.
#[repr(align(128))]
pub(crate) struct Stream {
    pub handle: Handle,
    /// The program's: it is not destroyed here.
    adopted: bool,
    /// Its kernel that has not been waited for.
    pub kernels: UnderWay,
    /// What its kernels need, which run one after the other.
    scratch: Mutex<Scratch>,
    /// Its kernels have tables of arguments in the scratch memory.
    has_tables: AtomicBool,
}

/// Device memory that the kernels of a stream use one after the other.
#[derive(Default)]
pub(crate) struct Scratch {
    pub reductions: Reductions,
    pub replacements: Replacements,
    pub stacks: Stacks,
    pub tables: Tables,
}

impl Scratch {
    /// Gives the memory back.
    ///
    /// # Safety
    /// The stream is idle.
    unsafe fn free(self, memory: &InStream<'_>) -> Result<()> {
        let Self { reductions, replacements, stacks, tables } = self;
        // SAFETY: the caller's promise.
        unsafe {
            reductions
                .free(memory)
                .and(replacements.free(memory))
                .and(stacks.free(memory))
                .and(tables.free(memory))
        }
    }
}

/// Memory in the order of a stream.
pub(crate) struct InStream<'a> {
    context: &'a Context,
    stream: Handle,
}

impl StreamMemory for InStream<'_> {
    fn allocate(&self, bytes: usize) -> Result<Address> {
        allocate_now(self.context, bytes)
    }

    unsafe fn free(&self, address: Address) -> Result<()> {
        // SAFETY: the caller's promise.
        let code = self.context.code_within(|api| unsafe { (api.memory_free)(address) });
        if self.context.frees_by_itself(code) { Ok(()) } else { self.context.checked(code, "cuMemFree") }
    }

    /// The driver has read ordinary memory when the call returns.
    #[inline]
    unsafe fn copy(&self, to: Address, from: &[u8]) -> Result<()> {
        self.context.with("cuMemcpyHtoDAsync", |api| {
            // SAFETY: the caller's promise.
            unsafe { (api.copy_to_device)(to, from.as_ptr().cast(), from.len(), self.stream) }
        })
    }

    #[inline]
    unsafe fn copy_kept(&self, to: Address, from: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy(to, from) }
    }

    fn allocate_visible(&self, bytes: usize) -> Result<VisibleMemory> {
        memory::allocate_visible(self.context, bytes)
    }

    unsafe fn free_visible(&self, pages: VisibleMemory) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::free_visible(self.context, pages) }
    }
}

impl Stream {
    /// Makes a stream.
    pub fn create(context: &Context) -> Result<Box<Self>> {
        let mut handle = 0;
        let to = &raw mut handle;
        // SAFETY: the driver writes one handle.
        context.within("cuStreamCreate", |api| unsafe { (api.stream_create)(to, STREAM_NON_BLOCKING) })?;
        if let Some(gpu) = context.driver.virtual_gpu {
            gpu.keep_stream(handle);
        }
        Ok(Self::keep(context, handle, false))
    }

    /// Makes a stream of one of the program's.
    pub fn adopt(context: &Context, handle: Handle) -> Box<Self> {
        Self::keep(context, handle, true)
    }

    fn keep(context: &Context, handle: Handle, adopted: bool) -> Box<Self> {
        let stream = Box::new(Self {
            handle,
            adopted,
            kernels: UnderWay::default(),
            scratch: Mutex::default(),
            has_tables: AtomicBool::new(false),
        });
        context.add(ListedStream { handle, adopted, kernels: &raw const stream.kernels });
        stream
    }

    /// Destroys an idle stream.
    pub fn destroy(&self, context: &Context) -> Result<()> {
        context.remove(&raw const self.kernels);
        let scratch = std::mem::take(&mut *self.scratch());
        // SAFETY: the stream is idle.
        let freed = unsafe { scratch.free(&InStream { context, stream: self.handle }) };
        if self.adopted {
            return freed;
        }
        // SAFETY: the stream is idle, and this is its end.
        let code = context.code_within(|api| unsafe { (api.stream_destroy)(self.handle) });
        if context.frees_by_itself(code) {
            return Ok(());
        }
        context.checked(code, "cuStreamDestroy").and(freed)
    }

    /// Gives the driver the memory that its kernels have used, if none is under way.
    pub fn trim(&self, context: &Context) {
        // Whoever launches has it until the kernel is in the stream.
        let Ok(mut scratch) = self.scratch.try_lock() else { return };
        // SAFETY: the stream is alive.
        if context.code_with(|api| unsafe { (api.stream_query)(self.handle) }) == SUCCESS {
            // Nothing can be done about memory that cannot be freed. The tables stay: a thread that
            // waits for the stream may be counting them.
            let memory = self.memory(context);
            // SAFETY: the stream is idle, and whoever launches waits for the lock.
            unsafe {
                let _ = std::mem::take(&mut scratch.reductions).free(&memory);
                let _ = std::mem::take(&mut scratch.replacements).free(&memory);
                let _ = std::mem::take(&mut scratch.stacks).free(&memory);
            }
        }
    }

    /// Where that which its kernels need comes from.
    #[inline]
    pub const fn memory<'a>(&self, context: &'a Context) -> InStream<'a> {
        InStream { context, stream: self.handle }
    }

    /// What its kernels need besides their arguments.
    pub fn scratch(&self) -> MutexGuard<'_, Scratch> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many tables of arguments its kernels have had, if any are in use.
    #[inline]
    fn tables(&self) -> Option<u64> {
        self.has_tables.load(Ordering::Relaxed).then(|| self.scratch().tables.written())
    }

    /// The kernels that had so many tables when the driver was asked are done.
    #[inline]
    fn tables_done(&self, tables: Option<u64>) {
        if let Some(tables) = tables {
            let mut scratch = self.scratch();
            if scratch.tables.done(tables) {
                self.has_tables.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Writes a table of arguments for a kernel that is about to be launched, by the holder of
    /// the scratch memory.
    pub fn write_table(
        &self,
        context: &Context,
        scratch: &mut Scratch,
        arguments: &[u64],
    ) -> Result<Address> {
        // Without arguments nothing has to be used again.
        if !arguments.is_empty() {
            self.has_tables.store(true, Ordering::Relaxed);
        }
        scratch.tables.write(&self.memory(context), arguments)
    }

    /// Waits until everything in it is done.
    #[inline]
    pub fn synchronize(&self, context: &Context) -> Result<()> {
        let tables = self.tables();
        // SAFETY: the stream is alive.
        context.with("cuStreamSynchronize", |api| unsafe { (api.stream_synchronize)(self.handle) })?;
        self.tables_done(tables);
        self.kernels.all_done();
        Ok(())
    }

    /// Whether everything in it is done.
    pub fn is_idle(&self, context: &Context) -> Result<bool> {
        let tables = self.tables();
        // SAFETY: the stream is alive.
        match context.code_with(|api| unsafe { (api.stream_query)(self.handle) }) {
            SUCCESS => {
                self.tables_done(tables);
                self.kernels.all_done();
                Ok(true)
            }
            NOT_READY => Ok(false),
            code => Err(context.failure(code, "cuStreamQuery")),
        }
    }

    /// Has a completion called when everything that is in it now is done or has failed.
    pub fn on_complete(&self, context: &Context, completion: Completion) -> Result<()> {
        let word = completion.into_raw();
        let added = context.with("cuStreamAddCallback", |api| {
            // SAFETY: the driver passes the word to the function, once.
            unsafe { (api.stream_add_callback)(self.handle, call_completion, word, 0) }
        });
        if added.is_err() {
            // SAFETY: the driver has not taken it.
            unsafe { Completion::from_raw(word) }.cancel();
        }
        added
    }
}

/// What the driver calls; also after an error, which `cuLaunchHostFunc` would not do.
///
/// # Safety
/// `word` is a completion's, and this is the only call with it.
unsafe extern "C" fn call_completion(_stream: Handle, _code: Code, word: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { Completion::from_raw(word) }.complete();
}
