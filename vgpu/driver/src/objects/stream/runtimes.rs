//! Streams of Gangway's runtime. Its copies are its own affair: it copies what nobody needs any more by then, and copies again
//! what others still use. So who looks for races does not count them, but for those that the program asks for (`target
//! update`).

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use gangway_streams::Stream;

/// Their numbers, which come but once.
static STREAMS: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

thread_local! {
    static ASKED_FOR: Cell<bool> = const { Cell::new(false) };
}

/// A stream is the runtime's.
pub fn add(stream: &Stream) {
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner).insert(stream.id());
}

/// What the calling thread has the runtime copy from now on is what the program asks for, or not.
pub fn asked_for(is: bool) {
    ASKED_FOR.set(is);
}

/// Whether what is copied in a stream by the calling thread is the program's.
pub fn is_programs(stream: &Stream) -> bool {
    ASKED_FOR.get() || !STREAMS.lock().unwrap_or_else(PoisonError::into_inner).contains(&stream.id())
}
