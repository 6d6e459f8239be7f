//! The host's side of a channel: finds requests in its ports, and serves them.
//!
//! `gangway-host-channel` has the layout, and the device's side. What stands in a channel may be
//! anything: each word is read once, and checked before it is used.

use crate::served::{Ends, Lanes, Served};
use gangway_backend::{HostCallOutcome, LARGEST_BLOCK};
use gangway_host_channel::{Channel, LANES, LARGEST, MALFORMED, PIECE, PORTS, Port, Request};
use std::cell::UnsafeCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What requests need besides the channel.
pub trait Serve {
    /// Runs a function on a block. The call was found `since`, if somebody records that.
    fn run(&self, function: u64, block: &mut [u8], since: Option<u64>) -> HostCallOutcome;
    /// Copies from the device's memory. False: it cannot be read.
    fn fetch(&self, address: u64, block: &mut [u8]) -> bool;
    /// Copies to the device's memory. False: it cannot be written.
    fn give(&self, address: u64, block: &[u8]) -> bool;
    /// Whether no kernel runs that could call; false where that is not known.
    fn is_quiet(&self) -> bool {
        false
    }
}

// The host's own calls and those of CPU devices have the same limit and the same number.
const _: () = assert!(LARGEST == LARGEST_BLOCK as u64 && MALFORMED == HostCallOutcome::Malformed as u32);

/// Bytes of a lane's block that are kept for the next call.
const KEPT: usize = 16 << 10;

/// A channel as the host sees it.
pub struct Reader {
    channel: &'static Channel,
    /// The doorbells as the watcher saw them last.
    seen: [AtomicU32; PORTS],
    served: [Served; PORTS],
    calls: Vec<Call>,
}

/// The call of a warp, piece by piece. Of the thread that serves the port, but for the lanes whose
/// functions run: those are taken one by one, also by threads that help.
#[derive(Default)]
struct Call {
    /// The last request that has been taken up.
    turn: AtomicU32,
    lanes: AtomicU32,
    /// When it was found, or 0.
    since: AtomicU64,
    running: Lanes,
    /// One for each lane, once there is a call.
    blocks: OnceLock<Box<[UnsafeCell<Block>]>>,
}

// SAFETY: a block is touched by the thread that serves the port while no function runs, and by the
// one that has taken its lane while some do.
unsafe impl Sync for Call {}

/// The block of a lane.
#[derive(Default)]
struct Block {
    function: u64,
    size: usize,
    address: u64,
    outcome: Option<HostCallOutcome>,
    /// Bytes that have come through the port.
    received: usize,
    /// Bytes that have gone back.
    given: usize,
    /// Words of 16 bytes, as functions may rely on the alignment.
    data: Vec<u128>,
}

impl Reader {
    pub fn new(channel: &'static Channel) -> Self {
        Self {
            channel,
            seen: [const { AtomicU32::new(0) }; PORTS],
            served: std::array::from_fn(|_| Served::default()),
            calls: (0..PORTS).map(|_| Call::default()).collect(),
        }
    }

    /// Whether a doorbell has rung that the watcher has not seen.
    pub fn has_news(&self) -> bool {
        let bells = self.channel.doorbells.iter().zip(&self.seen);
        bells.into_iter().any(|(bell, seen)| bell.load(Ordering::Relaxed) != seen.load(Ordering::Relaxed))
    }

    /// Takes the ports with news. For one thread at a time.
    pub fn take_news(&self, found: &mut impl Extend<usize>) {
        for (port, (bell, seen)) in self.channel.doorbells.iter().zip(&self.seen).enumerate() {
            let turn = bell.load(Ordering::Acquire);
            if turn != seen.load(Ordering::Relaxed) {
                seen.store(turn, Ordering::Relaxed);
                found.extend([port]);
            }
        }
    }

