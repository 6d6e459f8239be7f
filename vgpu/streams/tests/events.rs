//! Events: done when, in what order, how long between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use gangway_streams::{Blocking, Context, Error, Event};

fn hold(open: &Arc<AtomicBool>) -> impl FnOnce() -> Result<(), gangway_streams::Failure> + Send + 'static {
    let open = open.clone();
    move || {
        while !open.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }
}

#[test]
fn an_event_never_recorded_is_done() {
    let (event, timed) = (Event::new(false), Event::new(true));
    assert_eq!(event.query(), Ok(()));
    assert_eq!(event.synchronize(), Ok(()));
    assert_eq!(event.elapsed(&timed), Err(Error::InvalidHandle));
    assert_eq!(timed.elapsed(&timed), Err(Error::InvalidHandle));
    assert_eq!(Context::new().legacy().wait(&event), Ok(()));
}

#[test]
fn an_event_is_done_when_what_comes_before_it_is() {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    for timed in [false, true] {
        let (open, event) = (Arc::default(), Event::new(timed));
        stream.submit(hold(&open)).unwrap();
        stream.record(&event).unwrap();
        assert_eq!(event.query(), Err(Error::NotReady));
        open.store(true, Ordering::Release);
        event.synchronize().unwrap();
        assert_eq!(event.query(), Ok(()));
    }
}

#[test]
fn elapsed_time_is_that_of_the_work_between() {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    let (start, end) = (Event::new(true), Event::new(true));
    // The work does not end by itself: this thread may be held up for longer than it takes.
    let open = Arc::default();
    let held = hold(&open);
    stream.record(&start).unwrap();
    stream
        .submit(move || {
            held()?;
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        })
        .unwrap();
    stream.record(&end).unwrap();
    assert_eq!(start.elapsed(&end), Err(Error::NotReady));
    open.store(true, Ordering::Release);
    end.synchronize().unwrap();
    let elapsed = start.elapsed(&end).unwrap();
    assert!((20_000_000..15_000_000_000).contains(&elapsed), "{elapsed} ns");
    assert_eq!(end.elapsed(&start), Ok(-elapsed));
}

#[test]
fn waiting_orders_streams_of_two_contexts() {
    let (one, other) = (Context::new(), Context::new());
    let (from, to) =
        (one.create_stream(Blocking::Independent, 0), other.create_stream(Blocking::Independent, 0));
    let (open, event, value) = (Arc::default(), Event::new(false), Arc::new(AtomicU32::new(0)));
    from.submit(hold(&open)).unwrap();
    let (set, get) = (value.clone(), value.clone());
    let write = move || {
        set.store(5, Ordering::Relaxed);
        Ok(())
    };
    let read = move || {
        assert_eq!(get.swap(6, Ordering::Relaxed), 5);
        Ok(())
    };
    from.submit(write).unwrap();
    from.record(&event).unwrap();
    to.wait(&event).unwrap();
    to.submit(read).unwrap();
    assert_eq!(to.query(), Err(Error::NotReady));
    open.store(true, Ordering::Release);
    to.synchronize().unwrap();
    assert_eq!(value.load(Ordering::Relaxed), 6);
}

#[test]
fn a_context_that_ends_does_not_wait_for_another() {
    let (one, other) = (Context::new(), Context::new());
    let (from, to) =
        (one.create_stream(Blocking::Independent, 0), other.create_stream(Blocking::Independent, 0));
    let (open, event) = (Arc::default(), Event::new(false));
    from.submit(hold(&open)).unwrap();
    from.record(&event).unwrap();
    to.wait(&event).unwrap();
    to.submit(|| Ok(())).unwrap();
    other.finish().unwrap();
    assert_eq!(from.query(), Err(Error::NotReady));
    open.store(true, Ordering::Release);
    one.synchronize().unwrap();
}

#[test]
fn a_wait_is_for_the_record_there_was() {
    let context = Context::new();
    let (from, to) =
        (context.create_stream(Blocking::Independent, 0), context.create_stream(Blocking::Independent, 0));
    let (first, second, event) = (Arc::default(), Arc::default(), Event::new(true));
    from.submit(hold(&first)).unwrap();
    from.record(&event).unwrap();
    to.wait(&event).unwrap();
    from.submit(hold(&second)).unwrap();
    from.record(&event).unwrap();
    first.store(true, Ordering::Release);
    to.synchronize().unwrap();
    assert_eq!(event.query(), Err(Error::NotReady));
    second.store(true, Ordering::Release);
    event.synchronize().unwrap();
    assert_eq!(event.elapsed(&event), Ok(0));
}

/// What passes the place of an earlier record does not touch the time of the later one.
#[test]
fn the_time_is_that_of_the_last_record() {
    let context = Context::new();
    let (held, free) =
        (context.create_stream(Blocking::Independent, 0), context.create_stream(Blocking::Independent, 0));
    let (open, event, after) = (Arc::default(), Event::new(true), Event::new(true));
    held.submit(hold(&open)).unwrap();
    held.record(&event).unwrap();
    free.record(&event).unwrap();
    free.record(&after).unwrap();
    let elapsed = event.elapsed(&after).unwrap();
    assert!(elapsed >= 0);
    open.store(true, Ordering::Release);
    held.synchronize().unwrap();
    assert_eq!(event.elapsed(&after), Ok(elapsed));
}

#[test]
fn a_record_in_the_legacy_stream_covers_blocking_streams() {
    let context = Context::new();
    let other = context.create_stream(Blocking::WithLegacy, 0);
    let (open, event) = (Arc::default(), Event::new(true));
    other.submit(hold(&open)).unwrap();
    context.legacy().record(&event).unwrap();
    assert_eq!(event.query(), Err(Error::NotReady));
    open.store(true, Ordering::Release);
    event.synchronize().unwrap();
}
