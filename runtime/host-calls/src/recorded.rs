//! What traces and reports say of a call: how long its function ran, and how long the call had
//! waited for that.

use gangway_trace::{Kind, Span};

/// A call whose function is about to run; nothing, if nobody records.
pub(crate) struct Recorded(Option<Times>);

struct Times {
    /// When a thread found the call.
    found: u64,
    begin: u64,
}

impl Recorded {
    /// The call was found `since`, if it had to be.
    pub(crate) fn begin(since: Option<u64>) -> Self {
        Self(gangway_trace::enabled().then(|| {
            let begin = gangway_trace::now();
            Times { found: since.unwrap_or(begin).min(begin), begin }
        }))
    }

    /// The function has run.
    pub(crate) fn end(self, device: i32, function: &str, bytes: u64) {
        if let Some(Times { found, begin }) = self.0 {
            let span = Span::new(Kind::HostCall, device, function, found);
            let waited = begin - found;
            gangway_trace::record(&Span { bytes, waited, end: gangway_trace::now(), ..span });
        }
    }
}
