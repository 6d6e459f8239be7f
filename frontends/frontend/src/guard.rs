//! The wall between Rust and C: nothing unwinds through it.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs an exported function's body. A panic, which is a bug of this library, is
/// reported and becomes `failed`, the ABI's word for failure.
#[inline]
pub fn guard<R>(failed: R, body: impl FnOnce() -> R) -> R {
    // The bodies work on data whose invariants hold between any two calls.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_the_failure_value() {
        assert_eq!(guard(-1, || panic!("caught")), -1);
        assert_eq!(guard(-1, || 7), 7);
    }
}
