//! How a function gets its name in device code.

/// Exports functions under their own names. All are weak: a program may bring its own. On the host
/// nothing is exported, as the tests use the C library there.
macro_rules! export {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?
        $body:block)*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        /// What the C standard, or POSIX, asks of the caller.
        #[cfg_attr(gpu, unsafe(no_mangle), linkage = "weak")]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: as the caller says.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
}

pub(crate) use export;
