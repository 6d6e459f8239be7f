//! The range of addresses of this process: allocating, freeing, finding, counting.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use arc_swap::ArcSwap;

use crate::blocks::Blocks;
use crate::classes::{Classes, Slot};
use crate::error::Error;
use crate::host::HostRanges;
use crate::range::{choose_amds, is_device_address, range};
use crate::records::{Allocation, AllocationKind, EXTENT, Records, Retired, State, extents};
use crate::reserve::{self, HUGE, PAGE};
use crate::{NULL_ZONE, filled, poison, shadow};

/// Devices are numbered from 0 to one less.
pub const MAX_DEVICES: usize = 64;

/// Every allocation is aligned to so many bytes.
const ALIGN: u64 = 256;

/// A request for memory.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub device: u32,
    /// In bytes. An allocation of 0 bytes has an address of its own and no accessible byte.
    pub size: u64,
    /// A power of two of at most 1 GiB; less than 256 means 256.
    pub align: u64,
    pub kind: AllocationKind,
    /// For reports: the variable's name, or the function that the program called.
    pub name: Option<&'a str>,
}

impl<'a> Request<'a> {
    #[must_use]
    pub fn new(device: u32, size: u64, kind: AllocationKind) -> Self {
        Request { device, size, align: ALIGN, kind, name: None }
    }

    #[must_use]
    pub fn align(self, align: u64) -> Self {
        Request { align, ..self }
    }

    #[must_use]
    pub fn name(self, name: &'a str) -> Self {
        Request { name: Some(name), ..self }
    }
}

/// Bytes of one device.
#[derive(Debug)]
struct Device {
    used: AtomicU64,
    limit: AtomicU64,
}

/// All device memory of this process; there is one, [`Space::get`].
#[derive(Debug)]
pub struct Space {
    pub(crate) records: Records,
    classes: Classes,
    devices: [Device; MAX_DEVICES],
    pub(crate) host: HostRanges,
    pub(crate) heaps: ArcSwap<Vec<Weak<Blocks>>>,
    heaps_changing: Mutex<()>,
    names: RwLock<Names>,
    next_id: AtomicU64,
    poison: AtomicBool,
    /// How often memory has been freed: what somebody remembers of allocations is stale then.
    freed: AtomicU64,
    /// Devices may use all of the host's memory.
    shares_host: AtomicBool,
}

/// Names of allocations. A program has few different ones, so they are kept for ever.
#[derive(Debug, Default)]
struct Names {
    list: Vec<&'static str>,
    numbers: HashMap<&'static str, u32>,
}

/// What a request takes, in bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// The pages that it needs, which are charged.
    pages: u64,
    /// What is made accessible. What would fill half of a huge page gets a whole one. That is one
    /// fault of some 50 µs instead of hundreds of 2 µs.
    open: u64,
    /// The least slot: with the page that is never opened, and what an alignment beyond a page may
    /// skip.
    slot: u64,
}

impl Sizes {
    fn of(request: &Request<'_>, align: u64) -> Option<Self> {
        let pages = request.size.checked_next_multiple_of(PAGE)?;
        // Arenas are used here and there.
        let huge = request.kind != AllocationKind::Arena && pages % HUGE >= HUGE / 2;
        let open = if huge { pages.checked_next_multiple_of(HUGE)? } else { pages };
        Some(Self { pages, open, slot: open.checked_add(PAGE + align.saturating_sub(PAGE))? })
    }
}

