//! Who looks for races hears of what copies and fills do, and in which order streams do all.

use std::sync::Arc;

use gangway_engine::{Past, Transfer};
use gangway_streams::{Clock, Moment};

use crate::objects::device::Device;
use crate::objects::memory;

/// What an operation of a stream comes after.
#[derive(Debug)]
struct After(Arc<Clock>);

impl Past for After {
    fn own(&self) -> Moment {
        self.0.own()
    }

    fn has(&self, operation: Moment) -> bool {
        self.0.has(operation)
    }
}

/// What the operation that the calling thread runs comes after, where that is kept.
#[must_use]
pub fn past() -> Option<Arc<dyn Past>> {
    gangway_streams::running_after().map(|clock| Arc::new(After(clock)) as Arc<dyn Past>)
}

/// Memory is about to be copied or filled. `what`: `a copy to the device`.
pub fn transfer(what: &'static str, accesses: &[Transfer]) {
    let past = past();
    for device in Device::all() {
        let of_device =
            |address| memory::on_device(address).is_some_and(|(number, _)| number == device.number());
        let own = |access: &&Transfer| of_device(access.address);
        let own: Vec<Transfer> = accesses.iter().filter(own).copied().collect();
        if !own.is_empty() {
            device.engine().transfer(what, &own, past.clone());
        }
    }
}
