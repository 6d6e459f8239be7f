//! Tells the library that `gangway run` puts before a program that a driver of the virtual GPUs is in use.

/// Does so, if the library is there.
pub fn tell() {
    // SAFETY: a name with its terminator.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_driver_opened".as_ptr()) };
    // SAFETY: the type that the library gives it; null is none.
    let found = unsafe { std::mem::transmute::<*mut libc::c_void, Option<extern "C" fn()>>(found) };
    if let Some(opened) = found {
        opened();
    }
}
