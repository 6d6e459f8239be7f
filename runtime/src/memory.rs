//! Explicit device memory: allocation, copies, fills, associations (OpenMP 6.0
//! chapter 25, device memory routines).
//!
//! Front ends give the host as `None`. Sizes are bytes throughout.

use crate::allocations;
use crate::device::{Device, Opened};
use crate::error::{Error, ErrorKind, HostRange, Result};
use crate::events::{self, Site, Step};
use crate::late::{self, Late};
use crate::queue::Queue;
use crate::storage::{AllocationRequest, Purpose};
use gangway_backend::{AllocationKind, Copies, DevicePtr, HostCopy, Stream};
use gangway_present::Label;
use gangway_present::StreamRef;
use gangway_present::{Counter, NewEntry, NotAssociated, Relation, Removed};

/// Bytes of host memory that copies between devices without a direct way, and
/// fills, go through at a time.
const STAGING: usize = 1 << 20;

/// One side of a copy.
#[derive(Clone, Copy)]
pub struct Place {
    /// The device; `None` is the host.
    pub device: Option<&'static Device>,
    /// Address there.
    pub address: usize,
}

impl Place {
    fn at(self, offset: usize) -> Self {
        Self { address: self.address.wrapping_add(offset), ..self }
    }
}

/// Allocates `size` bytes of device memory.
///
/// # Errors
/// Out of memory, or a kind the device lacks.
pub fn allocate(
    device: &'static Device,
    size: usize,
    kind: AllocationKind,
    site: &Site,
) -> Result<DevicePtr> {
    free_late(site);
    let purpose = Purpose::Program(kind);
    let request = AllocationRequest { host: 0, size, purpose, overwritten: false, label: Label::NONE };
    let opened = device.open()?;
    let pointer = device.allocate(opened, site, &request)?;
    opened.obtained(pointer, false, site);
    allocations::allocated(device.number(), pointer.0, size, kind);
    Ok(pointer)
}

/// Frees what [`allocate`] returned.
///
/// # Safety
/// No operation in flight uses it. (An address that was not allocated is an
/// error where the back end can tell.)
///
/// # Errors
/// It is known to be other memory, or what the back end says.
pub unsafe fn free(
    device: &'static Device,
    pointer: DevicePtr,
    kind: AllocationKind,
    site: &Site,
) -> Result<()> {
    allocations::freeing(device.number(), pointer.0, kind)
        .map_err(|mistake| Error::new(ErrorKind::WrongFree(mistake), device.number(), site.location()))?;
    if late::keep(Late { device, pointer, kind }) {
        return Ok(());
    }
    free_late(site);
    let opened = device.open()?;
    opened.frees(pointer, site);
    // SAFETY: the caller's promise.
    let freed = unsafe { device.deallocate(opened, site, pointer, Purpose::Program(kind)) };
    freed.map_err(|mut error| {
        error.kind = match error.kind {
            ErrorKind::Backend(source @ gangway_backend::Error::Device { .. }) => {
                ErrorKind::NotFreed { address: pointer.0, kind, source }
            }
            other => other,
        };
        error
    })
}

/// Frees what functions of the host have left. Their callers were told of success.
fn free_late(site: &Site) {
    for Late { device, pointer, kind } in late::take() {
        let Ok(opened) = device.open() else { continue };
        // SAFETY: as who freed it has promised.
        let _ = unsafe { device.deallocate(opened, site, pointer, Purpose::Program(kind)) };
    }
}

/// Copies `size` bytes from one place to another and waits.
///
/// # Safety
/// Both ranges are valid where they are.
///
/// # Errors
/// A back end's copy failed.
pub unsafe fn copy(to: Place, from: Place, size: usize, site: &Site) -> Result<()> {
    match (to.device, from.device) {
        (None, None) => {
            // The routines allow overlapping host ranges no more than memcpy, but
            // a program that has them gets the sensible result.
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy(from.address as *const u8, to.address as *mut u8, size) };
            Ok(())
        }
        (Some(device), None) | (None, Some(device)) => in_stream(device, |opened, stream| {
            // SAFETY: the caller's promise; `in_stream` waits.
            unsafe { issue(device, opened, stream, to, from, size, site) }
        }),
        (Some(target), Some(source)) => {
            // SAFETY: the caller's promise.
            unsafe { copy_between(target, source, to, from, size, site) }
        }
    }
}

