//! What was recorded, merged over all threads: the input of the trace and the report.

use crate::{Kind, Location, Span};

/// What identifies a row of the report: equal keys are one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub kind: Kind,
    pub device: i32,
    pub name: Box<str>,
    pub place: Option<Place>,
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
        }
    }

    pub fn matches(&self, span: &Span<'_>) -> bool {
        self.kind == span.kind
            && self.device == span.device
            && *self.name == *span.name
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

/// Running sums over the spans of one key. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    pub count: u64,
    pub time: u64,
    pub min: u64,
    pub max: u64,
    pub bytes: u64,
}

impl Sums {
    pub const NONE: Sums = Sums { count: 0, time: 0, min: u64::MAX, max: 0, bytes: 0 };

    pub fn add(&mut self, time: u64, bytes: u64) {
        self.merge(&Sums { count: 1, time, min: time, max: time, bytes });
    }

    pub fn merge(&mut self, other: &Sums) {
        self.count += other.count;
        self.time = self.time.saturating_add(other.time);
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
    pub bytes: u64,
    pub key: u32,
    pub thread: u32,
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

/// Everything, for the writers.
#[derive(Debug)]
pub struct Recording {
    pub program: String,
    pub pid: u32,
    /// Nanoseconds from `configure` to `finish`.
    pub elapsed: u64,
    pub rows: Vec<(Key, Sums)>,
    pub events: Vec<Event>,
    pub threads: Vec<Thread>,
    pub dropped: u64,
}
