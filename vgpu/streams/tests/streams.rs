//! Order, asynchrony, failures: one stream and several.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::{Duration, Instant};

use gangway_streams::{Blocking, Context, Error, Event, Failure, in_host_function};

/// Waits for something that must happen without help from this thread.
fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} never happens");
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// An operation that does not end before it is told to.
fn gate() -> (Arc<AtomicBool>, impl FnOnce() -> Result<(), Failure> + Send + 'static) {
    let open = Arc::new(AtomicBool::new(false));
    let opened = open.clone();
    (open, move || {
        while !opened.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    })
}

/// An operation that only counts.
fn counting(count: &Arc<AtomicU32>) -> impl FnOnce() -> Result<(), Failure> + Send + 'static {
    let count = count.clone();
    move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn operations_run_in_order() {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    let seen = Arc::new(Mutex::new(Vec::new()));
    for number in 0..1000 {
        let seen = seen.clone();
        let push = move || {
            seen.lock().unwrap().push(number);
            Ok(())
        };
        stream.submit(push).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(*seen.lock().unwrap(), Vec::from_iter(0..1000));
    assert_eq!(stream.query(), Ok(()));
}

#[test]
fn operations_start_unasked() {
    let context = Context::new();
    let streams: Vec<_> = (0..50).map(|_| context.create_stream(Blocking::Independent, 0)).collect();
    let count = Arc::new(AtomicU32::new(0));
    for stream in &streams {
        stream.submit(counting(&count)).unwrap();
    }
    eventually("the last operation", || count.load(Ordering::Relaxed) == 50);
}

#[test]
fn submission_does_not_wait() {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    let (open, closed) = gate();
    stream.submit(closed).unwrap();
    stream.submit(|| Ok(())).unwrap();
    assert_eq!(stream.query(), Err(Error::NotReady));
    assert_eq!(context.query(), Err(Error::NotReady));
    open.store(true, Ordering::Release);
    stream.synchronize().unwrap();
    assert_eq!(context.query(), Ok(()));
}

/// More streams than processors, each waiting for the next one: all of them must get a thread.
#[test]
fn operations_may_wait_for_each_other() {
    let context = Context::new();
    let width = 24;
    let barrier = Arc::new(Barrier::new(width));
    let streams: Vec<_> = (0..width).map(|_| context.create_stream(Blocking::Independent, 0)).collect();
    for stream in &streams {
        let barrier = barrier.clone();
        let wait = move || {
            barrier.wait();
            Ok(())
        };
        stream.submit(wait).unwrap();
    }
    context.synchronize().unwrap();
}

#[test]
fn legacy_and_blocking_streams_wait_for_each_other() {
    let context = Context::new();
    let blocking = context.create_stream(Blocking::WithLegacy, 0);
    let apart = context.create_stream(Blocking::Independent, 0);
    let log = Arc::new(Mutex::new(Vec::new()));
    let entry = |text: &'static str| {
        let log = log.clone();
        move || {
            log.lock().unwrap().push(text);
            Ok(())
        }
    };
    let (open, closed) = gate();
    blocking.submit(closed).unwrap();
    blocking.submit(entry("blocking 1")).unwrap();
    context.legacy().submit(entry("legacy")).unwrap();
    blocking.submit(entry("blocking 2")).unwrap();
    context.per_thread().submit(entry("blocking 2")).unwrap();
    apart.submit(entry("apart")).unwrap();
    apart.synchronize().unwrap();
    assert_eq!(*log.lock().unwrap(), ["apart"]);
    assert_eq!(context.legacy().query(), Err(Error::NotReady));
    open.store(true, Ordering::Release);
    context.synchronize().unwrap();
    assert_eq!(*log.lock().unwrap(), ["apart", "blocking 1", "legacy", "blocking 2", "blocking 2"]);
}

