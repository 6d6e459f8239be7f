//! Races with the program itself, and of copies in memory of the host.

use std::sync::Arc;

use gangway_races::{Access, Block, By, Device, Finding, Host, HostAccess, Launch, Origin, Past, Transfer};

const BASE: u64 = 1 << 45;
/// A variable of the program.
const VARIABLE: u64 = 0x7f00_1234_5678;

/// What comes after operations of streams.
#[derive(Debug)]
struct After {
    own: (u64, u64),
    known: Vec<(u64, u64)>,
}

impl Past for After {
    fn own(&self) -> (u64, u64) {
        self.own
    }

    fn has(&self, (stream, operation): (u64, u64)) -> bool {
        self.known.iter().any(|&(known, last)| known == stream && operation <= last)
    }
}

fn after(own: (u64, u64), known: &[(u64, u64)]) -> Arc<dyn Past> {
    Arc::new(After { own, known: known.to_vec() })
}

struct Process {
    device: Arc<Device>,
    host: Host,
}

/// The program's own stream.
const PROGRAM: u64 = 0;

impl Process {
    fn new() -> Self {
        let device = Device::new(BASE);
        Self { host: Host::new(&device), device }
    }

    /// The program accesses the variable at a moment, and knows operations.
    fn access(&self, moment: u64, write: bool, known: &[(u64, u64)]) -> Vec<Finding> {
        let access = HostAccess { address: VARIABLE, size: 8, write, code: 77 };
        let past = || after((PROGRAM, moment), &[known, &[(PROGRAM, moment)]].concat());
        let mut found = self.host.accesses(&access, (PROGRAM, moment), past);
        found.extend(self.host.found());
        found
    }

    /// A copy of a stream accesses what is around it.
    fn copy(&self, own: (u64, u64), write: bool, mapped: bool, known: &[(u64, u64)]) -> Vec<Finding> {
        let what = if write { "a copy to the host" } else { "a copy to the device" };
        let origin = Origin {
            by: By::Copy { what, mapped },
            function: String::new(),
            source: Some(("f.c".to_owned(), 7, 1)),
        };
        let access = Transfer { address: VARIABLE - 100, size: 1000, write };
        self.device.transfer(&origin, &[access], Some(after(own, known)))
    }
}

#[test]
fn the_host_races_with_a_copy_that_it_has_not_waited_for() {
    let process = Process::new();
    assert_eq!(process.copy((5, 1), true, true, &[(PROGRAM, 1)]), []);
    let found = process.access(2, false, &[]);
    let [Finding { earlier, later, address, count, .. }] = &*found else { panic!("{found:?}") };
    assert!(earlier.example.write && !later.example.write && *address == VARIABLE && *count == 2);
    assert_eq!(earlier.place.source, Some(("f.c".to_owned(), 7, 1)));
    assert_eq!(later.place.by, By::Host { code: 77 });
    let process = Process::new();
    assert_eq!(process.copy((5, 1), true, true, &[(PROGRAM, 1)]), []);
    assert_eq!(process.access(2, false, &[(5, 1)]), []);
    assert_eq!(process.access(2, true, &[(5, 1)]), []);
}

#[test]
fn both_may_read() {
    let process = Process::new();
    assert_eq!(process.copy((5, 1), false, true, &[(PROGRAM, 1)]), []);
    assert_eq!(process.access(2, false, &[]), []);
    assert_eq!(process.access(3, true, &[]).len(), 1);
}

#[test]
fn a_copy_that_comes_later_knows_what_the_host_had_done_when_it_was_asked_for() {
    let process = Process::new();
    assert_eq!(process.access(1, true, &[]), []);
    assert_eq!(process.copy((5, 1), false, true, &[(PROGRAM, 1)]), []);
    assert_eq!(process.access(3, true, &[(5, 1)]), []);
    // One that was asked for at moment 2.
    assert_eq!(process.copy((6, 1), false, true, &[(PROGRAM, 2)]).len(), 1);
}

#[test]
fn what_the_program_does_at_other_moments_is_its_own() {
    let process = Process::new();
    assert_eq!(process.access(1, true, &[]), []);
    assert_eq!(process.access(2, true, &[]), []);
    assert_eq!(process.access(3, false, &[]), []);
}

#[test]
fn copies_of_mappings_come_in_turn() {
    let process = Process::new();
    assert_eq!(process.copy((5, 1), true, true, &[]), []);
    assert_eq!(process.copy((6, 1), true, true, &[]), []);
    assert_eq!(process.copy((7, 1), true, false, &[]).len(), 1);
    // The update of the same stream comes later.
    assert_eq!(process.copy((7, 2), false, false, &[(7, 1)]), []);
}

#[test]
fn memory_that_is_given_back_is_forgotten() {
    let process = Process::new();
    assert_eq!(process.copy((5, 1), true, true, &[]), []);
    process.device.forget_host(VARIABLE - 100, 1000);
    assert_eq!(process.access(2, true, &[]), []);
}

/// A launch in a stream accesses device memory.
fn access_of(launch: &Arc<Launch>, write: bool) {
    let mut block = Block::default();
    block.start(launch, 0, 1, 0);
    let access = Access {
        warp: 0,
        lane: 0,
        address: BASE,
        size: 4,
        shared: false,
        write,
        strong: false,
        narrow: false,
        bytes: None,
        site: 0,
    };
    block.access(&access);
}

#[test]
fn a_kernel_knows_what_the_host_has_done_for_it() {
    let copy = |known: &[(u64, u64)]| {
        let device = Device::new(BASE);
        let kernel = device.launch(1, 1, false, Some(after((5, 1), &[]))).expect("few threads");
        kernel.meets_others_on_the_device_alone();
        access_of(&kernel, true);
        let origin = Origin {
            by: By::Copy { what: "a copy to the host", mapped: false },
            function: String::new(),
            source: None,
        };
        let access = Transfer { address: BASE, size: 4, write: false };
        let found = device.transfer(&origin, &[access], Some(after((6, 1), known)));
        access_of(&kernel, true);
        (found.len(), kernel.end().len())
    };
    // It was asked for by a call of the kernel, or by somebody else.
    assert_eq!(copy(&[(5, 1)]), (0, 0));
    assert_eq!(copy(&[]), (1, 0), "each pair is told once");
}
