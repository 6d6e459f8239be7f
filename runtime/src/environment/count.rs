//! Data constructs that change nothing but counts: all of their items are present, and stay.
//!
//! Such a construct is over when its items have been counted. It needs neither a job nor a stream,
//! which are most of what a construct costs whose data is there. Where counting comes to an end
//! before that, a job does the rest.

use super::work::{AttachRequest, Held, Work};
use super::{attach, special};
use crate::device::Device;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use gangway_present::{Counter, EntryRef, Recent, Relation};

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
    /// What there was to count has been for some of its items.
    Some(Progress),
}

impl Counted {
    pub(crate) const NOTHING: Self = Self::Some(Progress::NONE);
}

/// The items of a construct for which all that there was to count has been.
pub(crate) struct Progress {
    /// By item; behind them nothing has been counted.
    changes: Vec<Change>,
    /// A bit for each item that has.
    done: u8,
}

const _: () = assert!(FEW <= u8::BITS as usize, "a bit for each item");

impl Progress {
    /// Of a construct of which nothing has been counted.
    pub(crate) const NONE: Self = Self { changes: Vec::new(), done: 0 };

    /// Whether there is nothing that has been counted.
    pub(crate) fn is_none(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether an item's part has been counted.
    #[inline]
    pub(super) fn has(&self, index: usize) -> bool {
        index < self.changes.len() && self.done >> index & 1 != 0
    }

    /// What has been counted, by item.
    fn made(&self) -> impl Iterator<Item = (usize, Change)> {
        self.changes.iter().copied().enumerate().filter(|(index, _)| self.has(*index))
    }
}

/// What is counted of one item.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Change {
    #[default]
    Nothing,
    /// A reference to an entry more, or less.
    Reference(EntryRef<'static>),
    /// A pointer in an entry is attached once more, or once less.
    Attachment(EntryRef<'static>),
}

/// What is to be counted, by item.
#[derive(Default)]
struct Found {
    changes: [Change; FEW],
}

impl Work {
    /// Counts the items of a data construct, if that is all there is to do about them. This is a
    /// finished construct's work, and stays that.
    #[inline]
    pub(crate) fn count(&mut self, device: &'static Device, edge: Edge, items: &impl Items) -> Counted {
        let mut found = Found::default();
        if items.len() > FEW || !found.find(&mut self.lookups.recent, device, edge, items) {
            return Counted::NOTHING;
        }
        match edge {
            Edge::Begin => found.acquire(items),
            Edge::End => found.release(items),
        }
    }

    /// Gives up what has been counted of a construct that does not begin after all. It has no stream:
    /// what others have given up meanwhile is freed at once, and a pointer that they have detached
    /// stays attached, as nothing can be written.
    #[cold]
    pub(crate) fn give_up_counted(&mut self, items: &impl Items, counted: &Progress) {
        for (index, change) in counted.made() {
            if let Change::Attachment(holder) = change {
                holder.detach_shared(items.item(index).base);
            }
        }
        for (_, change) in counted.made() {
            if let Change::Reference(entry) = change {
                self.in_use.give_up(&self.construct, entry, Counter::Dynamic);
            }
        }
        // What led here is what the caller reports.
        let _ = self.complete();
    }

    /// Counts again what has been given up of a construct that does not end after all, as far as others
    /// have not given up the rest meanwhile.
    #[cold]
    pub(crate) fn count_again(&mut self, device: &'static Device, items: &impl Items, counted: &Progress) {
        for (_, change) in counted.made() {
            if let Change::Reference(entry) = change {
                acquire(entry);
            }
        }
        for (index, change) in counted.made() {
            if let Change::Attachment(holder) = change {
                let item = items.item(index);
                let pointee = self.lookups.recent.lookup(&device.table, item.begin, 1);
                if let Relation::Contained(pointee) = pointee {
                    attach_same(holder, pointee, &item);
                }
            }
        }
    }

    /// Goes on behind the items of which references have been counted where data begins. Pointers among
    /// them that have not been counted as attached are asked for.
    pub(crate) fn enter_counted(&mut self, items: &impl Items, counted: &Progress) {
        for (index, &change) in counted.changes.iter().enumerate() {
            let item = items.item(index);
            let held = match change {
                Change::Reference(entry) => {
                    if item.kind.has(MapKind::ONCE) {
                        self.holdings.count_once(entry);
                    }
                    let device = entry.translate(item.begin);
                    Held { entry: Some(entry), device, counted: Some(Counter::Dynamic) }
                }
                Change::Attachment(holder) if counted.has(index) => {
                    self.attachments.add_counted(holder, item.base);
                    Held::NOTHING
                }
                Change::Nothing | Change::Attachment(_) => {
                    // What comes now may be new.
                    if item.kind.has(MapKind::ATTACH) {
                        self.attachments.request(AttachRequest::of(&item));
                    }
                    Held::NOTHING
                }
            };
            self.holdings.push(held);
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
            let found = if item.kind.has(MapKind::STRUCTURE) {
                self.find_structure(recent, device, edge, items, index, &item)
            } else if item.kind.only_counts() && item.size != 0 {
                self.find_section(recent, device, edge, items, index, (item.begin, item.size))
            } else {
                // A pointer that is attached if something is new.
                let nothing = item.kind.only_attaches()
                    && items.knows(item.kind)
                    && (edge == Edge::End || attach::is_for_new_items(item.kind) && !table.has_dangling());
                nothing || self.find_pointer(recent, device, edge, &item, index)
            };
            if !found {
                return false;
            }
        }
        table.version() == began
    }

    /// An item of which references are counted.
    #[inline]
    fn find_section(
        &mut self,
        recent: &Recent,
        device: &'static Device,
        edge: Edge,
        items: &impl Items,
        index: usize,
        (begin, size): (usize, usize),
    ) -> bool {
        let (Some(entry), _) = recent.known(&device.table, begin, size) else { return false };
        let lasts = entry.is_lasting();
        if edge == Edge::Begin && !entry.is_ready() || !lasts && !entry.is_live() {
            return false;
        }
        let change = Change::Reference(entry);
        if let Some(before) = self.changes[..index].iter().position(|&before| before == change) {
            let once = items.kind(index).has(MapKind::ONCE);
            match edge {
                Edge::Begin if once => return true,
                Edge::Begin => {}
                // The one that counts is the one that is given up last, the first.
                Edge::End if once && items.kind(before).has(MapKind::ONCE) => return true,
                // The last of several may be the last reference.
                Edge::End => return false,
            }
        }
        if !lasts {
            self.changes[index] = change;
        }
        true
    }

    /// A structure of which the next items are members: it counts for those that count once, and is
    /// not there where data ends.
    #[inline]
    fn find_structure(
        &mut self,
        recent: &Recent,
        device: &'static Device,
        edge: Edge,
        items: &impl Items,
        index: usize,
        item: &Item,
    ) -> bool {
        if edge == Edge::End {
            return items.knows(item.kind);
        }
        item.kind.has(MapKind::ONCE)
            && item.kind.without(MapKind::STRUCTURE).only_counts()
            && special::hull_of_members(items, index, item).is_some_and(|hull| {
                self.find_section(
                    recent,
                    device,
                    edge,
                    items,
                    index,
                    (hull.start, hull.end.wrapping_sub(hull.start)),
                )
            })
    }

    /// A pointer whose attachments count: nothing is done about one that is not present.
    #[inline]
    fn find_pointer(
        &mut self,
        recent: &mut Recent,
        device: &'static Device,
        edge: Edge,
        item: &Item,
        index: usize,
    ) -> bool {
        if !item.kind.counts_attachments() || item.kind.has(MapKind::ATTACH) != (edge == Edge::Begin) {
            return false;
        }
        let (pointer, size) = (item.base, size_of::<usize>());
        // Mostly it is one of the items.
        let holder = match recent.known(&device.table, pointer, size).0 {
            Some(holder) => holder,
            None if recent.absent(&device.table, pointer, size).is_some() => return true,
            None => match recent.lookup(&device.table, pointer, size) {
                Relation::Contained(holder) => holder,
                _ => return false,
            },
        };
        self.changes[index] = Change::Attachment(holder);
        holder.is_live() && holder.is_ready()
    }

    /// Pointers come last: the entries that they are in are held then, and stay.
    #[inline]
    fn acquire(&self, items: &impl Items) -> Counted {
        let changes = &self.changes[..items.len()];
        let mut done = 0;
        for (index, change) in changes.iter().enumerate() {
            let Change::Reference(entry) = *change else { continue };
            if !acquire(entry) {
                return Counted::Some(Progress { changes: changes[..index].to_vec(), done });
            }
            done |= 1 << index;
        }
        for (index, change) in changes.iter().enumerate() {
            let Change::Attachment(holder) = *change else { continue };
            if !attach_again(changes, holder, &items.item(index)) {
                return Counted::Some(Progress { changes: changes.to_vec(), done });
            }
            done |= 1 << index;
        }
        Counted::All
    }

    /// Another thread may have what is to be given up, or it leaves with this reference: then a job
    /// does the rest. Pointers come first: an entry that this construct has given up may leave, and a new
    /// one come in its place, in which it has attached nothing.
    #[inline]
    fn release(&self, items: &impl Items) -> Counted {
        let changes = &self.changes[..items.len()];
        let mut done = 0;
        for (index, change) in changes.iter().enumerate().rev() {
            let Change::Attachment(holder) = *change else { continue };
            if !holder.detach_shared(items.item(index).base) {
                return Counted::Some(Progress { changes: changes.to_vec(), done });
            }
            done |= 1 << index;
        }
        for (index, change) in changes.iter().enumerate().rev() {
            match *change {
                Change::Attachment(_) => continue,
                Change::Reference(entry) if !entry.release_shared(false) => {
                    return Counted::Some(Progress { changes: changes.to_vec(), done });
                }
                // Nothing: another item counts for it, or nobody has to.
                Change::Reference(_) | Change::Nothing => done |= 1 << index,
            }
        }
        Counted::All
    }
}

/// Counts a pointer that is attached already to what the item says, in an entry of one of the items.
fn attach_again(changes: &[Change], holder: EntryRef<'static>, item: &Item) -> bool {
    let pointee = changes.iter().find_map(|change| match *change {
        Change::Reference(entry) if entry.has(item.begin) => Some(entry),
        _ => None,
    });
    pointee.is_some_and(|pointee| attach_same(holder, pointee, item))
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
