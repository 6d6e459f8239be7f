//! The state of one construct, and what is left to do when its device operations
//! are done.
//!
//! The state is a few objects, each in a module of its own. The steps of a construct, which need
//! several of them, are in the modules beside this one.

use crate::device::Device;
use crate::error::Result;
use crate::events::Site;
use crate::map_kind::MapKind;
use gangway_backend::DevicePtr;
use gangway_present::{EntryRef, Label, PartsTaken, StreamRef};

mod attachments;
mod batch;
mod construct;
mod given_up;
mod holdings;
mod in_use;
mod lookups;
mod once;
mod operations;
mod order;
mod pack;
mod ranges;
mod storage;
mod unpublished;

pub(super) use attachments::AttachRequest;
pub(super) use construct::Construct;
pub(super) use given_up::Declined;
pub(super) use holdings::Component;
pub(crate) use holdings::Held;

use attachments::Attachments;
use batch::Batch;
use given_up::GivenUp;
use holdings::Holdings;
use in_use::InUse;
pub(super) use in_use::give_up_unused;
use lookups::Lookups;
use operations::Operations;
pub(super) use operations::around;
pub(super) use pack::LARGEST_PART;
use unpublished::Unpublished;

/// One construct on one device, from its first lookup to its last deallocation.
///
/// Recycled from construct to construct, so that its vectors keep their memory
/// and a launch whose arguments are present allocates nothing.
pub struct Work {
    /// Where it is executed, and for whom.
    pub(super) construct: Construct,
    /// What it knows of the present table.
    pub(super) lookups: Lookups,
    /// What it has found for its items.
    pub(super) holdings: Holdings,
    /// Items that are to become present together.
    pub(super) batch: Batch,
    /// What it has made, or come across, and is not published.
    pub(super) unpublished: Unpublished,
    /// Pointers that it attaches.
    pub(super) attachments: Attachments,
    /// What it issues.
    pub(super) operations: Operations,
    /// What it has given up.
    pub(super) given_up: GivenUp,
    /// What its operations use until they are done.
    pub(super) in_use: InUse,
}

impl Work {
    /// Work on a device, which is opened if need be, in a stream of the program's or of
    /// the device's pool.
    pub(crate) fn new(
        device: &'static Device,
        queue: Option<StreamRef>,
        site: Site,
        unified_shared_memory: bool,
    ) -> Result<Self> {
        Ok(Self {
            construct: Construct::new(device, queue, site, unified_shared_memory)?,
            lookups: Lookups::default(),
            holdings: Holdings::default(),
            batch: Batch::default(),
            unpublished: Unpublished::default(),
            attachments: Attachments::default(),
            operations: Operations::default(),
            given_up: GivenUp::default(),
            in_use: InUse::default(),
        })
    }

    /// Makes finished work ready for another construct.
    pub(crate) fn restart(
        &mut self,
        device: &'static Device,
        queue: Option<StreamRef>,
        site: Site,
        unified_shared_memory: bool,
    ) -> Result<()> {
        self.construct.restart(device, queue, site, unified_shared_memory)?;
        self.holdings.clear();
        self.unpublished.clear();
        self.attachments.clear();
        Ok(())
    }

    /// Says that the construct is a target region.
    #[inline]
    pub(crate) fn is_for_region(&mut self) {
        self.construct.is_for_region();
    }

    /// The construct.
    #[inline]
    pub(crate) fn construct(&self) -> &Construct {
        &self.construct
    }

    /// Whether an item had all these meanings, or several items between them.
    #[inline]
    pub(crate) fn has_seen(&self, meanings: MapKind) -> bool {
        self.holdings.have_seen(meanings)
    }

    /// What `enter` found for an argument.
    #[inline]
    pub(crate) fn held(&self, argument: usize) -> Held {
        self.holdings.of(argument)
    }

    /// Writes one word of device memory.
    pub(crate) fn write_word(&mut self, device: DevicePtr, word: usize) -> Result<()> {
        self.operations.copy_value_to(&self.construct, &word.to_ne_bytes(), device, Label::NONE)
    }

