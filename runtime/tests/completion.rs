//! Jobs that nobody waits for: whoever has issued them is told when they are done.

mod support;

use gangway_runtime::{DataOperation, ErrorKind, Job, MapKind, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use support::construct::{Access, ListItem, World};
use support::device::{Call, Options};
use support::within;

const TOLD: Options = Options { completions: true, ..Options::WORKER_PACKED };

fn increment(memory: &[u8]) -> ListItem {
    let both = MapKind::TO | MapKind::FROM;
    ListItem::section(memory.as_ptr().addr(), memory.len(), both).parameter(Access::Increment)
}

/// Ends a job later; the outcome comes through what is returned.
fn later(job: Box<Job>) -> std::result::Result<Receiver<Result<()>>, Box<Job>> {
    let (send, told) = channel();
    job.complete_later(move |outcome| send.send(outcome).unwrap())?;
    Ok(told)
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_job_is_ended_and_its_outcome_told() {
    for options in [TOLD, Options { completions: true, ..Options::WORKER }, Options::SYNCHRONOUS] {
        let (world, mock) = World::mock(options);
        let arrays: Vec<Vec<u8>> = (0..20).map(|number| vec![number; 3000]).collect();
        let jobs: Vec<_> = arrays.iter().map(|array| world.issue(&[increment(array)]).unwrap()).collect();
        let told: Vec<_> = jobs.into_iter().map(|job| later(job).ok().unwrap()).collect();
        for (number, told) in (0..).zip(&told) {
            told.recv_timeout(PATIENCE).unwrap().unwrap();
            // All of it is over: the data is back, and nothing is mapped.
            assert_eq!(arrays[usize::from(number)], [number + 1; 3000], "{options:?}");
        }
        assert_eq!(world.mapped(), []);
        mock.assert_all_freed();
    }
}

/// Nobody's thread waits: synchronous calls of the driver are made by the runtime's own.
#[test]
fn data_constructs() {
    let (world, mock) = World::mock(TOLD);
    let array = vec![1; 100_000];
    let data = |operation| later(world.issue_data(operation, &[increment(&array)]).unwrap()).ok().unwrap();
    for operation in [DataOperation::Begin, DataOperation::Update, DataOperation::End] {
        data(operation).recv_timeout(PATIENCE).unwrap().unwrap();
    }
    assert_eq!(world.mapped(), []);
    mock.assert_all_freed();
}

/// What depends on a job may be issued when the job is told to be done.
#[test]
fn a_chain_of_jobs() {
    within(60, || {
        let (world, mock) = World::mock(TOLD);
        let world: &'static World = Box::leak(Box::new(world));
        let array: &'static [u8] = vec![0; 5000].leak();
        let (send, end) = channel();
        fn next(world: &'static World, array: &'static [u8], left: usize, end: std::sync::mpsc::Sender<()>) {
            let job = world.issue(&[increment(array)]).unwrap();
            let issued = job.complete_later(move |outcome| {
                outcome.unwrap();
                match left {
                    0 => end.send(()).unwrap(),
                    _ => next(world, array, left - 1, end),
                }
            });
            assert!(issued.is_ok());
        }
        for _ in 0..4 {
            // On data of its own each time: chains go side by side.
            next(world, array, 49, send.clone());
            end.recv_timeout(PATIENCE).unwrap();
        }
        assert_eq!(array[0], 200);
        mock.assert_all_freed();
    });
}

#[test]
fn a_failure_is_told() {
    let (world, mock) = World::mock(TOLD);
    let array = vec![1; 3000];
    let job = world.issue(&[increment(&array)]).unwrap();
    mock.fail(Call::Synchronize, 0);
    let error = later(job).ok().unwrap().recv_timeout(PATIENCE).unwrap().unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::Launch { kernel, .. } if **kernel == *"increment"), "{error}");
    assert!(mock.stop_failing());
    assert_eq!(world.mapped(), []);
    mock.assert_all_freed();
}

/// Where the device does not tell, or cannot this time, the job is the caller's still.
#[test]
fn a_device_that_does_not_tell() {
    let array = vec![1; 3000];
    for (options, fails) in [(Options::WORKER, false), (Options::LAZY, false), (TOLD, true)] {
        let (world, mock) = World::mock(options);
        let job = world.issue(&[increment(&array)]).unwrap();
        if fails {
            mock.fail(Call::OnComplete, 0);
        }
        let Err(job) = later(job) else { panic!("{options:?}: taken") };
        job.complete().unwrap();
        mock.stop_failing();
        assert_eq!(world.mapped(), []);
        mock.assert_all_freed();
    }
    assert_eq!(array, [4; 3000]);
}

/// From many threads; one that panics when it is told does no harm to the others.
#[test]
fn many_at_once() {
    within(60, || {
        let (world, mock) = World::mock(TOLD);
        let ended = AtomicUsize::new(0);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let (world, ended) = (&world, &ended);
                scope.spawn(move || {
                    let arrays: Vec<_> = (0..50).map(|_| vec![thread; 200]).collect();
                    let jobs = arrays.iter().map(|array| world.issue(&[increment(array)]).unwrap());
                    let told: Vec<_> = jobs.map(|job| later(job).ok().unwrap()).collect();
                    let panics = world.issue(&[]).unwrap().complete_later(|_| panic!("somebody's fault"));
                    assert!(panics.is_ok());
                    for told in told {
                        told.recv_timeout(PATIENCE).unwrap().unwrap();
                        ended.fetch_add(1, Ordering::Relaxed);
                    }
                    assert!(arrays.iter().all(|array| *array == [thread + 1; 200]));
                });
            }
        });
        // The last of those that panic may still be under way.
        let last = world.issue(&[]).unwrap();
        later(last).ok().unwrap().recv_timeout(PATIENCE).unwrap().unwrap();
        std::panic::set_hook(hook);
        assert_eq!(ended.load(Ordering::Relaxed), 200);
        mock.assert_all_freed();
    });
}
