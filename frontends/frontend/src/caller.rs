//! Where the program called this library from: what OMPT calls `codeptr_ra`.
//!
//! Rust has no stable way to ask for a function's return address, and unwinding
//! would cost a tool's user as much as the construct the tool looks at. So each
//! entry point whose caller tools are told is four instructions in front of the
//! function proper ([`export!`](crate::export)): they note the return address in a
//! thread-local word and jump on. It takes well under a nanosecond whether or not
//! a tool is there, which is less than it would take to ask.
//!
//! The word is read once, at the beginning of a call ([`noted`]); calls from
//! within the library go to the function proper and leave it alone.

use std::ffi::c_void;

// The word, in the initial-exec model: eight bytes of the static TLS block, which
// the loader keeps room in for libraries opened later.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .tbss.gangway_caller,\"awT\",@nobits",
    ".balign 8",
    ".globl gangway_caller",
    ".hidden gangway_caller",
    ".type gangway_caller,@object",
    ".size gangway_caller,8",
    "gangway_caller:",
    ".zero 8",
    ".popsection",
);

/// The return address that the last entry point called on this thread noted.
#[cfg(target_arch = "x86_64")]
#[inline]
#[must_use]
pub fn noted() -> *const c_void {
    let address;
    // SAFETY: reads the thread's own word.
    unsafe {
        core::arch::asm!(
            "mov {address}, qword ptr [rip + gangway_caller@GOTTPOFF]",
            "mov {address}, qword ptr fs:[{address}]",
            address = out(reg) address,
            options(nostack, readonly, preserves_flags),
        );
    }
    address
}

/// Notes an address on this thread: for work that a task does on behalf of a call.
#[cfg(target_arch = "x86_64")]
pub fn note(address: *const c_void) {
    // SAFETY: writes the thread's own word.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + gangway_caller@GOTTPOFF]",
            "mov qword ptr fs:[{offset}], {address}",
            offset = out(reg) _,
            address = in(reg) address,
            options(nostack, preserves_flags),
        );
    }
}

/// Not known on this architecture.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn noted() -> *const c_void {
    std::ptr::null()
}

/// Not known on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub fn note(_address: *const c_void) {}

/// The instructions that note the caller, at the beginning of an exported function. Registers r10
/// and r11 are free at a call in the System V ABI.
#[macro_export]
macro_rules! note_caller {
    () => {
        "mov r10, qword ptr [rsp]
         mov r11, qword ptr [rip + gangway_caller@GOTTPOFF]
         mov qword ptr fs:[r11], r10"
    };
}

/// Exports functions under their C names: a front end's table, by module.
///
/// The functions proper are ordinary ones with the C calling convention and names of Rust, so
/// that code of ours calls them directly. What is exported is a jump in front of each, which
/// takes its arguments as they come. Those after `noting` note their caller on the way.
///
/// A front end whose names another library has, which leads here, puts something before them.
///
/// ```text
/// export! { noting memory: omp_target_alloc, omp_target_free; }
/// export! { devices: omp_get_num_devices; }
/// export! { prefix "ours_"; devices: omp_get_num_devices; }
/// ```
#[macro_export]
macro_rules! export {
    (prefix $prefix:literal; noting $($rest:tt)+) => { $crate::export! { @noting $prefix $($rest)+ } };
    (prefix $prefix:literal; $($rest:tt)+) => { $crate::export! { @plain $prefix $($rest)+ } };
    (noting $($rest:tt)+) => { $crate::export! { @noting "" $($rest)+ } };
    (@noting $prefix:literal $($module:ident: $($name:ident $(<$host:ty>)?),+;)+) => {$($(
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        #[allow(non_snake_case, reason = "the names are the ABI's")]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                $crate::note_caller!(),
                "jmp {body}",
                body = sym $module::$name $(::<$host>)?,
            )
        }
        #[cfg(not(target_arch = "x86_64"))]
        $crate::export! { @plain $prefix $module: $name $(<$host>)?; }
    )+)+};
    (@plain $prefix:literal $($module:ident: $($name:ident $(<$host:ty>)?),+;)+) => {$($(
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        #[allow(non_snake_case, reason = "the names are the ABI's")]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!("jmp {body}", body = sym $module::$name $(::<$host>)?)
        }
        #[cfg(target_arch = "aarch64")]
        #[unsafe(naked)]
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        #[allow(non_snake_case, reason = "the names are the ABI's")]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!("b {body}", body = sym $module::$name $(::<$host>)?)
        }
    )+)+};
    ($($rest:tt)+) => { $crate::export! { @plain "" $($rest)+ } };
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    mod proper {
        /// Answers its caller's address, and its arguments in order.
        pub extern "C" fn gangway_test_caller(
            a: usize,
            b: usize,
            c: usize,
            d: usize,
            e: usize,
            f: usize,
            g: usize,
            address: *mut usize,
        ) -> usize {
            // SAFETY: the test passes its own variable.
            unsafe { *address = super::noted().addr() };
            [a, b, c, d, e, f, g].into_iter().fold(0, |all, digit| all * 10 + digit)
        }
    }

    crate::export! { noting proper: gangway_test_caller; }

    /// The exported function, with its type.
    type Exported =
        unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize, *mut usize) -> usize;

    #[inline(never)]
    fn call() -> usize {
        let mut address = 0;
        // SAFETY: the export jumps to the function proper, whose type this is; the only
        // condition is a valid pointer.
        let digits = unsafe {
            let exported: Exported = std::mem::transmute(gangway_test_caller as *const ());
            exported(1, 2, 3, 4, 5, 6, 7, &raw mut address)
        };
        assert_eq!(digits, 1_234_567);
        address
    }

    #[test]
    fn the_address_is_in_the_calling_function() {
        let begin = (call as fn() -> usize) as usize;
        let address = call();
        assert!(
            (begin..begin + 0x400).contains(&address),
            "{address:#x} is not in the function at {begin:#x}"
        );
    }

    #[test]
    fn each_thread_has_its_own() {
        note(std::ptr::without_provenance(0x1234));
        std::thread::spawn(|| assert!(noted().is_null())).join().unwrap();
        assert_eq!(noted().addr(), 0x1234);
    }
}
