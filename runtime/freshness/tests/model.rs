//! Random programs against a plain model: each byte has a value and the time of its last write on either side.
//!
//! What the model calls old the ledger has to find where accesses are exact, and nothing else. Where only contents are
//! compared it may find less, and still nothing else. Storage begins with values that are nobody's.

use gangway_freshness::{Key, Ledger};
use proptest::prelude::*;

const SIZE: usize = 24;
const HOST: usize = 0x1000;
const STORAGE: usize = 0x9000;
const KEY: Key = (HOST, 0);

#[derive(Clone, Debug)]
enum Step {
    HostWrites {
        range: (usize, usize),
        value: u8,
    },
    HostReads((usize, usize)),
    /// Reads come before writes.
    Kernel {
        reads: (usize, usize),
        writes: (usize, usize),
        value: u8,
    },
    UpdateTo((usize, usize)),
    UpdateFrom((usize, usize)),
    Map {
        to: bool,
        /// What its storage has.
        begins_with: u8,
    },
    Unmap {
        from: bool,
    },
}

fn range() -> impl Strategy<Value = (usize, usize)> {
    (0..SIZE, 0..SIZE).prop_map(|(a, b)| (a.min(b), a.max(b)))
}

fn step() -> impl Strategy<Value = Step> {
    // Few values: the same one is often written again.
    prop_oneof![
        3 => (range(), 0_u8..4).prop_map(|(range, value)| Step::HostWrites { range, value }),
        3 => range().prop_map(Step::HostReads),
        4 => (range(), range(), 0_u8..4).prop_map(|(reads, writes, value)| Step::Kernel { reads, writes, value }),
        2 => range().prop_map(Step::UpdateTo),
        2 => range().prop_map(Step::UpdateFrom),
        2 => (any::<bool>(), 0_u8..4).prop_map(|(to, begins_with)| Step::Map { to, begins_with }),
        1 => any::<bool>().prop_map(|from| Step::Unmap { from }),
    ]
}

/// What has been found: bytes that are old where they are read, or newer where they are overwritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    host_reads: Vec<(usize, usize)>,
    device_reads: Vec<(usize, usize)>,
    overwrites: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Default)]
struct Byte {
    value: u8,
    time: usize,
}

/// The plain model.
#[derive(Default)]
struct Model {
    host: [Byte; SIZE],
    /// None for what the device has never been given.
    device: [Option<Byte>; SIZE],
    begins_with: u8,
    /// What is mapped, or was: its values may be newer than the host's.
    mapped: bool,
    /// What an earlier mapping has left that is newer.
    left: [Option<Byte>; SIZE],
    now: usize,
    mapped_at: usize,
    found: Found,
}

fn count(found: &mut Vec<(usize, usize)>, old: impl Iterator<Item = usize>) {
    let mut old = old.peekable();
    if let Some(&first) = old.peek() {
        found.push((first, old.count()));
    }
}

impl Model {
    fn newer_on_device(&self, at: usize) -> bool {
        let newer = |of: Option<Byte>| {
            of.is_some_and(|of| of.time > self.host[at].time && of.value != self.host[at].value)
        };
        if self.mapped { newer(self.device[at]) } else { newer(self.left[at]) }
    }

    fn newer_on_host(&self, at: usize) -> bool {
        let Byte { value, time } = self.host[at];
        time > self.mapped_at
            && self.device[at]
                .map_or(value != self.begins_with, |device| time > device.time && value != device.value)
    }

    fn obey(&mut self, step: &Step) {
        self.now += 1;
        let time = self.now;
        match *step {
            Step::HostWrites { range, value } => self.host[range.0..range.1].fill(Byte { value, time }),
            Step::HostReads((begin, end)) => {
                let old: Vec<usize> = (begin..end).filter(|at| self.newer_on_device(*at)).collect();
                count(&mut self.found.host_reads, old.into_iter());
            }
            Step::Kernel { reads, writes, value } if self.mapped => {
                let old: Vec<usize> = (reads.0..reads.1).filter(|at| self.newer_on_host(*at)).collect();
                count(&mut self.found.device_reads, old.into_iter());
                self.device[writes.0..writes.1].fill(Some(Byte { value, time }));
            }
            Step::UpdateTo((begin, end)) if self.mapped => {
                (begin..end).for_each(|at| self.device[at] = Some(self.host[at]));
            }
            Step::UpdateFrom((begin, end)) if self.mapped => self.copy_back(begin, end),
            Step::Map { to, begins_with } if !self.mapped => {
                self.mapped = true;
                self.mapped_at = time;
                self.begins_with = begins_with;
                self.device = [None; SIZE];
                if to {
                    self.device = self.host.map(Some);
                }
            }
            Step::Unmap { from } if self.mapped => {
                if from {
                    self.copy_back(0, SIZE);
                }
                self.left = self.device;
                self.mapped = false;
            }
            _ => {}
        }
    }

    fn copy_back(&mut self, begin: usize, end: usize) {
        let old: Vec<usize> = (begin..end).filter(|at| self.newer_on_host(*at)).collect();
        count(&mut self.found.overwrites, old.into_iter());
        for at in begin..end {
            // What the device has never been given is something else's matter.
            let byte = self.device[at].unwrap_or(Byte { value: self.begins_with, time: self.now });
            (self.host[at], self.device[at]) = (byte, Some(byte));
        }
    }
}

