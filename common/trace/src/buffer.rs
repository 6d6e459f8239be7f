//! What one thread has recorded.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashTable;

use crate::Span;
use crate::recording::{Event, Key, Sums, Unfinished, as_span, hash};

/// Spans that a trace keeps: 32 MiB of them.
pub const DEFAULT_EVENT_LIMIT: u64 = 1 << 20;

/// Threads take room for this many events at a time from the process's allowance.
const CHUNK: usize = 256;

/// Distinct rows that one thread keeps apart; what is over goes to a row named `(other)`.
/// Real programs have hundreds; the bound is for names that are made at run time.
const KEY_LIMIT: usize = 1 << 16;

/// Events that the process may still keep.
static ALLOWANCE: AtomicU64 = AtomicU64::new(0);

/// What one thread has recorded.
pub struct Buffer {
    pub index: HashTable<u32>,
    pub rows: Vec<(Key, Sums)>,
    pub chunks: Vec<Vec<Event>>,
    pub dropped: u64,
    /// What is under way, with its number.
    pub running: Vec<(u64, Unfinished)>,
}

impl Buffer {
    pub fn new() -> Self {
        Buffer {
            index: HashTable::new(),
            rows: Vec::new(),
            chunks: Vec::new(),
            dropped: 0,
            running: Vec::new(),
        }
    }

    /// The row of a span, made when it is new. Allocates only then.
    pub fn key(&mut self, span: &Span<'_>) -> u32 {
        let rows = &self.rows;
        let known = self.index.find(hash(span), |&at| rows[at as usize].0.matches(span));
        match known {
            Some(&at) => at,
            None => self.new_key(span),
        }
    }

    #[cold]
    fn new_key(&mut self, span: &Span<'_>) -> u32 {
        let mut span = *span;
        if self.rows.len() >= KEY_LIMIT {
            span = Span::new(span.kind, span.device, "(other)", span.start);
            let rows = &self.rows;
            if let Some(&at) = self.index.find(hash(&span), |&at| rows[at as usize].0.matches(&span)) {
                return at;
            }
        }
        let at = self.rows.len() as u32;
        self.rows.push((Key::of(&span), Sums::NONE));
        let rows = &self.rows;
        self.index.insert_unique(hash(&span), at, |&at| hash(&as_span(&rows[at as usize].0)));
        at
    }

    pub fn push(&mut self, event: Event) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < chunk.capacity() => chunk.push(event),
            _ => match allowance(CHUNK as u64) {
                0 => self.dropped += 1,
                room => {
                    let mut chunk = Vec::with_capacity(room as usize);
                    chunk.push(event);
                    self.chunks.push(chunk);
                }
            },
        }
    }
}

/// Sets what the process may keep.
pub fn allow(events: u64) {
    ALLOWANCE.store(events, Ordering::Relaxed);
}

/// Up to `wanted` events from what the process may still keep.
fn allowance(wanted: u64) -> u64 {
    let mut granted = 0;
    let _ = ALLOWANCE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        granted = left.min(wanted);
        (granted != 0).then(|| left - granted)
    });
    granted
}
