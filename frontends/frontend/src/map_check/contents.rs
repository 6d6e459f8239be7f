//! What memory of the host has, read in a way that cannot fail the program.

/// The bytes at an address; `None` where they cannot be read.
///
/// The system copies them, so a range that a program maps and has no right to read is no fault.
pub fn read(address: usize, size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; size];
    read_into(address, &mut bytes).then_some(bytes)
}

/// As [`read`], without an allocation.
pub fn read_into(address: usize, bytes: &mut [u8]) -> bool {
    let size = bytes.len();
    let mut done = 0;
    while done < size {
        let to = libc::iovec { iov_base: bytes[done..].as_mut_ptr().cast(), iov_len: size - done };
        let from = libc::iovec {
            iov_base: std::ptr::with_exposed_provenance_mut(address + done),
            iov_len: size - done,
        };
        // SAFETY: this process's own memory; what cannot be read is an error, and `to` has room.
        let got = unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
        if got <= 0 {
            return false;
        }
        done += got as usize;
    }
    true
}

const PAGE: usize = 4096;

/// How many bytes of a range the program has memory for, if not for all.
pub fn ends_before(address: usize, size: usize) -> Option<usize> {
    ends_where(address, size, |first, pages| {
        let begin = std::ptr::with_exposed_provenance_mut(first);
        // SAFETY: this changes nothing; it fails with ENOMEM where nothing is mapped.
        unsafe { libc::msync(begin, pages * PAGE, libc::MS_ASYNC) == 0 }
    })
}

/// The same, with what tells whether there are so many pages from one on.
fn ends_where(address: usize, size: usize, has: impl Fn(usize, usize) -> bool) -> Option<usize> {
    let first = address / PAGE * PAGE;
    let last = address.checked_add(size.checked_sub(1)?)? / PAGE * PAGE;
    let all = (last - first) / PAGE + 1;
    if has(first, all) {
        return None;
    }
    // Pages that are there, and a number that is too large.
    let (mut there, mut missing) = (0, all);
    while missing - there > 1 {
        let middle = usize::midpoint(there, missing);
        if has(first, middle) {
            there = middle;
        } else {
            missing = middle;
        }
    }
    Some((first + there * PAGE).saturating_sub(address))
}

/// How much is looked at together: it stays in a processor's second cache.
const PART: usize = 1 << 18;

/// Parts of a range, each with its offset.
fn parts(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).step_by(PART).map(move |offset| (offset, PART.min(size - offset)))
}

/// Has `work` see to a range, a part after the other, which it gets the offset of, and room for. False where it has
/// said so.
pub fn by_parts(size: usize, mut work: impl FnMut(usize, &mut [u8]) -> bool) -> bool {
    let mut room = vec![0; PART.min(size)];
    parts(size).all(|(offset, length)| work(offset, &mut room[..length]))
}

/// Has `look` see memory of the host in the same way. False where something cannot be read.
pub fn of_host(address: usize, size: usize, mut look: impl FnMut(usize, &[u8])) -> bool {
    by_parts(size, |offset, now| {
        let done = read_into(address + offset, now);
        if done {
            look(offset, now);
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_ends_somewhere() {
        let end = 14 * PAGE;
        let ends = |address, size| ends_where(address, size, |first, pages| first + pages * PAGE <= end);
        assert_eq!((ends(10 * PAGE, 4 * PAGE), ends(end - 1, 1), ends(end, 0)), (None, None, None));
        assert_eq!(ends(10 * PAGE + 5, 4 * PAGE), Some(4 * PAGE - 5));
        assert_eq!((ends(PAGE, 100 * PAGE), ends(end + 7, 1)), (Some(13 * PAGE), Some(0)));
        let here = [0_u8; 3 * PAGE];
        assert_eq!((ends_before(here.as_ptr().addr(), here.len()), ends_before(8, usize::MAX)), (None, None));
        assert_eq!(ends_before(16, 8), Some(0));
    }

    #[test]
    fn what_is_not_there_cannot_be_read() {
        let bytes = [1_u8, 2, 3, 4];
        assert_eq!(read(bytes.as_ptr().addr() + 1, 2), Some(vec![2, 3]));
        assert_eq!(read(8, 8), None);
        let large: Vec<u8> = (0..3 * PART + 5).map(|at| at as u8).collect();
        let mut seen = Vec::new();
        let add = |offset: usize, part: &[u8]| {
            assert_eq!(offset, seen.len());
            seen.extend_from_slice(part);
        };
        assert!(of_host(large.as_ptr().addr(), large.len(), add) && seen == large);
        assert!(!of_host(8, 8, |_, _| unreachable!()));
    }
}
