//! A channel of host calls: ports in memory that a device and the host both see.
//!
//! A port carries one call at a time, and is handed over by its state. The device's side of
//! it, all of which is atomic and of the scope of the whole system:
//!
//! 1. It takes a port that is `Free`, by a compare-and-swap to `Taken`.
//! 2. It writes function, words and their number.
//! 3. It stores `Called` (release), then sets the port's bit among the news (release), and
//!    rings where it can.
//! 4. It waits for `Answered` (acquire) and reads outcome and words.
//! 5. It stores `Free` (release).
//!
//! What stands in a channel may be anything: the host reads each word once, and checks it.

use gangway_backend::HostCallOutcome;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Ports of a channel: calls that are under way at a time.
const PORTS: usize = 256;

/// Words that a call may have.
pub const WORDS: usize = 13;

/// The ports of a device. All zero is a channel without calls.
#[repr(C, align(128))]
pub struct Channel {
    news: [AtomicU64; PORTS / 64],
    ports: [Port; PORTS],
}

/// One port.
#[repr(C, align(128))]
struct Port {
    state: AtomicU32,
    count: AtomicU32,
    outcome: AtomicU32,
    _reserved: AtomicU32,
    function: AtomicU64,
    words: [AtomicU64; WORDS],
}

// Device code relies on these.
const _: () = assert!(size_of::<Port>() == 128 && std::mem::offset_of!(Port, function) == 16);
const _: () = assert!(std::mem::offset_of!(Channel, ports) == 128 && std::mem::offset_of!(Port, words) == 24);

/// Whose a port is.
#[derive(Clone, Copy)]
#[repr(u32)]
enum PortState {
    /// Nobody's.
    Free = 0,
    /// The device writes a call.
    Taken = 1,
    /// The host is to serve it.
    Called = 2,
    /// The host serves it.
    Serving = 3,
    /// The device is to read the answer.
    Answered = 4,
}

impl Channel {
    /// Takes the ports with news.
    pub(super) fn take_news(&self, found: &mut impl Extend<usize>) {
        for (group, news) in self.news.iter().enumerate() {
            // Nothing is written, and no line fetched back from the device, without news.
            if news.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut bits = news.swap(0, Ordering::AcqRel);
            while bits != 0 {
                found.extend([group * 64 + bits.trailing_zeros() as usize]);
                bits &= bits - 1;
            }
        }
    }

    /// Serves the call in a port, if one stands there.
    pub(super) fn serve(&self, port: usize, run: impl FnOnce(u64, &mut [u8]) -> HostCallOutcome) {
        let Some(port) = self.ports.get(port) else { return };
        let (called, serving) = (PortState::Called as u32, PortState::Serving as u32);
        if port.state.compare_exchange(called, serving, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return;
        }
        // A copy: the device may overwrite what it has passed at any time.
        let mut words: [u64; WORDS] = std::array::from_fn(|at| port.words[at].load(Ordering::Relaxed));
        let count = port.count.load(Ordering::Relaxed) as usize;
        let outcome = match words.get_mut(..count) {
            // SAFETY: words are bytes.
            Some(words) => run(port.function.load(Ordering::Relaxed), unsafe { words.align_to_mut().1 }),
            None => HostCallOutcome::Malformed,
        };
        for (word, value) in port.words.iter().zip(words).take(count) {
            word.store(value, Ordering::Relaxed);
        }
        port.outcome.store(outcome.number(), Ordering::Relaxed);
        port.state.store(PortState::Answered as u32, Ordering::Release);
    }

    /// The device's side of a call, for devices whose code runs in this process: waits for a
    /// free port and for the answer by calling `wait` again and again.
    pub fn call(&self, function: u64, words: &mut [u64], ring: impl Fn(), mut wait: impl FnMut()) -> u32 {
        let (free, taken) = (PortState::Free as u32, PortState::Taken as u32);
        let take = |port: &Port| {
            port.state.compare_exchange(free, taken, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let number = loop {
            match self.ports.iter().position(take) {
                Some(number) => break number,
                None => wait(),
            }
        };
        let port = &self.ports[number];
        port.function.store(function, Ordering::Relaxed);
        port.count.store(words.len() as u32, Ordering::Relaxed);
        for (to, word) in port.words.iter().zip(&*words) {
            to.store(*word, Ordering::Relaxed);
        }
        port.state.store(PortState::Called as u32, Ordering::Release);
        self.tell_news(number);
        ring();
        while port.state.load(Ordering::Acquire) != PortState::Answered as u32 {
            wait();
        }
        for (word, from) in words.iter_mut().zip(&port.words) {
            *word = from.load(Ordering::Relaxed);
        }
        let outcome = port.outcome.load(Ordering::Relaxed);
        port.state.store(free, Ordering::Release);
        outcome
    }

    /// Says that a port has news, whether or not it has.
    pub fn tell_news(&self, port: usize) {
        self.news[port / 64 % self.news.len()].fetch_or(1 << (port % 64), Ordering::Release);
    }
}