impl Space {
    /// The memory of this process. The first call reserves the addresses; if that fails,
    /// so does every later call.
    pub fn get() -> Result<&'static Self, Error> {
        static SPACE: OnceLock<Result<Space, Error>> = OnceLock::new();
        let space =
            SPACE.get_or_init(|| reserve::reserve().map(|()| Self::new()).map_err(Error::NotReserved));
        space.as_ref().map_err(Error::clone)
    }

    /// The memory of AMD's devices, in [their range](crate::AMD): for a library that asks for no other one.
    pub fn of_amd() -> Result<&'static Self, Error> {
        choose_amds();
        Self::get()
    }

    fn new() -> Self {
        let device = || Device { used: AtomicU64::new(0), limit: AtomicU64::new(u64::MAX) };
        Self {
            records: Records::new(),
            classes: Classes::new(),
            devices: std::array::from_fn(|_| device()),
            host: HostRanges::default(),
            heaps: ArcSwap::default(),
            heaps_changing: Mutex::new(()),
            names: RwLock::default(),
            next_id: AtomicU64::new(1),
            poison: AtomicBool::new(false),
            freed: AtomicU64::new(0),
            shares_host: AtomicBool::new(false),
        }
    }

    /// Allocates memory that reads as zero, or as NaN where [`set_poison`](Space::set_poison) says so,
    /// and returns its address.
    pub fn allocate(&self, request: &Request<'_>) -> Result<u64, Error> {
        let align = request.align.max(ALIGN);
        if !request.align.max(1).is_power_of_two() || align > EXTENT {
            return Err(Error::BadAlignment(request.align));
        }
        let none = || Error::OutOfMemory { size: request.size, reason: "no addresses are left".to_owned() };
        let sizes = Sizes::of(request, align).ok_or_else(none)?;
        self.charge(request, sizes.pages)?;
        let placed = self.place(&sizes, align, request);
        let (slot, start) =
            placed.inspect_err(|_| self.discharge(request.device, request.kind, sizes.pages))?;
        // The end of the memory is as near to the inaccessible page as the alignment allows.
        let address = match request.size.checked_next_multiple_of(align) {
            Some(size) if align <= PAGE => start + sizes.open - size,
            _ => start,
        };
        let poisoned = matches!(
            request.kind,
            AllocationKind::Device | AllocationKind::Managed | AllocationKind::Pinned | AllocationKind::Heap
        );
        if poisoned && self.poison.load(Ordering::Relaxed) {
            // A dense slot keeps its pages, and they have to be zero for the next one.
            let fill = if slot.dense { filled::fill } else { filled::fill_later };
            // SAFETY: the pages were just opened, and nothing knows of them; closing the slot maps others.
            unsafe { fill(address, request.size, poison::PATTERN) };
        }
        if shadow::is_enabled() {
            Self::shade(address, request);
        }
        let allocation = Allocation {
            address,
            size: request.size,
            kind: request.kind,
            device: request.device,
            name: None,
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
        };
        let name = request.name.map_or(0, |name| self.intern(name));
        let record = self.records.record(slot.place).expect("a slot that was taken has a record");
        record.publish(&allocation, name);
        Ok(address)
    }

    /// Says what of new memory is defined.
    fn shade(address: u64, request: &Request<'_>) {
        match request.kind {
            AllocationKind::Device => shadow::undefine(address, request.size),
            // Whoever divides the others knows. Variables have initial values.
            AllocationKind::Constant
            | AllocationKind::Module
            | AllocationKind::Arena
            | AllocationKind::Heap => shadow::define(address, request.size),
            AllocationKind::Pinned | AllocationKind::Managed => {
                shadow::define(address, request.size);
                shadow::note_hosts(address, request.size, true);
            }
        }
    }

    /// Takes a slot and opens some of its pages; where they begin.
    fn place(&self, sizes: &Sizes, align: u64, request: &Request<'_>) -> Result<(Slot, u64), Error> {
        let full = |reason: String| Error::OutOfMemory { size: request.size, reason };
        let mut reason = String::new();
        // When the kernel has no more mappings, a slot without an inaccessible page may still do.
        for dense in [false, true] {
            let slot = self.classes.take(&self.records, sizes.slot, dense);
            let slot = slot.ok_or_else(|| full("no addresses are left".to_owned()))?;
            let start = slot.start.next_multiple_of(align.max(PAGE));
            let opened = match request.kind {
                AllocationKind::Constant => reserve::open_constant(start, sizes.open),
                _ if slot.dense => Ok(()),
                kind => reserve::open(start, sizes.open, kind != AllocationKind::Arena),
            };
            match opened {
                Ok(()) => return Ok((slot, start)),
                Err(error) => reason = error.to_string(),
            }
            // As it was, or it is not handed out any more.
            if request.kind != AllocationKind::Constant
                || reserve::close_constant(slot.start, slot.length, slot.dense).is_ok()
            {
                self.classes.give(&slot);
            }
            if slot.length >= EXTENT {
                break;
            }
        }
        Err(full(reason))
    }

    /// Frees an allocation by its address: nothing finds it any more. Its pages become
    /// inaccessible, at once or when the last [`Hold`](crate::Hold) of them ends, and its addresses
    /// are not used again for a while.
    pub fn free(&self, address: u64) -> Result<(), Error> {
        let wrong = || Error::NotAnAllocation { address, what: self.describe(address) };
        let place = self.records.slot_of(address).ok_or_else(wrong)?;
        let record = self.records.record(place).ok_or_else(wrong)?;
        let (state, allocation, _) = record.read();
        if state != State::Live || allocation.address != address {
            return Err(wrong());
        }
        let retired = record.retire(&allocation);
        if retired == Retired::No {
            return Err(wrong());
        }
        // Before anything else may come to be there.
        self.note_freed();
        if retired == Retired::Yes {
            self.take_away(place, &allocation);
        }
        Ok(())
    }

    /// Gives what was freed back to the system. There is no holder.
    pub(crate) fn take_away(&self, place: (usize, u32), allocation: &Allocation) {
        let slot = self.slot(place);
        shadow::define(allocation.address, allocation.size);
        shadow::note_hosts(allocation.address, allocation.size, false);
        let given_back = match allocation.kind {
            // On failure its pages are mapped twice still: no other allocation can have them.
            AllocationKind::Constant => reserve::close_constant(slot.start, slot.length, slot.dense).is_ok(),
            // Closing fails only when the kernel has no mapping left for it.
            _ => {
                if slot.dense || reserve::close(slot.start, slot.length).is_err() {
                    let _ = reserve::clear(slot.start, slot.length);
                }
                true
            }
        };
        self.discharge(allocation.device, allocation.kind, allocation.size.next_multiple_of(PAGE));
        if given_back {
            self.classes.give(&slot);
        }
    }

    fn slot(&self, place: (usize, u32)) -> Slot {
        let length = self.records.length(place.0);
        let start = range().base + place.0 as u64 * EXTENT + u64::from(place.1) * length;
        Slot { place, start, length, dense: self.records.is_dense(place.0) }
    }

    /// The allocation that an address is in. The byte behind its end belongs to it when it is empty
    /// only.
    pub fn find(&self, address: u64) -> Option<Allocation> {
        let (allocation, name) = self.live(address)?;
        Some(Allocation { name: self.name(name), ..allocation })
    }

    /// As [`find`](Space::find), with the number of the name. Takes no lock.
    fn live(&self, address: u64) -> Option<(Allocation, u32)> {
        let record = self.records.record(self.records.slot_of(address)?)?;
        let (state, allocation, name) = record.read();
        let inside = allocation.covers(address, u64::from(allocation.size > 0));
        (state == State::Live && inside).then_some((allocation, name))
    }

    /// Where the host reads and writes what kernels have at an address. It is the same one, but for
    /// constants: their pages are read-only there, for the host as well. The caller holds the
    /// memory.
    pub fn host_address(&self, address: u64) -> u64 {
        let record = self.records.slot_of(address).and_then(|place| self.records.record(place));
        // A holder may still write it when it has been freed.
        let constant = record.is_some_and(|record| {
            let (_, allocation, _) = record.read();
            allocation.kind == AllocationKind::Constant && allocation.covers(address, 1)
        });
        if constant { address + reserve::MIRROR } else { address }
    }

    /// Whether [`find`](Space::find) finds an allocation that covers a whole access. Takes no lock.
    pub fn is_allocated(&self, address: u64, size: u64) -> bool {
        self.live(address).is_some_and(|(allocation, _)| allocation.covers(address, size))
    }

    /// Everything that is allocated now, in order of addresses.
    pub fn allocations(&self) -> impl Iterator<Item = Allocation> + '_ {
        let slots =
            (0..extents()).flat_map(|extent| (0..self.records.slots(extent)).map(move |slot| (extent, slot)));
        slots.filter_map(|place| {
            let (state, allocation, name) = self.records.record(place)?.read();
            (state == State::Live).then(|| Allocation { name: self.name(name), ..allocation })
        })
    }

    fn intern(&self, name: &str) -> u32 {
        let number = self.names.read().unwrap_or_else(PoisonError::into_inner).numbers.get(name).copied();
        number.unwrap_or_else(|| {
            let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(&number) = names.numbers.get(name) {
                return number;
            }
            let kept: &'static str = Box::leak(name.into());
            names.list.push(kept);
            let number = names.list.len() as u32;
            names.numbers.insert(kept, number);
            number
        })
    }

    pub(crate) fn name(&self, number: u32) -> Option<&'static str> {
        let index = (number as usize).checked_sub(1)?;
        self.names.read().unwrap_or_else(PoisonError::into_inner).list.get(index).copied()
    }

    fn device(&self, device: u32) -> Result<&Device, Error> {
        self.devices.get(device as usize).ok_or(Error::NoSuchDevice(device))
    }

    fn charge(&self, request: &Request<'_>, bytes: u64) -> Result<(), Error> {
        let device = self.device(request.device)?;
        if !request.kind.is_counted() {
            return Ok(());
        }
        let limit = device.limit.load(Ordering::Relaxed);
        let fits = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= limit);
        let charged = device.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        let (number, size) = (request.device, request.size);
        charged.map(|_| ()).map_err(|used| Error::LimitExceeded { device: number, size, used, limit })
    }

    fn discharge(&self, device: u32, kind: AllocationKind, bytes: u64) {
        if kind.is_counted()
            && let Ok(device) = self.device(device)
        {
            device.used.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// How much memory a device has, in bytes. What is allocated already stays.
    pub fn set_limit(&self, device: u32, bytes: u64) -> Result<(), Error> {
        self.device(device)?.limit.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    pub fn limit(&self, device: u32) -> Result<u64, Error> {
        Ok(self.device(device)?.limit.load(Ordering::Relaxed))
    }

    /// Bytes of a device's memory that are in use, in whole pages.
    pub fn used(&self, device: u32) -> Result<u64, Error> {
        Ok(self.device(device)?.used.load(Ordering::Relaxed))
    }

    /// Bytes that can still be allocated on a device.
    pub fn available(&self, device: u32) -> Result<u64, Error> {
        Ok(self.limit(device)?.saturating_sub(self.used(device)?))
    }

    /// Whether new memory is filled with words that are no numbers; for the check mode.
    pub fn set_poison(&self, poison: bool) {
        self.poison.store(poison, Ordering::Relaxed);
    }

    pub(crate) fn poisons(&self) -> bool {
        self.poison.load(Ordering::Relaxed)
    }

    /// How often memory has been freed. Whoever remembers what [`grant`](Space::grant) has said asks again
    /// when it has changed.
    pub fn freed(&self) -> &AtomicU64 {
        &self.freed
    }

    /// Something is free, and nobody finds it any more.
    pub(crate) fn note_freed(&self) {
        self.freed.fetch_add(1, Ordering::Release);
    }

    /// Lets kernels use host memory, at its own address. The caller promises that it stays mapped
    /// until it is unregistered.
    pub fn register_host(&self, address: u64, size: u64) -> Result<(), Error> {
        self.host.register(address, size)
    }

    /// Ends a registration by its first address, and returns its length. Waits until no holder has
    /// any of it: then the program may unmap it.
    pub fn unregister_host(&self, address: u64) -> Result<u64, Error> {
        let length = self.host.unregister(address)?;
        self.note_freed();
        Ok(length)
    }

    /// Whether all of an access is in registered host memory. Takes no lock.
    pub fn is_host_registered(&self, address: u64, size: u64) -> bool {
        !is_device_address(address) && self.host.covers(address, size)
    }

    /// The registration that a host address is in: its start and length.
    pub fn find_host(&self, address: u64) -> Option<(u64, u64)> {
        self.host.find(address)
    }

    /// Lets kernels use all of the host's memory, as devices with unified memory do. What is there
    /// is the processor's business: an access to what is not mapped raises a signal.
    pub fn share_host(&self) {
        self.shares_host.store(true, Ordering::Relaxed);
    }

    /// Whether kernels may use all of the host's memory.
    pub fn shares_host(&self) -> bool {
        self.shares_host.load(Ordering::Relaxed)
    }

    /// Whether kernels may make an access of the host's memory. Takes no lock.
    pub fn is_host_usable(&self, address: u64, size: u64) -> bool {
        let shared = || {
            let window = self.shares_host().then(|| window_of_host(address)).flatten();
            window.is_some_and(|(start, length)| size <= length - (address - start))
        };
        self.is_host_registered(address, size) || shared()
    }

    /// A range around an address in which kernels may use the host's memory: its start and length.
    pub fn host_window(&self, address: u64) -> Option<(u64, u64)> {
        if self.shares_host() { window_of_host(address) } else { self.find_host(address) }
    }

    /// A number that changes when the registration of host memory ends: whoever remembers what
    /// [`host_window`](Space::host_window) has said asks again then.
    pub fn host_generation(&self) -> u64 {
        self.host.ended()
    }

    pub(crate) fn add_heap(&self, heap: &Arc<Blocks>) {
        let _alone = self.heaps_changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut heaps = Vec::clone(&self.heaps.load());
        heaps.retain(|heap| heap.strong_count() > 0);
        heaps.push(Arc::downgrade(heap));
        self.heaps.store(Arc::new(heaps));
    }

    /// The heap that an address is in.
    pub(crate) fn heap(&self, address: u64) -> Option<Arc<Blocks>> {
        let heaps = self.heaps.load();
        heaps.iter().filter_map(Weak::upgrade).find(|heap| heap.contains(address))
    }
}

/// Where the addresses of processes end.
const END_OF_HOST: u64 = 1 << 47;

/// The range in which an address may be one of the host's: below the reserved addresses, or above.
fn window_of_host(address: u64) -> Option<(u64, u64)> {
    let ranges = [(NULL_ZONE, range().first), (range().end, END_OF_HOST)];
    let (start, end) = ranges.into_iter().find(|&(start, end)| (start..end).contains(&address))?;
    Some((start, end - start))
}
