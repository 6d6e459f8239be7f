//! Tools: libraries in `ACC_PROFLIB`, and what a program is linked with.

use super::abi::Callback;
use super::routines::{acc_prof_lookup, acc_prof_register, acc_prof_unregister};
use gangway_frontend::message::print_line;
use gangway_settings::file_variable;
use std::ffi::{CStr, CString, OsString, c_char, c_void};

/// `acc_prof_reg`: [`acc_prof_register`] and its opposite.
type Change = extern "C" fn(i32, Option<Callback>, i32);
/// `acc_prof_lookup_func`.
type LookUp = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// A tool defines this; the runtime's own is called by mistake only.
pub extern "C" fn acc_register_library(_register: Change, _unregister: Change, _look_up: LookUp) {
    crate::failure::mistake(format_args!(
        "acc_register_library of the runtime has been called, which a tool has to define\n  \
         help: define it in the program or in a library named by ACC_PROFLIB"
    ));
}

/// Loads the libraries in `ACC_PROFLIB` and has them register their callbacks. Called once, at
/// the start of the front end.
pub fn load_tools() {
    // A program with more rights than its user does not load what the user says.
    let Some(Ok(list)) = file_variable("ACC_PROFLIB").map(OsString::into_string) else { return };
    for name in list.split(';').filter(|name| !name.is_empty()) {
        if let Err(why) = load(name) {
            print_line(format_args!(
                "gangway: warning: the library `{name}` in ACC_PROFLIB is not used: {why}"
            ));
        }
    }
}

fn load(name: &str) -> Result<(), String> {
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
    // SAFETY: the specification declares this type for the name.
    let register: extern "C" fn(Change, Change, LookUp) = unsafe { std::mem::transmute(found) };
    register(acc_prof_register, acc_prof_unregister, acc_prof_lookup);
    Ok(())
}

fn loader_error() -> String {
    // SAFETY: the text stays until the thread's next call of the loader.
    unsafe {
        let text = libc::dlerror();
        let known = !text.is_null();
        if known { CStr::from_ptr(text).to_string_lossy().into_owned() } else { "no reason given".to_owned() }
    }
}