    /// Orders the stream behind blocking queues, before each operation that others issue.
    #[inline]
    pub(crate) fn come_behind_queues(&mut self) -> gangway_backend::Result<()> {
        self.operations.order.come_behind_queues(&self.construct)
    }

    /// Whether all device operations are done; [`complete`](Self::complete) tells whether they
    /// have failed.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.construct.is_idle()
    }

    /// Waits for the device operations, then ends the work: removes what nobody
    /// uses any more, frees temporary memory. All of it is done even if some of it
    /// fails; the first failure is returned.
    ///
    /// On a synchronous device a construct whose data stays where it is leaves nothing.
    #[inline(always)]
    pub(crate) fn complete(&mut self) -> Result<()> {
        if self.construct.stream().is_none() && self.in_use.is_empty() && self.operations.leave_nothing() {
            return Ok(());
        }
        self.wait_and_end()
    }

    #[inline(never)]
    fn wait_and_end(&mut self) -> Result<()> {
        let waited = self.construct.wait();
        if waited.is_err() {
            self.operations.pack.forget_fetched();
        }
        waited.and(self.end())
    }

    /// Ends work whose device operations are done.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.operations.free_buffers();
        let given_up = match !self.construct.is_queued() && self.construct.device().has_queues() {
            true => self.contested(),
            false => Vec::new(),
        };
        let parts = self.unpack();
        let Self { construct, operations, in_use, .. } = self;
        if construct.stream().is_some() {
            operations.order.retire(construct, parts.points);
        }
        let mut result = operations.pack.end_block(construct, parts.uses);
        result = result.and(in_use.end_entries(construct));
        if !given_up.is_empty() {
            in_use::end_uses_in_queues(construct, given_up);
        }
        result = result.and(in_use.free_memory(construct));
        // Only now, as memory may have been freed in its order.
        construct.give_stream_back();
        result
    }

    /// Puts what has been fetched with the block where it belongs, and takes those of the
    /// construct's entries out of the table whose end needs nothing else.
    #[inline]
    fn unpack(&mut self) -> PartsTaken {
        let Some(block) = self.operations.pack.block() else { return PartsTaken::default() };
        self.operations.pack.end_copies();
        self.close_deferred();
        self.in_use.finish_parts(&self.construct, block, self.operations.order.own_point())
    }

    /// Undoes `enter` after a failure, so that nothing stays mapped that the
    /// program did not get. Nothing is copied back: the kernel has not run.
    pub(crate) fn abandon(&mut self) {
        self.make_deferred();
        self.publish_quietly();
        self.attachments.forget_requests();
        // Nobody is told of a failure here: another one led to this.
        let _ = self.detach_attached();
        while let Some(held) = self.holdings.pop() {
            self.in_use.give_up_held(&self.construct, held);
        }
        // The failure that led here is what the caller reports.
        let _ = self.complete();
    }
}

/// What others may have that this work has given up.
impl Work {
    /// Takes the entries that this work has given up out of the present table before its
    /// operations are done, unless others use them; their memory is freed at the end.
    pub(crate) fn withdraw(&mut self) {
        self.in_use.withdraw(&self.construct);
    }

    /// Entries that this work uses and nobody has a reference of: once this work has tried to have
    /// them [leave](Self::withdraw), those that other constructs use still.
    pub(crate) fn contested(&self) -> Vec<EntryRef<'static>> {
        self.in_use.contested()
    }

    /// Whether this work uses one of the entries until it is done.
    pub(crate) fn uses_any(&self, entries: &[EntryRef<'static>]) -> bool {
        self.in_use.has_any(entries)
    }

    /// Gives up the uses of the entries, which another construct frees behind this one.
    pub(crate) fn hand_over(&mut self, entries: &[EntryRef<'static>]) {
        self.in_use.hand_over(&self.construct, entries);
    }
}
