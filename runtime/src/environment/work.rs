//! The state of one construct, and what is left to do when its device operations
//! are done.

use super::given_up::Exit;
use super::once::Once;
use super::ranges::Ranges;
use crate::device::{Device, Opened};
use crate::error::{ErrorKind, Result};
use crate::events::{self, MappingChange, MappingEvent, Place, Site, Step};
use crate::items::Item;
use crate::map_kind::MapKind;
use crate::storage::Purpose;
use gangway_backend::{DevicePtr, RangeChange, Stream};
use gangway_present::Label;
use gangway_present::StreamRef;
use gangway_present::{BlockRef, Counter, EntryRef, Finished, Recent, Relation, Release, Removed};
use std::collections::HashSet;

mod batch;
mod order;
mod pack;

use batch::Batch;
use order::Order;
use pack::Pack;

/// One construct on one device, from its first lookup to its last deallocation.
///
/// Recycled from construct to construct, so that its vectors keep their memory
/// and a launch whose arguments are present allocates nothing.
pub struct Work {
    pub(super) device: &'static Device,
    pub(super) opened: &'static Opened,
    pub(super) site: Site,
    pub(super) stream: Option<StreamRef>,
    /// The stream is the program's, and the construct is not waited for at its end.
    pub(super) queued: bool,
    pub(super) unified_shared_memory: bool,
    /// A target region, whose data nobody else has when it ends.
    pub(super) is_region: bool,
    pub(super) recent: Recent,
    /// So many items that gaps of the table are worth remembering.
    pub(super) has_many: bool,
    /// Version of the present table when it began.
    pub(super) began: usize,
    /// How often it has changed the table since.
    pub(super) insertions: usize,
    /// The meanings of all items together: what `enter` came across.
    pub(super) seen: MapKind,
    /// Per argument of the construct, what `enter` found.
    pub(super) held: Vec<Held>,
    /// What the mappers of arguments have named, in the order of the arguments.
    pub(super) components: Vec<Component>,
    /// Entries of base pointers this construct has made present. They outlive it,
    /// unless it fails.
    pub(super) pointers: Vec<Held>,
    /// Entries it created and has not published.
    pub(super) filling: Vec<Filling>,
    /// Entries of others that are not published yet.
    pub(super) awaited: Vec<EntryRef<'static>>,
    pub(super) attachments: Vec<AttachRequest>,
    /// Counted attachments that it has made: entry and host pointer.
    pub(super) attached: Vec<(EntryRef<'static>, usize)>,
    /// References to structures that their members take over, see [`MapKind::STRUCTURE`].
    pub(super) structures: Vec<Held>,
    /// Entries that items have counted which count once between them.
    pub(super) once: Once,
    pub(super) order: Order,
    pub(super) pack: Pack,
    /// Items that are to become present together.
    pub(super) batch: Batch,
    /// Parts of the entries in `filling` that have been copied to the device; while
    /// the construct ends, what has been copied back.
    pub(super) copied: Ranges,
    /// What its end is about, see [`Exit`].
    pub(super) exit: Exit,
    /// Entries that this construct has released and still uses, as it was the
    /// last or has device operations under way.
    pub(super) unmapping: Vec<EntryRef<'static>>,
    /// Device memory to free at the end.
    pub(super) temporaries: Vec<Storage>,
    /// What showed before the end that it had failed.
    failure: Option<gangway_backend::Error>,
    /// Host buffers that copies in flight read from.
    pub(super) staging: Vec<Box<[u8]>>,
}

/// What `enter` found for one argument.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    /// The entry, if the item is present.
    pub(crate) entry: Option<EntryRef<'static>>,
    /// Device address of the item's first byte; the host address where there is
    /// no device storage and the host's is to be used.
    pub(crate) device: DevicePtr,
    /// The count on which the entry has a reference of this construct.
    pub(crate) counted: Option<Counter>,
}

impl Held {
    /// Nothing present: literals, private items, attachments.
    pub(crate) const NOTHING: Self = Self { entry: None, device: DevicePtr::NULL, counted: None };

    /// Not present: OpenMP 5.2 section 5.8.6, a pointer without a matching item keeps its value.
    pub(crate) const fn host(address: usize) -> Self {
        Self { entry: None, device: DevicePtr(address), counted: None }
    }
}

// No holes, see `Phase`.
const _: () = assert!(size_of::<Held>() == 32 || size_of::<Held>() == 24);

/// A component of an argument that has a mapper.
#[derive(Clone, Copy)]
pub(super) struct Component {
    pub(super) argument: usize,
    pub(super) item: Item,
    pub(super) held: Held,
}

/// Device memory to be freed.
pub(super) struct Storage {
    pub(super) memory: DevicePtr,
    /// The block that it is part of, and that is given up instead.
    pub(super) block: Option<BlockRef<'static>>,
    /// The range of the host that was mapped to it.
    pub(super) range: Option<Unmapped>,
}

