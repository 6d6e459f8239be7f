//! Waits for queues as events (section 5.1): of the directive, of clauses and of routines. A construct without `async`
//! waits for itself, which is no wait for a queue.

use super::abi::{Event, EventInfo};
use super::scope::with_outermost;

/// Tells that the thread waits for a queue, of the construct or routine that it is in, and that it has waited.
pub fn waiting<R>(queue: i32, wait: impl FnOnce() -> R) -> R {
    let mut begun = None;
    with_outermost(|told| {
        let mut about = EventInfo::new(told.construct, false);
        told.dispatch_for(queue, Event::WaitStart, &mut about);
        begun = Some(about);
    });
    let result = wait();
    with_outermost(|told| {
        if let Some(about) = &mut begun {
            told.dispatch_for(queue, Event::WaitEnd, about);
        }
    });
    result
}
