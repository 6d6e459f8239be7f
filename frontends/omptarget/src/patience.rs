//! Which `nowait` constructs the thread of their task waits for: those that were soon done before.
//!
//! A construct is left to its task at first. Then its thread waits for one, to learn how long they take.
//! As long as that is little, it waits for all of them. If it is long, many are left before it tries again:
//! while one thread waits, libomp's other helper threads start what comes next, but there are only few.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A thread may wait for so long. To put a task back, find it and ask costs it about as much.
const SHORT: Duration = Duration::from_micros(50);

/// So many constructs are left after one that took long.
const LEFT: u32 = 32;

/// Constructs that are told apart; those that share a number have one patience.
const CONSTRUCTS: usize = 64;

/// What is known of a construct: how many times it is left before its thread waits.
pub struct Patience(AtomicU32);

static ALL: [Patience; CONSTRUCTS] = [const { Patience::new() }; CONSTRUCTS];

/// That of the construct for which an address stands.
pub fn of(construct: usize) -> &'static Patience {
    // Addresses of a program's regions are near each other, and aligned.
    let mixed = (construct as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    &ALL[(mixed >> 58) as usize % CONSTRUCTS]
}

impl Patience {
    const fn new() -> Self {
        Self(AtomicU32::new(1))
    }

    /// Whether the thread is to wait for this one.
    pub fn is_to_wait(&self) -> bool {
        // Two threads may count one construct, which then is left once more.
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            self.0.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// The thread has waited for so long.
    pub fn has_waited(&self, time: Duration) {
        if time > SHORT {
            self.0.store(LEFT, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_constructs_are_waited_for() {
        let patience = Patience::new();
        assert!(!patience.is_to_wait(), "nothing is known of the first one");
        for _ in 0..100 {
            assert!(patience.is_to_wait());
            patience.has_waited(Duration::from_micros(3));
        }
    }

    #[test]
    fn long_constructs_are_left() {
        let patience = Patience::new();
        let mut waited = 0;
        for _ in 0..1000 {
            if patience.is_to_wait() {
                patience.has_waited(Duration::from_millis(5));
                waited += 1;
            }
        }
        assert_eq!(waited, 1000_u32.div_ceil(LEFT + 1));
    }

    #[test]
    fn neighbouring_constructs_are_told_apart() {
        let first = std::ptr::from_ref(of(0x4000));
        assert!((1..16).any(|number| !std::ptr::eq(first, of(0x4000 + 16 * number))));
    }
}