/// A range of the host that is no longer mapped.
#[derive(Clone, Copy)]
pub(super) struct Unmapped {
    begin: usize,
    size: usize,
    device: DevicePtr,
}

/// An entry that the construct fills.
pub(super) struct Filling {
    pub(super) entry: EntryRef<'static>,
    /// All of it has been copied to the device.
    pub(super) whole: bool,
}

/// A pointer to be attached when all items are present.
#[derive(Clone, Copy)]
pub(super) struct AttachRequest {
    /// Address of the host pointer or descriptor.
    pub(super) pointer: usize,
    /// First byte of the pointee's section.
    pub(super) pointee: usize,
    /// Size of the pointer or descriptor.
    pub(super) size: usize,
    /// Of the item's kind, what is about the attachment.
    pub(super) kind: MapKind,
}

impl AttachRequest {
    /// What an item that is an attachment asks for.
    #[inline]
    pub(super) fn of(item: &Item) -> Self {
        Self { pointer: item.base, pointee: item.begin, size: item.size, kind: item.kind }
    }
}

/// Whether nobody has a reference of an entry that is in the table still: constructs use it.
#[inline]
fn is_unreferenced(entry: EntryRef<'static>) -> bool {
    entry.snapshot().is_some_and(|counts| counts.total() == 0)
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
        let opened = device.open()?;
        Ok(Self {
            device,
            opened,
            site,
            stream: match queue {
                None => device.take_stream(opened)?,
                own => own,
            },
            queued: queue.is_some(),
            unified_shared_memory,
            is_region: false,
            recent: Recent::default(),
            has_many: false,
            began: 0,
            insertions: 0,
            seen: MapKind::ALLOC,
            held: Vec::new(),
            components: Vec::new(),
            pointers: Vec::new(),
            filling: Vec::new(),
            awaited: Vec::new(),
            attachments: Vec::new(),
            attached: Vec::new(),
            structures: Vec::new(),
            once: Once::default(),
            order: Order::default(),
            pack: Pack::default(),
            batch: Batch::default(),
            copied: Ranges::default(),
            exit: Exit::default(),
            unmapping: Vec::new(),
            temporaries: Vec::new(),
            failure: None,
            staging: Vec::new(),
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
        self.device = device;
        self.opened = device.open()?;
        self.site = site;
        self.stream = match queue {
            None => device.take_stream(self.opened)?,
            own => own,
        };
        self.queued = queue.is_some();
        self.unified_shared_memory = unified_shared_memory;
        self.is_region = false;
        self.held.clear();
        self.components.clear();
        self.pointers.clear();
        self.copied.clear();
        self.attached.clear();
        self.once.clear();
        Ok(())
    }

    /// Whether the device says when the operations are done.
    pub(crate) fn is_told_of_its_end(&self) -> bool {
        self.opened.capabilities.completions
    }

    /// Says that the construct is a target region.
    #[inline]
    pub(crate) fn is_for_region(&mut self) {
        self.is_region = true;
    }

    /// The device it is for.
    pub(crate) fn device(&self) -> &'static Device {
        self.device
    }

    /// Its back end's device.
    #[inline]
    pub(crate) fn backend(&self) -> &'static dyn gangway_backend::Device {
        &*self.opened.device
    }

    /// What the back end keeps in each session, if it has sessions.
    #[inline]
    pub(crate) fn sessions(&self) -> Option<usize> {
        self.opened.capabilities.sessions
    }

    /// The construct.
    #[inline]
    pub(crate) fn site(&self) -> Site {
        self.site
    }

    /// Where its operations go, for those who time them.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place { stream: self.stream, queued: self.queued }
    }

    /// Where its operations go.
    #[inline]
    pub(crate) fn at_stream(&self) -> &'static dyn Stream {
        self.opened.at(self.stream)
    }

    /// The stream its operations go to.
    #[inline]
    pub(crate) fn stream(&self) -> Option<StreamRef> {
        self.stream
    }

    /// Whether an item had all these meanings, or several items between them.
    #[inline]
    pub(crate) fn has_seen(&self, meanings: MapKind) -> bool {
        self.seen.has_all(meanings)
    }

    /// What `enter` found for an argument.
    #[inline]
    pub(crate) fn held(&self, argument: usize) -> Held {
        self.held[argument]
    }

    /// Looks a range up without counting it.
    pub(crate) fn find(&self, host: usize, size: usize) -> Held {
        match self.device.table.lookup(host, size) {
            Relation::Contained(entry) | Relation::Partial(entry) if entry.wait_allocated() => {
                Held { entry: Some(entry), device: entry.translate(host), counted: None }
            }
            _ => Held::host(host),
        }
    }

    /// Writes one word of device memory.
    pub(crate) fn write_word(&mut self, device: DevicePtr, word: usize) -> Result<()> {
        self.copy_value_to(&word.to_ne_bytes(), device, Label::NONE)
    }

    /// Whether all device operations are done. A failure that shows, and that the
    /// back end does not tell again, is kept for [`complete`](Self::complete).
    pub(crate) fn is_idle(&mut self) -> bool {
        let Some(stream) = self.stream else { return true };
        stream.is_idle().unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            true
        })
    }

    /// Waits for the device operations, then ends the work: removes what nobody
    /// uses any more, frees temporary memory. All of it is done even if some of it
    /// fails; the first failure is returned.
    ///
    /// On a synchronous device a construct whose data stays where it is leaves nothing.
    #[inline(always)]
    pub(crate) fn complete(&mut self) -> Result<()> {
        if self.stream.is_none()
            && self.unmapping.is_empty()
            && self.staging.is_empty()
            && self.temporaries.is_empty()
            && !self.has_pack()
        {
            return Ok(());
        }
        self.wait_and_end()
    }

    #[inline(never)]
    fn wait_and_end(&mut self) -> Result<()> {
        let mut waited = Ok(());
        if let Some(stream) = self.stream {
            let synchronized = stream.synchronize();
            let synchronized = self.failure.take().map_or(synchronized, Err);
            waited = synchronized.map_err(|error| self.fail(ErrorKind::Transfer(error)));
            if waited.is_err() {
                self.forget_fetched();
            }
        }
        waited.and(self.end())
    }

    /// Ends work whose device operations are done.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.staging.clear();
        let given_up = match !self.queued && self.device.has_queues() {
            true => self.contested(),
            false => Vec::new(),
        };
        let parts = self.unpack();
        if self.stream.is_some() {
            self.retire(parts.points);
        }
        let mut result = self.end_block(parts.uses);
        // First come, first gone, as observers expect it.
        for index in 0..self.unmapping.len() {
            let unmapped = self.unmap(self.unmapping[index]);
            result = result.and(unmapped);
        }
        self.unmapping.clear();
        if !given_up.is_empty() {
            self.end_uses_in_queues(given_up);
        }
        while let Some(storage) = self.temporaries.pop() {
            // SAFETY: allocated by this work, whose operations are done, or of an entry that
            // has left the table.
            result = result.and(unsafe { self.free(storage) });
        }
        // Only now, as memory may have been freed in its order.
        if let Some(stream) = self.stream.take().filter(|_| !self.queued) {
            self.device.give_stream_back(stream);
        }
        result
    }

    /// What this work allocates and frees device memory for.
    #[inline]
    pub(super) fn purpose(&self) -> Purpose {
        Purpose::Runtime { stream: self.stream }
    }

    /// Takes the entries that this work has given up out of the present table before its
    /// operations are done, unless others use them; their memory is freed at the end.
    pub(crate) fn withdraw(&mut self) {
        let mut entries = std::mem::take(&mut self.unmapping);
        let mut seen: HashSet<(usize, u32)> = HashSet::with_capacity(entries.len());
        // An entry that several items have given up is used once from here on.
        entries.retain(|entry| {
            seen.insert(entry.key()) || self.device.table.finish_unmapping(*entry).removed().is_some()
        });
        entries.retain(|&entry| match self.device.table.withdraw(entry) {
            None => true,
            Some(removed) => {
                self.temporaries.extend(self.remove(removed));
                false
            }
        });
        self.unmapping = entries;
    }

    /// Entries that this work uses and nobody has a reference of: once this work has tried to have
    /// them [leave](Self::withdraw), those that other constructs use still.
    pub(crate) fn contested(&self) -> Vec<EntryRef<'static>> {
        self.unmapping.iter().copied().filter(|&entry| is_unreferenced(entry)).collect()
    }

    /// Waits for queues whose constructs use what this work, which somebody has waited for, has
    /// given up: when it is over nothing of it is mapped. Such a construct may have been done
    /// for long, if nobody has come to its queue since.
    #[cold]
    fn end_uses_in_queues(&self, mut given_up: Vec<EntryRef<'static>>) {
        given_up.retain(|&entry| is_unreferenced(entry));
        if given_up.is_empty() {
            return;
        }
        let queues = self.device.all_queues();
        queues.iter().filter(|queue| queue.uses_any(&given_up)).for_each(|queue| queue.drain());
    }

    /// Whether this work uses one of the entries until it is done.
    pub(crate) fn uses_any(&self, entries: &[EntryRef<'static>]) -> bool {
        self.unmapping.iter().any(|entry| entries.contains(entry))
    }

    /// Gives up the uses of the entries, which another construct frees behind this one.
    pub(crate) fn hand_over(&mut self, entries: &[EntryRef<'static>]) {
        let table = &self.device.table;
        self.unmapping
            .retain(|entry| !entries.contains(entry) || table.finish_unmapping(*entry).removed().is_some());
    }

    /// Removes an entry unless somebody has come back to it.
    fn unmap(&mut self, entry: EntryRef<'static>) -> Result<()> {
        let mut result = Ok(());
        loop {
            match self.device.table.finish_unmapping(entry) {
                Finished::Left => return result,
                Finished::Owing => result = result.and(self.make_owed_copies(entry)),
                Finished::Removed(removed) => {
                    let Some(storage) = self.remove(removed) else { return result };
                    // SAFETY: the entry has left the table.
                    return result.and(unsafe { self.free(storage) });
                }
            }
        }
    }

    /// Frees device memory, or gives up a use of the block that it is part of.
    ///
    /// # Safety
    /// Nobody uses it any more, and no operation under way does.
    #[inline]
    unsafe fn free(&mut self, Storage { memory, block, range }: Storage) -> Result<()> {
        if let Some(Unmapped { begin, size, device }) = range {
            // Without a stream: its operations are done, and a queue may be gone.
            self.opened.notice(begin, size, RangeChange::Unmapped(device), Label::NONE, None);
        }
        let Some(block) = block else {
            self.leave_queue();
            // SAFETY: the caller's promise.
            return unsafe { self.device.deallocate(self.opened, &self.site, memory, self.purpose()) };
        };
        self.free_in_block(memory, block)
    }

    /// Observers are told of storage, wherever it comes from.
    #[inline(never)]
    fn free_in_block(&mut self, memory: DevicePtr, block: BlockRef<'static>) -> Result<()> {
        let step = || Step::Deallocate { device: memory };
        let (number, site) = (self.device.number(), self.site);
        events::step(number, &site, step, || self.leave_block(block, 1), |_| step())
    }

    /// Where memory is freed in the order of streams, a construct of a queue that has ended
    /// frees it in a stream of the pool: the queue stays idle, and may be gone.
    #[inline]
    pub(super) fn leave_queue(&mut self) {
        if self.queued {
            self.go_to_pool();
        }
    }

    #[cold]
    fn go_to_pool(&mut self) {
        if self.opened.capabilities.stream_ordered_memory
            && let Ok(pooled) = self.device.take_stream(self.opened)
        {
            self.stream = pooled;
            self.queued = false;
        }
    }

    /// What is left of an entry that has left the table: tells observers, and answers the
    /// storage to free.
    fn remove(&self, removed: Removed<'static>) -> Option<Storage> {
        if events::observed() {
            self.tell_mapping(&MappingEvent {
                change: MappingChange::Removed,
                implicit: false,
                hold: false,
                host_base: removed.host_begin,
                host: removed.host_begin,
                size: removed.host_end - removed.host_begin,
                allocation: removed.allocation,
                device: removed.device_begin,
                counts: None,
                label: removed.label,
            });
        }
        if let Some(ready) = removed.ready {
            self.leave(ready, 1);
        }
        let Removed { host_begin: begin, host_end, device_begin: device, block, .. } = removed;
        let range = Some(Unmapped { begin, size: host_end - begin, device });
        removed.allocation.map(|memory| Storage { memory, block, range })
    }

    /// Undoes `enter` after a failure, so that nothing stays mapped that the
    /// program did not get. Nothing is copied back: the kernel has not run.
    pub(crate) fn abandon(&mut self) {
        self.make_deferred();
        self.publish_quietly();
        self.attachments.clear();
        // Nobody is told of a failure here: another one led to this.
        let _ = self.detach_attached();
        self.give_up_structures();
        while let Some(component) = self.components.pop() {
            self.give_up_held(component.held);
        }
        while let Some(held) = self.held.pop() {
            self.give_up_held(held);
        }
        while let Some(held) = self.pointers.pop() {
            self.give_up_held(held);
        }
        // The failure that led here is what the caller reports.
        let _ = self.complete();
    }

    pub(super) fn give_up_held(&mut self, held: Held) {
        if let Held { entry: Some(entry), counted: Some(counter), .. } = held {
            self.give_up(entry, counter);
        }
    }

    pub(super) fn give_up(&mut self, entry: EntryRef<'static>, counter: Counter) {
        match entry.release(counter, false, self.stream.is_some()) {
            Some((_, Release::Last | Release::InUse)) => self.unmapping.push(entry),
            Some((_, Release::Crowded)) => {
                let _ = self.settle();
                if let Some((_, Release::Last)) = entry.release(counter, false, false) {
                    self.unmapping.push(entry);
                }
            }
            Some((_, Release::Shared)) | None => {}
        }
    }

    /// Waits for the device operations issued so far.
    pub(super) fn settle(&self) -> Result<()> {
        let Some(stream) = self.stream else { return Ok(()) };
        stream.synchronize().map_err(|error| self.device.backend_error(error))
    }
}
