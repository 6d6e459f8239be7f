//! Tools: libraries in `ACC_PROFLIB`, and what a program is linked with.

use super::abi::Callback;
use super::routines::{acc_prof_lookup, acc_prof_register, acc_prof_unregister};
use gangway_frontend::host::{End, Host, OPENACC_3_3};
use gangway_frontend::message::print_line;
use gangway_frontend::policy;
use gangway_settings::file_variable;
use std::ffi::{CStr, CString, OsString, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// `acc_prof_reg`: [`acc_prof_register`] and its opposite.
type Change = extern "C" fn(i32, Option<Callback>, i32);
/// `acc_prof_lookup_func`.
type LookUp = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// A tool defines this; the runtime's own is called by mistake only.
pub extern "C" fn acc_register_library(_register: Change, _unregister: Change, _look_up: LookUp) {
    policy::mistake_by(
        End::Status,
        format_args!(
            "acc_register_library of the runtime has been called, which a tool has to define\n  \
         help: define it in the program or in a library named by ACC_PROFLIB"
        ),
    );
}

/// Loads the libraries in `ACC_PROFLIB` and has them register their callbacks, after the tool that the program brings
/// itself. Only the first call does it.
pub fn load_tools<H: Host>() {
    static DONE: AtomicBool = AtomicBool::new(false);
    // Not a lock: a tool may use OpenACC itself meanwhile.
    if DONE.load(Ordering::Relaxed) || DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    // libgomp does not ask for it.
    if H::OPENACC >= OPENACC_3_3 {
        own_tool::<H>();
    }
    listed_tools::<H>();
}

/// Has the tool register its callbacks that the program is linked with, or that is preloaded.
fn own_tool<H: Host>() {
    // SAFETY: a plain look-up by name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"acc_register_library".as_ptr()) };
    if found.is_null() || is_of_runtime(found) {
        return;
    }
    register::<H>(found);
}

/// Whether a function is in this library, or in one of libgomp's names.
fn is_of_runtime(function: *const c_void) -> bool {
    let object = |address: *const c_void| {
        // SAFETY: plain data, all of which may be zero.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: it writes what is known of the address.
        let known = unsafe { libc::dladdr(address, &raw mut found) } != 0;
        known.then_some(found)
    };
    let (Some(its), Some(own)) = (object(function), object(is_of_runtime as *const c_void)) else {
        return true;
    };
    if its.dli_fbase == own.dli_fbase || its.dli_fname.is_null() {
        return true;
    }
    // SAFETY: the loader's text, which stays as long as the object is loaded.
    let path = unsafe { CStr::from_ptr(its.dli_fname) }.to_bytes();
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    name.starts_with(b"libgomp.so") || name.starts_with(b"libgangway-gomp.so")
}

/// Those that the environment names.
fn listed_tools<H: Host>() {
    // A program with more rights than its user does not load what the user says.
    let Some(Ok(list)) = file_variable("ACC_PROFLIB").map(OsString::into_string) else { return };
    for name in list.split(';').filter(|name| !name.is_empty()) {
        if let Err(why) = load::<H>(name) {
            print_line(format_args!(
                "gangway: warning: the library `{name}` in ACC_PROFLIB is not used: {why}"
            ));
        }
    }
}

fn load<H: Host>(name: &str) -> Result<(), String> {
    let file = CString::new(name).map_err(|_| "its name has a null byte".to_owned())?;
    // SAFETY: loading a library runs its initialisers, which is what the user asks for.
    let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY) };
    if library.is_null() {
        return Err(loader_error());
    }
    // SAFETY: a plain look-up in a loaded library.
    let found = unsafe { libc::dlsym(library, c"acc_register_library".as_ptr()) };
    if found.is_null() {
        let why = loader_error();
        // SAFETY: opened above, and nothing of it is used.
        unsafe { libc::dlclose(library) };
        return Err(why);
    }
    register::<H>(found);
    Ok(())
}

/// Calls `acc_register_library` of a tool's.
fn register<H: Host>(function: *mut c_void) {
    // SAFETY: the specification declares this type for the name.
    let register: extern "C" fn(Change, Change, LookUp) = unsafe { std::mem::transmute(function) };
    register(acc_prof_register::<H>, acc_prof_unregister, acc_prof_lookup);
}

fn loader_error() -> String {
    // SAFETY: the text stays until the thread's next call of the loader.
    unsafe {
        let text = libc::dlerror();
        let known = !text.is_null();
        if known { CStr::from_ptr(text).to_string_lossy().into_owned() } else { "no reason given".to_owned() }
    }
}