/// Copies `size` bytes between the host (one side) and a queue's device, inside of that, or from it to another one,
/// behind what has been issued to the queue. What fails later is told by [`Queue::synchronize`].
///
/// # Safety
/// Both ranges are valid where they are, until the queue has got there.
///
/// # Errors
/// The copy could not be issued.
pub unsafe fn copy_in(queue: &Queue, to: Place, from: Place, size: usize, site: &Site) -> Result<()> {
    let device = queue.device();
    if let (Some(target), Some(_)) = (to.device, from.device) {
        let reaches =
            std::ptr::eq(target, device) || target.shares_backend(device) && device.capabilities()?.peer_copy;
        let direct = match reaches {
            // SAFETY: the caller's promise.
            true => unsafe { issue_between(target, device.open()?, queue.stream(), to, from, size, site) },
            false => Err(gangway_backend::Error::Unsupported { operation: "copies between devices" }),
        };
        return match direct {
            Err(gangway_backend::Error::Unsupported { .. }) => {
                queue.synchronize()?;
                // SAFETY: the caller's promise.
                unsafe { copy(to, from, size, site) }
            }
            done => transfer(device, site, done),
        };
    }
    // SAFETY: the caller's promise.
    unsafe { issue(device, device.open()?, queue.stream(), to, from, size, site) }
}

/// Issues a copy from a device to itself or to another one of its back end.
///
/// # Safety
/// As [`copy`], until the stream has got there.
unsafe fn issue_between(
    target: &'static Device,
    opened: &Opened,
    stream: Option<StreamRef>,
    to: Place,
    from: Place,
    size: usize,
    site: &Site,
) -> gangway_backend::Result<()> {
    let source = from.device.unwrap_or(target);
    let (from, to) = (DevicePtr(from.address), DevicePtr(to.address));
    let step = || Step::BetweenDevices { from, to_device: target.number(), to, size };
    // SAFETY: the caller's promise.
    let copy = || unsafe { opened.at(stream).copy_between(target.ordinal(), to, from, size) };
    opened.on_behalf(Copies::AskedFor, || events::step(source.number(), site, step, copy, |_| step()))
}

/// Issues a copy between the host and a device.
///
/// # Safety
/// As [`copy`], until the stream has got there.
unsafe fn issue(
    device: &'static Device,
    opened: &Opened,
    stream: Option<StreamRef>,
    to: Place,
    from: Place,
    size: usize,
    site: &Site,
) -> Result<()> {
    let stream = opened.at(stream);
    let writes = to.device.is_none();
    let done = opened.on_behalf(Copies::AskedFor, || {
        if writes {
            let (host, source) = (to.address, DevicePtr(from.address));
            let step = || Step::FromDevice { host, device: source, size, label: Label::NONE };
            // SAFETY: the caller's promise.
            let copy = || unsafe { stream.copy_from_device(host as *mut u8, source, size) };
            events::step(device.number(), site, step, copy, |_| step())
        } else {
            let (host, target) = (from.address, DevicePtr(to.address));
            let step = || Step::ToDevice { host, device: target, size, label: Label::NONE };
            // SAFETY: the caller's promise.
            let copy = || unsafe { stream.copy_to_device(target, host as *const u8, size) };
            events::step(device.number(), site, step, copy, |_| step())
        }
    });
    if done.is_ok() && size != 0 && opened.capabilities.host_copies {
        let address = if writes { to.address } else { from.address };
        stream.host_copy(&HostCopy { address, size, write: writes, mapped: false }, site.location());
    }
    transfer(device, site, done)
}

/// # Safety
/// As [`copy`].
unsafe fn copy_between(
    target: &'static Device,
    source: &'static Device,
    to: Place,
    from: Place,
    size: usize,
    site: &Site,
) -> Result<()> {
    if target.shares_backend(source) && (source.capabilities()?.peer_copy || std::ptr::eq(target, source)) {
        let direct = in_stream(source, |opened, stream| {
            // SAFETY: the caller's promise; `in_stream` waits.
            Ok(unsafe { issue_between(target, opened, stream, to, from, size, site) })
        })?;
        match direct {
            Err(gangway_backend::Error::Unsupported { .. }) => {}
            done => return transfer(source, site, done),
        }
    }
    let mut staging = vec![0u8; size.min(STAGING)];
    let mut done = 0;
    while done < size {
        let part = staging.len().min(size - done);
        let buffer = Place { device: None, address: staging.as_mut_ptr().addr() };
        // SAFETY: the caller's promise; the buffer has `part` bytes.
        unsafe {
            copy(buffer, from.at(done), part, site)?;
            copy(to.at(done), buffer, part, site)?;
        }
        done += part;
    }
    Ok(())
}

