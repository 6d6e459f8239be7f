//! Data constructs that change nothing but counts: all of their items are present, and stay.
//!
//! Such a construct is over when its items have been counted. It needs neither a job nor a stream,
//! which are most of what a construct costs whose data is there. Where counting comes to an end
//! before that, a job does the rest.

use super::attach;
use super::work::{AttachRequest, Held, Work};
use crate::device::Device;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use crate::present::{Counter, EntryRef, Recent, Relation};

/// Items that such a construct has at most: each is compared with those before it.
const FEW: usize = 8;

/// Where a construct begins or ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    Begin,
    End,
}

/// How far a construct has got by counting.
pub(crate) enum Counted {
    /// It is over.
    All,
    /// Of so many items, or of none, what there was to count has been: of the first ones where data
    /// begins, of the last ones where it ends.
    Some(Vec<Option<EntryRef<'static>>>),
}

impl Counted {
    pub(crate) const NOTHING: Self = Self::Some(Vec::new());
}

/// What is to be counted.
#[derive(Default)]
struct Found {
    /// By item, an entry with one more reference, or one less.
    entries: [Option<EntryRef<'static>>; FEW],
    /// The last item is a pointer in this entry that is attached once more, or once less.
    pointer: Option<EntryRef<'static>>,
}

impl Work {
    /// Counts the items of a data construct, if that is all there is to do about them. This is a
    /// finished construct's work, and stays that.
    #[inline]
    pub(crate) fn count(&mut self, device: &'static Device, edge: Edge, items: &impl Items) -> Counted {
        let mut found = Found::default();
        if items.len() > FEW || !found.find(&mut self.recent, device, edge, items) {
            return Counted::NOTHING;
        }
        match edge {
            Edge::Begin => found.acquire(items),
            Edge::End => found.release(items),
        }
    }

