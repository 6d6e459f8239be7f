//! What the host does for the C library in device code: the other side of `device/gpu/system`.
//!
//! A block may hold anything. What does not fit is answered with a failure, and nothing is read
//! beyond the block.

mod format;
mod fortran;
mod messages;
mod process;
mod streams;

use crate::device::CallingDevice;
use crate::functions::{HostCall, register_as};
use gangway_backend::DevicePtr;
use gangway_system::{FUNCTION, HEADER, Operation};
use std::collections::BTreeMap;
use std::sync::{Mutex, Once, PoisonError};

/// What an operation answers where it fails.
const FAILED: u64 = u64::MAX;

/// The devices whose kernels may call, by number.
static DEVICES: Mutex<BTreeMap<i32, &'static dyn CallingDevice>> = Mutex::new(BTreeMap::new());

/// Serves a device, from now on.
pub(crate) fn serve(device: &'static dyn CallingDevice) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        register_as(FUNCTION, "the C library", answer);
    });
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner).insert(device.number(), device);
}

pub(crate) fn device(number: i32) -> Option<&'static dyn CallingDevice> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner).get(&number).copied()
}

/// The kernels of a device have died: what they have begun is forgotten.
pub fn forget(device: i32) {
    fortran::forget(device);
}

/// A call's block, taken apart.
struct Block<'b> {
    first: u64,
    second: u64,
    /// The text has this length, and this room.
    length: usize,
    text: &'b mut [u8],
}

impl Block<'_> {
    fn text(&self) -> &[u8] {
        &self.text[..self.length]
    }
}

/// Answers a call.
pub fn answer(call: &mut HostCall<'_>) {
    let answered = split(call.block)
        .and_then(|(operation, block)| Some(run(call.device, Operation::of(operation)?, block)))
        .unwrap_or(FAILED);
    if let Some(first) = call.block.get_mut(8..16) {
        first.copy_from_slice(&answered.to_ne_bytes());
    }
}

/// The number of the operation, and what comes with it.
fn split(block: &mut [u8]) -> Option<(u64, Block<'_>)> {
    let (header, text) = block.split_at_mut_checked(HEADER)?;
    let word = |at: usize| Some(u64::from_ne_bytes(header.get(at..at + 8)?.try_into().ok()?));
    let length = usize::try_from(word(24)?).ok().filter(|&length| length <= text.len())?;
    Some((word(0)?, Block { first: word(8)?, second: word(16)?, length, text }))
}

fn run(number: i32, operation: Operation, block: Block<'_>) -> u64 {
    match operation {
        Operation::Write => streams::write(block.first, block.text()),
        Operation::Format => streams::write_format(block.first, block.second, block.text()),
        Operation::FormatHere => streams::format_here(block),
        Operation::Flush => streams::flush(block.first),
        Operation::Exit => process::exit(block.first, block.second),
        Operation::Abort => process::abort(number),
        Operation::Environment => {
            device(number).map_or(0, |device| process::environment(device, block.text()))
        }
        Operation::Time => process::time(),
        Operation::Clock => process::clock(),
        Operation::FortranPart => fortran::part(number, &block),
        Operation::FortranRun => fortran::run(number, block),
        Operation::FortranResult => fortran::result(number, block),
        Operation::FortranEnd => fortran::finish(&block),
        Operation::Allocate => allocate(number, block.first, block.second),
        Operation::Free => free(number, block.first),
        Operation::Call => process::call(block.first, &mut block.text[..block.length]),
    }
}

/// The address of a new block of memory; 0 if there is none.
fn allocate(number: i32, bytes: u64, alignment: u64) -> u64 {
    let (Ok(bytes), Ok(alignment)) = (usize::try_from(bytes), usize::try_from(alignment)) else { return 0 };
    let memory = device(number).and_then(|device| device.allocate(bytes, alignment));
    memory.map_or(0, |block| block.0 as u64)
}

/// 1 if the block is freed, 0 if there is no such block here.
fn free(number: i32, address: u64) -> u64 {
    device(number).is_some_and(|device| device.free(DevicePtr(address as usize))).into()
}
