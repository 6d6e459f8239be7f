//! Functions that the real library has and this one only refuses, by name. The list is
//! `symbols/unsupported.txt`; the build script makes a call of this macro from it.

macro_rules! unsupported {
    ($($name:ident),* $(,)?) => {
        $(
            /// Not supported.
            ///
            /// # Safety
            ///
            /// None needed: it ignores whatever it is passed.
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> $crate::error::Status {
                $crate::entry::unsupported(&entry::$name)
            }
        )*

        /// The functions that are not supported.
        pub static EXPORTS: &[$crate::entry::Export] =
            &[$($crate::entry::Export { entry: &entry::$name, address: $name as *const () }),*];

        #[allow(non_upper_case_globals)]
        mod entry {
            $(pub static $name: $crate::entry::Entry = $crate::entry::Entry::new(stringify!($name), false);)*
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/unsupported.rs"));
