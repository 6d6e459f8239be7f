//! Streams of Gangway's runtime. Its copies are its own affair: it copies what nobody needs any more by then, and copies again
//! what others still use. So who looks for races does not count them, but for those that the program asks for (`target
//! update`).

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use gangway_streams::Stream;

/// Their numbers, which come but once.
static STREAMS: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// What the program asks for.
const ASKED_FOR: u8 = 1;
/// What somebody looks at who watches.
const LOOKS: u8 = 2;
/// What makes a device ready for all who use it.
const PREPARES: u8 = 3;

thread_local! {
    static COPIES: Cell<u8> = const { Cell::new(0) };
}

/// A stream is the runtime's.
pub fn add(stream: &Stream) {
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner).insert(stream.id());
}

/// Whose affair it is what the calling thread copies and waits for from now on; whose it was.
pub fn copies_are(copies: u8) -> u8 {
    gangway_streams::watch_unseen(copies == LOOKS);
    gangway_streams::prepare(copies == PREPARES);
    COPIES.replace(copies)
}

/// Whether the calling thread copies for somebody who looks at what is there.
pub fn looks() -> bool {
    COPIES.get() == LOOKS
}

/// Whether a stream is the runtime's.
pub fn owns(stream: &Stream) -> bool {
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner).contains(&stream.id())
}

/// Whether what is copied in a stream by the calling thread is the program's.
pub fn is_programs(stream: &Stream) -> bool {
    COPIES.get() == ASKED_FOR || !owns(stream)
}