/// A rectangular subvolume, outermost dimension first; all counts in elements.
#[derive(Debug, Clone, Copy)]
pub struct Volume<'a> {
    /// Bytes per element.
    pub element: usize,
    /// Extent in each dimension.
    pub extent: &'a [usize],
    /// Offset in the destination.
    pub to_offset: &'a [usize],
    /// Offset in the source.
    pub from_offset: &'a [usize],
    /// Dimensions of the destination.
    pub to_dimensions: &'a [usize],
    /// Dimensions of the source.
    pub from_dimensions: &'a [usize],
}

/// Copies a subvolume (`omp_target_memcpy_rect`) and waits.
///
/// # Safety
/// Both volumes are valid where they are; all slices have the same length.
///
/// # Errors
/// A back end's copy failed.
pub unsafe fn copy_volume(to: Place, from: Place, volume: &Volume<'_>, site: &Site) -> Result<()> {
    let Some((&extent, inner_extent)) = volume.extent.split_first() else { return Ok(()) };
    let slice = |dimensions: &[usize]| dimensions[1..].iter().product::<usize>() * volume.element;
    let (to_slice, from_slice) = (slice(volume.to_dimensions), slice(volume.from_dimensions));
    let to = to.at(volume.to_offset[0] * to_slice);
    let from = from.at(volume.from_offset[0] * from_slice);
    if inner_extent.is_empty() {
        if extent == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        return unsafe { copy(to, from, extent * volume.element, site) };
    }
    let inner = Volume {
        element: volume.element,
        extent: inner_extent,
        to_offset: &volume.to_offset[1..],
        from_offset: &volume.from_offset[1..],
        to_dimensions: &volume.to_dimensions[1..],
        from_dimensions: &volume.from_dimensions[1..],
    };
    (0..extent).try_for_each(|step| {
        // SAFETY: the caller's promise, one slice of it.
        unsafe { copy_volume(to.at(step * to_slice), from.at(step * from_slice), &inner, site) }
    })
}

/// Sets `size` bytes to `byte` and waits.
///
/// # Safety
/// The range is valid.
///
/// # Errors
/// A back end's operation failed.
pub unsafe fn fill(place: Place, byte: u8, size: usize, site: &Site) -> Result<()> {
    let Some(device) = place.device else {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::write_bytes(place.address as *mut u8, byte, size) };
        return Ok(());
    };
    in_stream(device, |opened, stream| {
        let target = DevicePtr(place.address);
        let step = || Step::Fill { device: target, byte: &byte, size };
        // SAFETY: the caller's promise.
        let fill = || unsafe { fill_in(opened.at(stream), target, byte, size) };
        let fill = || events::step(device.number(), site, step, fill, |_| step());
        transfer(device, site, opened.on_behalf(Copies::AskedFor, fill))
    })
}

/// Fills with the back end's own operation, or where it has none by copies of a
/// filled buffer. Returns when the device no longer reads the buffer.
///
/// # Safety
/// The range is valid.
unsafe fn fill_in(
    stream: &dyn Stream,
    target: DevicePtr,
    byte: u8,
    size: usize,
) -> std::result::Result<(), gangway_backend::Error> {
    // SAFETY: the caller's promise; `fill` waits.
    match unsafe { stream.fill(target, byte, size) } {
        Err(gangway_backend::Error::Unsupported { .. }) => {}
        done => return done,
    }
    let staging = vec![byte; size.min(STAGING)];
    let mut copied = Ok(());
    let mut done = 0;
    while done < size && copied.is_ok() {
        let part = staging.len().min(size - done);
        // SAFETY: the caller's promise; the buffer has `part` bytes and lives
        // until the stream has been waited for below.
        copied = unsafe { stream.copy_to_device(target.offset(done as isize), staging.as_ptr(), part) };
        done += part;
    }
    copied.and(stream.synchronize())
}

/// Ties a host range to device storage (`omp_target_associate_ptr`). Doing it
/// again with the same values changes nothing.
///
/// # Errors
/// The range overlaps one that is mapped or associated otherwise.
pub fn associate(
    device: &'static Device,
    host: usize,
    storage: DevicePtr,
    size: usize,
    site: &Site,
) -> Result<()> {
    let wanted = HostRange { begin: host, size, label: Label::NONE };
    if host.checked_add(size).is_none() {
        return Err(Error::new(ErrorKind::NoMemory { wanted }, device.number(), site.location()));
    }
    let step = || Step::Associate { host, device: storage, size };
    let insert = || {
        device.table.insert(&NewEntry {
            host_begin: host,
            size,
            host_base: host,
            label: Label::NONE,
            counter: Counter::Dynamic,
            associated: Some(storage),
        })
    };
    let (Err(Relation::Contained(entry)) | Err(Relation::Partial(entry))) =
        events::step(device.number(), site, step, insert, |_| step())
    else {
        device.notice_associated(host, size, storage, Label::NONE);
        return Ok(());
    };
    let same = entry.host_begin() == host
        && entry.host_end() == host + size
        && entry.translate(host) == storage
        && entry.snapshot().is_some_and(|counts| counts.is_infinite());
    if same {
        return Ok(());
    }
    let mapped = HostRange {
        begin: entry.host_begin(),
        size: entry.host_end() - entry.host_begin(),
        label: entry.label(),
    };
    Err(Error::new(ErrorKind::AlreadyMapped { wanted, mapped }, device.number(), site.location()))
}

