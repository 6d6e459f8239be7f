//! Many threads at once, forks, and the end of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gangway_commands::{Run, again, is_alone};
use gangway_streams::{Blocking, Context, Error, Event, forked};

/// Threads with a stream each and one in common, all of one context.
#[test]
fn threads_share_a_context() {
    let context = Context::new();
    let common = context.create_stream(Blocking::WithLegacy, 0);
    let count = Arc::new(AtomicU64::new(0));
    let (threads, rounds) = (8_u64, 400_u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (context, common, count) = (&context, &common, &count);
            scope.spawn(move || {
                let kind = if thread % 2 == 0 { Blocking::WithLegacy } else { Blocking::Independent };
                let own = context.create_stream(kind, -(thread as i32 % 3));
                let event = Event::new(thread % 3 == 0);
                for round in 0..rounds {
                    for stream in [&own, common, context.legacy(), &context.per_thread()] {
                        let count = count.clone();
                        let add = move || {
                            count.fetch_add(1, Ordering::Relaxed);
                            Ok(())
                        };
                        stream.submit(add).unwrap();
                    }
                    own.record(&event).unwrap();
                    common.wait(&event).unwrap();
                    match round % 16 {
                        3 => own.synchronize().unwrap(),
                        6 => event.synchronize().unwrap(),
                        9 => common.synchronize().unwrap(),
                        12 => context.synchronize().unwrap(),
                        _ => {}
                    }
                }
            });
        }
    });
    context.synchronize().unwrap();
    assert_eq!(count.load(Ordering::Relaxed), threads * rounds * 4);
}

/// A ring of streams of several contexts, each step waiting for the one before.
#[test]
fn a_token_goes_round() {
    let contexts: Vec<_> = (0..3).map(|_| Context::new()).collect();
    let streams: Vec<_> =
        (0..12).map(|index| contexts[index % 3].create_stream(Blocking::WithLegacy, 0)).collect();
    let token = Arc::new(AtomicU64::new(0));
    let mut before = Event::new(false);
    for step in 0..3000 {
        let stream = &streams[step % streams.len()];
        stream.wait(&before).unwrap();
        let token = token.clone();
        let pass = move || {
            // Not a read-modify-write: only the order makes it right.
            let value = token.load(Ordering::Relaxed);
            assert_eq!(value, step as u64);
            token.store(value + 1, Ordering::Relaxed);
            Ok(())
        };
        stream.submit(pass).unwrap();
        before = Event::new(step % 2 == 0);
        stream.record(&before).unwrap();
    }
    before.synchronize().unwrap();
    assert_eq!(token.load(Ordering::Relaxed), 3000);
}

/// Contexts that end while others go on.
#[test]
fn contexts_come_and_go() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let context = Context::new();
                    let stream = context.create_stream(Blocking::WithLegacy, 0);
                    for _ in 0..10 {
                        stream.submit(|| Ok(())).unwrap();
                        context.legacy().submit(|| Ok(())).unwrap();
                    }
                    context.finish().unwrap();
                    assert!(stream.submit(|| Ok(())).is_err());
                }
            });
        }
    });
}

#[test]
fn a_fork_does_not_hang() {
    if !is_alone("a_fork_does_not_hang") {
        return;
    }
    let context = Context::new();
    let stream = context.create_stream(Blocking::WithLegacy, 0);
    let event = Event::new(true);
    for _ in 0..50 {
        for _ in 0..20 {
            stream.submit(|| Ok(())).unwrap();
            stream.record(&event).unwrap();
        }
        // SAFETY: the child only asks for what must be refused at once, and ends without
        // destructors.
        match unsafe { libc::fork() } {
            0 => {
                let refused = [
                    stream.submit(|| Ok(())),
                    stream.synchronize(),
                    stream.query(),
                    stream.record(&event),
                    stream.wait(&event),
                    event.query(),
                    event.synchronize(),
                    context.synchronize(),
                    context.finish(),
                ];
                let right = forked() && refused == [Err(Error::Forked); 9];
                // SAFETY: ends the process.
                unsafe { libc::_exit(if right { 0 } else { 1 }) }
            }
            child => {
                let mut status = -1;
                // SAFETY: a child of this process and a place for its status.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0);
            }
        }
        assert!(!forked());
    }
    stream.synchronize().unwrap();
}

#[test]
fn a_process_can_exit_with_streams_running() {
    if let Some(mut other) = again("a_process_can_exit_with_streams_running") {
        return assert_eq!(other.run().code(), Some(7));
    }
    let context = Context::new();
    for _ in 0..20 {
        let stream = context.create_stream(Blocking::WithLegacy, 0);
        let spin = || {
            std::thread::sleep(Duration::from_secs(600));
            Ok(())
        };
        stream.submit(spin).unwrap();
        stream.submit_host(spin).unwrap();
    }
    std::process::exit(7);
}
