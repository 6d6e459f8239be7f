//! What observers are told of a construct's mappings.
//!
//! Called only where somebody watches; nothing here changes the data environment.

use super::work::Work;
use crate::events::{self, MappingChange, MappingEvent};
use crate::items::Items;
use crate::map_kind::MapKind;
use gangway_present::EntryRef;
use gangway_present::Label;

impl Work {
    pub(super) fn tell_mapping(&self, event: &MappingEvent) {
        events::tell(|observer| observer.mapping(self.device.number(), event));
    }

    /// An entry was looked up for a range, and nothing counted on it.
    #[cold]
    pub(super) fn tell_found(&self, entry: EntryRef<'static>, host: usize, size: usize) {
        self.tell_mapping(&MappingEvent {
            change: MappingChange::Found,
            implicit: false,
            hold: false,
            host_base: host,
            host,
            size,
            allocation: entry.allocation(),
            device: entry.translate(host),
            counts: entry.snapshot(),
            label: Label::NONE,
        });
    }

    /// The entries whose device addresses the kernel is given.
    #[cold]
    pub(crate) fn tell_kernel_arguments(&self, items: &impl Items) {
        let form = MapKind::PARAMETER | MapKind::LITERAL | MapKind::PRIVATE;
        for (index, item) in items.iter().enumerate() {
            if item.kind.only(form) == MapKind::PARAMETER
                && let Some(entry) = self.held(index).entry
            {
                let size = if item.kind.has(MapKind::STRUCTURE) { 0 } else { item.size };
                self.tell_found(entry, item.begin, size);
            }
        }
    }
}
