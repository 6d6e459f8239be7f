//! Every interleaving of the threads that serve one port or mailbox, and of a ring with the
//! watcher's sleep.

use crate::bell::Bell;
use crate::served::{Ends, Lanes, Served, Taken};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering, fence};
use loom::thread;
use std::time::Duration;

/// A port: the requests that have been made, and the last that has been answered, by whoever
/// serves it.
struct Port {
    doorbell: AtomicUsize,
    served: Served,
    turn: UnsafeCell<usize>,
    answered: AtomicUsize,
}

impl Port {
    /// As `Reader::serve`; loom sees if two threads touch the turn at once.
    fn serve(&self) {
        if !self.served.begin() {
            return;
        }
        loop {
            let bell = self.doorbell.load(Ordering::Acquire);
            self.turn.with_mut(|turn| {
                // SAFETY: one thread serves the port, which loom checks.
                let turn = unsafe { &mut *turn };
                if *turn != bell {
                    *turn = bell;
                    self.answered.store(bell, Ordering::Release);
                }
            });
            if self.served.end() {
                return;
            }
        }
    }
}

fn port() -> Arc<Port> {
    Arc::new(Port {
        doorbell: AtomicUsize::new(0),
        served: Served::default(),
        turn: UnsafeCell::new(0),
        answered: AtomicUsize::new(0),
    })
}

/// Two threads have found news of a port, whose warp asks again meanwhile.
#[test]
fn no_request_of_a_port_is_left_behind() {
    loom::model(|| {
        let port = port();
        port.doorbell.store(1, Ordering::Release);
        let other = port.clone();
        let first = thread::spawn(move || other.serve());
        let other = port.clone();
        let second = thread::spawn(move || {
            other.doorbell.store(2, Ordering::Release);
            other.serve();
        });
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(port.answered.load(Ordering::Acquire), 2);
    });
}

/// Three threads, as a watcher that was taken over and two that found the same port.
#[test]
fn a_port_is_served_by_one_thread_at_a_time() {
    loom::model(|| {
        let port = port();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let port = port.clone();
                thread::spawn(move || {
                    port.doorbell.fetch_add(1, Ordering::AcqRel);
                    port.serve();
                })
            })
            .collect();
        port.serve();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(port.answered.load(Ordering::Acquire), 2);
    });
}

/// The watcher sleeps only if nothing has come, and a ring wakes it.
#[test]
fn no_ring_is_lost() {
    loom::model(|| {
        let shared = Arc::new((AtomicUsize::new(0), Bell::default()));
        let device = shared.clone();
        let rings = thread::spawn(move || {
            for _ in 0..2 {
                // Relaxed, as the doorbell's release does not order it with what is read after.
                device.0.fetch_add(1, Ordering::Relaxed);
                device.1.ring();
            }
        });
        let (news, bell) = &*shared;
        loop {
            bell.listen();
            if news.load(Ordering::Relaxed) == 2 {
                break;
            }
            bell.sleep(Duration::MAX);
        }
        rings.join().unwrap();
    });
}

/// A mailbox that one thread serves, while the device's next call comes and the watcher sleeps.
#[test]
fn no_call_in_a_mailbox_is_left_behind() {
    struct Mailbox {
        function: AtomicUsize,
        taken: Taken,
        bell: Bell,
        answered: AtomicUsize,
    }

    impl Mailbox {
        fn has_call(&self) -> bool {
            self.function.load(Ordering::Relaxed) != 0
        }

        fn serve(&self) {
            loop {
                if self.function.load(Ordering::Acquire) != 0 {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    self.function.store(0, Ordering::Release);
                }
                if self.taken.leave(|| self.has_call()) {
                    return;
                }
            }
        }
    }

    loom::model(|| {
        let mailbox = Arc::new(Mailbox {
            function: AtomicUsize::new(1),
            taken: Taken::default(),
            bell: Bell::default(),
            answered: AtomicUsize::new(0),
        });
        assert!(mailbox.taken.take());
        let other = mailbox.clone();
        let server = thread::spawn(move || {
            other.serve();
            if other.answered.load(Ordering::Relaxed) == 2 {
                // The model's watcher has seen enough.
                other.bell.ring();
            }
        });
        let other = mailbox.clone();
        let device = thread::spawn(move || {
            while other.function.load(Ordering::Acquire) != 0 {
                thread::yield_now();
            }
            other.function.store(2, Ordering::Release);
            fence(Ordering::SeqCst);
            if !other.taken.is_taken() {
                other.bell.ring();
            }
        });
        loop {
            mailbox.bell.listen();
            if mailbox.has_call() && !mailbox.taken.is_taken() && mailbox.taken.take() {
                mailbox.serve();
            }
            if mailbox.answered.load(Ordering::Relaxed) == 2 {
                break;
            }
            mailbox.bell.sleep(Duration::MAX);
        }
        server.join().unwrap();
        device.join().unwrap();
    });
}

/// Two threads run the lanes of two calls: each lane once, and one of the threads ends each call and
/// sees what the other one has done.
#[test]
fn every_lane_runs_once_and_one_thread_ends_the_call() {
    struct Call {
        lanes: Lanes,
        runs: [UnsafeCell<usize>; 2],
        ended: AtomicUsize,
    }

    impl Call {
        fn help(&self) {
            // SAFETY: the lane is this thread's, which loom checks.
            let run = |lane: usize| self.runs[lane].with_mut(|runs| unsafe { *runs += 1 });
            while self.lanes.run(run) == Ends::This {
                let before = self.ended.fetch_add(1, Ordering::AcqRel);
                for runs in &self.runs {
                    // SAFETY: no lane runs.
                    runs.with(|runs| assert_eq!(unsafe { *runs }, before + 1));
                }
                if before == 1 {
                    return;
                }
                self.lanes.begin(0b11);
            }
        }
    }

    loom::model(|| {
        let call = Arc::new(Call {
            lanes: Lanes::default(),
            runs: [UnsafeCell::new(0), UnsafeCell::new(0)],
            ended: AtomicUsize::new(0),
        });
        call.lanes.begin(0b11);
        let other = call.clone();
        let helper = thread::spawn(move || other.help());
        call.help();
        helper.join().unwrap();
        assert_eq!(call.ended.load(Ordering::Acquire), 2);
    });
}
