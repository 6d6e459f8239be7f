//! Waiting for signals (HSA runtime 1.2, 2.4.1.19 and 2.4.1.24).

use std::time::{Duration, Instant};

use super::{ANY, Signal};
use crate::abi::number::condition;
use crate::abi::{Result, Status};
use crate::objects::process::clock;

/// How long a value that a kernel has stored without an interrupt may go unseen.
const GLANCE: Duration = Duration::from_millis(1);

/// What a value is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    kind: u32,
    value: i64,
}

impl Condition {
    pub fn new(kind: u32, value: i64) -> Result<Self> {
        if kind > condition::GTE { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(Self { kind, value }) }
    }

    #[must_use]
    pub fn holds(self, value: i64) -> bool {
        match self.kind {
            condition::EQ => value == self.value,
            condition::NE => value != self.value,
            condition::LT => value < self.value,
            _ => value >= self.value,
        }
    }
}

/// When a timeout of so many ticks is over; `None` if it never is.
#[must_use]
pub fn deadline(ticks: u64) -> Option<Instant> {
    let seconds = ticks / clock::FREQUENCY;
    let rest = ticks % clock::FREQUENCY * (1_000_000_000 / clock::FREQUENCY);
    // Beyond this it makes no difference.
    if seconds > 1 << 32 {
        return None;
    }
    Instant::now().checked_add(Duration::new(seconds, rest as u32))
}

impl Signal {
    /// Sleeps until a condition holds, `stop` says that it is not to be waited for any more, or the time is
    /// over. The value that was seen last.
    #[must_use]
    pub fn wait(self, condition: Condition, until: Option<Instant>, stop: impl Fn() -> bool) -> i64 {
        let mut last = 0;
        self.word().wait(until, Some(GLANCE), || {
            last = self.load();
            (condition.holds(last) || stop()).then_some(())
        });
        last
    }

    /// The same for some of its bits, without an end.
    pub(in crate::objects) fn wait_masked(self, condition: Condition, mask: i64, stop: impl Fn() -> bool) {
        self.word()
            .wait(None, Some(GLANCE), || (condition.holds(self.load() & mask) || stop()).then_some(()));
    }

    /// Has whoever watches several signals told of its changes.
    pub(in crate::objects) fn be_watched(self) {
        self.watch();
    }

    /// Wakes whoever sleeps on its word.
    pub(in crate::objects) fn wake_sleepers(self) {
        self.wake();
    }
}

/// Sleeps until one of the conditions holds; which, and the value. `None` when the time is over or
/// `stop` says so.
#[must_use]
pub fn wait_any(
    watched: &[(Signal, Condition)],
    until: Option<Instant>,
    stop: impl Fn() -> bool,
) -> Option<(usize, i64)> {
    watched.iter().for_each(|(signal, _)| signal.watch());
    let holds = || {
        let held = |(at, (signal, condition)): (usize, &(Signal, Condition))| {
            let value = signal.load();
            condition.holds(value).then_some((at, value))
        };
        watched.iter().enumerate().find_map(held)
    };
    ANY.wait(until, Some(GLANCE), || match holds() {
        Some(found) => Some(Some(found)),
        None => stop().then_some(None),
    })?
}

/// Sleeps until `look` finds something, looking whenever one of the watched signals changes.
/// Without `glance` it looks only then, or when [`super::wake_watchers`] is called.
pub(in crate::objects) fn watch<T>(glance: impl Fn() -> bool, mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        let often = glance().then_some(GLANCE);
        // The answer may change with what is looked for, so a sleep without an end is limited, too.
        let found = ANY.wait(None, often.or(Some(Duration::from_secs(1))), || match look() {
            Some(found) => Some(Some(found)),
            None => (glance() != often.is_some()).then_some(None),
        });
        if let Some(Some(found)) = found {
            return found;
        }
    }
}

/// Sleeps on the word of a signal until `look` finds something: for queues, whose doorbells only
/// the host rings, or a kernel that sends an interrupt.
pub(in crate::objects) fn sleep_on<T>(signal: Signal, look: impl FnMut() -> Option<T>) -> Option<T> {
    signal.word().wait(None, None, look)
}
