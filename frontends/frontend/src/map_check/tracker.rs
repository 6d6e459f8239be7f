//! What is known of mapped data, for observers and signal handlers alike.

use super::lock::Lock;
use super::places::Places;
use gangway_freshness::{Key, Ledger, Stale};
use gangway_runtime::Label;
use std::ops::Range;

/// A mistake that waits to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The host reads what the device has overwritten.
    HostReads,
    /// A kernel reads what the host has changed.
    DeviceReads,
    /// A copy back overwrites what the host has changed.
    Overwrites,
    /// The host frees what is mapped.
    Frees,
    /// More is mapped than there is.
    Exceeds,
}

/// What was found, without what has to be allocated for words.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub mistake: Mistake,
    pub label: Label,
    /// Of the whole pair.
    pub host: usize,
    pub size: usize,
    pub stale: Stale,
    /// The number of the place where it shows.
    pub place: u32,
}

impl Found {
    /// Tells the variable from others, also where it has no name.
    pub fn variable(&self) -> usize {
        variable(self.label, self.host)
    }
}

fn variable(label: Label, host: usize) -> usize {
    if label == Label::NONE { host } else { label.as_ptr().addr() }
}

/// Mistakes that wait at most.
const WAITING: usize = 64;
/// Mistakes that are remembered, so that each is told once.
const REMEMBERED: usize = 1024;

pub struct Tracker {
    pub ledger: Ledger,
    pub places: Places,
    /// What copies back to the host are overwriting.
    copying: Vec<Range<usize>>,
    /// What the host may have written while it was not looked at, as a copy was under way.
    pub left: Vec<Range<usize>>,
    /// Pairs whose reads are noted one by one.
    pub watched: Vec<Key>,
    /// Of each device, how many of its kernels have run whose accesses nobody has noted.
    unseen: Vec<(i32, u64)>,
    labels: Vec<Label>,
    waiting: [Option<Found>; WAITING],
    count: usize,
    remembered: [Option<(Mistake, usize, u32)>; REMEMBERED],
    next: usize,
}

pub static TRACKER: Lock<Tracker> = Lock::new(Tracker::new());

impl Tracker {
    const fn new() -> Self {
        Self {
            ledger: Ledger::new(),
            places: Places::new(),
            copying: Vec::new(),
            left: Vec::new(),
            watched: Vec::new(),
            unseen: Vec::new(),
            labels: Vec::new(),
            waiting: [None; WAITING],
            count: 0,
            remembered: [None; REMEMBERED],
            next: 0,
        }
    }

    /// A copy to the host begins.
    pub fn begin_copy(&mut self, host: Range<usize>) {
        self.copying.push(host);
    }

    pub fn end_copy(&mut self, host: &Range<usize>) {
        if let Some(index) = self.copying.iter().position(|copied| copied == host) {
            self.copying.swap_remove(index);
        }
    }

    /// Whether a copy overwrites a part of this.
    pub fn is_copying(&self, host: &Range<usize>) -> bool {
        self.copying.iter().any(|copied| copied.start < host.end && host.start < copied.end)
    }

    /// Whether there are more than there were when this was last asked.
    pub fn has_more_unseen(&mut self, device: i32, unseen: u64) -> bool {
        match self.unseen.iter_mut().find(|(of, _)| *of == device) {
            Some((_, before)) => std::mem::replace(before, unseen) != unseen,
            None => {
                self.unseen.push((device, unseen));
                unseen != 0
            }
        }
    }

    /// The number of a variable's description.
    pub fn label_number(&mut self, label: Label) -> u32 {
        let known = self.labels.iter().rposition(|known| *known == label);
        known.unwrap_or_else(|| {
            self.labels.push(label);
            self.labels.len() - 1
        }) as u32
    }

    /// Notes a mistake that shows at a place, unless it has been noted before. Allocates nothing.
    pub fn note(&mut self, mistake: Mistake, key: Key, stale: Stale, place: u32) {
        let Some(pair) = self.ledger.get(key) else { return };
        let of = (pair.host(), pair.size(), pair.name);
        self.note_of(mistake, of, stale, place);
    }

    /// The same of what is no pair: where it begins, how long it is, and the number of its description.
    pub fn note_of(
        &mut self,
        mistake: Mistake,
        (host, size, name): (usize, usize, u32),
        stale: Stale,
        place: u32,
    ) {
        let label = self.labels.get(name as usize).copied().unwrap_or_default();
        let known = Some((mistake, variable(label, host), place));
        if self.remembered.contains(&known) || self.count == WAITING {
            return;
        }
        self.remembered[self.next % REMEMBERED] = known;
        self.next += 1;
        self.waiting[self.count] = Some(Found { mistake, label, host, size, stale, place });
        self.count += 1;
    }

    /// Takes what waits.
    pub fn take(&mut self) -> Vec<Found> {
        let count = std::mem::take(&mut self.count);
        self.waiting[..count].iter_mut().filter_map(Option::take).collect()
    }

    /// Whether something waits.
    pub fn has_waiting(&self) -> bool {
        self.count != 0
    }
}
