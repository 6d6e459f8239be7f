//! Telling a device which ranges of the host are mapped, if its back end asks for that.
//!
//! Everybody who changes that comes here when the change is done, with no lock held. Where
//! nobody asks, it is one test of a flag for each range that is mapped or unmapped, and
//! nothing for one that is present.

use crate::device::{Device, Opened};
use crate::events::Site;
use gangway_backend::{DevicePtr, Origin, RangeChange, RangeNotice};
use gangway_present::Label;
use gangway_present::StreamRef;

impl Opened {
    /// Tells of a change, in the stream of a construct.
    #[inline]
    pub(crate) fn notice(
        &self,
        begin: usize,
        size: usize,
        change: RangeChange,
        label: Label,
        stream: Option<StreamRef>,
    ) {
        if self.capabilities.mapping_notices {
            self.tell_notice(begin, size, change, label, stream);
        }
    }

    /// Tells what of the program has had memory allocated.
    #[inline]
    pub(crate) fn obtained(&self, memory: DevicePtr, maps: bool, site: &Site) {
        if self.capabilities.mapping_notices {
            self.device.obtained(memory, &origin(maps, site));
        }
    }

    /// Tells that a routine of the program frees memory.
    #[inline]
    pub(crate) fn frees(&self, memory: DevicePtr, site: &Site) {
        if self.capabilities.host_copies {
            self.at(None).memory_given_up(memory, 0, &origin(false, site));
        }
    }

    /// Tells that the program unmaps so many bytes, whoever else uses them, in the stream of a construct.
    #[inline]
    pub(crate) fn deletes(&self, memory: DevicePtr, size: usize, site: &Site, stream: Option<StreamRef>) {
        if self.capabilities.host_copies {
            self.at(stream).memory_given_up(memory, size, &origin(true, site));
        }
    }

    #[cold]
    fn tell_notice(
        &self,
        begin: usize,
        size: usize,
        change: RangeChange,
        label: Label,
        stream: Option<StreamRef>,
    ) {
        let notice = RangeNotice { begin, size, change, variable: label.describe() };
        self.at(stream).host_range(notice);
    }
}

fn origin(maps: bool, site: &Site) -> Origin {
    // A return address is behind the call.
    let code = site.return_address.addr().saturating_sub(1);
    Origin { maps, location: site.location(), code }
}

impl Device {
    /// Tells of storage that has been associated with a range.
    pub(crate) fn notice_associated(&self, begin: usize, size: usize, storage: DevicePtr, label: Label) {
        if let Some(opened) = self.opened_if_usable() {
            opened.notice(begin, size, RangeChange::Mapped(storage), label, None);
        }
    }

    /// Tells of storage that is no longer associated with a range.
    pub(crate) fn notice_disassociated(&self, begin: usize, size: usize, storage: DevicePtr) {
        if let Some(opened) = self.opened_if_usable() {
            opened.notice(begin, size, RangeChange::Unmapped(storage), Label::NONE, None);
        }
    }
}