/// Undoes [`associate`].
///
/// # Errors
/// Nothing is associated there.
pub fn disassociate(
    device: &'static Device,
    host: usize,
    site: &Site,
) -> std::result::Result<(), NotAssociated> {
    let remove = || device.table.disassociate(host);
    let begin = || Step::Disassociate { host, removed: None };
    let end = |removed: &std::result::Result<Removed<'_>, NotAssociated>| Step::Disassociate {
        host,
        removed: removed
            .as_ref()
            .ok()
            .map(|removed| (removed.device_begin, removed.host_end - removed.host_begin)),
    };
    let removed = events::step(device.number(), site, begin, remove, end)?;
    device.notice_disassociated(host, removed.host_end - host, removed.device_begin);
    Ok(())
}

/// Host address of a device address, if it is in a mapped range: for reverse offload and
/// `acc_hostptr`. A binary search, unless something has been mapped or unmapped since the
/// last question.
#[must_use]
pub fn host_address(device: &'static Device, address: DevicePtr) -> Option<usize> {
    device.table.host_of(address)
}

/// Device address of a host address, if it is present.
#[must_use]
pub fn mapped_address(device: &'static Device, host: usize) -> Option<DevicePtr> {
    match device.table.lookup(host, 1) {
        Relation::Contained(entry) if entry.wait_allocated() => Some(entry.translate(host)),
        _ => None,
    }
}

/// Whether two host addresses are present, and in ranges that were mapped apart: nothing that one leads to on
/// the device is what the other leads to.
#[must_use]
pub fn are_mapped_apart(device: &'static Device, one: usize, other: usize) -> bool {
    let entry = |host| match device.table.lookup(host, 1) {
        Relation::Contained(entry) => Some(entry),
        _ => None,
    };
    entry(one).zip(entry(other)).is_some_and(|(one, other)| one != other)
}

/// Whether a device's kernels can access `size` bytes at an address, taken as one of the device.
#[must_use]
pub fn reaches(device: &'static Device, address: DevicePtr, size: usize) -> bool {
    device.open().is_ok_and(|opened| opened.device.reaches(address, size))
}

/// Pins host memory for a device; answers the address the device reaches it by.
///
/// # Safety
/// The range is valid host memory until [`unpin`]ned.
///
/// # Errors
/// The device does not support it.
pub unsafe fn pin(device: &'static Device, host: usize, size: usize) -> Result<DevicePtr> {
    // SAFETY: the caller's promise.
    unsafe { device.open()?.device.pin_host(host as *mut u8, size) }.map_err(|source| {
        let wanted = HostRange { begin: host, size, label: Label::NONE };
        Error::new(ErrorKind::Pin { wanted, source }, device.number(), None)
    })
}

/// Undoes [`pin`].
///
/// # Safety
/// The memory was pinned and is not in use by the device.
///
/// # Errors
/// The device does not support it.
pub unsafe fn unpin(device: &'static Device, host: usize) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { device.open()?.device.unpin_host(host as *mut u8) }.map_err(|e| device.backend_error(e))
}

/// Runs an operation in a stream of the device (none on synchronous ones) and
/// waits for it. It comes behind blocking queues, as constructs do.
fn in_stream<R>(
    device: &'static Device,
    operation: impl FnOnce(&Opened, Option<StreamRef>) -> Result<R>,
) -> Result<R> {
    let opened = device.open()?;
    if device.has_blocking_queues() {
        device.busy_blocking_queues().iter().for_each(|queue| queue.drain());
    }
    let stream = device.take_stream(opened)?;
    let result = operation(opened, stream);
    let waited = stream.map_or(Ok(()), |stream| device.finish_stream(stream));
    let result = result?;
    waited.map_err(|error| device.backend_error(error)).map(|()| result)
}

fn transfer(
    device: &Device,
    site: &Site,
    result: std::result::Result<(), gangway_backend::Error>,
) -> Result<()> {
    result.map_err(|error| device.error(ErrorKind::Transfer(error), site.location()))
}
