//! What can go wrong, in words that each stand for one `CUresult`. The driver maps them.

use std::fmt;
use std::num::NonZeroU32;

/// Why an operation failed: the driver's number for it (a `CUresult`), which makes it the context's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failure(pub NonZeroU32);

impl Failure {
    /// `CUDA_ERROR_CONTEXT_IS_DESTROYED`: what a cancelled context fails with.
    pub const CONTEXT_IS_DESTROYED: Failure = Failure::known(709);
    /// `CUDA_ERROR_UNKNOWN`: an operation panicked, which is our own mistake.
    pub const UNKNOWN: Failure = Failure::known(999);

    /// # Panics
    /// If `code` is 0, which is `CUDA_SUCCESS`.
    pub const fn known(code: u32) -> Failure {
        match NonZeroU32::new(code) {
            Some(code) => Failure(code),
            None => panic!("zero is success"),
        }
    }

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
    /// What was asked for cannot be captured, or is not safe while somebody captures.
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
    pub fn code(self) -> u32 {
        match self {
            Error::Failed(failure) => failure.code(),
            Error::InvalidValue => 1,
            Error::Forked => 3,
            Error::InvalidHandle => 400,
            Error::NotReady => 600,
            Error::NotPermitted => 800,
            Error::CaptureUnsupported => 900,
            Error::CaptureInvalidated => 901,
            Error::CaptureMerge => 902,
            Error::CaptureUnmatched => 903,
            Error::CaptureUnjoined => 904,
            Error::CaptureIsolation => 905,
            Error::CaptureImplicit => 906,
            Error::CapturedEvent => 907,
            Error::CaptureWrongThread => 908,
            Error::GraphUpdate => 910,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::Failed(failure)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Error::Failed(failure) => {
                return write!(f, "the context has failed with error {}", failure.code());
            }
            Error::NotReady => "work before it has not ended",
            Error::InvalidValue => "an argument makes no sense",
            Error::InvalidHandle => "the event was never recorded or does not measure time",
            Error::NotPermitted => "a host function must not wait for a stream",
            Error::Forked => "the process was forked after the virtual GPU had started",
            Error::CaptureUnsupported => "not possible during a stream capture",
            Error::CaptureInvalidated => "the stream capture has failed earlier",
            Error::CaptureMerge => "two stream captures would become one",
            Error::CaptureUnmatched => "the capture was not begun in this stream",
            Error::CaptureUnjoined => "a stream of the capture was not joined to the first",
            Error::CaptureIsolation => "a captured operation would wait for one that is not captured",
            Error::CaptureImplicit => "the legacy stream would wait for a stream that captures",
            Error::CapturedEvent => "the event was recorded in a stream that captures",
            Error::CaptureWrongThread => "the capture was begun by another thread",
            Error::GraphUpdate => "the executable graph cannot be changed to that",
        };
        f.write_str(text)
    }
}

impl std::error::Error for Error {}
