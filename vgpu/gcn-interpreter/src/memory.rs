//! Device memory as the interpreter sees it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use crate::fault::FaultKind;

/// Memory of the device and of the host, and what else of the machine a kernel can use. Several
/// launches may use it at the same time, and so may the host.
pub trait Memory: Sync {
    /// Fills `bytes` from `address`, or fails when an allocation does not cover it all. Of 4 and 8
    /// bytes at a multiple of their number it is one access.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`], as a rule.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind>;

    /// The same for writing.
    ///
    /// # Errors
    /// As for reading.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), FaultKind>;

    /// Replaces the 4 or 8 bytes at a multiple of their number by what `operation` makes of them, and
    /// returns the old ones. It is atomic towards the host and other launches: `operation` may be
    /// called several times.
    ///
    /// # Errors
    /// As for writing.
    fn update(
        &self,
        address: u64,
        size: usize,
        operation: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, FaultKind>;

    /// What `s_memrealtime` shows: it counts 100 MHz.
    fn real_time(&self) -> u64 {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        (START.get_or_init(Instant::now).elapsed().as_nanos() / 10) as u64
    }

    /// `s_sendmsg(MSG_INTERRUPT)`: the host is to look at its event with this number.
    fn interrupt(&self, _event: u32) {}
}

/// Separate allocations with a gap after each, checked to the byte.
#[derive(Debug, Default)]
pub struct Flat {
    allocations: Mutex<BTreeMap<u64, Vec<u8>>>,
}

impl Flat {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// New memory, zero-filled.
    #[must_use]
    pub fn allocate(&self, size: usize, align: u64) -> u64 {
        const GAP: u64 = 256;
        const FIRST: u64 = 1 << 32;
        let mut allocations = self.lock();
        let end = allocations.last_key_value().map_or(FIRST, |(start, bytes)| start + bytes.len() as u64);
        let start = (end + GAP).next_multiple_of(align.max(256));
        allocations.insert(start, vec![0; size]);
        start
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Vec<u8>>> {
        self.allocations.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        address: u64,
        size: usize,
        write: bool,
        action: impl FnOnce(&mut [u8]) -> T,
    ) -> Result<T, FaultKind> {
        let outside = FaultKind::OutOfBounds { address, size, write };
        let mut allocations = self.lock();
        let Some((start, bytes)) = allocations.range_mut(..=address).next_back() else { return Err(outside) };
        let offset = usize::try_from(address - start).unwrap_or(usize::MAX);
        let range = offset.checked_add(size).and_then(|end| bytes.get_mut(offset..end));
        range.map(action).ok_or(outside)
    }
}

impl Memory for Flat {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        self.with(address, bytes.len(), false, |found| bytes.copy_from_slice(found))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), FaultKind> {
        self.with(address, bytes.len(), true, |found| found.copy_from_slice(bytes))
    }

    fn update(
        &self,
        address: u64,
        size: usize,
        operation: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, FaultKind> {
        self.with(address, size, true, |found| {
            let mut bytes = [0; 8];
            bytes[..size].copy_from_slice(found);
            let old = u64::from_le_bytes(bytes);
            found.copy_from_slice(&operation(old).to_le_bytes()[..size]);
            old
        })
    }
}
