//! The recorder: one buffer per thread, merged when the run is over.
//!
//! A thread owns its buffer through a lock that nobody else takes until `finish`, so
//! recording is an uncontended lock, a look-up of the key, an addition and, with a
//! trace, a push. The registry's lock is taken when a thread records for the first
//! time, when it ends, and at `finish`. Buffers of ended threads are used again, so a
//! program that starts a thread per region needs no more memory than one that does not.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use hashbrown::HashTable;

use crate::recording::{Event, Key, Note, Recording, Sums, Thread, Track};
use crate::{ENABLED, Kind, Report, Request, Span, ending, fork, now, output};

/// Spans that a trace keeps: 32 MiB of them.
pub const DEFAULT_EVENT_LIMIT: u64 = 1 << 20;

/// Threads take room for this many events at a time from the process's allowance.
const CHUNK: usize = 256;

/// Distinct rows that one thread keeps apart; what is over goes to a row named `(other)`.
/// Real programs have hundreds; the bound is for names that are made at run time.
const KEY_LIMIT: usize = 1 << 16;

/// Distinct notes that are kept.
const NOTE_LIMIT: usize = 1000;

/// How long `finish` waits for a thread that is in the middle of recording.
const PATIENCE: Duration = Duration::from_millis(200);

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
/// Counts configurations and forks: a buffer of an older epoch is not ours any more.
static EPOCH: AtomicU64 = AtomicU64::new(0);
static TRACING: AtomicBool = AtomicBool::new(false);
static ALLOWANCE: AtomicU64 = AtomicU64::new(0);
static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

/// What the threads share; touched only at the rare moments named above.
pub struct Registry {
    output: Option<Output>,
    buffers: Vec<Arc<Mutex<Buffer>>>,
    /// Buffers (also in `buffers`) whose thread has ended.
    idle: Vec<Arc<Mutex<Buffer>>>,
    threads: Vec<Thread>,
    notes: Vec<Note>,
}

impl Registry {
    const fn new() -> Self {
        Registry {
            output: None,
            buffers: Vec::new(),
            idle: Vec::new(),
            threads: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.buffers.clear();
        self.idle.clear();
        self.threads.clear();
        self.notes.clear();
    }
}

/// What is to be written, and what must be known for that.
pub struct Output {
    pub request: Request,
    started: u64,
    /// Who was asked to write the files; a forked child has another id.
    pub pid: u32,
}

/// What one thread has recorded.
struct Buffer {
    index: HashTable<u32>,
    rows: Vec<(Key, Sums)>,
    chunks: Vec<Vec<Event>>,
    dropped: u64,
}

/// A thread's hold on its buffer.
struct Local {
    buffer: Arc<Mutex<Buffer>>,
    epoch: u64,
    thread: u32,
}

thread_local! {
    static LOCAL: RefCell<Option<Local>> = const { RefCell::new(None) };
}

pub fn configure(request: Request) {
    let wanted = request.is_wanted();
    if wanted {
        fork::install();
        ending::at_end(finish);
    }
    let Some(mut registry) = lock_registry() else { return };
    ENABLED.store(false, Ordering::Relaxed);
    registry.clear();
    TRACING.store(request.wants_spans(), Ordering::Relaxed);
    ALLOWANCE.store(request.event_limit, Ordering::Relaxed);
    EPOCH.fetch_add(1, Ordering::Relaxed);
    registry.output = wanted.then(|| Output { request, started: now(), pid: std::process::id() });
    ENABLED.store(wanted, Ordering::Relaxed);
}

pub fn keep_only(traces: &[PathBuf]) {
    let Some(mut registry) = lock_registry() else { return };
    let Some(output) = &mut registry.output else { return };
    output.request.report = Report::Off;
    output.request.traces.retain(|file| traces.contains(file));
    if !output.request.is_wanted() {
        ENABLED.store(false, Ordering::Relaxed);
        registry.output = None;
        registry.clear();
        EPOCH.fetch_add(1, Ordering::Relaxed);
    }
}

pub fn note(text: &str) {
    let Some(mut registry) = lock_registry() else { return };
    if let Some(known) = registry.notes.iter_mut().find(|known| known.text == text) {
        known.count += 1;
    } else if registry.notes.len() < NOTE_LIMIT {
        registry.notes.push(Note { text: text.to_owned(), count: 1, at: now() });
    }
}

pub fn record(span: &Span<'_>) {
    let recorded = LOCAL.try_with(|local| {
        let Ok(mut local) = local.try_borrow_mut() else { return };
        let epoch = EPOCH.load(Ordering::Relaxed);
        if local.as_ref().is_none_or(|local| local.epoch != epoch) {
            *local = Local::attach(epoch);
        }
        if let Some(local) = &*local {
            local.record(span);
        }
    });
    if recorded.is_err() {
        // The thread's storage is gone already: it is ending, and a destructor
        // still offloads. Borrow a buffer for this one span.
        if let Some(local) = Local::attach(EPOCH.load(Ordering::Relaxed)) {
            local.record(span);
        }
    }
}

pub fn finish() {
    ENABLED.store(false, Ordering::Relaxed);
    let Some(mut registry) = lock_registry() else { return };
    let Some(output) = registry.output.take() else { return };
    let recording = collect(&mut registry, &output);
    // Threads that are still launching may want the registry; files take a while.
    drop(registry);
    output::write(&output, &recording);
}

/// The registry, unless some thread keeps it for longer than anything here takes:
/// giving up beats hanging the end of a process.
pub fn lock_registry() -> Option<MutexGuard<'static, Registry>> {
    lock(&REGISTRY)
}

