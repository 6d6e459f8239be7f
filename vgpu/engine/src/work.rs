//! How much the compiler's passes do, counted for tests. Whether a pass takes n log n steps
//! cannot be seen from the time on a machine that does other things as well.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds steps of this thread's.
#[cfg(test)]
pub(crate) fn count(steps: usize) {
    STEPS.set(STEPS.get() + steps);
}

#[cfg(not(test))]
#[inline(always)]
pub(crate) fn count(_steps: usize) {}

/// How many steps `what` takes on this thread.
#[cfg(test)]
pub(crate) fn of<T>(what: impl FnOnce() -> T) -> (T, usize) {
    let before = STEPS.get();
    let result = what();
    (result, STEPS.get() - before)
}
