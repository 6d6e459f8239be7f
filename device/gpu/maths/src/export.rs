//! How a function gets its name in device code.
//!
//! All names are weak: a program may bring a `sin` of its own, or NVIDIA's libdevice. On the host
//! nothing is exported, as the names are those of the C library that the tests use.

/// Exports functions under their own names.
macro_rules! export {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?
        = $body:expr;)*) => {$(
        $(#[$attribute])*
        #[cfg_attr(gpu, unsafe(no_mangle), linkage = "weak")]
        pub extern "C" fn $name($($argument: $type),*) $(-> $result)? { $body }
    )*};
}

/// Exports functions under `__nv_` and their names, which libdevice and clang's headers use.
macro_rules! export_nv {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?
        = $body:expr;)*) => {$(
        $(#[$attribute])*
        #[cfg_attr(
            target_arch = "nvptx64",
            unsafe(export_name = concat!("__nv_", stringify!($name))),
            linkage = "weak"
        )]
        pub extern "C" fn $name($($argument: $type),*) $(-> $result)? { $body }
    )*};
}

pub(crate) use {export, export_nv};
