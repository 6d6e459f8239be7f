//! The functions of LLVM's C API that are used, found in `libLLVM.so.22.1` when the process starts.
//!
//! Nothing of LLVM is linked. Debian's package `libllvm22` has the library, and so has every clang of that
//! release. Where it is absent, or of another release, the process ends, and all code is Cranelift's.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The library, by the name that the loader finds it by: of this release alone, as LLVM's API may change with
/// each.
pub(crate) const NAME: &CStr = c"libLLVM.so.22.1";
/// Its release, which the library says itself, too.
const RELEASE: (c_uint, c_uint) = (22, 1);

/// Something of LLVM's, of which only the address is known.
pub(crate) type Object = *mut c_void;

/// Declares the functions, and how the table of them is filled.
macro_rules! functions {
    ($($(#[$attribute:meta])* $name:ident = $symbol:literal ($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// The functions, by what they do. The types are those of LLVM's headers, in `llvm-c/`.
        pub(crate) struct Functions {
            $($(#[$attribute])* pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+
            /// As LLVM tells it, such as `22.1.8`.
            pub version: String,
        }

        impl Functions {
            /// # Safety
            ///
            /// `find` gives the addresses of LLVM's functions of these names.
            unsafe fn find(find: impl Fn(&CStr) -> Option<*mut c_void>) -> Result<Self, String> {
                Ok(Functions {
                    $($name: {
                        let address = find($symbol).ok_or_else(|| format!("no {:?}", $symbol))?;
                        // SAFETY: by the caller it is the function of that name, whose type the headers of
                        // LLVM 22 say as it is written here.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(address) }
                    },)+
                    version: String::new(),
                })
            }
        }
    };
}

functions! {
    get_version = c"LLVMGetVersion" (*mut c_uint, *mut c_uint, *mut c_uint);
    install_fatal_error_handler = c"LLVMInstallFatalErrorHandler" (unsafe extern "C" fn(*const c_char));
    initialize_target_info = c"LLVMInitializeX86TargetInfo" ();
    initialize_target = c"LLVMInitializeX86Target" ();
    initialize_target_mc = c"LLVMInitializeX86TargetMC" ();
    initialize_asm_printer = c"LLVMInitializeX86AsmPrinter" ();
    host_cpu_name = c"LLVMGetHostCPUName" () -> *mut c_char;
    host_cpu_features = c"LLVMGetHostCPUFeatures" () -> *mut c_char;
    dispose_message = c"LLVMDisposeMessage" (*mut c_char);
    context_create = c"LLVMContextCreate" () -> Object;
    context_dispose = c"LLVMContextDispose" (Object);
    /// Context, handler, what that is given.
    set_diagnostic_handler = c"LLVMContextSetDiagnosticHandler"
        (Object, unsafe extern "C" fn(Object, *mut c_void), *mut c_void);
    /// Start, length, name.
    buffer_create = c"LLVMCreateMemoryBufferWithMemoryRangeCopy" (*const c_char, usize, *const c_char) -> Object;
    buffer_start = c"LLVMGetBufferStart" (Object) -> *const c_char;
    buffer_size = c"LLVMGetBufferSize" (Object) -> usize;
    buffer_dispose = c"LLVMDisposeMemoryBuffer" (Object);
    /// Context, text, which it takes, module, message; not zero if it is wrong.
    parse_ir = c"LLVMParseIRInContext" (Object, Object, *mut Object, *mut *mut c_char) -> c_int;
    module_dispose = c"LLVMDisposeModule" (Object);
    module_text = c"LLVMPrintModuleToString" (Object) -> *mut c_char;
    /// Triple, target, message; not zero if there is none.
    target_from_triple = c"LLVMGetTargetFromTriple" (*const c_char, *mut Object, *mut *mut c_char) -> c_int;
    /// Target, triple, processor, features, level, relocations, code model.
    target_machine_create = c"LLVMCreateTargetMachine"
        (Object, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> Object;
    target_machine_dispose = c"LLVMDisposeTargetMachine" (Object);
    data_layout_create = c"LLVMCreateTargetDataLayout" (Object) -> Object;
    data_layout_dispose = c"LLVMDisposeTargetData" (Object);
    set_data_layout = c"LLVMSetModuleDataLayout" (Object, Object);
    options_create = c"LLVMCreatePassBuilderOptions" () -> Object;
    options_dispose = c"LLVMDisposePassBuilderOptions" (Object);
    /// Module, passes, target machine, options; null, or an error.
    run_passes = c"LLVMRunPasses" (Object, *const c_char, Object, Object) -> Object;
    /// It takes the error.
    error_message = c"LLVMGetErrorMessage" (Object) -> *mut c_char;
    error_message_dispose = c"LLVMDisposeErrorMessage" (*mut c_char);
    /// Target machine, module, kind of file, message, contents; not zero if it has failed.
    emit_to_buffer = c"LLVMTargetMachineEmitToMemoryBuffer"
        (Object, Object, c_int, *mut *mut c_char, *mut Object) -> c_int;
}

/// LLVM, or why it cannot be used. Called once: the library stays, as what it has registered refers to it.
pub(crate) fn open() -> Result<Functions, String> {
    // SAFETY: a C string. What the library does when it is loaded is to register options and targets.
    let library = unsafe { libc::dlopen(NAME.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        return Err(format!("{} is not there", NAME.to_string_lossy()));
    }
    // SAFETY: the library is open, and stays so.
    let find = |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: these are LLVM's, as its name says. The release is asked for before anything else.
    let mut functions = unsafe { Functions::find(|name| Some(find(name)).filter(|found| !found.is_null())) }
        .map_err(|what| format!("{} has {what}", NAME.to_string_lossy()))?;
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: places for three numbers.
    unsafe { (functions.get_version)(&raw mut major, &raw mut minor, &raw mut patch) };
    functions.version = format!("{major}.{minor}.{patch}");
    if (major, minor) != RELEASE {
        return Err(format!("{} is of release {}", NAME.to_string_lossy(), functions.version));
    }
    // SAFETY: they register the one target that there is code for; nothing of LLVM's runs yet.
    unsafe {
        (functions.initialize_target_info)();
        (functions.initialize_target)();
        (functions.initialize_target_mc)();
        (functions.initialize_asm_printer)();
    }
    Ok(functions)
}
