//! What observers are told of a construct's mappings.
//!
//! Called only where somebody watches; nothing here changes the data environment.

use super::work::Work;
use crate::arguments::Arguments;
use crate::events::{self, MappingChange, MappingEvent};
use crate::label::Label;
use crate::map_type as bit;
use crate::present::EntryRef;

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
    pub(crate) fn tell_kernel_arguments(&self, arguments: &Arguments<'_>) {
        const KIND: u64 = bit::TARGET_PARAM | bit::LITERAL | bit::PRIVATE;
        for (index, item) in arguments.iter().enumerate() {
            if item.map_type & KIND == bit::TARGET_PARAM
                && let Some(entry) = self.held(index).entry
            {
                self.tell_found(entry, item.begin, item.size.max(0) as usize);
            }
        }
    }
}
