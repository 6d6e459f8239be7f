//! One external library: opened once, checked, and then never closed (its threads
//! and exit handlers may outlive any moment at which it could be).

use crate::abi::{Functions, VERSION, VERSION_MAJOR};
use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

/// Opens the library at `path` and checks that it is a back end of our version
/// with all that is mandatory.
///
/// # Errors
/// Why it is refused, in words that name the library.
pub(crate) fn open(path: &Path) -> Result<Functions, String> {
    let shown = path.display();
    let spelled = CString::new(path.as_os_str().as_bytes()).map_err(|_| format!("{shown}: not a path"))?;
    // Local: back ends must not meet each other's symbols. Now: a missing library
    // function is a refusal here, not a crash later.
    // SAFETY: the path ends in a zero byte. That the library may be run is decided
    // by whoever put it where it was found.
    let handle = unsafe { libc::dlopen(spelled.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let Some(handle) = NonNull::new(handle) else {
        return Err(format!("{shown} cannot be loaded: {}", loader_error()));
    };
    let lookup = |name: &CStr| {
        // SAFETY: the handle is open and the name ends in a zero byte.
        let address = unsafe { libc::dlsym(handle.as_ptr(), name.as_ptr()) };
        // A library it was linked with does not speak for it.
        NonNull::new(address).filter(|address| belongs_to(*address, &spelled, handle))
    };
    check_version(lookup(VERSION)).map_err(|why| format!("{shown} is refused: {why}"))?;
    // SAFETY: the names are Gangway's own, so what has them follows the header; its
    // version has been checked.
    unsafe { Functions::find(lookup) }.map_err(|missing| {
        let names: Vec<_> = missing.into_iter().map(CStr::to_string_lossy).collect();
        let (are, functions) = if names.len() == 1 { ("is", "function") } else { ("are", "functions") };
        let list = names.join(", ");
        format!("{shown} is refused: {list} {are} missing, mandatory {functions} of gangway/rtl.h version 1")
    })
}

fn check_version(function: Option<NonNull<c_void>>) -> Result<(), String> {
    let Some(function) = function else {
        return Err("it does not define gangway_rtl_version, so it is no Gangway back end".to_owned());
    };
    // SAFETY: a function of this name has this type in every version of the header.
    let version =
        unsafe { std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn() -> u32>(function)() };
    let (major, minor) = (version >> 16, version & 0xffff);
    if major == VERSION_MAJOR {
        // Another minor version only has functions that we do not know, or lacks
        // optional ones that we do.
        return Ok(());
    }
    Err(format!(
        "it was built for version {major}.{minor} of gangway/rtl.h, this Gangway needs version {VERSION_MAJOR}.x: \
         build it again with the header that is installed with this Gangway"
    ))
}

/// Whether `address` lies in the library itself.
fn belongs_to(address: NonNull<c_void>, path: &CStr, handle: NonNull<c_void>) -> bool {
    // SAFETY: plain data, filled by the call; any address may be asked about.
    let (known, info) = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(address.as_ptr(), &mut info) != 0, info)
    };
    if !known || info.dli_fbase.is_null() {
        return false;
    }
    // The first word of a handle is the load address (`struct link_map`); it is
    // not the base address for a library that is prelinked, hence the name as well.
    // SAFETY: the handle is open; the name is null or ends in a zero byte.
    unsafe {
        *handle.as_ptr().cast::<*mut c_void>() == info.dli_fbase
            || (!info.dli_fname.is_null() && CStr::from_ptr(info.dli_fname) == path)
    }
}

fn loader_error() -> String {
    // SAFETY: the message is valid until this thread's next call of the loader.
    unsafe {
        let message = libc::dlerror();
        if message.is_null() {
            "the loader gives no reason".to_owned()
        } else {
            CStr::from_ptr(message).to_string_lossy().into_owned()
        }
    }
}