    /// Gives up what has been counted of a construct that does not begin after all. It has no stream:
    /// what others have given up meanwhile is freed at once.
    #[cold]
    pub(crate) fn give_up_counted(&mut self, counted: &[Option<EntryRef<'static>>]) {
        for &entry in counted.iter().flatten() {
            self.give_up(entry, Counter::Dynamic);
        }
        // What led here is what the caller reports.
        let _ = self.complete();
    }

    /// Counts again what has been given up of a construct that does not end after all, as far as others
    /// have not given up the rest meanwhile.
    #[cold]
    pub(crate) fn count_again(
        &mut self,
        device: &'static Device,
        items: &impl Items,
        counted: &[Option<EntryRef<'static>>],
    ) {
        for &entry in counted.iter().flatten() {
            acquire(entry);
        }
        // Counting begins with the last item there, which may be a pointer.
        let item = items.item(items.len() - 1);
        if !item.kind.counts_attachments() {
            return;
        }
        let holder = self.recent.lookup(&device.table, item.base, size_of::<usize>());
        let pointee = self.recent.lookup(&device.table, item.begin, 1);
        if let (Relation::Contained(holder), Relation::Contained(pointee)) = (holder, pointee) {
            attach_same(holder, pointee, &item);
        }
    }

    /// Goes on behind the items that have been counted where data begins.
    pub(crate) fn enter_counted(&mut self, items: &impl Items, counted: &[Option<EntryRef<'static>>]) {
        for (index, &entry) in counted.iter().enumerate() {
            let item = items.item(index);
            if item.kind.only_attaches() {
                // What comes now may be new.
                self.attachments.push(AttachRequest::of(&item));
            }
            let Some(entry) = entry else {
                self.held.push(Held::NOTHING);
                continue;
            };
            let device = entry.translate(item.begin);
            self.held.push(Held { entry: Some(entry), device, counted: Some(Counter::Dynamic) });
            if item.kind.has(MapKind::ONCE) {
                self.once.insert(entry);
            }
        }
    }
}

impl Found {
    /// False: counting is not all there is to do, or it is not known to be.
    #[inline]
    fn find(&mut self, recent: &mut Recent, device: &'static Device, edge: Edge, items: &impl Items) -> bool {
        let table = &device.table;
        let began = table.version();
        for index in 0..items.len() {
            let item = items.item(index);
            if items.has_mapper(index) {
                return false;
            }
            if !item.kind.only_counts() || item.size == 0 {
                let is_last = index + 1 == items.len();
                // A pointer that is attached if something is new.
                let nothing = item.kind.only_attaches()
                    && items.knows(item.kind)
                    && (edge == Edge::End || attach::is_for_new_items(item.kind) && !table.has_dangling());
                if nothing || self.find_pointer(recent, device, edge, &item, is_last) {
                    continue;
                }
                return false;
            }
            let (Some(entry), _) = recent.known(table, item.begin, item.size) else { return false };
            let lasts = entry.is_lasting();
            if edge == Edge::Begin && !entry.is_ready() || !lasts && !entry.is_live() {
                return false;
            }
            if self.entries[..index].contains(&Some(entry)) {
                // The last of several may be the last reference.
                if edge == Edge::End {
                    return false;
                }
                if item.kind.has(MapKind::ONCE) {
                    continue;
                }
            }
            if !lasts {
                self.entries[index] = Some(entry);
            }
        }
        table.version() == began
    }

    /// A pointer whose attachments count: nothing is done about one that is not present.
    #[inline]
    fn find_pointer(
        &mut self,
        recent: &mut Recent,
        device: &'static Device,
        edge: Edge,
        item: &Item,
        is_last: bool,
    ) -> bool {
        let attaches = item.kind.has(MapKind::ATTACH);
        if !item.kind.counts_attachments() || attaches != (edge == Edge::Begin) {
            return false;
        }
        let (pointer, size) = (item.base, size_of::<usize>());
        if recent.absent(&device.table, pointer, size).is_some() {
            return true;
        }
        self.pointer = match recent.lookup(&device.table, pointer, size) {
            Relation::Contained(entry) if is_last && entry.is_live() && entry.is_ready() => Some(entry),
            _ => None,
        };
        self.pointer.is_some()
    }

    #[inline]
    fn acquire(&self, items: &impl Items) -> Counted {
        let entries = &self.entries[..items.len()];
        if let Some(counted) = entries.iter().flatten().position(|entry| !acquire(*entry)) {
            return interrupted(entries.iter(), counted);
        }
        match self.pointer {
            Some(holder) if !self.attach_again(holder, &items.item(items.len() - 1)) => {
                Counted::Some(entries[..items.len() - 1].to_vec())
            }
            _ => Counted::All,
        }
    }

    /// Counts a pointer that is attached already to what the item says, in one of the entries.
    fn attach_again(&self, holder: EntryRef<'static>, item: &Item) -> bool {
        let pointee = self.entries.iter().flatten().find(|entry| entry.has(item.begin));
        pointee.is_some_and(|&pointee| attach_same(holder, pointee, item))
    }

    #[inline]
    fn release(&self, items: &impl Items) -> Counted {
        let entries = &self.entries[..items.len()];
        if let Some(holder) = self.pointer
            && !holder.detach_shared(items.item(items.len() - 1).base)
        {
            return Counted::NOTHING;
        }
        match entries.iter().rev().flatten().position(|entry| !entry.release_shared(false)) {
            None => Counted::All,
            Some(counted) => interrupted(entries.iter().rev(), counted),
        }
    }
}

/// Counts once more that a pointer in an entry is attached to what the item says.
fn attach_same(holder: EntryRef<'static>, pointee: EntryRef<'static>, item: &Item) -> bool {
    // SAFETY: the compiler says that a pointer is there.
    let host = unsafe { *(item.base as *const usize) };
    let device = pointee.translate(item.begin).0.wrapping_sub(item.begin.wrapping_sub(host));
    holder.attach_same(item.base, host, device)
}

#[inline]
fn acquire(entry: EntryRef<'static>) -> bool {
    let acquired = entry.acquire_live();
    if acquired {
        entry.set_region_of(0);
    }
    acquired
}

/// The items until so many entries have been counted, and then one could not be: another thread has
/// it, or it leaves with this reference.
#[cold]
fn interrupted<'e>(
    items: impl Iterator<Item = &'e Option<EntryRef<'static>>>,
    mut counted: usize,
) -> Counted {
    let before = items.take_while(|entry| match (entry, counted) {
        (Some(_), 0) => false,
        (Some(_), _) => {
            counted -= 1;
            true
        }
        (None, _) => true,
    });
    Counted::Some(before.copied().collect())
}
