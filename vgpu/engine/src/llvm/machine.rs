//! From the text of a module to an object file: LLVM's parser, its passes, its code for this processor.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::library::{Functions, Object, llvm};

/// What LLVM's passes are: those of `clang -O2`.
const PASSES: &CStr = c"default<O2>";
const TRIPLE: &CStr = c"x86_64-unknown-linux-gnu";
/// As LLVM numbers them: `LLVMCodeGenLevelDefault`, `LLVMRelocPIC`, `LLVMCodeModelSmall`, `LLVMObjectFile`.
const LEVEL: i32 = 2;
const POSITION_INDEPENDENT: i32 = 2;
const SMALL: i32 = 3;
const OBJECT_FILE: i32 = 1;

/// The processor, as LLVM calls it and what it has.
pub(super) struct Processor {
    pub name: CString,
    pub features: CString,
}

/// The processor of this machine.
pub(super) fn processor() -> Result<&'static Processor, &'static str> {
    static PROCESSOR: OnceLock<Result<Processor, &'static str>> = OnceLock::new();
    let found = PROCESSOR.get_or_init(|| {
        let llvm = llvm()?;
        // SAFETY: both give texts of ours, which are taken once.
        unsafe {
            Ok(Processor {
                name: take(llvm, (llvm.host_cpu_name)()),
                features: take(llvm, (llvm.host_cpu_features)()),
            })
        }
    });
    found.as_ref().map_err(|&why| why)
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

/// An object file of a module's text, and the text behind the passes if it is wanted.
pub(super) fn compile(text: &str, shown: Option<&mut String>) -> Result<Vec<u8>, String> {
    let llvm = llvm()?;
    let processor = processor()?;
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
        if let Some(shown) = shown {
            *shown = message((llvm.module_text)(module.object));
        }
        let mut object = ptr::null_mut();
        let emit = llvm.emit_to_buffer;
        if emit(machine.object, module.object, OBJECT_FILE, &raw mut why, &raw mut object) != 0 {
            return Err(message(why));
        }
        let object = own(object, llvm.buffer_dispose);
        let (start, size) = ((llvm.buffer_start)(object.object), (llvm.buffer_size)(object.object));
        Ok(std::slice::from_raw_parts(start.cast::<u8>(), size).to_vec())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::object::link;
    use super::*;
    use crate::code::Compiled;

    /// Puts code where it can run, for as long as the process does.
    pub(in crate::llvm) fn place(compiled: &Compiled) -> *mut c_void {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        let length = compiled.code.len().next_multiple_of(4096);
        // SAFETY: a new mapping, as long as the code, which stays.
        unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let start = mmap_anonymous(ptr::null_mut(), length, access, MapFlags::PRIVATE).expect("memory");
            ptr::copy_nonoverlapping(compiled.code.as_ptr(), start.cast(), compiled.code.len());
            mprotect(start, length, MprotectFlags::READ | MprotectFlags::EXEC).expect("executable memory");
            start
        }
    }

    /// Two functions, constants, lines: the object's code runs where it is put.
    #[test]
    fn a_module_becomes_code_that_runs_anywhere() {
        let text = r#"
define i32 @first(i32 %n, double %unused) "no-builtins" !dbg !4 {
  %small = icmp ult i32 %n, 7, !dbg !6
  br i1 %small, label %yes, label %no, !dbg !6
yes:
  %seen = load volatile i32, ptr @table, !dbg !7
  %called = call i32 @second(i32 %n), !dbg !7
  ret i32 %called, !dbg !7
no:
  ret i32 %n, !dbg !8
}
@table = internal constant [4 x i32] [i32 3, i32 1, i32 4, i32 15]
define internal i32 @second(i32 %n) noinline !dbg !9 {
  %index = and i32 %n, 3
  %place = getelementptr i32, ptr @table, i32 %index
  %value = load i32, ptr %place
  ret i32 %value
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a", directory: "b")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 4}
!4 = distinct !DISubprogram(name: "first", file: !1, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!6 = !DILocation(line: 5, scope: !4)
!7 = !DILocation(line: 300, scope: !4)
!8 = !DILocation(line: 9, scope: !4)
!9 = distinct !DISubprogram(name: "second", file: !1, unit: !0, type: !5, spFlags: DISPFlagDefinition)
"#;
        let object = match (llvm(), compile(text, None)) {
            (Err(why), _) => return eprintln!("skipped: {why}"),
            (Ok(_), object) => object.expect("an object file"),
        };
        let compiled = link(&object).expect("code");
        let operations: Vec<u32> = compiled.positions.iter().map(|&(_, operation)| operation).collect();
        assert!(operations.contains(&4) && operations.contains(&299), "{operations:?}");
        assert!(compiled.positions.iter().all(|&(at, _)| at as usize <= compiled.code.len()));
        let start = place(&compiled);
        // SAFETY: that is what the text above says.
        let first: unsafe extern "C" fn(u32, f64) -> u32 = unsafe { std::mem::transmute(start) };
        for (given, expected) in [(0, 3), (3, 15), (6, 4), (7, 7), (1000, 1000)] {
            // SAFETY: it computes with its arguments alone.
            assert_eq!(unsafe { first(given, 0.) }, expected);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        if llvm().is_err() {
            return;
        }
        let wrong = compile("define void @f() { ret i32 0 }", None).expect_err("a wrong type");
        assert!(wrong.contains("ret i32 0"), "{wrong}");
        let text = "declare i32 @absent()\ndefine i32 @f() { %a = call i32 @absent() ret i32 %a }";
        let object = compile(text, None).expect("an object file");
        let wrong = link(&object).expect_err("something that is not there");
        assert!(wrong.contains("'absent'"), "{wrong}");
        assert!(link(&object[..200]).is_err() && link(b"text").is_err());
    }
}
