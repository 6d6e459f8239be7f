//! Copies that changed nothing: advice at the end of the process.

use super::lock::Lock;
use super::told::variable;
use crate::message::print_line;
use gangway_findings::Source;
use gangway_freshness::Key;
use gangway_runtime::Label;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

/// What is moved in vain is told from so many bytes on, or so many copies.
const BYTES: usize = 4096;
const COPIES: u64 = 100;

/// The copies of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    To,
    From,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Copies {
    source: Option<Source>,
    label: usize,
    direction: Direction,
}

/// What has been seen of them.
#[derive(Clone, Debug)]
struct Tally {
    label: Label,
    host: usize,
    size: usize,
    copies: u64,
    same: u64,
    unread: u64,
    bytes: usize,
    time: Duration,
}

/// A copy that has been made.
pub struct Copied {
    pub source: Option<Source>,
    pub label: Label,
    pub host: usize,
    pub bytes: usize,
    /// Of the pair.
    pub size: usize,
    pub direction: Direction,
    pub in_vain: bool,
    pub time: Duration,
}

#[derive(Default)]
struct Advice {
    tallies: HashMap<Copies, Tally>,
    /// Pairs that kernels have read nothing of since they were copied.
    unread: HashMap<Key, Copies>,
}

static ADVICE: Lock<Option<Advice>> = Lock::new(None);

fn with<R: Default>(work: impl FnOnce(&mut Advice) -> R) -> R {
    ADVICE.try_with(|advice| work(advice.get_or_insert_default())).unwrap_or_default()
}

/// Whether this thread has the lock, under which memory is allocated and freed.
pub fn is_mine() -> bool {
    ADVICE.is_mine()
}

/// Takes the lock before a fork.
pub fn hold() {
    ADVICE.acquire();
}

/// Gives it up after a fork.
pub fn let_go() {
    ADVICE.release();
}

/// A copy has been made. `unread`: the pair, if it will be told when kernels [read](read) it.
pub fn add(copied: Copied, unread: Option<Key>) {
    let Copied { source, label, host, bytes, size, direction, in_vain, time } = copied;
    let variable = if label == Label::NONE { host } else { label.as_ptr().addr() };
    let copies = Copies { source, label: variable, direction };
    with(|advice| {
        let none = Tally { label, host, size, copies: 0, same: 0, unread: 0, bytes: 0, time: Duration::ZERO };
        let tally = advice.tallies.entry(copies.clone()).or_insert(none);
        tally.copies += 1;
        tally.same += u64::from(in_vain);
        tally.bytes += bytes;
        tally.time += time;
        if let Some(key) = unread {
            advice.unread.insert(key, copies);
        }
    });
}

/// A kernel has read some of it.
pub fn read(key: Key) {
    with(|advice| drop(advice.unread.remove(&key)));
}

/// It is not mapped any more, or is copied again.
pub fn over(key: Key, overwritten: bool) {
    with(|advice| {
        if let Some(copies) = advice.unread.remove(&key)
            && overwritten
            && let Some(tally) = advice.tallies.get_mut(&copies)
        {
            tally.unread += 1;
        }
    });
}

/// Tells what there is to tell, largest first.
pub fn tell() {
    let tallies = with(|advice| std::mem::take(&mut advice.tallies));
    let mut told: Vec<(Copies, Tally)> =
        tallies.into_iter().filter(|(_, tally)| tally.reason().is_some()).collect();
    told.sort_by_key(|(copies, tally)| {
        let line = copies.source.as_ref().map_or(0, |at| at.line);
        (std::cmp::Reverse(tally.bytes), line, copies.direction == Direction::From)
    });
    for (copies, tally) in told {
        print_line(format_args!("gangway: advice: {}", tally.in_words(&copies)));
    }
}

impl Tally {
    /// Why none of the copies was needed.
    fn reason(&self) -> Option<&'static str> {
        let worth = self.bytes >= BYTES || self.copies >= COPIES;
        if !worth {
            None
        } else if self.same == self.copies {
            Some("changed nothing")
        } else if self.unread == self.copies {
            Some("was overwritten before a kernel read any of it")
        } else {
            None
        }
    }

    fn in_words(&self, copies: &Copies) -> String {
        let times = if self.copies == 1 { "a copy".to_owned() } else { format!("{} copies", self.copies) };
        let (what, help) = match (copies.direction, self.same == self.copies) {
            (Direction::To, true) => {
                ("to the device", "leave the `update to` (OpenACC: `update device`) out")
            }
            (Direction::To, false) => ("to the device", "`from` or `alloc` in the place of `tofrom` or `to`"),
            (Direction::From, _) => {
                let help = "`to` or `alloc` in the place of `tofrom` or `from`, or no `update from` \
                            (OpenACC: `update self`)";
                ("back to the host", help)
            }
        };
        let place = copies.source.as_ref().map(|at| format!(" at {}:{}", at.file, at.line));
        let mut text = format!(
            "{times} {what}{} {}: {}",
            place.unwrap_or_default(),
            self.reason().unwrap_or_default(),
            variable(self.label, self.host, self.size),
        );
        let _ = write!(
            text,
            "\n  {} bytes in all, {:.3} ms\n  help: {help}",
            self.bytes,
            self.time.as_secs_f64() * 1e3
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_mattered_is_advised_against() {
        let tally = |copies, same, unread, bytes| Tally {
            label: Label::NONE,
            host: 0x1000,
            size: 8,
            copies,
            same,
            unread,
            bytes,
            time: Duration::from_millis(2),
        };
        assert_eq!(tally(2, 1, 0, 1 << 20).reason(), None);
        assert_eq!(tally(1, 1, 0, 8).reason(), None, "too small to matter");
        assert!(tally(100, 100, 0, 800).reason().is_some());
        assert!(tally(3, 0, 3, 1 << 20).reason().unwrap().contains("overwritten"));
        let copies = Copies { source: None, label: 0, direction: Direction::From };
        assert_eq!(
            tally(2, 2, 0, 8192).in_words(&copies),
            "2 copies back to the host changed nothing: data at 0x1000 of 8 bytes\n  8192 bytes in all, 2.000 ms\n  \
             help: `to` or `alloc` in the place of `tofrom` or `from`, or no `update from` \
             (OpenACC: `update self`)"
        );
    }
}
