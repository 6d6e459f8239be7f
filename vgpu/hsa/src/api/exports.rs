//! What the library exports: each symbol of `symbols/exports.txt`, and no other.
//!
//! The build script makes calls of the macro below from that list and from
//! `symbols/unsupported.txt`. A symbol must be a function of [`api`] or in the list of unsupported
//! ones, or it does not compile. A function whose name the list does not have does not compile, either.

use super::entry::Entry;
use crate::api;

macro_rules! exports {
    (supported { $($name:ident,)* } unsupported { $($refused:ident,)* }) => {
        // Something stands behind each of these.
        const _: () = {
            $(let _ = api::$name;)*
        };

        /// What is known of each function.
        #[allow(non_upper_case_globals, reason = "the ABI's names")]
        pub mod entry {
            use super::Entry;
            $(pub static $name: Entry = Entry::new(stringify!($name));)*
            $(pub static $refused: Entry = Entry::new(stringify!($refused));)*
        }

        /// Functions that the real library has and this one only refuses, by name.
        mod stubs {
            $(
                /// Not supported.
                ///
                /// # Safety
                ///
                /// None needed: it ignores whatever it is passed.
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $refused() -> crate::abi::Status {
                    crate::api::entry::unsupported(&super::entry::$refused)
                }
            )*
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
