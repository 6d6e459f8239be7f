//! From the text of a module to an object file: LLVM's parser, its passes, its code for this processor.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use crate::library::{Functions, Object};
use crate::message::Made;

/// What LLVM's passes are: those of `clang -O2`.
const PASSES: &CStr = c"default<O2>";
const TRIPLE: &CStr = c"x86_64-unknown-linux-gnu";
/// As LLVM numbers them: `LLVMCodeGenLevelDefault`, `LLVMRelocPIC`, `LLVMCodeModelSmall`, `LLVMObjectFile`.
const LEVEL: i32 = 2;
const POSITION_INDEPENDENT: i32 = 2;
const SMALL: i32 = 3;
const OBJECT_FILE: i32 = 1;

/// The processor, as LLVM calls it and what it has.
pub(crate) struct Processor {
    pub name: CString,
    pub features: CString,
}

/// The processor of this machine.
pub(crate) fn processor(llvm: &Functions) -> Processor {
    // SAFETY: both give texts of ours, which are taken once.
    unsafe {
        Processor {
            name: take(llvm, (llvm.host_cpu_name)()),
            features: take(llvm, (llvm.host_cpu_features)()),
        }
    }
}

/// Takes a message of LLVM's.
///
/// # Safety
///
/// It is null, or a message that nobody has taken.
unsafe fn take(llvm: &Functions, message: *mut c_char) -> CString {
    if message.is_null() {
        return CString::default();
    }
    // SAFETY: by the caller.
    unsafe {
        let text = CStr::from_ptr(message).to_owned();
        (llvm.dispose_message)(message);
        text
    }
}

/// Something of LLVM's that is given back at the end.
struct Owned {
    object: Object,
    dispose: unsafe extern "C" fn(Object),
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: whoever has made this had the object from LLVM, whose function for that this is.
        unsafe { (self.dispose)(self.object) }
    }
}

/// Warnings and remarks; errors come as messages, too.
unsafe extern "C" fn ignore(_diagnostic: Object, _context: *mut c_void) {}

/// An object file of a module's text, and the text behind the passes if that is to be shown.
pub(crate) fn compile(llvm: &Functions, text: &str, shown: bool) -> Result<Made, String> {
    let processor = processor(llvm);
    let message = |message: *mut c_char| {
        // SAFETY: LLVM has just given it.
        unsafe { take(llvm, message) }.to_string_lossy().into_owned()
    };
    let own = |object: Object, dispose: unsafe extern "C" fn(Object)| Owned { object, dispose };
    // SAFETY: all objects are LLVM's own, used in the order that its headers ask for, and given back in the
    // opposite one: a module before its context, everything else that stands alone at the end of its scope. The
    // texts are C strings, the places for results are this function's.
    unsafe {
        let context = own((llvm.context_create)(), llvm.context_dispose);
        (llvm.set_diagnostic_handler)(context.object, ignore, ptr::null_mut());
        let buffer = (llvm.buffer_create)(text.as_ptr().cast(), text.len(), c"region".as_ptr());
        let (mut module, mut why) = (ptr::null_mut(), ptr::null_mut());
        if (llvm.parse_ir)(context.object, buffer, &raw mut module, &raw mut why) != 0 {
            return Err(message(why));
        }
        let module = own(module, llvm.module_dispose);
        let mut target = ptr::null_mut();
        if (llvm.target_from_triple)(TRIPLE.as_ptr(), &raw mut target, &raw mut why) != 0 {
            return Err(message(why));
        }
        let (name, features) = (processor.name.as_ptr(), processor.features.as_ptr());
        let machine = (llvm.target_machine_create)(
            target,
            TRIPLE.as_ptr(),
            name,
            features,
            LEVEL,
            POSITION_INDEPENDENT,
            SMALL,
        );
        if machine.is_null() {
            return Err(format!("no code for {}", processor.name.to_string_lossy()));
        }
        let machine = own(machine, llvm.target_machine_dispose);
        let layout = own((llvm.data_layout_create)(machine.object), llvm.data_layout_dispose);
        (llvm.set_data_layout)(module.object, layout.object);
        let options = own((llvm.options_create)(), llvm.options_dispose);
        let error = (llvm.run_passes)(module.object, PASSES.as_ptr(), machine.object, options.object);
        if !error.is_null() {
            let text = (llvm.error_message)(error);
            let why = CStr::from_ptr(text).to_string_lossy().into_owned();
            (llvm.error_message_dispose)(text);
            return Err(why);
        }
        let optimised = shown.then(|| message((llvm.module_text)(module.object)));
        let mut object = ptr::null_mut();
        let emit = llvm.emit_to_buffer;
        if emit(machine.object, module.object, OBJECT_FILE, &raw mut why, &raw mut object) != 0 {
            return Err(message(why));
        }
        let object = own(object, llvm.buffer_dispose);
        let (start, size) = ((llvm.buffer_start)(object.object), (llvm.buffer_size)(object.object));
        let object = std::slice::from_raw_parts(start.cast::<u8>(), size).to_vec();
        Ok(Made { object, optimised })
    }
}