#[test]
fn synchronising_with_the_legacy_stream_waits_for_blocking_ones() {
    let context = Context::new();
    let other = context.create_stream(Blocking::WithLegacy, 0);
    let done = Arc::new(AtomicBool::new(false));
    let set = done.clone();
    other
        .submit(move || {
            std::thread::sleep(Duration::from_millis(20));
            set.store(true, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    context.legacy().synchronize().unwrap();
    assert!(done.load(Ordering::Relaxed));
}

#[test]
fn per_thread_streams_are_each_thread_s_own() {
    let context = Arc::new(Context::new());
    let mine = context.per_thread();
    assert_eq!(mine.id(), context.per_thread().id());
    assert_ne!(mine.id(), context.legacy().id());
    let other = context.clone();
    let theirs = std::thread::spawn(move || other.per_thread().id()).join().unwrap();
    assert_ne!(mine.id(), theirs);
    assert_ne!(Context::new().per_thread().id(), mine.id());
}

#[test]
fn a_failure_is_the_context_s_for_good() {
    let context = Context::new();
    let stream = context.create_stream(Blocking::WithLegacy, 0);
    let other = context.create_stream(Blocking::Independent, 0);
    let illegal = Failure::known(700);
    let ran = Arc::new(AtomicU32::new(0));
    let (sender, told) = mpsc::channel();
    let (open, closed) = gate();
    stream.submit(closed).unwrap();
    stream.submit(move || Err(illegal)).unwrap();
    stream.submit(counting(&ran)).unwrap();
    stream.submit_host(counting(&ran)).unwrap();
    stream.submit_callback(move |outcome| sender.send((outcome, in_host_function())).unwrap()).unwrap();
    let event = Event::new(true);
    stream.record(&event).unwrap();
    open.store(true, Ordering::Release);
    assert_eq!(stream.synchronize(), Err(Error::Failed(illegal)));
    assert_eq!(told.recv(), Ok((Err(illegal), true)));
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    let failed = Err(Error::Failed(illegal));
    assert_eq!(other.submit(|| Ok(())), failed);
    assert_eq!(other.query(), failed);
    assert_eq!(event.synchronize(), failed);
    assert_eq!(context.synchronize(), failed);
    assert_eq!(context.failure(), Some(illegal));
    assert_eq!(Context::new().synchronize(), Ok(()), "other contexts go on");
}

#[test]
fn a_panic_is_a_failure() {
    let context = Context::new();
    let outcome = context.legacy().run(|| panic!("this panic is part of the test"));
    assert_eq!(outcome, Err(Error::Failed(Failure::UNKNOWN)));
}

#[test]
fn what_an_operation_owns_is_dropped_before_it_has_ended() {
    let context = Context::new();
    let owned = Arc::new([0_u8; 500]);
    for _ in 0..100 {
        let captured = (owned.clone(), [0_u64; 30]);
        let look = move || {
            assert_eq!(captured.1, [0; 30]);
            Ok(())
        };
        context.legacy().submit(look).unwrap();
    }
    context.legacy().synchronize().unwrap();
    assert_eq!(Arc::strong_count(&owned), 1);
}

#[test]
fn host_functions_run_elsewhere_and_may_submit() {
    let context = Arc::new(Context::new());
    let stream = context.create_stream(Blocking::WithLegacy, 0);
    let here = std::thread::current().id();
    let (sender, told) = mpsc::channel();
    let (inner, inside) = (stream.clone(), context.clone());
    stream
        .submit_host(move || {
            assert_ne!(std::thread::current().id(), here);
            let outcomes =
                [inner.query(), inner.synchronize(), inside.synchronize(), inner.submit(|| Ok(()))];
            sender.send(outcomes).unwrap();
            Ok(())
        })
        .unwrap();
    stream.synchronize().unwrap();
    let refused = Err(Error::NotPermitted);
    assert_eq!(told.recv(), Ok([Err(Error::NotReady), refused, refused, Ok(())]));
    context.synchronize().unwrap();
}

#[test]
fn a_dropped_stream_ends_its_work() {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    let (open, closed) = gate();
    let done = Arc::new(AtomicBool::new(false));
    let set = done.clone();
    stream.submit(closed).unwrap();
    let run = move || {
        set.store(true, Ordering::Relaxed);
        Ok(())
    };
    stream.submit(run).unwrap();
    drop(stream);
    assert_eq!(context.query(), Err(Error::NotReady));
    open.store(true, Ordering::Release);
    context.synchronize().unwrap();
    assert!(done.load(Ordering::Relaxed));
}

#[test]
fn a_context_that_ends_does_what_has_been_submitted() {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    let behind = context.create_stream(Blocking::Independent, 0);
    let event = Event::new(false);
    let (open, closed) = gate();
    let count = Arc::new(AtomicU32::new(0));
    stream.submit(closed).unwrap();
    stream.submit(counting(&count)).unwrap();
    stream.record(&event).unwrap();
    behind.wait(&event).unwrap();
    let (sender, told) = mpsc::channel();
    let seen = count.clone();
    let callback = move |outcome: Result<(), Failure>| {
        sender.send((outcome, seen.load(Ordering::Acquire))).unwrap();
    };
    behind.submit_callback(callback).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| context.finish().unwrap());
        open.store(true, Ordering::Release);
    });
    assert_eq!(
        told.try_recv(),
        Ok((Ok(()), 1)),
        "waits within the context hold, and nobody hears of its end"
    );
    assert_eq!(stream.submit(|| Ok(())), Err(Error::Failed(Failure::CONTEXT_IS_DESTROYED)));
}

