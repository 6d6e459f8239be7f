//! What was recorded, merged over all threads: the input of the trace and the report.

use crate::about::About;
use crate::busy::BusyTimes;
use crate::{Kind, Lane, Location, Resources, Shape, Span};

/// What identifies a row of the report: equal keys are one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub kind: Kind,
    pub device: i32,
    pub name: Box<str>,
    pub place: Option<Place>,
    pub shape: Option<Shape>,
    pub resources: Resources,
    pub detail: Box<str>,
}

/// An owned [`Location`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub file: Box<str>,
    pub function: Box<str>,
    pub line: u32,
    pub column: u32,
}

impl Key {
    pub fn of(span: &Span<'_>) -> Self {
        Key {
            kind: span.kind,
            device: span.device,
            name: span.name.into(),
            place: span.location.map(|location| Place {
                file: location.file.into(),
                function: location.function.into(),
                line: location.line,
                column: location.column,
            }),
            shape: span.shape,
            resources: span.resources,
            detail: span.detail.into(),
        }
    }

    pub fn matches(&self, span: &Span<'_>) -> bool {
        self.kind == span.kind
            && self.device == span.device
            && *self.name == *span.name
            && self.shape == span.shape
            && self.resources == span.resources
            && *self.detail == *span.detail
            && match (&self.place, &span.location) {
                (None, None) => true,
                (Some(place), Some(location)) => place.matches(location),
                _ => false,
            }
    }
}

impl Place {
    fn matches(&self, location: &Location<'_>) -> bool {
        self.line == location.line
            && self.column == location.column
            && *self.file == *location.file
            && *self.function == *location.function
    }
}

impl std::fmt::Display for Place {
    /// `file:line:column`, without the parts that are unknown.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.file)?;
        if self.line != 0 {
            write!(out, ":{}", self.line)?;
            if self.column != 0 {
                write!(out, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}

/// What a key says, as a span without times.
pub fn as_span(key: &Key) -> Span<'_> {
    let location = key.place.as_ref().map(|place| Location {
        file: &place.file,
        function: &place.function,
        line: place.line,
        column: place.column,
    });
    Span {
        location,
        shape: key.shape,
        resources: key.resources,
        detail: &key.detail,
        ..Span::new(key.kind, key.device, &key.name, 0)
    }
}

/// Name, line and shape tell rows apart well enough; the rest is compared.
pub fn hash(span: &Span<'_>) -> u64 {
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

/// Running sums over the spans of one key. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    pub count: u64,
    /// Without what was waited; so are the shortest and the longest.
    pub time: u64,
    pub waited: u64,
    pub min: u64,
    pub max: u64,
    pub bytes: u64,
}

impl Sums {
    pub const NONE: Sums = Sums { count: 0, time: 0, waited: 0, min: u64::MAX, max: 0, bytes: 0 };

    pub fn add(&mut self, duration: u64, waited: u64, bytes: u64) {
        let waited = waited.min(duration);
        let time = duration - waited;
        self.merge(&Sums { count: 1, time, waited, min: time, max: time, bytes });
    }

    pub fn merge(&mut self, other: &Sums) {
        self.count += other.count;
        self.time = self.time.saturating_add(other.time);
        self.waited = self.waited.saturating_add(other.waited);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// One span of the trace; `key` indexes [`Recording::rows`].
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub start: u64,
    pub duration: u64,
    /// Bytes; of a host call, the nanoseconds before it in which it waited.
    pub measure: u64,
    pub key: u32,
    pub track: Track,
}

/// What an event is drawn on: the number of a thread that recorded, or a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Track(u32);

impl Track {
    const STREAM: u32 = 1 << 31;
    const DEFAULT: u32 = 1 << 30;

    /// That of a span which the thread of a number recorded.
    pub const fn of(lane: Lane, thread: u32) -> Self {
        match lane {
            Lane::Thread => Track(thread & !Self::STREAM),
            Lane::Stream { id, default } => {
                let kind = if default { Self::STREAM | Self::DEFAULT } else { Self::STREAM };
                Track(kind | (id & (Self::DEFAULT - 1)))
            }
        }
    }

    /// The number of the thread, or `None` for a stream.
    pub const fn thread(self) -> Option<u32> {
        if self.0 & Self::STREAM == 0 { Some(self.0) } else { None }
    }

    /// The number of the stream, and whether it is one that nobody created.
    pub const fn stream(self) -> (u32, bool) {
        (self.0 & (Self::DEFAULT - 1), self.0 & Self::DEFAULT != 0)
    }

    /// As a number that no thread of the system has.
    pub const fn raw(self) -> u32 {
        self.0
    }
}

// The bound on memory that the crate documents counts on this.
const _: () = assert!(size_of::<Event>() == 32);

/// A host thread that recorded something.
#[derive(Clone, Debug)]
pub struct Thread {
    pub number: u32,
    /// The kernel's thread id.
    pub tid: u64,
    pub name: String,
}

impl Thread {
    /// The calling one.
    pub fn current(number: u32) -> Thread {
        // "PID/task/TID"; the standard library has no other way to the kernel's id.
        let tid = std::fs::read_link("/proc/thread-self")
            .ok()
            .and_then(|link| link.file_name()?.to_str()?.parse().ok())
            .unwrap_or(u64::from(number));
        let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
        Thread { number, tid, name: name.trim_end().to_owned() }
    }
}

/// Everything, for the writers.
#[derive(Debug)]
pub struct Recording {
    pub program: String,
    pub pid: u32,
    pub about: About,
    /// Nanoseconds from `configure` to `finish`.
    pub elapsed: u64,
    pub busy: BusyTimes,
    pub rows: Vec<(Key, Sums)>,
    pub events: Vec<Event>,
    /// What had not ended, the oldest first.
    pub running: Vec<Unfinished>,
    pub threads: Vec<Thread>,
    pub notes: Vec<Note>,
    pub dropped: u64,
}

/// A span that had not ended; `key` indexes [`Recording::rows`].
#[derive(Clone, Copy, Debug)]
pub struct Unfinished {
    pub key: u32,
    pub start: u64,
    /// Nanoseconds that it has been under way.
    pub age: u64,
    pub track: Track,
}

/// Something to know of the run, and how often it was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    pub count: u64,
    /// When it was noted first.
    pub at: u64,
}
