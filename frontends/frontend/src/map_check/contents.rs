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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_cannot_be_read() {
        let bytes = [1_u8, 2, 3, 4];
        assert_eq!(read(bytes.as_ptr().addr() + 1, 2), Some(vec![2, 3]));
        assert_eq!(read(8, 8), None);
    }
}
