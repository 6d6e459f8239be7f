//! Sorting and searching of arrays (C11 7.22.5).

use crate::export::export;
use core::ffi::{c_int, c_void};

type Compare = unsafe extern "C" fn(*const c_void, *const c_void) -> c_int;
type CompareWith = unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void) -> c_int;

/// An array whose elements have a size that is told at run time.
struct Array {
    start: *mut u8,
    size: usize,
}

impl Array {
    unsafe fn at(&self, index: usize) -> *mut c_void {
        // SAFETY: as the caller says.
        unsafe { self.start.add(index * self.size).cast() }
    }

    unsafe fn swap(&self, left: usize, right: usize) {
        // SAFETY: as the caller says.
        let (left, right) = unsafe { (self.at(left).cast::<u8>(), self.at(right).cast::<u8>()) };
        for at in 0..self.size {
            // SAFETY: both elements have so many bytes.
            unsafe {
                let byte = left.add(at).read();
                left.add(at).write(right.add(at).read());
                right.add(at).write(byte);
            }
        }
    }

    /// A heap sort: it needs no memory, and no recursion, for which GPUs have little room.
    unsafe fn sort(&self, count: usize, is_less: impl Fn(*const c_void, *const c_void) -> bool) {
        let sink = |mut root: usize, end: usize| {
            loop {
                let mut child = 2 * root + 1;
                if child >= end {
                    return;
                }
                // SAFETY: all of them are before the end.
                unsafe {
                    if child + 1 < end && is_less(self.at(child), self.at(child + 1)) {
                        child += 1;
                    }
                    if !is_less(self.at(root), self.at(child)) {
                        return;
                    }
                    self.swap(root, child);
                }
                root = child;
            }
        };
        (0..count / 2).rev().for_each(|root| sink(root, count));
        for end in (1..count).rev() {
            // SAFETY: as the caller says.
            unsafe { self.swap(0, end) };
            sink(0, end);
        }
    }
}

export! {
    /// Sorts an array.
    fn qsort(array: *mut c_void, count: usize, size: usize, compare: Compare) {
        Array { start: array.cast(), size }.sort(count, |left, right| compare(left, right) < 0);
    }

    /// The same, where the function gets a pointer of the caller's as well.
    fn qsort_r(array: *mut c_void, count: usize, size: usize, compare: CompareWith, with: *mut c_void) {
        Array { start: array.cast(), size }.sort(count, |left, right| compare(left, right, with) < 0);
    }

    /// Finds an element of a sorted array.
    fn bsearch(
        key: *const c_void,
        array: *const c_void,
        count: usize,
        size: usize,
        compare: Compare
    ) -> *mut c_void {
        let array = Array { start: array.cast::<u8>().cast_mut(), size };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            match compare(key, array.at(middle)) {
                0 => return array.at(middle),
                order if order < 0 => high = middle,
                _ => low = middle + 1,
            }
        }
        core::ptr::null_mut()
    }
}
