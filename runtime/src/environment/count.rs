//! Data constructs that change nothing but counts: all of their items are present, and stay.
//!
//! Such a construct is over when its items have been counted. It needs neither a job nor a stream,
//! which are most of what a construct costs whose data is there. Where counting comes to an end
//! before that, a job does the rest.

use super::attach;
use super::work::{AttachRequest, Held, Work};
use crate::device::Device;
use crate::items::Items;
use crate::map_kind::MapKind;
use crate::present::{Counter, EntryRef, Recent};

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

/// What is to be counted, by item.
type Entries = [Option<EntryRef<'static>>; FEW];

impl Work {
    /// Counts the items of a data construct, if that is all there is to do about them. This is a
    /// finished construct's work, and stays that.
    #[inline]
    pub(crate) fn count(&self, device: &'static Device, edge: Edge, items: &impl Items) -> Counted {
        let mut entries = [None; FEW];
        if items.len() > FEW || !find(&self.recent, device, edge, items, &mut entries) {
            return Counted::NOTHING;
        }
        let entries = &entries[..items.len()];
        match edge {
            Edge::Begin => match entries.iter().flatten().position(|entry| !acquire(*entry)) {
                None => Counted::All,
                Some(counted) => interrupted(entries.iter(), counted),
            },
            Edge::End => {
                match entries.iter().rev().flatten().position(|entry| !entry.release_shared(false)) {
                    None => Counted::All,
                    Some(counted) => interrupted(entries.iter().rev(), counted),
                }
            }
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

/// Finds what is to be counted. False: that is not all there is to do, or it is not known to be.
#[inline]
fn find(
    recent: &Recent,
    device: &'static Device,
    edge: Edge,
    items: &impl Items,
    entries: &mut Entries,
) -> bool {
    let table = &device.table;
    let began = table.version();
    for index in 0..items.len() {
        let item = items.item(index);
        if items.has_mapper(index) {
            return false;
        }
        if !item.kind.only_counts() || item.size == 0 {
            // A pointer that is attached if something is new.
            let nothing = item.kind.only_attaches()
                && items.knows(item.kind)
                && (edge == Edge::End || attach::is_for_new_items(item.kind) && !table.has_dangling());
            if nothing {
                continue;
            }
            return false;
        }
        let (Some(entry), _) = recent.known(table, item.begin, item.size) else { return false };
        let lasts = entry.is_lasting();
        if edge == Edge::Begin && !entry.is_ready() || !lasts && !entry.is_live() {
            return false;
        }
        if entries[..index].contains(&Some(entry)) {
            // The last of several may be the last reference.
            if edge == Edge::End {
                return false;
            }
            if item.kind.has(MapKind::ONCE) {
                continue;
            }
        }
        if !lasts {
            entries[index] = Some(entry);
        }
    }
    table.version() == began
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
