//! Calls through mailboxes: one block for each image, and one call at a time in it.
//!
//! A block has eight words in memory that both sides see. Code on the device takes a lock of its
//! own, writes the words behind the first, then the device address of a function into the first
//! one (release), and waits until the host has made that zero again (acquire). What the words
//! mean the front end knows, which has registered the image. They may be anything: each is read
//! once.
//!
//! A block is used by one image, and again by another one when that has gone.

use super::named::called_by;
use super::recorded::Recorded;
use super::served::Taken;
use crate::device::{Device, Opened};
use crate::library::FunctionTable;
use gangway_backend::{DevicePtr, Error as BackendError, Module, Stream};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What reports call a region that is run for a mailbox.
pub(super) const REGION: &str = "device(ancestor: 1)";

/// Words that come with a call.
pub const WORDS: usize = 7;

/// How code of an image calls the host through a mailbox.
#[derive(Debug, Clone)]
pub struct Mailbox {
    /// The functions that it may call. Null where one is not for the host.
    pub functions: FunctionTable,
    /// The variable of the image that leads to the block.
    pub pointer: &'static CStr,
    /// Serves a call; on any thread, and for several devices at once.
    pub serve: fn(&MailCall),
}

/// One call.
#[allow(missing_debug_implementations, reason = "devices have none")]
pub struct MailCall {
    /// Who calls.
    pub device: &'static Device,
    /// The function's address on the device, and on the host if the image's table has it.
    pub function: u64,
    pub host: Option<usize>,
    /// What came with it.
    pub words: [u64; WORDS],
}

/// What stands in memory that both sides see. All zero is a mailbox without a call.
#[repr(C, align(64))]
struct Block {
    function: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// One mailbox. Leaked, as kernels may look at its block at any time.
pub(super) struct Slot {
    block: &'static Block,
    /// Where the device sees the block.
    address: DevicePtr,
    /// A thread has found a call here, and serves it.
    taken: Taken,
    user: Mutex<Option<Arc<User>>>,
    next: AtomicPtr<Slot>,
}

/// The image that has a mailbox.
struct User {
    device: &'static Device,
    /// Host addresses by device address.
    functions: BTreeMap<u64, usize>,
    serve: fn(&MailCall),
}

/// The mailboxes of a device.
#[derive(Default)]
pub(super) struct Mailboxes {
    first: AtomicPtr<Slot>,
}

/// An image has a mailbox as long as this lives.
pub(crate) struct Held(&'static Slot);

impl Held {
    /// Where the device sees the block.
    pub(super) fn address(&self) -> DevicePtr {
        self.0.address
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        *self.0.user() = None;
    }
}

impl FunctionTable {
    /// The table of an image that has been loaded: host addresses by device address, without the
    /// null ones.
    ///
    /// # Errors
    /// The image has no such table, or it cannot be read.
    pub(crate) fn read(
        &self,
        device: &Device,
        opened: &Opened,
        module: &dyn Module,
    ) -> Result<BTreeMap<u64, usize>, BackendError> {
        let mut words = vec![0_u64; self.host.len()];
        let size = size_of_val(&*words);
        if size == 0 {
            return Ok(BTreeMap::new());
        }
        let from = module.global(&self.symbol.to_string_lossy(), size)?;
        let to = words.as_mut_ptr().cast();
        // SAFETY: the back end says that as many bytes stand there; the words outlive the copy.
        let copy = |stream: &dyn Stream| unsafe { stream.copy_from_device(to, from, size) };
        device.at_once(opened, copy)?;
        Ok(words.into_iter().zip(self.host.iter().copied()).filter(|(address, _)| *address != 0).collect())
    }
}

impl Mailboxes {
    fn all(&self) -> impl Iterator<Item = &'static Slot> {
        let at = |slot: &AtomicPtr<Slot>| {
            // SAFETY: what has been published is never freed.
            unsafe { slot.load(Ordering::Acquire).as_ref() }
        };
        std::iter::successors(at(&self.first), move |slot| at(&slot.next))
    }

    /// Whether there is a call that nobody has found.
    pub(super) fn has_news(&self) -> bool {
        self.all().any(Slot::has_news)
    }

    /// How many hold a call that is not answered.
    pub(super) fn under_way(&self) -> usize {
        self.all().filter(|slot| slot.has_call()).count()
    }

    /// Takes the mailboxes with calls. For one thread at a time.
    pub(super) fn take_news(&self, found: &mut impl Extend<&'static Slot>) {
        found.extend(self.all().filter(|slot| slot.has_news() && slot.taken.take()));
    }

    /// Gives an image a mailbox.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn hold(
        &self,
        device: &'static Device,
        opened: &Opened,
        functions: BTreeMap<u64, usize>,
        serve: fn(&MailCall),
    ) -> Result<Held, BackendError> {
        let user = Arc::new(User { device, functions, serve });
        if let Some(slot) = self.all().find(|slot| slot.is_free_for(&user)) {
            return Ok(Held(slot));
        }
        let memory = opened.device.allocate_visible(size_of::<Block>())?;
        // SAFETY: the memory has this size, is zero, aligned to a page, and never freed.
        let block: &'static Block = unsafe { memory.host.cast().as_ref() };
        let slot: &'static Slot = Box::leak(Box::new(Slot {
            block,
            address: memory.device,
            taken: Taken::default(),
            user: Mutex::new(Some(user)),
            next: AtomicPtr::new(ptr::null_mut()),
        }));
        let mut head = self.first.load(Ordering::Acquire);
        loop {
            slot.next.store(head, Ordering::Relaxed);
            let new = ptr::from_ref(slot).cast_mut();
            match self.first.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(Held(slot)),
                Err(now) => head = now,
            }
        }
    }
}

impl Slot {
    fn user(&self) -> MutexGuard<'_, Option<Arc<User>>> {
        self.user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a mailbox whose image has gone, and whose last call has ended.
    fn is_free_for(&self, user: &Arc<User>) -> bool {
        let mut current = self.user();
        if current.is_some() || self.taken.is_taken() {
            return false;
        }
        // A kernel that died may have left one.
        self.block.function.store(0, Ordering::Relaxed);
        *current = Some(user.clone());
        true
    }

    fn has_call(&self) -> bool {
        self.block.function.load(Ordering::Relaxed) != 0
    }

    fn has_news(&self) -> bool {
        self.has_call() && !self.taken.is_taken()
    }

    /// Serves what stands in the mailbox, for the thread that has taken it.
    pub(super) fn serve(&self, mut since: Option<u64>) {
        loop {
            let function = self.block.function.load(Ordering::Acquire);
            if function != 0 {
                self.answer(function, since.take());
                self.block.function.store(0, Ordering::Release);
            }
            if self.taken.leave(|| self.has_call()) {
                return;
            }
        }
    }

    fn answer(&self, function: u64, since: Option<u64>) {
        // Without one the image has gone, and its kernels with it.
        let Some(user) = self.user().clone() else { return };
        let words = std::array::from_fn(|at| self.block.words[at].load(Ordering::Relaxed));
        let host = user.functions.get(&function).copied();
        let call = MailCall { device: user.device, function, host, words };
        let recorded = Recorded::begin(since);
        // A panic must not end a worker, and nobody is there to be told.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            called_by(user.device.number(), || (user.serve)(&call));
        }));
        recorded.end(user.device.number(), REGION, 0);
    }
}
