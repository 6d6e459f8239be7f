//! What a construct knows of the present table.

use gangway_present::{EntryRef, Gap, PresentTable, Recent, Relation};

/// With so many items of a data construct, looking for a gap costs more than it saves.
const FEW: usize = 4;

/// What has been looked up, and whether it still holds.
///
/// The table's version goes up by two for each insertion. So what a construct has inserted by
/// itself tells whether others have changed the table since it began.
#[derive(Default)]
pub(in crate::environment) struct Lookups {
    /// Of this thread, for all its constructs.
    pub(in crate::environment) recent: Recent,
    /// The construct has so many items that gaps of the table are worth remembering.
    has_many: bool,
    /// Version of the present table when it began.
    began: usize,
    /// How often it has changed the table since.
    insertions: usize,
}

impl Lookups {
    /// A construct begins to make so many items present.
    #[inline]
    pub(in crate::environment) fn begin(&mut self, table: &PresentTable, items: usize, is_region: bool) {
        self.began = table.version();
        self.insertions = 0;
        // A region's own small data is deferred however little there is.
        self.has_many = is_region || items > FEW;
    }

    /// Whether gaps of the table are remembered: then it costs little to ask for one.
    #[inline]
    pub(in crate::environment) fn remember_gaps(&self) -> bool {
        self.has_many
    }

    /// Whether nothing of a range is present, and the version of the table that has it so.
    #[inline(always)]
    pub(in crate::environment) fn absent(
        &mut self,
        table: &'static PresentTable,
        host: usize,
        size: usize,
    ) -> Option<usize> {
        if self.has_many {
            return self.recent.absent(table, host, size);
        }
        match table.lookup_at(host, size) {
            (Relation::Absent, version) if size != 0 => Some(version),
            _ => None,
        }
    }

    /// The gap around a range that is absent, if gaps are remembered.
    pub(super) fn gap_around(
        &mut self,
        table: &'static PresentTable,
        host: usize,
        size: usize,
    ) -> Option<Gap> {
        let gap = if self.has_many { self.recent.gap_around(table, host, size) } else { None };
        gap.map(|(gap, _)| gap)
    }

    /// The construct has inserted several ranges in one step.
    #[inline]
    pub(in crate::environment) fn note_insertion(&mut self) {
        self.insertions += 1;
    }

    /// The construct has inserted a range that was [`absent`](Self::absent) at that version.
    #[inline]
    pub(in crate::environment) fn note_inserted(
        &mut self,
        table: &'static PresentTable,
        version: usize,
        host: usize,
        size: usize,
    ) {
        self.note_insertion();
        if self.has_many {
            self.recent.fill_gap(table, version, host, size);
        }
    }

    /// Whether others have changed the table since the construct began, or pointers dangle.
    #[inline]
    pub(in crate::environment) fn are_disturbed(&self, table: &PresentTable) -> bool {
        let own = self.began.wrapping_add(2 * self.insertions);
        table.version() != own || table.has_dangling()
    }

    /// Whether an entry has been made since the construct began.
    pub(in crate::environment) fn precede(&self, entry: EntryRef<'_>) -> bool {
        entry.is_newer_than(self.began)
    }
}
