//! Blocks of host calls: a header, and a text behind it.

use crate::device;
use core::ffi::c_void;
use gangway_system::{FUNCTION, HEADER, Header, Operation};

/// Bytes of text that a block has on the stack. More is taken from the heap.
const SMALL: usize = 224;

/// What the host answers, or `None` where it has not carried the operation out.
pub fn ask(operation: Operation, first: u64, second: u64) -> Option<u64> {
    let mut header = Header { operation: operation as u64, first, second, length: 0 };
    // SAFETY: a header is a block.
    unsafe { call(&raw mut header, HEADER) }
}

/// The same with a text of `length` bytes, which `fill` writes. Fails also where there is no
/// memory for it.
#[inline(always)]
pub fn ask_with(
    operation: Operation,
    first: u64,
    second: u64,
    length: usize,
    fill: impl FnOnce(&mut [u8]),
    read: impl FnOnce(Option<u64>, &[u8]),
) -> Option<u64> {
    #[repr(C)]
    struct Small {
        header: Header,
        text: [u64; SMALL / 8],
    }
    let header = Header { operation: operation as u64, first, second, length: length as u64 };
    let mut small = core::mem::MaybeUninit::<Small>::uninit();
    let mut heap = core::ptr::null_mut();
    let block: *mut Header = if length <= SMALL {
        small.as_mut_ptr().cast()
    } else {
        // SAFETY: any size may be asked for.
        heap = unsafe { device::malloc((HEADER + length) as u64) };
        heap.cast()
    };
    if block.is_null() {
        return None;
    }
    // SAFETY: the block has room for a header and the text. All bytes of the text are written
    // before they are read.
    let answer = unsafe {
        block.write(header);
        let text = block.add(1).cast::<u8>();
        fill(core::slice::from_raw_parts_mut(text, length));
        let answer = call(block, HEADER + length);
        read(answer, core::slice::from_raw_parts(text, length));
        answer
    };
    if !heap.is_null() {
        // SAFETY: it is of `malloc`, and no longer in use.
        unsafe { device::free(heap) };
    }
    answer
}

/// # Safety
/// The block has a header, and so many bytes.
#[inline(never)]
pub unsafe fn call(block: *mut Header, size: usize) -> Option<u64> {
    // SAFETY: the caller's promise.
    let outcome = unsafe { device::gangway_host_call(FUNCTION, block.cast::<c_void>(), size) };
    // SAFETY: as above.
    (outcome == 0).then(|| unsafe { (*block).first })
}
