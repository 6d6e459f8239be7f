//! What the library exports: each symbol of `symbols/versions.txt`, and no other.
//!
//! The build script makes calls of the macro below from that list and from
//! `symbols/unsupported.txt`. What is exported, what only says that it is not supported, what
//! the trace counts and what `cuGetProcAddress` finds all come from there. A symbol must be a
//! function of [`api`] or in the list of unsupported ones, or it does not compile. A function
//! whose name the list does not have does not compile, either.

use super::entry::{Entry, Export};
use crate::api;
use crate::objects::process::trace::CallStatistics;

macro_rules! exports {
    (supported { $($name:ident $per_thread:literal,)* } unsupported { $($refused:ident,)* }) => {
        /// The functions that something stands behind.
        pub static SUPPORTED: &[Export] =
            &[$(Export { entry: &entry::$name, address: api::$name as *const () },)*];

        /// The functions that only say that they are not supported.
        pub static UNSUPPORTED: &[Export] =
            &[$(Export { entry: &entry::$refused, address: stubs::$refused as *const () },)*];

        /// What is known of each function.
        #[allow(non_upper_case_globals, reason = "the ABI's names")]
        pub mod entry {
            use super::Entry;
            $(pub static $name: Entry = Entry::new(stringify!($name), $per_thread);)*
            $(pub static $refused: Entry = Entry::new(stringify!($refused), false);)*
        }

        /// Functions that the real library has and this one only refuses, by name.
        mod stubs {
            $(
                /// Not supported.
                ///
                /// # Safety
                ///
                /// None needed: it ignores whatever it is passed.
                #[allow(non_snake_case, reason = "the ABI's names")]
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $refused() -> crate::abi::Status {
                    crate::api::entry::unsupported(&super::entry::$refused)
                }
            )*
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/exports.rs"));

/// What the trace has counted for each of them.
pub fn statistics() -> Vec<&'static CallStatistics> {
    all().map(|export| &export.entry.statistics).collect()
}

/// Every exported function.
pub fn all() -> impl Iterator<Item = &'static Export> {
    SUPPORTED.iter().chain(UNSUPPORTED)
}
