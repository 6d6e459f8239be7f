//! Host memory that a program has locked, so that kernels can use it at its own address.
//!
//! A range may be locked several times, and ranges may overlap, as with ROCm. Device memory knows
//! ranges that lie apart: pieces, each of which counts the locks that need it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gangway_device_memory::{Space, is_device_address};

use super::status;
use crate::abi::{Result, Status};
use crate::objects::agent;

#[derive(Default)]
struct Locked {
    /// By address.
    pieces: BTreeMap<u64, Piece>,
    /// By the address that was locked: length, and the addresses of the pieces.
    locks: BTreeMap<u64, Vec<Lock>>,
}

struct Piece {
    size: u64,
    locks: u64,
}

#[derive(Clone, Debug)]
struct Lock {
    size: u64,
    pieces: Vec<u64>,
}

static LOCKED: Mutex<Locked> = Mutex::new(Locked { pieces: BTreeMap::new(), locks: BTreeMap::new() });

fn locked() -> MutexGuard<'static, Locked> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a range of host memory. Memory that kernels can use already stays as it is.
pub fn lock(address: u64, size: u64) -> Result {
    let space = agent::space()?;
    let end = address.checked_add(size).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    if address == 0 || size == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let mut locked = locked();
    let mut lock = Lock { size, pieces: Vec::new() };
    if is_device_address(address) {
        if !space.is_allocated(address, size) {
            return Err(Status::ERROR_INVALID_ALLOCATION);
        }
    } else if let Err(error) = locked.cover(space, address, end, &mut lock.pieces) {
        locked.release(space, &lock.pieces);
        return Err(error);
    }
    locked.locks.entry(address).or_default().push(lock);
    Ok(())
}

/// Takes the last lock of an address back. It waits until no copy uses the memory any more.
pub fn unlock(address: u64) -> Result {
    let space = agent::space()?;
    let mut locked = locked();
    let locks = locked.locks.get_mut(&address).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    let lock = locks.pop().ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    if locks.is_empty() {
        locked.locks.remove(&address);
    }
    locked.release(space, &lock.pieces);
    Ok(())
}

/// Start and size of the lock that an address is in.
#[must_use]
pub fn find(address: u64) -> Option<(u64, u64)> {
    let locked = locked();
    let mut before = locked.locks.range(..=address).rev();
    before.find_map(|(&start, locks)| {
        let size = locks.iter().map(|lock| lock.size).max()?;
        (address - start < size).then_some((start, size))
    })
}

/// Takes all locks back.
pub fn unlock_all() {
    let Ok(space) = agent::space() else { return };
    let mut locked = locked();
    for locks in std::mem::take(&mut locked.locks).into_values() {
        locks.iter().for_each(|lock| locked.release(space, &lock.pieces));
    }
}

impl Locked {
    /// Has pieces cover a range, and counts one lock more for each. Their addresses go to `used`.
    fn cover(&mut self, space: &Space, mut address: u64, end: u64, used: &mut Vec<u64>) -> Result {
        while address < end {
            let inside = self.pieces.range_mut(..=address).next_back();
            if let Some((&start, piece)) = inside.filter(|(start, piece)| address - **start < piece.size) {
                piece.locks += 1;
                used.push(start);
                address = start + piece.size;
                continue;
            }
            let next = self.pieces.range(address..).next().map_or(end, |(&start, _)| start.min(end));
            space.register_host(address, next - address).map_err(|error| status(&error))?;
            self.pieces.insert(address, Piece { size: next - address, locks: 1 });
            used.push(address);
            address = next;
        }
        Ok(())
    }

    fn release(&mut self, space: &Space, used: &[u64]) {
        for &start in used {
            let Some(piece) = self.pieces.get_mut(&start) else { continue };
            piece.locks -= 1;
            if piece.locks == 0 {
                self.pieces.remove(&start);
                // It was registered when the piece was made.
                let _ = space.unregister_host(start);
            }
        }
    }
}
