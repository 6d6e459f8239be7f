//! How a function gets flang's name in device code.

/// Exports functions under flang's names, which the first word of each item is. On the host nothing is
/// exported: the tests call them, and compare with flang's own library.
macro_rules! export {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?
        $body:block)*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        /// As flang calls it: descriptors are flang's, and have as many dimensions as their rank says.
        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("_FortranA", stringify!($name))),
            linkage = "weak"
        )]
        #[allow(non_snake_case, reason = "the names are flang's")]
        #[allow(clippy::too_many_arguments, reason = "flang's")]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: as the caller says.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
}

pub(crate) use export;
