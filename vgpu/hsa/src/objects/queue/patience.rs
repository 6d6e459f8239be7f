//! What becomes of packets in a queue that has failed, while its callback is under way.
//!
//! The callback may itself wait for them, or for threads that do: that of libgomp's plugin ends the program, which
//! waits for the kernel that has failed, and launches those that run destructors. With a real card such a program hangs.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Queue;
use crate::abi::Handle;
use crate::abi::packet::kind;
use crate::objects::signal::Signal;

/// How long they wait for the end of the callback, and how often it is looked whether there are more then.
const LONGEST_CALLBACK: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(50);
/// How often that is until the packet that has failed is said to be done, too: 4 seconds. A thread that goes on as if all
/// were well may end the program with another status than the callback, which does so at the same time.
const ROUNDS_FOR_THE_FAILED: u32 = 80;

/// A callback is under way. When it takes long, those who wait for packets are told that they are done: some look for 0, and
/// for nothing else. Those behind the one that has failed come first.
pub(super) struct Patience(Arc<(Mutex<bool>, Condvar)>);

impl Patience {
    /// The packet with an index, whose completion signal this is, has failed; no other thread takes any from the queue.
    pub fn begin(queue: &Arc<Queue>, index: u64, failed: Handle) -> Option<Self> {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let (its, queue) = (Arc::clone(&done), Arc::clone(queue));
        let thread = thread::Builder::new().name("gangway-hsa-fail".to_owned());
        let wait = move || {
            let mut next = index;
            let mut rounds = 0;
            let mut time = LONGEST_CALLBACK;
            let mut done = its.0.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let waited = its.1.wait_timeout_while(done, time, |done| !*done);
                done = waited.unwrap_or_else(PoisonError::into_inner).0;
                if *done || queue.has_ended() {
                    return;
                }
                while queue.header(next).load(Ordering::Acquire) as u8 != kind::INVALID {
                    let completion = queue.packet(next).completion();
                    queue.retire(next);
                    if next != index {
                        set(Handle(completion), 0);
                    }
                    next += 1;
                }
                if rounds == ROUNDS_FOR_THE_FAILED {
                    set(failed, 0);
                }
                rounds += 1;
                time = AGAIN;
            }
        };
        thread.spawn(wait).ok().map(|_| Self(done))
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Tells whoever waits for a packet, if the program has not destroyed its signal meanwhile.
pub(super) fn set(completion: Handle, value: i64) {
    if let Ok(Some(signal)) = Signal::optional(completion) {
        signal.change(|place| place.store(value, Ordering::SeqCst));
    }
}
