//! Data constructs: `target data`, `enter data`, `exit data`, `update`.

use crate::abi::{Ident, site};
use crate::arrays::Arrays;
use crate::devices::{destination, several};
use crate::mapper::MapperFunction;
use crate::words::WORDS;
use crate::{ompt, tasks};
use gangway_frontend::construct::Construct;
use gangway_frontend::guard::guard;
use gangway_frontend::policy::settle;
use gangway_openmp::devices::Destination;
use gangway_runtime::{DataOperation, Label};

impl Arrays {
    /// # Safety
    /// The arrays are the compiler's.
    unsafe fn perform(self, location: *const Ident, device: i64, operation: DataOperation, nowait: bool) {
        guard((), || {
            // SAFETY: the caller's promise.
            let perform_on = |device| unsafe { self.perform_on(location, device, operation, nowait) };
            match several(device) {
                None => perform_on(device),
                Some(devices) => devices.into_iter().for_each(perform_on),
            }
        });
    }

    /// # Safety
    /// As [`perform`](Self::perform).
    #[inline]
    unsafe fn perform_on(&self, location: *const Ident, device: i64, operation: DataOperation, nowait: bool) {
        // SAFETY: the caller's promise.
        let site = unsafe { site(location) };
        // SAFETY: the compiler's arrays live until the call returns.
        let arguments = unsafe { self.arguments() };
        let destination = destination(device, operation.purpose(nowait), &site, &arguments);
        let Destination::Device(place) = destination else { return };
        let device = place.device();
        let construct = Construct::data(device, &site, title(operation), &arguments);
        let _region = ompt::begin(of_tools(operation), device, &site);
        let done = construct
            .perform(place, operation, &arguments)
            .and_then(|under_way| under_way.end_by(|job| tasks::finish(job, nowait, location.addr())));
        if let Err(error) = done {
            settle(&error, Some(device), WORDS);
        }
    }
}

/// The stock library's words in its information output.
fn title(operation: DataOperation) -> &'static str {
    match operation {
        DataOperation::Begin => "Entering OpenMP data region with being_mapper",
        DataOperation::End => "Exiting OpenMP data region with end_mapper",
        DataOperation::Update => "Updating data within the OpenMP data region with update_mapper",
    }
}

/// The construct in tools' terms.
fn of_tools(operation: DataOperation) -> ompt::Construct {
    match operation {
        DataOperation::Begin => ompt::Construct::EnterData,
        DataOperation::End => ompt::Construct::ExitData,
        DataOperation::Update => ompt::Construct::Update,
    }
}

/// Generates the data functions: every operation with and without location,
/// names and mappers (`_mapper`), waiting or not (`_nowait`).
macro_rules! data_functions {
    ($($name:ident = $operation:ident, nowait: $nowait:literal ($($location:ident)?; $($names:ident, $mappers:ident)?; $($dependence:ident)*);)*) => {$(
        /// Compiler's entry point of a data construct.
        ///
        /// # Safety
        /// Called by compiler-made code: the arguments are what it emitted.
        pub unsafe extern "C" fn $name(
            $($location: *const Ident,)?
            device: i64,
            count: i32,
            bases: *mut usize,
            begins: *mut usize,
            sizes: *mut i64,
            types: *mut u64,
            $($names: *mut Label, $mappers: *mut Option<MapperFunction>,)?
            $($dependence: usize,)*
        ) {
            #[allow(unused_mut, unused_assignments, reason = "only some forms have it")]
            let mut location_or_none = std::ptr::null();
            $(location_or_none = $location;)?
            let mut arrays = Arrays {
                count, bases, begins, sizes, types,
                names: std::ptr::null_mut(),
                mappers: std::ptr::null_mut(),
            };
            $(arrays.names = $names; arrays.mappers = $mappers;)?
            let _ = &mut arrays;
            $(let _ = $dependence;)*
            // SAFETY: the caller's promise.
            unsafe { arrays.perform(location_or_none, device, DataOperation::$operation, $nowait) }
        }
    )*};
}

data_functions! {
    __tgt_target_data_begin = Begin, nowait: false (;;);
    __tgt_target_data_begin_mapper = Begin, nowait: false (location; names, mappers;);
    __tgt_target_data_begin_nowait = Begin, nowait: false (;; count_1 list_1 count_2 list_2);
    __tgt_target_data_begin_nowait_mapper = Begin, nowait: true (location; names, mappers; count_1 list_1 count_2 list_2);
    __tgt_target_data_end = End, nowait: false (;;);
    __tgt_target_data_end_mapper = End, nowait: false (location; names, mappers;);
    __tgt_target_data_end_nowait = End, nowait: false (;; count_1 list_1 count_2 list_2);
    __tgt_target_data_end_nowait_mapper = End, nowait: true (location; names, mappers; count_1 list_1 count_2 list_2);
    __tgt_target_data_update = Update, nowait: false (;;);
    __tgt_target_data_update_mapper = Update, nowait: false (location; names, mappers;);
    __tgt_target_data_update_nowait = Update, nowait: false (;; count_1 list_1 count_2 list_2);
    __tgt_target_data_update_nowait_mapper = Update, nowait: true (location; names, mappers; count_1 list_1 count_2 list_2);
}
