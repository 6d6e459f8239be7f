//! Has the `gangway` command say where in the source a crash is, and what pointer led there.
//!
//! The [command](crate::command) gets the image and a [record](crate::crash_record) of the crash as two
//! files in memory, and prints the lines itself.

use super::fault::Crash;
use crate::command;
use crate::crash_record::{COMMAND, RECORD_WORDS, STACK_BYTES};
use crate::images::Image;
use std::ptr;

/// The registers in the order of DWARF's numbers.
const DWARF_ORDER: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RDX,
    libc::REG_RCX,
    libc::REG_RBX,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_RBP,
    libc::REG_RSP,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// Prints where `address` is in the source. It is a return address if `called`; the
/// registers are then not those of its function.
pub(super) fn print(crash: &Crash, image: &Image, address: usize, called: bool) {
    let Some((file, in_file)) = image.in_file(address).filter(|_| command::is_there()) else { return };
    let mut record = [0_u64; RECORD_WORDS];
    record[0] = in_file;
    record[1] = u64::from(called);
    record[2] = u64::from(crash.touched().is_some());
    record[3] = crash.touched().unwrap_or_default() as u64;
    record[4] = crash.lowest() as u64;
    for (word, register) in record[5..].iter_mut().zip(DWARF_ORDER) {
        *word = crash.register(register);
    }
    // SAFETY: any words are bytes.
    let record = unsafe { std::slice::from_raw_parts(record.as_ptr().cast::<u8>(), size_of_val(&record)) };
    // SAFETY: the names are constants, and the descriptors our own.
    unsafe {
        let image = libc::memfd_create(c"gangway-image".as_ptr(), libc::MFD_CLOEXEC);
        let snapshot = libc::memfd_create(c"gangway-crash".as_ptr(), libc::MFD_CLOEXEC);
        if image >= 0
            && snapshot >= 0
            && write(image, file.as_ptr(), file.len()) == file.len()
            && write(snapshot, record.as_ptr(), record.len()) == record.len()
        {
            // As much as there is: the system stops at what cannot be read.
            write(snapshot, ptr::with_exposed_provenance(crash.lowest()), STACK_BYTES);
            let arguments = [COMMAND, c"/proc/self/fd/3", c"/proc/self/fd/4"];
            command::run(&arguments, &[(image, 3), (snapshot, 4)]);
        }
        libc::close(image);
        libc::close(snapshot);
    }
}

/// # Safety
/// The bytes need not be readable, as the kernel checks it.
unsafe fn write(to: i32, from: *const u8, size: usize) -> usize {
    let mut done = 0;
    while done < size {
        // SAFETY: the caller's promise.
        let count = unsafe { libc::write(to, from.wrapping_add(done).cast(), size - done) };
        if count <= 0 {
            break;
        }
        done += count as usize;
    }
    done
}
