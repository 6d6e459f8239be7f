//! The decision of [`placement`](crate::placement): which device a construct runs on that names none.
//!
//! Asked before the construct's job begins, with the arrays of the compiler's call. What is looked up
//! here, others may change before the job does the same: then the program has no order for what both
//! do, and none on one device either.

use super::Runtime;
use crate::device::Device;
use crate::error::{Error, ErrorKind, HostRange, Result};
use crate::events::Site;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use crate::memory::reaches;
use crate::placement::{Numbers, Place, Purpose, home, queue_on, queue_on_least, settle};
use gangway_backend::DevicePtr;
use gangway_present::Relation;
use std::ops::Range;

/// Values that may be addresses of a device: no driver has any below, and no processor above.
const ADDRESSES: Range<usize> = 1 << 32..1 << 57;

impl Runtime {
    /// Where a construct runs that names no device: `default` is the default device, which is ready.
    /// Devices of other types than that are not considered, as their loads do not compare.
    ///
    /// # Errors
    /// There is no device that has all of the construct's data.
    #[cold]
    pub fn choose(
        &self,
        default: &'static Device,
        purpose: Purpose,
        site: &Site,
        items: &impl Items,
    ) -> Result<Place> {
        let mut devices = Numbers::NONE;
        let of_type = |device: &&Device| device.shares_backend(default);
        self.numbered_devices().filter(of_type).for_each(|device| devices.add(number_of(device)));
        if devices.is_one() {
            return Ok(default.into());
        }
        let one = number_of(default);
        if let Some(tied) = self.tied(devices, default, purpose, site, items)? {
            // Where it is present, or images of libraries that came later would be missing.
            let among = if tied.has(one) { only(one) } else { tied };
            let place = self.queue_on_least(among, one, false).unwrap_or_else(|| default.into());
            self.device(place.device().number().into(), site)?;
            return Ok(place);
        }
        let keeps_together = match purpose {
            Purpose::Region(_) | Purpose::EnterInTask => false,
            Purpose::Enter => true,
            Purpose::Present => return Ok(default.into()),
        };
        if keeps_together && let Some(home) = home().filter(|home| devices.has(number_of(home))) {
            return Ok(queue_on(home));
        }
        while let Some(place) = self.queue_on_least(devices, one, keeps_together) {
            let device = place.device();
            if number_of(device) == one || self.is_fit(device, purpose, site) {
                if keeps_together {
                    settle(device);
                }
                return Ok(place);
            }
            devices.remove(number_of(device));
        }
        Ok(default.into())
    }

    fn queue_on_least(&self, among: Numbers, default: usize, homes: bool) -> Option<Place> {
        queue_on_least(among, default, homes, |number| self.device_unprepared(number))
    }

    /// Whether a device can do what the default device could: others give way to that.
    fn is_fit(&self, device: &'static Device, purpose: Purpose, site: &Site) -> bool {
        let is_ready = self.device(device.number().into(), site).is_ok() && !device.lacks_images();
        is_ready
            && match purpose {
                Purpose::Region(host) => self.region(device, host, site).is_ok(),
                Purpose::Enter | Purpose::EnterInTask | Purpose::Present => true,
            }
    }

    /// The devices that have all of a construct's data that any device has; `None` if none has any.
    fn tied(
        &self,
        devices: Numbers,
        default: &'static Device,
        purpose: Purpose,
        site: &Site,
        items: &impl Items,
    ) -> Result<Option<Numbers>> {
        // The devices of one type are alike; with unified memory an address says nothing.
        let apart = default.capabilities().is_ok_and(|known| !known.unified_memory);
        let has_values = apart && matches!(purpose, Purpose::Region(_));
        let mut tied: Option<(Numbers, HostRange)> = None;
        for item in items.iter() {
            let mut having = Numbers::NONE;
            let data = data_of(&item, items);
            if let Some(data) = &data {
                let has = |device: &'static Device| {
                    !matches!(device.table.lookup(data.begin, data.size), Relation::Absent)
                };
                self.each(devices, has).for_each(|number| having.add(number));
            }
            // A pointer to memory of a device: `is_device_ptr`, or one that leads to nothing mapped.
            let value = if has_values { value_of(&item) } else { None };
            if having.is_empty()
                && let Some(address) = value
            {
                let reaching =
                    |device: &'static Device| device.is_open() && reaches(device, DevicePtr(address), 1);
                self.each(devices, reaching).for_each(|number| having.add(number));
                // All reach what is no device's own, as pinned memory.
                if having == devices {
                    continue;
                }
            }
            if having.is_empty() {
                continue;
            }
            let range = data.unwrap_or(HostRange { begin: item.begin, size: item.size, label: item.label });
            tied = match tied {
                None => Some((having, range)),
                Some((before, narrowest)) => match before.and(having) {
                    Numbers::NONE => return Err(scattered((narrowest, before), (range, having), site)),
                    both if both == before => Some((before, narrowest)),
                    both => Some((both, range)),
                },
            };
        }
        Ok(tied.map(|(devices, _)| devices))
    }

    /// The numbers of those devices of which something holds.
    fn each(&self, devices: Numbers, holds: impl Fn(&'static Device) -> bool) -> impl Iterator<Item = usize> {
        devices.iter().filter(move |&number| self.device_unprepared(number).is_some_and(&holds))
    }
}

fn number_of(device: &Device) -> usize {
    device.number() as usize
}

fn only(number: usize) -> Numbers {
    let mut numbers = Numbers::NONE;
    numbers.add(number);
    numbers
}

/// What of the host an item is about, if presence matters to it.
fn data_of(item: &Item, items: &impl Items) -> Option<HostRange> {
    let kind = item.kind;
    let at = |begin, size| Some(HostRange { begin, size, label: item.label }).filter(|at| at.begin != 0);
    if kind.has(MapKind::LITERAL | MapKind::PRIVATE | MapKind::STRUCTURE) {
        // A structure's members are items.
        return None;
    }
    if kind.has(MapKind::ATTACH | MapKind::DETACH) {
        return at(item.base, size_of::<usize>());
    }
    if kind.has(MapKind::IN_PIECES) {
        let hull = items.section(item).ok()?.hull();
        return at(hull.start, hull.len());
    }
    at(item.begin, item.size)
}

/// The word that a kernel gets, if it may be an address of a device's.
fn value_of(item: &Item) -> Option<usize> {
    let value = if item.kind.has(MapKind::LITERAL) { item.base } else { item.begin };
    let is_value = item.kind.has(MapKind::PARAMETER)
        && !item.kind.has(MapKind::PRIVATE)
        && (item.kind.has(MapKind::LITERAL) || item.size == 0);
    (is_value && ADDRESSES.contains(&value)).then_some(value)
}

#[cold]
fn scattered(one: (HostRange, Numbers), other: (HostRange, Numbers), site: &Site) -> Box<Error> {
    let number = |numbers: Numbers| numbers.iter().next().unwrap_or_default() as i32;
    let items = [one, other].map(|(range, numbers)| (range, number(numbers)));
    Error::new(ErrorKind::Scattered { items }, -1, site.location())
}
