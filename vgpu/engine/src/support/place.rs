//! Where an access leads to, and whether it may.

use gangway_device_memory::{
    LOCAL_SIZE, LOCAL_WINDOW, Space as DeviceMemory, is_device_address, range, shadow,
};
use gangway_interpreter::FaultKind;
use gangway_simt::Space as Named;

use super::operation::Operation;
use crate::abi::Warp;

/// The space of an access, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Space {
    Generic,
    /// Also constants.
    Global,
    Shared,
    /// Also parameters.
    Local,
}

impl Space {
    /// Whether its addresses have 32 bits.
    #[must_use]
    pub const fn is_narrow(self) -> bool {
        matches!(self, Self::Shared | Self::Local)
    }

    #[must_use]
    pub fn of(space: Named) -> Self {
        match space {
            Named::Shared => Space::Shared,
            Named::Local | Named::Parameters => Space::Local,
            Named::Generic => Space::Generic,
            Named::Global | Named::Constant => Space::Global,
        }
    }
}

/// What is left of an address in shared or local memory, which is of 32 bits: wider registers are
/// truncated (PTX ISA 9.0 section 9.7.9, `ld` and its kin).
#[inline(always)]
pub(super) const fn narrow_address(address: u64) -> u64 {
    address as u32 as u64
}

/// What kind of access it is, packed into a number for helpers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Of an element, in bytes.
    pub size: u8,
    /// Elements.
    pub count: u8,
    pub space: Space,
    /// Volatile, or with an order: each element is accessed once, and nothing moves across.
    pub strong: bool,
    /// Checked to the byte.
    pub check: bool,
    /// Told of.
    pub watch: bool,
    /// Where the warp remembers what it may access.
    pub site: u8,
    /// Known behind it is what others have published, or it publishes what has been done before.
    pub acquire: bool,
    pub release: bool,
    /// Strong towards threads of its block alone.
    pub narrow: bool,
    /// What an atomic one does, if that has a fast path.
    pub operation: Option<Operation>,
}

impl Access {
    /// A load or a store without more to it.
    #[must_use]
    pub const fn plain(size: u8, space: Space, check: bool) -> Self {
        Access {
            size,
            count: 1,
            space,
            strong: false,
            check,
            watch: false,
            site: 0,
            acquire: false,
            release: false,
            narrow: false,
            operation: None,
        }
    }

    #[must_use]
    pub fn bits(self) -> i64 {
        i64::from(self.size)
            | i64::from(self.count) << 8
            | (self.space as i64) << 16
            | i64::from(self.strong) << 24
            | i64::from(self.check) << 25
            | i64::from(self.acquire) << 26
            | i64::from(self.release) << 27
            | i64::from(self.watch) << 28
            | i64::from(self.narrow) << 29
            | i64::from(self.site) << 40
            | self.operation.map_or(0, Operation::bits) << 32
    }

    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        let space = match bits >> 16 & 3 {
            0 => Space::Generic,
            1 => Space::Global,
            2 => Space::Shared,
            _ => Space::Local,
        };
        Access {
            size: bits as u8,
            count: (bits >> 8) as u8,
            space,
            strong: bits >> 24 & 1 != 0,
            check: bits >> 25 & 1 != 0,
            acquire: bits >> 26 & 1 != 0,
            release: bits >> 27 & 1 != 0,
            watch: bits >> 28 & 1 != 0,
            narrow: bits >> 29 & 1 != 0,
            site: (bits >> 40) as u8,
            operation: Operation::from_bits((bits >> 32) as u8),
        }
    }

    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.size) * u64::from(self.count)
    }
}

/// Lane 0's local memory begins to be used here, so that a null pointer is none.
pub(crate) const FIRST_LOCAL: u64 = 256;

/// As [`place`], of a load or a store: on devices where these need not be aligned they are not.
pub(super) fn loose_place(
    warp: &Warp,
    lane: usize,
    access: Access,
    address: u64,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    // SAFETY: the engine has set up the warp, which runs.
    if access.count == 1 && unsafe { warp.host() }.is_unaligned() {
        return anywhere(warp, lane, access, address, write);
    }
    place(warp, lane, access, address, write)
}

/// Where an access of a lane goes; the fault that it is otherwise.
pub(super) fn place(
    warp: &Warp,
    lane: usize,
    access: Access,
    address: u64,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    let size = access.bytes();
    let place = if access.space.is_narrow() { narrow_address(address) } else { address };
    if !place.is_multiple_of(size.next_power_of_two()) {
        return Err(FaultKind::Misaligned { address: place, size: size as usize });
    }
    anywhere(warp, lane, access, address, write)
}