#[test]
fn nobody_waits_for_a_context_that_has_failed() {
    let failed = Err(Error::Failed(Failure::known(700)));
    let other = Context::new();
    let (start, held) = gate();
    // The operations are submitted before anything has failed, and the threads wait when it does.
    let context = Arc::new(Context::new());
    let stream = context.create_stream(Blocking::WithLegacy, 0);
    let event = Event::new(true);
    stream.submit_host(held).unwrap();
    stream.submit(|| Err(Failure::known(700))).unwrap();
    let (release, stuck) = gate();
    let (sender, told) = mpsc::channel();
    let callback = move |outcome| {
        sender.send(outcome).unwrap();
        let _ = stuck();
    };
    stream.submit_callback(callback).unwrap();
    stream.record(&event).unwrap();
    let elsewhere = other.create_stream(Blocking::Independent, 0);
    elsewhere.wait(&event).unwrap();
    let copied = Arc::new(AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(stream.synchronize(), failed));
        scope.spawn(|| assert_eq!(context.legacy().synchronize(), failed));
        scope.spawn(|| assert_eq!(stream.run(counting(&copied)), failed));
        scope.spawn(|| assert_eq!(context.legacy().run(counting(&copied)), failed));
        scope.spawn(|| assert_eq!(event.synchronize(), failed));
        scope.spawn(|| assert_eq!(context.synchronize(), failed));
        scope.spawn(|| assert_eq!(elsewhere.synchronize(), Ok(()), "this context has not failed"));
        start.store(true, Ordering::Release);
        assert_eq!(told.recv(), Ok(Err(Failure::known(700))));
        // All the threads come back while the callback does not.
    });
    assert_eq!(context.finish(), Ok(()), "nor does who ends it");
    assert_eq!(copied.load(Ordering::Relaxed), 0);
    release.store(true, Ordering::Release);
}

#[test]
fn work_that_has_begun_is_waited_for() {
    let context = Arc::new(Context::new());
    let stream = context.create_stream(Blocking::Independent, 0);
    let (open, closed) = gate();
    let begun = Arc::new(AtomicBool::new(false));
    let ended = Arc::new(AtomicBool::new(false));
    let (begin, end) = (begun.clone(), ended.clone());
    let copy = move || {
        begin.store(true, Ordering::Release);
        closed()?;
        end.store(true, Ordering::Release);
        Ok(())
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // What it works on is this thread's again when this returns.
            assert_eq!(stream.run(copy), Err(Error::Failed(Failure::known(700))));
            assert!(ended.load(Ordering::Acquire));
        });
        eventually("the copy", || begun.load(Ordering::Acquire));
        context.fail(Failure::known(700));
        open.store(true, Ordering::Release);
    });
    assert!(context.stop().load(Ordering::Acquire), "kernels are told");
}
