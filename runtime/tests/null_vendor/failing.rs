//! What goes wrong on the vendor's cards, and what users are told.

use crate::card::Card;
use crate::device::Vendor;
use crate::program::{BOTH, Program, library, parameter, value};
use crate::support::comparison::Inspected;
use crate::support::construct::{Access, ListItem};
use crate::support::within;
use gangway_backend::{SourceLocation, SourceText, read_sources_with};
use gangway_runtime::events::Site;
use gangway_runtime::queue::Queue;
use gangway_runtime::{DataOperation, Error, ErrorKind, MapKind, Runtime, Shape};
use std::ffi::CStr;
use std::sync::Arc;

fn increment(data: &[u8]) -> ListItem {
    ListItem::section(data.as_ptr().addr(), data.len(), BOTH).parameter(Access::Increment)
}

/// The first use of a device by a program with these images.
fn first_use(cards: Vec<Option<Arc<Card>>>, images: &[&'static [u8]]) -> Result<(), Box<Error>> {
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
    runtime.add_backend(Box::new(Vendor(cards)));
    runtime.register(library(images));
    runtime.device(0, &Site::NONE).map(|_| ())
}

/// A construct in line 7 of a program.
fn line(text: &'static CStr) -> Site {
    read_sources_with(|text| {
        let (file, line) = text.split_once(':')?;
        Some(SourceLocation { file, line: line.parse().ok()?, column: 3, ..SourceLocation::default() })
    });
    // SAFETY: a constant.
    Site { source: unsafe { SourceText::new(text.as_ptr()) }, ..Site::NONE }
}

#[test]
fn a_card_that_does_not_answer() {
    let error = first_use(vec![None], &[b"NULL VENDOR'S CODE\nversion 1\n"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "device 0: the device cannot be opened: the card does not answer (error 4101)"
    );
}

/// Of several images the best is loaded, and the reasons are told if there is none.
#[test]
fn images_for_other_cards() {
    let newer = b"NULL VENDOR'S CODE\nversion 3\n";
    let damaged = b"NULL VENDOR'S CODE\nversion 1\nkernel dance 8\n";
    let good = b"NULL VENDOR'S CODE\nversion 1\nglobal factor 1\n";
    let cards = || vec![Some(Card::new(1000))];
    first_use(cards(), &[newer, damaged, good]).unwrap();
    let error = first_use(cards(), &[newer, damaged]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "device 0: the program's device image cannot be loaded: none of its 2 images for null-vendor devices \
         can be\n    \
         image for null-vendor devices, 29 bytes: it is for version 3 of the card, which has version 2\n    \
         image for null-vendor devices, 44 bytes: `kernel dance 8` says nothing\n  \
         help: build the program again; `gangway inspect` shows its images"
    );
}

#[test]
fn memory_runs_out() {
    let program = Program::new();
    let (small, large) = ([0; 100], vec![0; 2 << 20]);
    program.world.launch(&[increment(&small)]).unwrap();
    let error = program.world.launch(&[increment(&small), increment(&large)]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutOfMemory { requested: 0x20_0000, .. }), "{error}");
    program.world.launch(&[increment(&small)]).unwrap();
    assert_eq!(small, [2; 100]);
    program.assert_all_freed();
}

/// A packet fails, and with it its construct. The card goes on.
#[test]
fn a_kernel_that_traps() {
    let program = Program::new();
    let data = [1; 64];
    let mapped = program.world.mapped();
    for _ in 0..3 {
        let site = line(c"a.c:7");
        let items = [parameter(&data, BOTH)];
        assert_eq!(
            program.run_at(site, c"trap", &items).unwrap_err().to_string(),
            "a.c:7:3: device 0: kernel trap failed: a wave has come to a trap (error 4097)"
        );
        assert_eq!(program.world.mapped(), mapped);
        program.world.launch(&[increment(&data)]).unwrap();
    }
    assert_eq!(data, [4; 64]);
    program.assert_all_freed();
}

/// The driver tells an address, the runtime the variable next to it. Nothing can be done on the card
/// any more, and nobody waits for it for ever.
#[test]
fn a_kernel_that_takes_the_card_with_it() {
    within(60, || {
        let program = Program::new();
        let (data, other) = ([1_u8; 64], [2_u8; 64]);
        let kept = ListItem::section(other.as_ptr().addr(), 64, BOTH);
        program.world.data(DataOperation::Begin, &[kept]).unwrap();
        let (begin, end) = (data.as_ptr().addr(), data.as_ptr().addr() + 64);
        let items = [parameter(&data, BOTH), value(64)];
        assert_eq!(
            program.run_at(line(c"a.c:8"), c"stray", &items).unwrap_err().to_string(),
            format!(
                "a.c:8:3: device 0: kernel stray failed: memory fault (error 41)\n  \
                 write of 8 bytes at 0x200000040: just after the end of [{begin:#x}, {end:#x}) of 64 bytes, \
                 which is mapped at 0x200000000\n  \
                 for the driver 0x200000040 is in no buffer"
            )
        );
        for error in [
            program.world.launch(&[increment(&other)]).unwrap_err(),
            program.world.launch(&[increment(&data)]).unwrap_err(),
            program.world.data(DataOperation::Update, &[kept]).unwrap_err(),
            Queue::create(program.world.device).map(|_| ()).unwrap_err(),
        ] {
            assert_eq!(
                error.to_string(),
                "device 0: the device is lost: kernel stray (a.c:8:3) failed: memory fault (error 41)\n  \
                 write of 8 bytes at 0x200000040: in no buffer\n  \
                 help: nothing can be done on the device before the program is started again"
            );
        }
    });
}

/// Of kernels that were running at the same time one has failed.
#[test]
fn a_card_that_dies_in_the_middle() {
    within(60, || {
        let program = Program::new();
        let data = [1_u8; 64];
        let lingers = program.issue(line(c"a.c:9"), c"linger", &[], &Shape::default()).unwrap();
        program.card().wait_for_kernel();
        let items = [parameter(&data, MapKind::TO), value(1 << 40)];
        let strays = program.run_at(line(c"a.c:10"), c"stray", &items).unwrap_err();
        let told = "device 0: the device is lost: one of 2 kernels failed: memory fault (error 41)\n  \
                    write of 8 bytes at 0x10100000000: in no buffer\n  \
                    kernels that were under way:\n    \
                    stray (a.c:10:3)\n    \
                    linger (a.c:9:3)\n  \
                    help: nothing can be done on the device before the program is started again";
        assert_eq!(strays.to_string(), format!("a.c:10:3: {told}"));
        assert_eq!(lingers.complete().unwrap_err().to_string(), format!("a.c:9:3: {told}"));
    });
}

/// Threads that use a card, each in streams of its own, when it dies.
#[test]
fn everybody_hears_of_a_lost_card() {
    within(60, || {
        let program = Program::new();
        let data = [1_u8; 64];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let own = [0; 300];
                    let error = loop {
                        if let Err(error) = program.world.launch(&[increment(&own)]) {
                            break error;
                        }
                    };
                    let is_lost = matches!(error.kind, ErrorKind::Lost { .. } | ErrorKind::Launch { .. });
                    assert!(is_lost, "{error}");
                });
            }
            assert!(program.run(c"stray", &[parameter(&data, BOTH), value(64)]).is_err());
        });
        program.world.device.release_idle();
        assert_eq!(program.card().violations(), [""; 0]);
        assert_eq!(program.card().kernargs.lock().unwrap().counts().0, 0, "sessions that have not ended");
    });
}
