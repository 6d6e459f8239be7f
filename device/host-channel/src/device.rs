//! The device's side of a call.

use crate::{Channel, LANES, PIECE, PORTS, Port, Request, WORDS};
use core::sync::atomic::{AtomicU32, Ordering};

/// What a call needs of the warp that makes it. On a device without warps each thread is one, of
/// one lane.
pub trait Warp {
    /// The lanes that run together with this one now.
    fn active(&self) -> u32;
    /// The lane's number.
    fn lane(&self) -> u32;
    /// The value that `lane` passes; all lanes of `mask` call it.
    fn broadcast(&self, mask: u32, value: u32, lane: u32) -> u32;
    /// The lanes of `mask` whose predicate holds; all of them call it.
    fn ballot(&self, mask: u32, predicate: bool) -> u32;
    /// Waits for the lanes of `mask`, and orders memory among them.
    fn synchronise(&self, mask: u32);
    /// A number by which warps tend to differ.
    fn spread(&self) -> u32;
    /// Waits a little, for the `attempt`th time.
    fn pause(&self, attempt: u32);
    /// Whether the host can copy from and to an address.
    fn is_copied_by_host(&self, address: *const u8) -> bool;
}

/// Calls a function of the host, and answers the outcome. Lanes that call together share a port.
///
/// # Safety
/// The block has so many bytes. The channel is served, until the call has its answer.
#[inline(never)]
pub unsafe fn call(warp: &impl Warp, channel: &Channel, function: u64, block: *mut u8, size: usize) -> u32 {
    let mask = warp.active();
    let (lane, leader) = (warp.lane(), mask.trailing_zeros());
    let mut number = 0;
    if lane == leader {
        number = take(warp, channel);
    }
    let number = warp.broadcast(mask, number, leader) as usize % PORTS;
    let port = &channel.ports[number];
    let copied = size > PIECE && warp.is_copied_by_host(block);
    // What goes through the port.
    let through = if copied { 0 } else { size };
    let own = lane as usize % LANES;
    port.function[own].store(function, Ordering::Relaxed);
    port.size[own].store(size as u64, Ordering::Relaxed);
    port.address[own].store(if copied { block.addr() as u64 } else { 0 }, Ordering::Relaxed);
    if lane == leader {
        port.lanes.store(mask, Ordering::Relaxed);
    }

    let ask = |request: Request| {
        warp.synchronise(mask);
        if lane == leader {
            port.request.store(request as u32, Ordering::Relaxed);
            let doorbell = &channel.doorbells[number];
            let turn = doorbell.load(Ordering::Relaxed).wrapping_add(1);
            doorbell.store(turn, Ordering::Release);
            let mut attempt = 0;
            while port.answered.load(Ordering::Acquire) != turn {
                warp.pause(attempt);
                attempt = attempt.saturating_add(1);
            }
        }
        warp.synchronise(mask);
    };
    let mut at = 0;
    loop {
        // SAFETY: the caller's promise; what is behind `at` is within the block.
        unsafe { write(port, own, block, at, through) };
        let first = at == 0;
        at += PIECE;
        let more = warp.ballot(mask, at < through) != 0;
        ask(match (first, more) {
            (true, true) => Request::Begin,
            (true, false) => Request::BeginAndRun,
            (false, true) => Request::More,
            (false, false) => Request::Run,
        });
        if !more {
            break;
        }
    }
    let outcome = port.outcome[own].load(Ordering::Relaxed);
    let mut at = 0;
    loop {
        // SAFETY: as above.
        unsafe { read(port, own, block, at, through) };
        at += PIECE;
        if warp.ballot(mask, at < through) == 0 {
            break;
        }
        ask(Request::Next);
    }
    warp.synchronise(mask);
    if lane == leader {
        channel.taken[number / 32].fetch_and(!(1 << (number % 32)), Ordering::Release);
    }
    outcome
}

/// Takes a port, and waits until there is one.
fn take(warp: &impl Warp, channel: &Channel) -> u32 {
    const GROUPS: u32 = (PORTS / 32) as u32;
    let mut group = warp.spread() % GROUPS;
    for attempt in 0.. {
        for _ in 0..GROUPS {
            let taken: &AtomicU32 = &channel.taken[group as usize];
            let mut free = !taken.load(Ordering::Relaxed);
            while free != 0 {
                let bit = free & free.wrapping_neg();
                if taken.fetch_or(bit, Ordering::Acquire) & bit == 0 {
                    return group * 32 + bit.trailing_zeros();
                }
                free &= !bit;
            }
            group = (group + 1) % GROUPS;
        }
        warp.pause(attempt);
    }
    unreachable!("attempts do not end")
}

/// Writes a piece of a block into a port: the words from `at` on.
///
/// # Safety
/// The block has `size` bytes.
unsafe fn write(port: &Port, lane: usize, block: *const u8, at: usize, size: usize) {
    for word in 0..WORDS {
        let start = at + word * 8;
        if start >= size {
            break;
        }
        let mut bytes = [0; 8];
        // SAFETY: the caller's promise; only bytes before `size` are read.
        let value = unsafe {
            let from = block.add(start);
            if start + 8 <= size && from.addr().is_multiple_of(8) {
                from.cast::<u64>().read()
            } else {
                let count = if size - start < 8 { size - start } else { 8 };
                for (index, byte) in bytes.iter_mut().enumerate().take(count) {
                    *byte = from.add(index).read();
                }
                u64::from_ne_bytes(bytes)
            }
        };
        port.words[word][lane].store(value, Ordering::Relaxed);
    }
}

/// Reads a piece of a block out of a port.
///
/// # Safety
/// The block has `size` bytes.
unsafe fn read(port: &Port, lane: usize, block: *mut u8, at: usize, size: usize) {
    for word in 0..WORDS {
        let start = at + word * 8;
        if start >= size {
            break;
        }
        let value = port.words[word][lane].load(Ordering::Relaxed);
        // SAFETY: the caller's promise; only bytes before `size` are written.
        unsafe {
            let to = block.add(start);
            if start + 8 <= size && to.addr().is_multiple_of(8) {
                to.cast::<u64>().write(value);
            } else {
                let count = if size - start < 8 { size - start } else { 8 };
                for (index, byte) in value.to_ne_bytes().iter().enumerate().take(count) {
                    to.add(index).write(*byte);
                }
            }
        }
    }
}