    /// The functions that device code waits for, once for each thread that does. Of other threads,
    /// too, so that some may have ended since.
    pub fn under_way(&self) -> Vec<u64> {
        let ports = self.channel.doorbells.iter().zip(&self.channel.ports);
        let waiting = ports
            .filter(|(bell, port)| bell.load(Ordering::Acquire) != port.answered.load(Ordering::Relaxed));
        let lanes = |port: &'static Port| {
            let lanes = port.lanes.load(Ordering::Relaxed);
            let calls = move |lane: &usize| lanes & 1 << lane != 0;
            (0..LANES).filter(calls).map(|lane| port.function[lane].load(Ordering::Relaxed))
        };
        waiting.flat_map(|(_, port)| lanes(port)).collect()
    }

    /// Serves what stands in a port, if nobody does yet; who does then looks again.
    pub fn serve(&self, number: usize, since: Option<u64>, with: &impl Serve) {
        if self.served[number].begin() {
            self.go_on(number, since, with);
        }
    }

    /// Runs functions of the lanes of a port that nobody has begun: another thread is inside of one
    /// for long.
    pub fn help(&self, number: usize, with: &impl Serve) {
        let (call, port) = (&self.calls[number], &self.channel.ports[number]);
        if call.run_lanes(port, with) == Ends::This {
            call.end(port);
            if !self.served[number].end() {
                self.go_on(number, None, with);
            }
        }
    }

    fn go_on(&self, number: usize, since: Option<u64>, with: &impl Serve) {
        let (bell, port) = (&self.channel.doorbells[number], &self.channel.ports[number]);
        while self.calls[number].answer(bell, port, since, with) == Ends::This {
            if self.served[number].end() {
                return;
            }
        }
    }
}

impl Call {
    /// Answers a request, if there is a new one.
    fn answer(&self, bell: &AtomicU32, port: &Port, since: Option<u64>, with: &impl Serve) -> Ends {
        let turn = bell.load(Ordering::Acquire);
        if turn == self.turn.load(Ordering::Relaxed) {
            return Ends::This;
        }
        self.turn.store(turn, Ordering::Relaxed);
        let request = Request::of(port.request.load(Ordering::Relaxed));
        if let Some(Request::Begin | Request::BeginAndRun) = request {
            self.lanes.store(port.lanes.load(Ordering::Relaxed), Ordering::Relaxed);
            self.each(|lane, block| block.begin(port, lane));
        }
        match request {
            Some(Request::Begin | Request::More) => self.each(|lane, block| block.receive(port, lane)),
            Some(Request::Run | Request::BeginAndRun) => {
                let lanes = self.lanes.load(Ordering::Relaxed);
                self.since.store(since.unwrap_or(0), Ordering::Relaxed);
                self.running.begin(lanes);
                if lanes != 0 && self.run_lanes(port, with) == Ends::Another {
                    return Ends::Another;
                }
            }
            Some(Request::Next) => self.each(|lane, block| block.give_back(port, lane)),
            None => {
                let malformed = HostCallOutcome::Malformed.number();
                port.outcome.iter().for_each(|outcome| outcome.store(malformed, Ordering::Relaxed));
            }
        }
        self.end(port);
        Ends::This
    }

    /// Runs the functions of lanes, as long as there is one that nobody has begun.
    fn run_lanes(&self, port: &Port, with: &impl Serve) -> Ends {
        self.running.run(|lane| {
            let run = |block: &mut Block| {
                block.receive(port, lane);
                let since = self.since.load(Ordering::Relaxed);
                let outcome = block.run((since != 0).then_some(since), with);
                block.outcome = Some(outcome);
                port.outcome[lane].store(outcome.number(), Ordering::Relaxed);
                block.give_back(port, lane);
            };
            // SAFETY: the lane is this thread's.
            unsafe { self.with(lane, run) };
        })
    }

    fn end(&self, port: &Port) {
        port.answered.store(self.turn.load(Ordering::Relaxed), Ordering::Release);
    }

    /// # Safety
    /// The block is the calling thread's.
    unsafe fn with(&self, lane: usize, visit: impl FnOnce(&mut Block)) {
        let blocks = self.blocks.get_or_init(|| (0..LANES).map(|_| UnsafeCell::default()).collect());
        // SAFETY: the caller's promise.
        visit(unsafe { &mut *blocks[lane].get() });
    }

    fn each(&self, mut visit: impl FnMut(usize, &mut Block)) {
        let mut left = self.lanes.load(Ordering::Relaxed);
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            // SAFETY: the caller serves the port, and no function runs.
            unsafe { self.with(lane, |block| visit(lane, block)) };
            left &= left - 1;
        }
    }
}

impl Block {
    fn begin(&mut self, port: &Port, lane: usize) {
        self.function = port.function[lane].load(Ordering::Relaxed);
        self.address = port.address[lane].load(Ordering::Relaxed);
        let size = port.size[lane].load(Ordering::Relaxed);
        (self.received, self.given, self.outcome) = (0, 0, None);
        if size > LARGEST {
            self.size = 0;
            self.outcome = Some(HostCallOutcome::Malformed);
        } else {
            self.size = size as usize;
        }
        self.forget_data();
    }

