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

use crate::about::{self, About};
use crate::buffer::{self, Buffer};
use crate::recording::{Event, Key, Note, Recording, Sums, Thread, Track, Unfinished};
use crate::{ENABLED, Kind, Report, Request, Span, busy, ending, now, output};

/// Distinct notes that are kept.
const NOTE_LIMIT: usize = 1000;

/// How long `finish` waits for a thread that is in the middle of recording.
const PATIENCE: Duration = Duration::from_millis(200);

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
/// Counts configurations and forks: a buffer of an older epoch is not ours any more.
static EPOCH: AtomicU64 = AtomicU64::new(0);
static TRACING: AtomicBool = AtomicBool::new(false);
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
struct Output {
    request: Request,
    started: u64,
    about: About,
    /// Who was asked to write the files; a forked child has another id.
    pid: u32,
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
        ending::at_end(finish);
    }
    let Some(mut registry) = lock_registry() else { return };
    ENABLED.store(false, Ordering::Relaxed);
    registry.clear();
    TRACING.store(request.wants_spans(), Ordering::Relaxed);
    buffer::allow(request.event_limit);
    EPOCH.fetch_add(1, Ordering::Relaxed);
    busy::forget();
    registry.output =
        wanted.then(|| Output { request, started: now(), about: About::process(), pid: std::process::id() });
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

/// A device has been opened, which is of some kind.
pub fn device(number: i32, what: &str) {
    let Some(mut registry) = lock_registry() else { return };
    if let Some(output) = &mut registry.output {
        output.about.devices.insert(number, what.to_owned());
    }
}

pub fn record(span: &Span<'_>) {
    with_local(|local| local.record(span));
}

/// Keeps a span that has begun; answers what [`forget_running`] wants to know.
pub fn begin(span: &Span<'_>) -> Option<(u64, u64)> {
    with_local(|local| (local.epoch, local.begin(span)))
}

/// A span has ended that this thread began. False: it is of an older configuration.
pub fn forget_running(epoch: u64, number: u64) -> bool {
    let known = LOCAL.try_with(|local| {
        let local = local.try_borrow().ok()?;
        let local = local.as_ref().filter(|local| local.epoch == epoch)?;
        local.lock().running.retain(|(other, _)| *other != number);
        Some(())
    });
    // Where the thread's storage is gone, its buffer lists the span for ever; the time is right.
    !matches!(known, Ok(None)) && epoch == EPOCH.load(Ordering::Relaxed)
}

fn with_local<R>(act: impl FnOnce(&Local) -> R) -> Option<R> {
    let epoch = EPOCH.load(Ordering::Relaxed);
    let mut act = Some(act);
    let done = LOCAL.try_with(|local| {
        let mut local = local.try_borrow_mut().ok()?;
        if local.as_ref().is_none_or(|local| local.epoch != epoch) {
            *local = Local::attach(epoch);
        }
        Some(act.take()?(local.as_ref()?))
    });
    match done {
        Ok(result) => result,
        // The thread's storage is gone already: it is ending, and a destructor
        // still offloads. Borrow a buffer for this one span.
        Err(_) => Some(act?(&Local::attach(epoch)?)),
    }
}

pub fn finish() {
    ENABLED.store(false, Ordering::Relaxed);
    let Some(mut registry) = lock_registry() else { return };
    let Some(output) = registry.output.take() else { return };
    let recording = collect(&mut registry, &output);
    // Threads that are still launching may want the registry; files take a while.
    drop(registry);
    output::write(&output.request, output.pid, &recording);
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
        busy::forget();
        buffer::allow(output.request.event_limit);
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

    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, span: &Span<'_>) -> u64 {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let track = Track::of(span.lane, self.thread);
        let mut buffer = self.lock();
        let key = buffer.key(span);
        buffer.running.push((number, Unfinished { key, start: span.start, age: 0, track }));
        number
    }

    fn record(&self, span: &Span<'_>) {
        let tracing = TRACING.load(Ordering::Relaxed);
        let mut buffer = self.lock();
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

/// Merges the buffers; rows come out sorted by key.
fn collect(registry: &mut Registry, output: &Output) -> Recording {
    let mut rows: Vec<(Key, Sums)> = Vec::new();
    let mut events = Vec::new();
    let mut running = Vec::new();
    let mut dropped = 0;
    let now = now();
    for buffer in &registry.buffers {
        let Some(mut buffer) = lock(buffer) else { continue };
        let first = rows.len() as u32;
        rows.append(&mut buffer.rows);
        buffer.index.clear();
        for chunk in std::mem::take(&mut buffer.chunks) {
            events.extend(chunk.into_iter().map(|event| Event { key: event.key + first, ..event }));
        }
        running.extend(std::mem::take(&mut buffer.running).into_iter().map(|(_, span)| Unfinished {
            key: span.key + first,
            age: now.saturating_sub(span.start),
            ..span
        }));
        dropped += std::mem::take(&mut buffer.dropped);
    }
    running.sort_by_key(|span| span.start);
    let (rows, moved) = merge(rows);
    events.iter_mut().for_each(|event| event.key = moved[event.key as usize]);
    running.iter_mut().for_each(|span| span.key = moved[span.key as usize]);
    if TRACING.load(Ordering::Relaxed) {
        // A time line shows them until now.
        events.extend(running.iter().map(|&Unfinished { key, start, age, track }| Event {
            start,
            duration: age,
            measure: 0,
            key,
            track,
        }));
    }
    let elapsed = now.saturating_sub(output.started);
    let recording = Recording {
        program: about::program(),
        pid: std::process::id(),
        about: output.about.clone(),
        elapsed,
        busy: busy::times(now, elapsed),
        rows,
        events,
        running,
        threads: std::mem::take(&mut registry.threads),
        notes: std::mem::take(&mut registry.notes),
        dropped,
    };
    registry.clear();
    EPOCH.fetch_add(1, Ordering::Relaxed);
    recording
}

/// Sorts the rows and joins equal keys; answers where each row has gone.
fn merge(rows: Vec<(Key, Sums)>) -> (Vec<(Key, Sums)>, Vec<u32>) {
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
    (merged, moved)
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
