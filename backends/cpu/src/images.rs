//! The loaded images, as the signal handler sees them.

use crate::elf;
use crate::registry::{Node, Registry};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static IMAGES: Registry<Image> = Registry::new();

/// A loaded image; all zero between two.
#[derive(Default)]
pub(crate) struct Image {
    device: AtomicUsize,
    base: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    /// The whole file, mapped: the symbol table is not among what the loader
    /// maps. Costs no memory, the pages are those of the file.
    file: AtomicPtr<u8>,
    file_size: AtomicUsize,
}

/// Makes a loaded image known.
pub(crate) fn enter(
    device: usize,
    base: usize,
    addresses: Range<usize>,
    file: &File,
    file_size: usize,
) -> &'static Node<Image> {
    // SAFETY: a new mapping replaces nothing.
    let mapped = unsafe {
        libc::mmap(ptr::null_mut(), file_size, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    let node = IMAGES.take();
    let image = node.value();
    image.device.store(device, Ordering::Relaxed);
    image.base.store(base, Ordering::Relaxed);
    if mapped != libc::MAP_FAILED {
        image.file.store(mapped.cast(), Ordering::Relaxed);
        image.file_size.store(file_size, Ordering::Relaxed);
    }
    image.start.store(addresses.start, Ordering::Relaxed);
    image.end.store(addresses.end, Ordering::Release);
    node
}

/// Forgets an image that has been unloaded.
pub(crate) fn leave(node: &Node<Image>) {
    let image = node.value();
    image.end.store(0, Ordering::Release);
    let file = image.file.swap(ptr::null_mut(), Ordering::Relaxed);
    if !file.is_null() {
        // SAFETY: mapped by `enter` with this size, and no longer referred to.
        unsafe { libc::munmap(file.cast(), image.file_size.load(Ordering::Relaxed)) };
    }
    node.give_up();
}

/// The image that `address` lies in.
pub(crate) fn find(address: usize) -> Option<&'static Image> {
    IMAGES.iter().find(|image| {
        address < image.end.load(Ordering::Acquire) && address >= image.start.load(Ordering::Relaxed)
    })
}

impl Image {
    pub fn device(&self) -> usize {
        self.device.load(Ordering::Relaxed)
    }

    /// The symbol at `address`, and how far into it the address lies. `None` too
    /// if the address is not in this image.
    pub fn symbol(&self, address: usize) -> Option<(&'static [u8], usize)> {
        let (file, address) = self.in_file(address)?;
        let (name, into) = elf::symbol_at(file, address)?;
        Some((name, into as usize))
    }

    /// Whether `address` is in the image's code, as return addresses are: pointers to
    /// its variables are on many stacks.
    pub fn is_code(&self, address: usize) -> bool {
        self.in_file(address).is_none_or(|(file, address)| elf::is_code(file, address))
    }

    /// Whether the host may write `size` bytes at `address`.
    pub fn is_writable(&self, address: usize, size: usize) -> bool {
        let writable = |(file, address)| elf::is_writable(file, address, size as u64);
        self.in_file(address).is_some_and(writable)
    }

    /// The file, if it is known, and an address as the file has it.
    pub fn in_file(&self, address: usize) -> Option<(&'static [u8], u64)> {
        let address = address.checked_sub(self.base.load(Ordering::Relaxed))?;
        let file = self.file.load(Ordering::Acquire);
        if file.is_null() {
            return None;
        }
        // SAFETY: mapped with this size until the image is left, which does not
        // happen while code of it runs.
        let file = unsafe { std::slice::from_raw_parts(file, self.file_size.load(Ordering::Relaxed)) };
        Some((file, address as u64))
    }
}