/// The ledger, told what an observer sees.
#[derive(Default)]
struct Told {
    ledger: Ledger,
    host: [u8; SIZE],
    device: [u8; SIZE],
    mapped: bool,
    /// Accesses are told with their ranges.
    exact: bool,
    found: Found,
}

impl Told {
    fn obey(&mut self, step: &Step) {
        match *step {
            Step::HostWrites { range: (begin, end), value } => {
                if self.exact {
                    self.ledger.host_writes(HOST + begin, end - begin, 7);
                }
                self.host[begin..end].fill(value);
            }
            // Who tells reads of the host tells its writes, too.
            Step::HostReads((begin, end)) if self.exact => {
                if let Some(access) = self.ledger.host_reads(HOST + begin, &self.host[begin..end]) {
                    self.found.host_reads.push((access.stale.offset, access.stale.bytes));
                }
            }
            Step::Kernel { reads, writes, value } if self.mapped => {
                let pair = self.ledger.get_mut(KEY).unwrap();
                pair.see_host(0, &self.host, 0);
                if self.exact {
                    let (begin, size) = (STORAGE + reads.0, reads.1 - reads.0);
                    if let Some(access) = self.ledger.device_reads(0, begin, size) {
                        self.found.device_reads.push((access.stale.offset, access.stale.bytes));
                    }
                }
                self.device[writes.0..writes.1].fill(value);
                let pair = self.ledger.get_mut(KEY).unwrap();
                pair.see_device(0, &self.device, 3, self.exact);
                if self.exact {
                    pair.device_wrote(writes.0..writes.1, 3);
                }
            }
            Step::UpdateTo((begin, end)) if self.mapped => {
                self.device[begin..end].copy_from_slice(&self.host[begin..end]);
                self.ledger.get_mut(KEY).unwrap().copied_to(begin, &self.host[begin..end]);
            }
            Step::UpdateFrom((begin, end)) if self.mapped => self.copy_back(begin, end),
            Step::Map { to, begins_with } if !self.mapped => {
                self.mapped = true;
                self.device = [begins_with; SIZE];
                let pair = self.ledger.map(KEY, STORAGE, 0, &self.host[..]);
                pair.begins_with(0, &self.device);
                if to {
                    self.device = self.host;
                    pair.copied_to(0, &self.host);
                }
            }
            Step::Unmap { from } if self.mapped => {
                if from {
                    self.copy_back(0, SIZE);
                }
                self.ledger.unmap(KEY);
                self.mapped = false;
            }
            _ => {}
        }
    }

    fn copy_back(&mut self, begin: usize, end: usize) {
        let pair = self.ledger.get_mut(KEY).unwrap();
        pair.see_host(begin, &self.host[begin..end], 0);
        if let Some(stale) = pair.copies_back(begin..end).lost {
            self.found.overwrites.push((stale.offset, stale.bytes));
        }
        self.host[begin..end].copy_from_slice(&self.device[begin..end]);
        pair.copied_back(begin, &self.host[begin..end]);
    }
}

fn run(steps: &[Step], exact: bool) -> (Found, Found) {
    let (mut model, mut told) = (Model::default(), Told { exact, ..Told::default() });
    for step in steps {
        model.obey(step);
        told.obey(step);
    }
    (model.found, told.found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn exact_accesses_find_what_is_old_and_nothing_else(steps in prop::collection::vec(step(), 1..40)) {
        let (model, told) = run(&steps, true);
        prop_assert_eq!(told, model);
    }

    #[test]
    fn contents_find_nothing_that_is_not_old(steps in prop::collection::vec(step(), 1..40)) {
        let (mut model, mut told) = (Model::default(), Told::default());
        for step in &steps {
            let (had, was) = (told.found.overwrites.len(), model.found.overwrites.len());
            model.obey(step);
            told.obey(step);
            let is_found = told.found.overwrites.len() > had;
            prop_assert!(!is_found || model.found.overwrites.len() > was, "{step:?} is no mistake");
        }
    }
}

/// A program with one mistake, which is found; without it nothing is.
#[test]
fn a_missing_update_is_found() {
    let all = (0, SIZE);
    let right = [
        Step::HostWrites { range: all, value: 1 },
        Step::Map { to: true, begins_with: 0 },
        Step::Kernel { reads: all, writes: all, value: 2 },
        Step::UpdateFrom(all),
        Step::HostReads(all),
        Step::HostWrites { range: (0, 4), value: 3 },
        Step::UpdateTo((0, 4)),
        Step::Kernel { reads: all, writes: (8, 16), value: 1 },
        Step::Unmap { from: true },
        Step::HostReads(all),
    ];
    for exact in [false, true] {
        assert_eq!(run(&right, exact).1, Found::default());
    }
    let without = |at: usize| {
        let steps: Vec<Step> =
            right.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, step)| step.clone()).collect();
        run(&steps, true).1
    };
    assert_eq!(without(3).host_reads, [(0, SIZE)]);
    assert_eq!(without(6).device_reads, [(0, 4)]);
    assert_eq!(without(6).overwrites, [(0, 4)]);
}
