//! What can go wrong, in words that each stand for one `CUresult`. The driver maps them.

use std::fmt;
use std::num::NonZeroU32;

/// Why an operation failed: the driver's number for it (a `CUresult`), which makes it the
/// context's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failure(pub NonZeroU32);

impl Failure {
    /// `CUDA_ERROR_CONTEXT_IS_DESTROYED`: what a context fails with that has ended.
    pub const CONTEXT_IS_DESTROYED: Self = Self::known(709);
    /// `CUDA_ERROR_UNKNOWN`: an operation panicked, which is our own mistake.
    pub const UNKNOWN: Self = Self::known(999);

    /// # Panics
    /// If `code` is 0, which is `CUDA_SUCCESS`.
    #[must_use]
    pub const fn known(code: u32) -> Self {
        match NonZeroU32::new(code) {
            Some(code) => Self(code),
            None => panic!("zero is success"),
        }
    }

    #[must_use]
    pub fn code(self) -> u32 {
        self.0.get()
    }
}

/// How an operation ends.
pub type Outcome = Result<(), Failure>;

/// Why a request is refused. [`Error::code`] is the driver's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The context has failed; sticky.
    Failed(Failure),
    /// There is work before it that has not ended.
    NotReady,
    /// An argument makes no sense: a cycle among a graph's nodes, a node of another graph.
    InvalidValue,
    /// The event does not measure time or was never recorded.
    InvalidHandle,
    /// Waiting for a stream inside a host function.
    NotPermitted,
    /// This process is a fork of the one that has the workers.
    Forked,
    /// What was asked for cannot be captured, or is not safe during a capture.
    CaptureUnsupported,
    /// The capture has failed earlier and must be ended.
    CaptureInvalidated,
    /// Two captures would become one.
    CaptureMerge,
    /// The capture was not begun in this stream.
    CaptureUnmatched,
    /// Another stream took part in the capture and was not joined.
    CaptureUnjoined,
    /// A captured operation would wait for one that is not captured.
    CaptureIsolation,
    /// The legacy stream would wait for a stream that captures.
    CaptureImplicit,
    /// The event was last recorded in a stream that captures.
    CapturedEvent,
    /// The capture was begun by another thread.
    CaptureWrongThread,
    /// An executable graph cannot become what is asked for.
    GraphUpdate,
}

impl Error {
    /// The `CUresult`.
    #[must_use]
    pub fn code(self) -> u32 {
        match self {
            Self::Failed(failure) => failure.code(),
            Self::InvalidValue => 1,
            Self::Forked => 3,
            Self::InvalidHandle => 400,
            Self::NotReady => 600,
            Self::NotPermitted => 800,
            Self::CaptureUnsupported => 900,
            Self::CaptureInvalidated => 901,
            Self::CaptureMerge => 902,
            Self::CaptureUnmatched => 903,
            Self::CaptureUnjoined => 904,
            Self::CaptureIsolation => 905,
            Self::CaptureImplicit => 906,
            Self::CapturedEvent => 907,
            Self::CaptureWrongThread => 908,
            Self::GraphUpdate => 910,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Failed(failure) => {
                return write!(f, "the context has failed with error {}", failure.code());
            }
            Self::NotReady => "work before it has not ended",
            Self::InvalidValue => "an argument makes no sense",
            Self::InvalidHandle => "the event was never recorded or does not measure time",
            Self::NotPermitted => "a host function must not wait for a stream",
            Self::Forked => "the process was forked after the virtual GPU had started",
            Self::CaptureUnsupported => "not possible during a stream capture",
            Self::CaptureInvalidated => "the stream capture has failed earlier",
            Self::CaptureMerge => "two stream captures would become one",
            Self::CaptureUnmatched => "the capture was not begun in this stream",
            Self::CaptureUnjoined => "a stream of the capture was not joined to the first",
            Self::CaptureIsolation => "a captured operation would wait for one that is not captured",
            Self::CaptureImplicit => "the legacy stream would wait for a stream that captures",
            Self::CapturedEvent => "the event was recorded in a stream that captures",
            Self::CaptureWrongThread => "the capture was begun by another thread",
            Self::GraphUpdate => "the executable graph cannot be changed to that",
        };
        f.write_str(text)
    }
}

impl std::error::Error for Error {}
