//! The queues and the pool under the model checker (`make loom`).
//!
//! loom runs each model under every interleaving of its threads, up to a bound of preemptions. A
//! lost wake-up shows as a deadlock, a missing order as a data race on the cells that the
//! operations write.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::{Condvar, Mutex};
use loom::thread;

use crate::pool::Pool;
use crate::queue::Queue;
use crate::stream::Stream;
use crate::{Blocking, Context, Event, Failure};

/// A context with this many workers at most.
struct World {
    pool: Arc<Pool<Queue>>,
    context: Context,
}

impl World {
    fn new(workers: usize) -> Arc<World> {
        let pool = Pool::new(workers);
        Arc::new(World { context: Context::with_pool(pool.clone()), pool })
    }

    fn stream(&self) -> Arc<Stream> {
        self.context.create_stream(Blocking::Independent, 0)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.pool.close();
    }
}

/// What operations write: loom reports accesses that are not ordered.
#[derive(Default)]
struct Log(UnsafeCell<Vec<u32>>);

// SAFETY: the cell is what loom checks the synchronisation of.
unsafe impl Sync for Log {}
// SAFETY: as above.
unsafe impl Send for Log {}

impl Log {
    fn push(&self, number: u32) {
        // SAFETY: whether this is exclusive is what the model finds out.
        self.0.with_mut(|log| unsafe { (*log).push(number) });
    }

    fn read(&self) -> Vec<u32> {
        // SAFETY: as above.
        self.0.with(|log| unsafe { (*log).clone() })
    }
}

fn submit(stream: &Arc<Stream>, log: &Arc<Log>, number: u32) {
    let log = log.clone();
    let push = move || {
        log.push(number);
        Ok(())
    };
    stream.submit(push).unwrap();
}

#[test]
fn a_waiting_thread_and_a_worker_share_a_stream() {
    loom::model(|| {
        let world = World::new(1);
        let (stream, log) = (world.stream(), Arc::new(Log::default()));
        submit(&stream, &log, 1);
        submit(&stream, &log, 2);
        stream.synchronize().unwrap();
        assert_eq!(log.read(), [1, 2]);
        submit(&stream, &log, 3);
        stream.synchronize().unwrap();
        assert_eq!(log.read(), [1, 2, 3]);
    });
}

#[test]
fn two_threads_wait_for_one_stream() {
    loom::model(|| {
        let world = World::new(1);
        let (stream, log) = (world.stream(), Arc::new(Log::default()));
        submit(&stream, &log, 1);
        let other = stream.clone();
        let waiter = thread::spawn(move || other.synchronize().unwrap());
        stream.synchronize().unwrap();
        assert_eq!(log.read(), [1]);
        waiter.join().unwrap();
    });
}

#[test]
fn an_operation_starts_without_anybody_waiting() {
    loom::model(|| {
        let world = World::new(1);
        let stream = world.stream();
        let told = Arc::new((Mutex::new(false), Condvar::new()));
        let tell = told.clone();
        let function = move || {
            *tell.0.lock().unwrap() = true;
            tell.1.notify_one();
            Ok(())
        };
        stream.submit_host(function).unwrap();
        let mut done = told.0.lock().unwrap();
        while !*done {
            done = told.1.wait(done).unwrap();
        }
    });
}

/// The second operation ends only after a thread has seen the end of the first.
#[test]
fn threads_wait_for_different_positions() {
    loom::model(|| {
        let world = World::new(1);
        let (stream, event) = (world.stream(), Event::new(false));
        stream.submit_host(|| Ok(())).unwrap();
        stream.record(&event).unwrap();
        let seen = Arc::new((Mutex::new(false), Condvar::new()));
        let (tell, told) = (seen.clone(), seen);
        let waiter = thread::spawn(move || {
            event.synchronize().unwrap();
            *tell.0.lock().unwrap() = true;
            tell.1.notify_one();
        });
        let until_seen = move || {
            let mut seen = told.0.lock().unwrap();
            while !*seen {
                seen = told.1.wait(seen).unwrap();
            }
            Ok(())
        };
        stream.submit_host(until_seen).unwrap();
        stream.synchronize().unwrap();
        waiter.join().unwrap();
    });
}

#[test]
fn a_stream_waits_for_another() {
    loom::model(|| {
        let world = World::new(1);
        let (from, to) = (world.stream(), world.stream());
        let (event, log) = (Event::new(false), Arc::new(Log::default()));
        submit(&from, &log, 1);
        from.record(&event).unwrap();
        to.wait(&event).unwrap();
        submit(&to, &log, 2);
        to.synchronize().unwrap();
        assert_eq!(log.read(), [1, 2]);
    });
}

#[test]
fn a_context_ends_while_it_waits_for_another() {
    loom::model(|| {
        let world = World::new(1);
        let other = Context::with_pool(world.pool.clone());
        let (from, to) = (world.stream(), other.create_stream(Blocking::Independent, 0));
        let (event, log) = (Event::new(false), Arc::new(Log::default()));
        submit(&from, &log, 1);
        from.record(&event).unwrap();
        to.wait(&event).unwrap();
        submit(&to, &Arc::default(), 2);
        other.finish().unwrap();
        from.synchronize().unwrap();
        assert_eq!(log.read(), [1]);
    });
}

#[test]
fn streams_that_wait_for_each_other_s_past_end() {
    loom::model(|| {
        let world = World::new(1);
        let (one, other) = (world.stream(), world.stream());
        let (first, second) = (Event::new(false), Event::new(false));
        let log = Arc::new(Log::default());
        submit(&one, &log, 1);
        one.record(&first).unwrap();
        other.wait(&first).unwrap();
        submit(&other, &log, 2);
        other.record(&second).unwrap();
        one.wait(&second).unwrap();
        submit(&one, &log, 3);
        one.synchronize().unwrap();
        assert_eq!(log.read(), [1, 2, 3]);
    });
}

#[test]
fn submissions_to_the_legacy_stream_and_a_blocking_one_at_once() {
    loom::model(|| {
        let world = World::new(1);
        let log = Arc::new(Log::default());
        let (other, others_log) = (world.clone(), log.clone());
        let thread = thread::spawn(move || {
            submit(other.context.legacy(), &others_log, 1);
            other.context.legacy().synchronize().unwrap();
        });
        let blocking = world.context.create_stream(Blocking::WithLegacy, 0);
        submit(&blocking, &log, 2);
        blocking.synchronize().unwrap();
        thread.join().unwrap();
        let mut seen = log.read();
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn a_failure_ends_waiting_though_a_callback_does_not_return() {
    loom::model(|| {
        let world = World::new(1);
        let stream = world.stream();
        let returned = Arc::new((Mutex::new(false), Condvar::new()));
        let wait = returned.clone();
        stream.submit(|| Err(Failure::known(700))).unwrap();
        // Taken unless the failure has come first.
        let _ = stream.submit_callback(move |_| {
            let mut returned = wait.0.lock().unwrap();
            while !*returned {
                returned = wait.1.wait(returned).unwrap();
            }
        });
        assert!(stream.synchronize().is_err());
        *returned.0.lock().unwrap() = true;
        returned.1.notify_all();
    });
}
