//! Reports of what programs are allowed to do and rarely mean.
//!
//! Called by the steps of a construct where they come across such a thing. Nothing here changes
//! the data environment, and without [`report_never_mapped`] nothing is done.

use super::wanted::Wanted;
use super::work::Construct;
use crate::error::{ErrorKind, HostRange, MappedAction};
use crate::inside::WritableMemory;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use gangway_present::{EntryRef, Relation};

/// Reports items that were to be unmapped or updated and are not mapped, pointers to what is not
/// mapped, and structures of which members are mapped. OpenMP 5.2 sections 5.8.6 and 5.9 have them
/// ignored, so this is only done on request (`GANGWAY_CHECK`).
pub type NeverMappedReport = fn(Box<crate::error::Error>);

static NEVER_MAPPED: std::sync::OnceLock<NeverMappedReport> = std::sync::OnceLock::new();

/// Asks for [`ErrorKind::NeverMapped`], [`ErrorKind::HostPointer`], [`ErrorKind::InnerPointer`] and
/// [`ErrorKind::PartlyMapped`] reports for the rest of the process.
pub fn report_never_mapped(report: NeverMappedReport) {
    let _ = NEVER_MAPPED.set(report);
}

/// What is looked through for pointers: what is larger is an array, of which few are used at a time.
const LARGEST_STRUCTURE: usize = 512;

/// Reports an item that is not mapped, if such reports are wanted.
#[cold]
pub(super) fn never_mapped(construct: &Construct, wanted: HostRange, action: MappedAction) {
    if let Some(report) = NEVER_MAPPED.get() {
        let near = construct.device().near(wanted.begin);
        report(construct.fail(ErrorKind::NeverMapped { wanted, action, near }));
    }
}

/// Reports a pointer that a region gets with the host's address, if such reports are
/// wanted and the device knows that the address is not its own.
#[cold]
pub(super) fn host_pointer(construct: &Construct, wanted: &Wanted) {
    let Some(report) = NEVER_MAPPED.get() else { return };
    let foreign = construct.opened().device.is_device_memory(wanted.begin) == Some(false);
    if foreign && wanted.begin != 0 && !construct.has_unified_shared_memory() {
        let (pointer, near) = (wanted.range(), construct.device().near(wanted.begin));
        report(construct.fail(ErrorKind::HostPointer { pointer, near }));
    }
}

/// Reports a structure of which members are mapped, and that a region gets as a whole, if such
/// reports are wanted. Of arrays a section may be mapped alone, and often is.
#[cold]
pub(super) fn partly_mapped(construct: &Construct, wanted: &Wanted, entry: EntryRef<'static>) {
    let Some(report) = NEVER_MAPPED.get() else { return };
    let member = entry.label().name().zip(wanted.label.name()).and_then(|(part, all)| part.strip_prefix(all));
    if construct.is_region() && member.is_some_and(|member| member.starts_with('.')) {
        let parts = construct.device().parts_of(wanted.begin, wanted.size);
        report(construct.fail(ErrorKind::PartlyMapped { wanted: wanted.range(), parts }));
    }
}

/// Whether [`report_inner_pointers`] has anything to do.
#[inline]
pub(crate) fn reports_are_wanted() -> bool {
    NEVER_MAPPED.get().is_some()
}

/// Reports pointers in a region's structures that point to what is not mapped.
#[cold]
pub(crate) fn report_inner_pointers(construct: &Construct, items: &impl Items) {
    let Some(report) = NEVER_MAPPED.get() else { return };
    if construct.has_unified_shared_memory() {
        return;
    }
    let memory = WritableMemory::default();
    let small = |item: &Item| item.size <= LARGEST_STRUCTURE && item.kind.has(MapKind::TO);
    for item in items.iter().filter(small) {
        for (offset, value) in crate::inside::pointers_in(&item) {
            let is_mapped = !matches!(construct.table().lookup(value, 0), Relation::Absent);
            let is_own = construct.opened().device.is_device_memory(value) != Some(false);
            if !is_mapped && !is_own && memory.has(value) {
                let holder = HostRange { begin: item.begin, size: item.size, label: item.label };
                let member = crate::inside::member(item.label, offset);
                report(construct.fail(ErrorKind::InnerPointer { holder, offset, value, member }));
            }
        }
    }
}