/// The same wherever it is.
fn anywhere(
    warp: &Warp,
    lane: usize,
    access: Access,
    address: u64,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    let size = access.bytes();
    let address = if access.space.is_narrow() { narrow_address(address) } else { address };
    let outside = || FaultKind::OutOfBounds { address, size: size as usize, write };
    let within = |offset: u64, first: u64, end: u64| {
        offset >= first && offset.checked_add(size).is_some_and(|last| last <= end)
    };
    let local = |offset: u64| {
        if !within(offset, FIRST_LOCAL, warp.local_top.min(warp.local_stride)) {
            return Err(outside());
        }
        Ok(warp.local.wrapping_add((lane as u64 * warp.local_stride + offset) as usize))
    };
    match access.space {
        Space::Shared => {
            if !within(address, 0, warp.shared_size) {
                return Err(outside());
            }
            Ok(warp.shared.wrapping_add(address as usize))
        }
        Space::Local => local(address),
        Space::Generic if address.wrapping_sub(LOCAL_WINDOW) < LOCAL_SIZE => local(address - LOCAL_WINDOW),
        Space::Generic | Space::Global => {
            let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
            let own = warp.shared as u64;
            let is_shadow = shadow::is_enabled() && (range().first..range().base).contains(&address);
            if access.check && !is_shadow && !(own..own + warp.shared_size).contains(&address) {
                let memory = DeviceMemory::get().map_err(|error| FaultKind::Launch(error.to_string()))?;
                // Code for atomic operations on one or two bytes uses the word that they are in, and leaves what is
                // behind an allocation's end as it is. Libatomic's words are of eight bytes.
                let within = memory.check(address, size, write).or_else(|violation| {
                    // SAFETY: the engine has set up the warp, which runs.
                    let is_word = size == 4 || size == 8 && unsafe { warp.host() }.is_of_atomics(warp);
                    let begins = is_word && memory.check(address, 1, write).is_ok();
                    if begins { Ok(()) } else { Err(violation) }
                });
                if within.is_err() {
                    return shadow_of_none(warp, address, size, write).ok_or_else(outside);
                }
                if !is_device_address(address) {
                    // SAFETY: the engine has set up the warp, which runs.
                    unsafe { warp.host() }.note_host_access(warp, lane, address, size, write);
                }
                return Ok(pointer);
            }
            // What is in the range and not allocated raises a signal.
            let inside = address.wrapping_sub(range().first) < range().windows - range().first;
            let host = || DeviceMemory::get().is_ok_and(|memory| warp.windows.find(memory, address, size));
            if inside || warp.windows.cover(address, size) || host() {
                return Ok(pointer);
            }
            shadow_of_none(warp, address, size, write).ok_or_else(outside)
        }
    }
}

/// The first byte behind an allocation's end that changes with a word, of which some bits `change`: a word may reach over
/// the end where an operation is for one or two bytes of it.
pub(super) fn changed_behind_end(address: u64, size: u64, change: u64) -> Option<u64> {
    let memory = DeviceMemory::get().ok().filter(|_| is_device_address(address))?;
    if memory.check(address, size, true).is_ok() {
        return None;
    }
    let changes = |&byte: &u64| change >> (8 * byte) & 0xff != 0;
    let mut changed = (0..size).filter(changes).map(|byte| address + byte);
    changed.find(|&byte| memory.check(byte, 1, true).is_err())
}

/// Where the shadow or the origin of memory of the host is, which has none: in what reads as zero, or in what nobody looks at.
/// Code that looks for uses of what nothing has written goes to all shadows alike.
#[cold]
fn shadow_of_none(warp: &Warp, address: u64, size: u64, write: bool) -> Option<*mut u8> {
    if !shadow::is_enabled() || (range().first..range().windows).contains(&address) {
        return None;
    }
    let is_hosts = |distance: u64| {
        let own = address.wrapping_add(distance);
        let host = || DeviceMemory::get().is_ok_and(|memory| warp.windows.find(memory, own, size));
        !is_device_address(own) && (warp.windows.cover(own, size) || host())
    };
    let nothing = if write { shadow::NOWHERE } else { shadow::NOTHING };
    let place = nothing + address % GRAIN;
    (is_hosts(shadow::SHADOW) || is_hosts(shadow::ORIGIN))
        .then(|| std::ptr::with_exposed_provenance_mut(place as usize))
}

/// Accesses are aligned to no more bytes than that.
const GRAIN: u64 = 32;