/// In a forked child: keeps the configuration and drops what the parent did.
pub fn forget_parent(registry: &mut Registry) {
    registry.clear();
    EPOCH.fetch_add(1, Ordering::Relaxed);
    if let Some(output) = &mut registry.output {
        output.started = now();
        ALLOWANCE.store(output.request.event_limit, Ordering::Relaxed);
    }
}

impl Local {
    fn attach(epoch: u64) -> Option<Local> {
        ending::keep_watch();
        let mut registry = lock_registry()?;
        let thread = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
        if TRACING.load(Ordering::Relaxed) {
            let identity = Thread::current(thread);
            registry.threads.push(identity);
        }
        let buffer = registry.idle.pop().unwrap_or_else(|| {
            let fresh = Arc::new(Mutex::new(Buffer::new()));
            registry.buffers.push(Arc::clone(&fresh));
            fresh
        });
        Some(Local { buffer, epoch, thread })
    }

    fn record(&self, span: &Span<'_>) {
        let tracing = TRACING.load(Ordering::Relaxed);
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let duration = span.end.saturating_sub(span.start);
        let key = buffer.key(span);
        buffer.rows[key as usize].1.add(duration, span.waited, span.bytes);
        if tracing {
            let track = Track::of(span.lane, self.thread);
            // Host calls wait while others are served on their thread: what a trace has of one thread
            // has to nest.
            let (waited, measure) = match span.kind {
                Kind::HostCall => (span.waited.min(duration), span.waited),
                _ => (0, span.bytes),
            };
            let (start, duration) = (span.start + waited, duration - waited);
            buffer.push(Event { start, duration, measure, key, track });
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // During finish the buffer has been collected; of an older epoch it is unknown.
        if let Some(mut registry) = lock_registry()
            && self.epoch == EPOCH.load(Ordering::Relaxed)
            && registry.buffers.iter().any(|known| Arc::ptr_eq(known, &self.buffer))
        {
            registry.idle.push(Arc::clone(&self.buffer));
        }
    }
}

impl Buffer {
    fn new() -> Self {
        Buffer { index: HashTable::new(), rows: Vec::new(), chunks: Vec::new(), dropped: 0 }
    }