    /// Empties the block, and keeps memory for a small one.
    fn forget_data(&mut self) {
        self.data.clear();
        self.data.shrink_to(KEPT / 16);
    }

    /// Makes room for so many bytes of the block. False: there is none.
    fn reserve(&mut self, bytes: usize) -> bool {
        let words = bytes.div_ceil(16);
        let missing = words.saturating_sub(self.data.len());
        if self.data.try_reserve(missing).is_err() {
            return false;
        }
        self.data.resize(words.max(self.data.len()), 0);
        true
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: words are bytes.
        unsafe { self.data.align_to_mut().1 }
    }

    /// Takes the next piece out of the port: what has come before is a multiple of a piece.
    fn receive(&mut self, port: &Port, lane: usize) {
        let end = self.size.min(self.received.saturating_add(PIECE));
        if self.address != 0 || self.received >= end || !self.reserve(end) {
            return;
        }
        let begin = std::mem::replace(&mut self.received, end);
        for (at, word) in (begin..end).step_by(8).zip(&port.words) {
            let value = word[lane].load(Ordering::Relaxed).to_ne_bytes();
            self.bytes()[at..at + 8].copy_from_slice(&value);
        }
    }

    /// Puts the next piece of the answer into the port.
    fn give_back(&mut self, port: &Port, lane: usize) {
        let end = self.received.min(self.given.saturating_add(PIECE));
        let begin = std::mem::replace(&mut self.given, end);
        for (at, word) in (begin..end).step_by(8).zip(&port.words) {
            let mut value = [0; 8];
            value.copy_from_slice(&self.bytes()[at..at + 8]);
            word[lane].store(u64::from_ne_bytes(value), Ordering::Relaxed);
        }
    }

    /// Runs the function.
    fn run(&mut self, since: Option<u64>, with: &impl Serve) -> HostCallOutcome {
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        let (size, function, address) = (self.size, self.function, self.address);
        if address == 0 {
            return match self.received == size {
                true => with.run(function, &mut self.bytes()[..size], since),
                false => HostCallOutcome::Malformed,
            };
        }
        let outcome = if self.reserve(size) && with.fetch(address, &mut self.bytes()[..size]) {
            match with.run(function, &mut self.bytes()[..size], since) {
                HostCallOutcome::Answered if !with.give(address, &self.bytes()[..size]) => {
                    HostCallOutcome::Malformed
                }
                outcome => outcome,
            }
        } else {
            HostCallOutcome::Malformed
        };
        // Now, not at the lane's next call: each lane of each port might ask for the largest block.
        self.forget_data();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fetches anything and has every function.
    struct All;

    impl Serve for All {
        fn run(&self, _: u64, _: &mut [u8], _: Option<u64>) -> HostCallOutcome {
            HostCallOutcome::Answered
        }

        fn fetch(&self, _: u64, _: &mut [u8]) -> bool {
            true
        }

        fn give(&self, _: u64, _: &[u8]) -> bool {
            true
        }
    }

    #[test]
    fn large_blocks_do_not_stay() {
        // SAFETY: all zero is a channel without calls.
        let channel: &'static Channel = Box::leak(unsafe { Box::new_zeroed().assume_init() });
        let port = &channel.ports[3];
        port.lanes.store(u32::MAX, Ordering::Relaxed);
        port.request.store(Request::BeginAndRun as u32, Ordering::Relaxed);
        for lane in 0..LANES {
            port.size[lane].store(8 << 20, Ordering::Relaxed);
            port.address[lane].store(4096, Ordering::Relaxed);
            port.outcome[lane].store(u32::MAX, Ordering::Relaxed);
        }
        channel.doorbells[3].store(1, Ordering::Release);
        let reader = Reader::new(channel);
        reader.serve(3, None, &All);
        let answered = HostCallOutcome::Answered.number();
        assert!(port.outcome.iter().all(|outcome| outcome.load(Ordering::Relaxed) == answered));
        let blocks = reader.calls[3].blocks.get().unwrap();
        let kept = |block: &UnsafeCell<Block>| {
            // SAFETY: nobody else is here.
            unsafe { &*block.get() }.data.capacity()
        };
        assert!(blocks.iter().all(|block| kept(block) <= KEPT / 16));
    }
}
