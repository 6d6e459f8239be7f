//! Calls through mailboxes: one block for each image, and one call at a time in it.
//!
//! `gangway-host-channel` has the block. What its words mean the front end knows, which has
//! registered the image. They may be anything: each is read once.
//!
//! A block is used by one image, and again by another one when that has gone.

use crate::functions;
use crate::named::called_by;
use crate::recorded::Recorded;
use crate::served::Taken;
use gangway_backend::{DevicePtr, Error as BackendError};
use gangway_host_channel::Mailbox;
use gangway_host_channel::mailbox::WORDS;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What reports call a region that is run for a mailbox.
pub(crate) const REGION: &str = "device(ancestor: 1)";

/// One call.
#[derive(Debug)]
pub struct MailCall {
    /// The function's address on the device, and on the host if the image's table has it.
    pub function: u64,
    pub host: Option<usize>,
    /// What came with it.
    pub words: [u64; WORDS],
}

/// Serves the calls of an image; on any thread, and for several devices at once.
pub type Serving = Box<dyn Fn(&MailCall) + Send + Sync>;

/// One mailbox. Leaked, as kernels may look at its block at any time.
pub(crate) struct Slot {
    block: &'static Mailbox,
    /// Where the device sees the block.
    address: DevicePtr,
    /// A thread has found a call here, and serves it.
    taken: Taken,
    user: Mutex<Option<Arc<User>>>,
    next: AtomicPtr<Slot>,
}

/// The image that has a mailbox.
struct User {
    /// The number of the device that it is loaded on.
    device: i32,
    /// Host addresses by device address.
    functions: BTreeMap<u64, usize>,
    serve: Serving,
}

/// The mailboxes of a device.
#[derive(Default)]
pub(crate) struct Mailboxes {
    first: AtomicPtr<Slot>,
}

/// An image has a mailbox as long as this lives.
pub struct Held(&'static Slot);

impl Held {
    /// Where the device sees the block.
    pub(crate) fn address(&self) -> DevicePtr {
        self.0.address
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        *self.0.user() = None;
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
    pub(crate) fn has_news(&self) -> bool {
        self.all().any(Slot::has_news)
    }

    /// How many hold a call that is not answered.
    pub(crate) fn under_way(&self) -> usize {
        self.all().filter(|slot| slot.has_call()).count()
    }

    /// Takes the mailboxes with calls. For one thread at a time.
    pub(crate) fn take_news(&self, found: &mut impl Extend<&'static Slot>) {
        found.extend(self.all().filter(|slot| slot.has_news() && slot.taken.take()));
    }

    /// Gives an image a mailbox.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn hold(
        &self,
        device: i32,
        opened: &dyn gangway_backend::Device,
        functions: BTreeMap<u64, usize>,
        serve: Serving,
    ) -> Result<Held, BackendError> {
        let user = Arc::new(User { device, functions, serve });
        if let Some(slot) = self.all().find(|slot| slot.is_free_for(&user)) {
            return Ok(Held(slot));
        }
        let memory = opened.allocate_visible(size_of::<Mailbox>())?;
        // SAFETY: the memory has this size, is zero, aligned to a page, and never freed.
        let block: &'static Mailbox = unsafe { memory.host.cast().as_ref() };
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
    pub(crate) fn serve(&self, mut since: Option<u64>) {
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
        let call = MailCall { function, host, words };
        let recorded = Recorded::begin(since);
        // A panic must not end a worker, and nobody is there to be told.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            functions::begins();
            called_by(user.device, || (user.serve)(&call));
        }));
        recorded.end(user.device, REGION, 0);
    }
}