    /// The row of a span, made when it is new. Allocates only then.
    fn key(&mut self, span: &Span<'_>) -> u32 {
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

    fn push(&mut self, event: Event) {
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

impl Thread {
    fn current(number: u32) -> Thread {
        // "PID/task/TID"; the standard library has no other way to the kernel's id.
        let tid = std::fs::read_link("/proc/thread-self")
            .ok()
            .and_then(|link| link.file_name()?.to_str()?.parse().ok())
            .unwrap_or(u64::from(number));
        let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
        Thread { number, tid, name: name.trim_end().to_owned() }
    }
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

/// Merges the buffers; rows come out sorted by key.
fn collect(registry: &mut Registry, output: &Output) -> Recording {
    let mut rows: Vec<(Key, Sums)> = Vec::new();
    let mut events = Vec::new();
    let mut dropped = 0;
    for buffer in &registry.buffers {
        let Some(mut buffer) = lock(buffer) else { continue };
        let first = rows.len() as u32;
        rows.append(&mut buffer.rows);
        buffer.index.clear();
        for chunk in std::mem::take(&mut buffer.chunks) {
            events.extend(chunk.into_iter().map(|event| Event { key: event.key + first, ..event }));
        }
        dropped += std::mem::take(&mut buffer.dropped);
    }
    let rows = merge(rows, &mut events);
    let recording = Recording {
        program: output::program(),
        pid: std::process::id(),
        elapsed: now().saturating_sub(output.started),
        rows,
        events,
        threads: std::mem::take(&mut registry.threads),
        notes: std::mem::take(&mut registry.notes),
        dropped,
    };
    registry.clear();
    EPOCH.fetch_add(1, Ordering::Relaxed);
    recording
}

/// Sorts the rows and joins equal keys, keeping the events' keys right.
fn merge(rows: Vec<(Key, Sums)>, events: &mut [Event]) -> Vec<(Key, Sums)> {
    let mut order: Vec<(usize, (Key, Sums))> = rows.into_iter().enumerate().collect();
    order.sort_by(|(_, (a, _)), (_, (b, _))| a.cmp(b));
    let mut moved = vec![0u32; order.len()];
    let mut merged: Vec<(Key, Sums)> = Vec::new();
    for (old, (key, sums)) in order {
        match merged.last_mut() {
            Some((last, total)) if *last == key => total.merge(&sums),
            _ => merged.push((key, sums)),
        }
        moved[old] = (merged.len() - 1) as u32;
    }
    for event in events {
        event.key = moved[event.key as usize];
    }
    merged
}

fn as_span(key: &Key) -> Span<'_> {
    let location = key.place.as_ref().map(|place| crate::Location {
        file: &place.file,
        function: &place.function,
        line: place.line,
        column: place.column,
    });
    Span { location, shape: key.shape, detail: &key.detail, ..Span::new(key.kind, key.device, &key.name, 0) }
}

/// Name, line and shape tell rows apart well enough; the rest is compared.
fn hash(span: &Span<'_>) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| (state.rotate_left(29) ^ word).wrapping_mul(ODD);
    let place = span.location.map_or(0, |at| u64::from(at.line) << 32 | u64::from(at.column));
    let mut state = mix(span.kind as u64 | (span.device as u64) << 8, place);
    if let Some(shape) = span.shape {
        for (&blocks, &threads) in shape.grid.iter().zip(&shape.block) {
            state = mix(state, u64::from(blocks) << 32 | u64::from(threads));
        }
    }
    let (words, rest) = span.name.as_bytes().as_chunks::<8>();
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    state = mix(state, u64::from_le_bytes(last) ^ (span.name.len() as u64) << 56);
    // The table takes its bits from both ends; a product is good only at the top.
    state ^ state >> 32
}

fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() > deadline => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(20)),
        }
    }
}
