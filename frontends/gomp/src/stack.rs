//! The stack of the calling thread.

use std::mem::MaybeUninit;

/// Whether an address is in it, in a frame of this call or of one that has led here.
pub(crate) fn has(address: usize) -> bool {
    let here = 0_u8;
    let lowest = (&raw const here).addr();
    address >= lowest && END.try_with(|end| address < *end).unwrap_or(false)
}

thread_local! {
    /// Behind its last byte: it grows downwards.
    static END: usize = end();
}

/// 0 if it cannot be told.
#[cold]
fn end() -> usize {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut begin, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are written before they are read and destroyed; the others are this
    // function's variables.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return 0;
        }
        let told = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut begin, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if told == 0 { begin.addr() + size } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ELSEWHERE: u8 = 0;

    #[test]
    fn variables_of_calls_are_in_it() {
        let (local, heap) = ([0_u8; 100], Box::new(0_u8));
        assert!(has((&raw const local).addr()));
        assert!(!has((&raw const *heap).addr()) && !has((&raw const ELSEWHERE).addr()));
        let of_another_thread = (&raw const local).addr();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(!has(of_another_thread)));
        });
    }
}
