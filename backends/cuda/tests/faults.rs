//! Kernels that fail: who is told, of which kernel, and what works afterwards. Each test
//! loses a device of its own.

mod support;

use gangway_backend::{Error, SourceText, Suspect};
use std::time::{Duration, Instant};
use support::ptx::{self, Environment, SPMD};
use support::{Block, Shape, launch, launch_at, open, turn};

const PLACE: &std::ffi::CStr = c";a.c;main;7;1;;";

fn source() -> SourceText {
    // SAFETY: a constant.
    unsafe { SourceText::new(PLACE.as_ptr()) }
}

fn image() -> Vec<u8> {
    let parts = [
        ptx::environment("bad", Environment::of(SPMD)),
        ptx::fault("bad"),
        ptx::environment("good", Environment::of(SPMD)),
        ptx::empty("good"),
    ];
    (ptx::header("sm_80") + &parts.concat()).into_bytes()
}

fn suspects(error: &Error) -> &[Suspect] {
    match error {
        Error::Fault { code: 700, suspects, .. } => suspects,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fault_names_the_kernel_that_was_under_way_whoever_is_told() {
    let _turn = turn();
    let device = open(1);
    let module = device.load(&image()).unwrap();
    let (bad, good) = (module.kernel("bad").unwrap(), module.kernel("good").unwrap());
    let (stream, other) = (device.open_stream().unwrap(), device.open_stream().unwrap());
    let block = Block::new(&*device, 8);
    launch(&good, &*other, Shape::of(1, 1), &[]).unwrap();
    other.synchronize().unwrap();
    launch_at(&bad, &*stream, Shape::of(1, 1), &[], source()).unwrap();
    let expected = [Suspect { kernel: "bad".to_owned(), source: source() }];
    let mut word = 0_u64;
    let begin = Instant::now();
    let error = loop {
        // The other stream's copies succeed until the fault has happened.
        // SAFETY: both sides are words, and the copy is waited for.
        let copied = unsafe { other.copy_from_device((&raw mut word).cast(), block.address, 8) };
        match copied.and_then(|()| other.synchronize()) {
            Err(error) => break error,
            Ok(()) => assert!(begin.elapsed() < Duration::from_secs(30), "the fault never shows"),
        }
    };
    assert_eq!(suspects(&error), expected);
    // Whatever is asked now has the same answer, and none of it waits for ever.
    assert_eq!(stream.synchronize().unwrap_err(), error);
    assert_eq!(stream.is_idle().unwrap_err(), error);
    assert_eq!(launch(&good, &*stream, Shape::of(1, 1), &[]).unwrap_err(), error);
    assert_eq!(other.record().unwrap_err(), error);
    assert_eq!(device.load(&image()).err(), Some(error.clone()));
    assert_eq!(device.allocate(8, gangway_backend::AllocationKind::Device, false).unwrap_err(), error);
    // What is lost is free.
    // SAFETY: nothing uses it.
    let freed = unsafe { device.deallocate(block.address, gangway_backend::AllocationKind::Device) };
    assert_eq!(freed, Ok(()));
    std::mem::forget(block);
    stream.close().unwrap();
    other.close().unwrap();
    // Other devices go on.
    let unharmed = open(2);
    let module = unharmed.load(&image()).unwrap();
    let stream = unharmed.open_stream().unwrap();
    launch(&module.kernel("good").unwrap(), &*stream, Shape::of(1, 1), &[]).unwrap();
    stream.synchronize().unwrap();
    stream.close().unwrap();
}

#[test]
fn of_several_kernels_under_way_the_virtual_gpu_names_the_one() {
    let _turn = turn();
    let device = open(3);
    let module = device.load(&image()).unwrap();
    let (bad, good) = (module.kernel("bad").unwrap(), module.kernel("good").unwrap());
    let streams = [(); 3].map(|()| device.open_stream().unwrap());
    launch(&good, &*streams[0], Shape::of(1, 1), &[]).unwrap();
    launch_at(&bad, &*streams[1], Shape::of(1, 1), &[], source()).unwrap();
    let error = streams[1].synchronize().unwrap_err();
    let names: Vec<&str> = suspects(&error).iter().map(|suspect| &*suspect.kernel).collect();
    assert_eq!(names, ["bad"]);
    assert!(error.to_string().contains("(error 700)"), "{error}");
    for stream in streams {
        stream.close().unwrap();
    }
}

#[test]
fn an_unloaded_kernel_is_forgotten() {
    let _turn = turn();
    let device = open(4);
    let (module, other) = (device.load(&image()).unwrap(), device.load(&image()).unwrap());
    let streams = [(); 2].map(|()| device.open_stream().unwrap());
    launch(&module.kernel("good").unwrap(), &*streams[0], Shape::of(1, 1), &[]).unwrap();
    // Done, but nobody has waited for the stream: who asks for quiet takes no note of what is done.
    let begin = Instant::now();
    while !device.is_quiet() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the kernel does not end");
        std::thread::yield_now();
    }
    drop(module);
    launch(&other.kernel("bad").unwrap(), &*streams[1], Shape::of(1, 1), &[]).unwrap();
    let error = streams[1].synchronize().unwrap_err();
    assert_eq!(suspects(&error).len(), 1);
    drop(other);
    for stream in streams {
        stream.close().unwrap();
    }
}
