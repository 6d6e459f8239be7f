//! Where constructs run that name no device, if the program's user asks for that (`GANGWAY_BALANCE=1`).
//!
//! Without that they run on the default device (OpenMP 6.0 section 15.2, `device` clause). With it, data
//! comes first: what is present on a device ties a construct to that device. A construct whose data is
//! present nowhere goes to the device with the least work queued. What a construct adds to a device's
//! work is counted from the decision until the construct is done, so that threads that decide at the
//! same time decide differently.
//!
//! Data that is to stay (`enter data`, `target data`) is kept together: what a host thread begins goes
//! where it began data before, its *home*, as a region may use all of it.
//!
//! Nothing here locks. [`Runtime::choose`](crate::Runtime::choose) decides, with the present tables.

use crate::device::Device;
use crate::regions::MAX_DEVICES;
use std::cell::RefCell;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};

static BALANCING: AtomicBool = AtomicBool::new(false);

/// From now on [`Runtime::choose`](crate::Runtime::choose) decides, and work is counted.
pub fn balance() {
    BALANCING.store(true, Ordering::Relaxed);
}

/// Whether the user has asked for it.
#[inline]
#[must_use]
pub fn is_balancing() -> bool {
    BALANCING.load(Ordering::Relaxed)
}

/// What a construct is, as far as it matters for its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A target region, by the address of its host version.
    Region(usize),
    /// Data becomes present; the calling thread waits for it.
    Enter,
    /// The same in a task, on whichever thread.
    EnterInTask,
    /// Data that is present is updated, or ends.
    Present,
}

/// The device of a construct, and its share in what is queued there.
pub struct Place {
    device: &'static Device,
    queued: Option<Queued>,
}

impl Place {
    fn with(device: &'static Device, queued: Queued) -> Self {
        Self { device, queued: Some(queued) }
    }

    /// The device.
    #[inline]
    #[must_use]
    pub fn device(&self) -> &'static Device {
        self.device
    }

    /// What the construct's job keeps until it ends. One that was sent to its device by its number is
    /// counted from here on.
    #[inline]
    pub(crate) fn into_queued(self) -> Option<Queued> {
        if self.queued.is_none() && is_balancing() {
            return Some(Queued::on(self.device));
        }
        self.queued
    }
}

impl From<&'static Device> for Place {
    #[inline]
    fn from(device: &'static Device) -> Self {
        Self { device, queued: None }
    }
}

/// One construct's share in a device's load.
pub(crate) struct Queued(&'static Device);

impl Queued {
    fn on(device: &'static Device) -> Self {
        device.load.begin();
        Self(device)
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.load.end();
    }
}

/// Numbers of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers(u128);

const _: () = assert!(MAX_DEVICES <= u128::BITS as usize);

impl Numbers {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn add(&mut self, number: usize) {
        self.0 |= 1 << number;
    }

    pub(crate) fn remove(&mut self, number: usize) {
        self.0 &= !(1 << number);
    }

    pub(crate) fn has(self, number: usize) -> bool {
        self.0 & 1 << number != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_one(self) -> bool {
        self.0.is_power_of_two()
    }

    /// Those that are in both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// In ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        iter::from_fn(move || {
            let next = (rest != 0).then(|| rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            next
        })
    }
}

/// A device among which one is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    number: usize,
    constructs: usize,
    homes: usize,
}

/// The one with the least to do: of equals the default device, then the first.
fn least(among: impl Iterator<Item = Standing>, default: usize) -> Option<Standing> {
    among.min_by_key(|one| (one.constructs, one.homes, one.number != default, one.number))
}

/// Takes a place on the device with the least to do. Others that do so meanwhile see it taken.
/// With `homes`, of those with as little to do it is the one that is home of the fewest threads.
pub(crate) fn queue_on_least(
    among: Numbers,
    default: usize,
    homes: bool,
    device: impl Fn(usize) -> Option<&'static Device>,
) -> Option<Place> {
    loop {
        let standings = among.iter().filter_map(|number| {
            let load = &device(number)?.load;
            let homes = if homes { load.homes() } else { 0 };
            Some(Standing { number, constructs: load.constructs(), homes })
        });
        let Standing { number, constructs, .. } = least(standings, default)?;
        let device = device(number)?;
        if device.load.begin_if(constructs) {
            return Some(Place::with(device, Queued(device)));
        }
    }
}

/// Takes a place on a device.
pub(crate) fn queue_on(device: &'static Device) -> Place {
    Place::with(device, Queued::on(device))
}

/// Where a thread has begun data that stays.
struct Home(Option<&'static Device>);

thread_local! {
    static HOME: RefCell<Home> = const { RefCell::new(Home(None)) };
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(device) = self.0 {
            device.load.leave();
        }
    }
}

/// The calling thread's home. A thread that ends has none.
pub(crate) fn home() -> Option<&'static Device> {
    HOME.try_with(|home| home.borrow().0).ok().flatten()
}

/// The calling thread begins data on a device.
pub(crate) fn settle(device: &'static Device) {
    let moved = HOME.try_with(|home| {
        device.load.settle();
        home.replace(Home(Some(device)))
    });
    drop(moved);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(loads: &[(usize, usize)], default: usize) -> Option<usize> {
        let standing = |(number, &(constructs, homes))| Standing { number, constructs, homes };
        least(loads.iter().enumerate().map(standing), default).map(|one| one.number)
    }

    #[test]
    fn the_least_queued_is_chosen() {
        assert_eq!(chosen(&[(3, 0), (1, 0), (2, 0)], 0), Some(1));
        assert_eq!(chosen(&[(3, 0), (1, 9), (2, 0)], 0), Some(1));
        assert_eq!(chosen(&[], 0), None);
    }

    #[test]
    fn of_equals_the_default_device_is_chosen_then_the_first() {
        assert_eq!(chosen(&[(0, 0), (0, 0), (0, 0)], 1), Some(1));
        assert_eq!(chosen(&[(1, 0), (0, 0), (0, 0)], 0), Some(1));
        assert_eq!(chosen(&[(0, 1), (0, 0), (0, 0)], 0), Some(1));
    }

    #[test]
    fn sets_of_numbers() {
        let mut some = Numbers::NONE;
        assert!(some.is_empty() && !some.is_one());
        some.add(MAX_DEVICES - 1);
        assert!(some.is_one() && some.has(MAX_DEVICES - 1) && !some.has(0));
        some.add(0);
        assert!(some.iter().eq([0, MAX_DEVICES - 1]) && !some.is_one());
        let mut other = some;
        other.remove(0);
        assert!(some.and(other) == other && some.and(Numbers::NONE).is_empty());
    }
}
