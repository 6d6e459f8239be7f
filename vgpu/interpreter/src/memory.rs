//! Device memory as the interpreter sees it, and the windows of generic addresses.

use std::collections::BTreeMap;
use std::io::Write;

use gangway_device_memory::{LOCAL_SIZE, LOCAL_WINDOW, SHARED_SIZE, SHARED_WINDOW};
use gangway_ptx::StateSpace;

use crate::fault::FaultKind;

/// Global and constant memory, and what else of a device a kernel can use. The interpreter runs one
/// lane at a time, so an atomic operation is a read and a write; it is not atomic towards other
/// users of the memory.
pub trait Memory {
    /// Fills `bytes` from `address`, or fails when an allocation does not cover it all.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind>;

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), FaultKind>;

    /// New memory, zero-filled, for a module's variables.
    fn allocate(&mut self, size: u64, align: u64) -> Result<u64, FaultKind>;

    /// The device's `malloc`: 0 when there is no room.
    fn heap_allocate(&mut self, _size: u64) -> Result<u64, FaultKind> {
        Err(FaultKind::Unsupported("malloc without a heap".to_owned()))
    }

    /// The device's `free`.
    fn heap_free(&mut self, _address: u64) -> Result<(), FaultKind> {
        Err(FaultKind::Unsupported("free without a heap".to_owned()))
    }

    /// Whether the launch is to end early: asked every few thousand instructions. It fails with
    /// [`FaultKind::TooLong`] then.
    fn is_stopped(&self) -> bool {
        false
    }

    /// What `vprintf` writes, to the standard output.
    fn print(&mut self, text: &[u8]) {
        // A closed output has nowhere to be reported.
        let _ = std::io::stdout().write_all(text);
    }

    /// What a failed assertion writes, to the standard error.
    fn complain(&mut self, text: &str) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Which memory a generic address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The block's own.
    Shared,
    /// The lane's own: local memory and parameters.
    Local,
    /// The [`Memory`] of the launch.
    Memory,
}

impl Window {
    pub(crate) fn of(address: u64) -> Self {
        let inside = |(base, size)| address.wrapping_sub(base) < size;
        if inside(window(StateSpace::Shared)) {
            Window::Shared
        } else if inside(window(StateSpace::Local)) {
            Window::Local
        } else {
            Window::Memory
        }
    }
}

/// Where a space begins in the generic address space, and its length. Of the global and constant
/// ones generic addresses are the addresses themselves.
pub(crate) fn window(space: StateSpace) -> (u64, u64) {
    match space {
        StateSpace::Shared | StateSpace::SharedCta => (SHARED_WINDOW, SHARED_SIZE),
        StateSpace::Local | StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
            (LOCAL_WINDOW, LOCAL_SIZE)
        }
        StateSpace::Global | StateSpace::Const | StateSpace::Generic => (0, u64::MAX),
        StateSpace::Reg | StateSpace::Sreg | StateSpace::SharedCluster => {
            unreachable!("no form has an address in this space")
        }
    }
}

/// Separate allocations with a gap after each, checked to the byte.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    allocations: BTreeMap<u64, Vec<u8>>,
    next: u64,
    /// The allocations that a kernel has made itself.
    heap: Vec<u64>,
    /// What kernels have printed.
    pub printed: Vec<u8>,
    /// What failed assertions have printed.
    pub complaints: String,
}

impl Flat {
    #[must_use]
    pub fn new() -> Self {
        Flat { next: 0x10_0000, ..Flat::default() }
    }

    fn find(&self, address: u64, size: usize, write: bool) -> Result<(u64, usize), FaultKind> {
        let outside = FaultKind::OutOfBounds { address, size, write };
        let Some((&start, bytes)) = self.allocations.range(..=address).next_back() else {
            return Err(outside);
        };
        let offset = (address - start) as usize;
        let fits = offset.checked_add(size).is_some_and(|end| end <= bytes.len());
        if fits { Ok((start, offset)) } else { Err(outside) }
    }
}

impl Memory for Flat {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        let (start, offset) = self.find(address, bytes.len(), false)?;
        bytes.copy_from_slice(&self.allocations[&start][offset..offset + bytes.len()]);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), FaultKind> {
        let (start, offset) = self.find(address, bytes.len(), true)?;
        let allocation = self.allocations.get_mut(&start).expect("it was just found");
        allocation[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn allocate(&mut self, size: u64, align: u64) -> Result<u64, FaultKind> {
        const GAP: u64 = 256;
        let too_large = || FaultKind::Launch(format!("{size} bytes are too many"));
        let length = usize::try_from(size).ok().filter(|&length| length <= 1 << 32).ok_or_else(too_large)?;
        let start = self.next.next_multiple_of(align.max(256));
        self.next = start + size + GAP;
        self.allocations.insert(start, vec![0; length]);
        Ok(start)
    }

    /// A heap of 8 MiB, as CUDA's is.
    fn heap_allocate(&mut self, size: u64) -> Result<u64, FaultKind> {
        const LIMIT: u64 = 8 << 20;
        let used: usize = self.heap.iter().map(|start| self.allocations[start].len()).sum();
        if size > LIMIT - used as u64 {
            return Ok(0);
        }
        let start = self.allocate(size, 16)?;
        self.heap.push(start);
        Ok(start)
    }

    fn heap_free(&mut self, address: u64) -> Result<(), FaultKind> {
        let Some(position) = self.heap.iter().position(|&start| start == address) else {
            return Err(FaultKind::BadFree { address, what: "no block of the heap".to_owned() });
        };
        self.heap.swap_remove(position);
        self.allocations.remove(&address);
        Ok(())
    }

    fn print(&mut self, text: &[u8]) {
        self.printed.extend_from_slice(text);
    }

    fn complain(&mut self, text: &str) {
        self.complaints += text;
    }
}
