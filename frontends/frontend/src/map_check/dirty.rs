//! Which pages have been written since they were last looked at, as Linux can tell it.
//!
//! Pages are registered for write protection that the system lifts by itself at the first write (`userfaultfd` with
//! `UFFD_FEATURE_WP_ASYNC`), and `PAGEMAP_SCAN` tells which ones it was lifted from, and protects those again (Linux 6.7).
//! A write costs a fault for each page and look, of the program's and of the system's own, as of `read`. No signal is raised,
//! and nothing fails. Where the system has that not, or memory is of another kind, nobody knows, and all is compared.

use super::lock::Lock;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const PAGE: usize = 4096;
/// Of less than this, contents are compared sooner than the system is asked.
const LEAST: usize = 16 * PAGE;

/// `linux/userfaultfd.h`.
mod userfaultfd {
    pub const USER_MODE_ONLY: libc::c_int = 1;
    pub const API: u64 = 0xaa;
    pub const WP_UNPOPULATED: u64 = 1 << 13;
    pub const WP_ASYNC: u64 = 1 << 15;
    pub const MODE_WP: u64 = 1 << 1;
    /// `_IOWR(0xaa, 0x3f, struct uffdio_api)`
    pub const IOCTL_API: libc::c_ulong = 0xc018_aa3f;
    /// `_IOWR(0xaa, 0, struct uffdio_register)`
    pub const IOCTL_REGISTER: libc::c_ulong = 0xc020_aa00;

    #[repr(C)]
    pub struct Api {
        pub api: u64,
        pub features: u64,
        pub ioctls: u64,
    }

    #[repr(C)]
    pub struct Register {
        pub start: u64,
        pub length: u64,
        pub mode: u64,
        pub ioctls: u64,
    }
}

/// `linux/fs.h`.
mod pagemap {
    pub const IS_WRITTEN: u64 = 1 << 1;
    pub const PROTECT_MATCHING: u64 = 1 << 0;
    pub const CHECK_ASYNC: u64 = 1 << 1;
    /// `_IOWR('f', 16, struct pm_scan_arg)`
    pub const IOCTL_SCAN: libc::c_ulong = 0xc060_6610;

    #[derive(Clone, Copy, Default)]
    #[repr(C)]
    pub struct Region {
        pub start: u64,
        pub end: u64,
        pub categories: u64,
    }

    #[derive(Default)]
    #[repr(C)]
    pub struct Scan {
        pub size: u64,
        pub flags: u64,
        pub start: u64,
        pub end: u64,
        pub walk_end: u64,
        pub regions: u64,
        pub count: u64,
        pub max_pages: u64,
        pub inverted: u64,
        pub mask: u64,
        pub any: u64,
        pub told: u64,
    }
}

enum System {
    NotAsked,
    /// It has it not, or this is a forked child, whose memory the parent's descriptors do not know.
    Unable,
    Able {
        faults: OwnedFd,
        pages: OwnedFd,
    },
}

static SYSTEM: Lock<System> = Lock::new(System::NotAsked);

fn open() -> Option<System> {
    let flags = libc::O_CLOEXEC | userfaultfd::USER_MODE_ONLY;
    // SAFETY: makes a descriptor, which nobody else has.
    let faults = unsafe {
        let faults = libc::syscall(libc::SYS_userfaultfd, flags) as libc::c_int;
        (faults >= 0).then(|| OwnedFd::from_raw_fd(faults))?
    };
    let features = userfaultfd::WP_ASYNC | userfaultfd::WP_UNPOPULATED;
    let mut api = userfaultfd::Api { api: userfaultfd::API, features, ioctls: 0 };
    // SAFETY: the structure that belongs to this request.
    let able = unsafe { libc::ioctl(faults.as_raw_fd(), userfaultfd::IOCTL_API, &raw mut api) == 0 };
    let pages = std::fs::File::open("/proc/self/pagemap").ok()?.into();
    able.then_some(System::Able { faults, pages })
}

/// Keeps all others away before a fork.
pub fn hold() {
    SYSTEM.acquire();
}

/// Ends that.
pub fn let_go() {
    SYSTEM.release();
}

/// A forked child does without it. Descriptors stay as they are: the program may have closed them.
pub fn stop() {
    SYSTEM.try_with(|system| std::mem::forget(std::mem::replace(system, System::Unable)));
}

/// The parts of a range that have been written since this was last asked, in their order; what is written from now on
/// is told the next time. None: nobody knows.
pub fn written(address: usize, size: usize) -> Option<Vec<Range<usize>>> {
    let (begin, end) = (address.next_multiple_of(PAGE), (address + size) / PAGE * PAGE);
    if begin.saturating_add(LEAST) > end {
        return None;
    }
    let mut found = Vec::new();
    let mut add = |part: Range<usize>| {
        match found.last_mut() {
            _ if part.is_empty() => {}
            Some(Range { end, .. }) if *end == part.start => *end = part.end,
            _ => found.push(part),
        };
    };
    // Pages that others use as well are always looked at.
    add(address..begin);
    SYSTEM.try_with(|system| {
        if matches!(system, System::NotAsked) {
            *system = open().unwrap_or(System::Unable);
        }
        let System::Able { faults, pages } = system else { return None };
        if scan(pages, begin..end, &mut add).is_none() {
            let (start, length) = (begin as u64, (end - begin) as u64);
            let mut range = userfaultfd::Register { start, length, mode: userfaultfd::MODE_WP, ioctls: 0 };
            // SAFETY: the structure that belongs to this request. Nothing about the memory changes that shows.
            unsafe { libc::ioctl(faults.as_raw_fd(), userfaultfd::IOCTL_REGISTER, &raw mut range) };
            // All of it counts as written, now.
            let _ = scan(pages, begin..end, &mut |_| ());
            return None;
        }
        Some(())
    })??;
    add(end..address + size);
    Some(found)
}

/// Tells the pages that have been written, and protects them again. None: some are not registered.
fn scan(pages: &OwnedFd, range: Range<usize>, tell: &mut impl FnMut(Range<usize>)) -> Option<()> {
    let mut regions = [pagemap::Region::default(); 256];
    let mut at = range.start;
    while at < range.end {
        let mut scan = pagemap::Scan {
            size: size_of::<pagemap::Scan>() as u64,
            flags: pagemap::PROTECT_MATCHING | pagemap::CHECK_ASYNC,
            start: at as u64,
            end: range.end as u64,
            regions: regions.as_mut_ptr().addr() as u64,
            count: regions.len() as u64,
            mask: pagemap::IS_WRITTEN,
            told: pagemap::IS_WRITTEN,
            ..pagemap::Scan::default()
        };
        // SAFETY: the structure that belongs to this request, with room for so many regions.
        let count = unsafe { libc::ioctl(pages.as_raw_fd(), pagemap::IOCTL_SCAN, &raw mut scan) };
        for region in regions.get(..usize::try_from(count).ok()?)? {
            tell(region.start as usize..region.end as usize);
        }
        if scan.walk_end as usize <= at {
            return None;
        }
        at = scan.walk_end as usize;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_told_once() {
        let mut memory = vec![1_u8; 40 * PAGE];
        let (begin, size) = (memory.as_ptr().addr(), memory.len());
        assert_eq!(written(begin, size), None, "nobody has asked before");
        let Some(ends) = written(begin, size) else {
            // A system that cannot tell never does: everything is compared.
            SYSTEM.try_with(|system| assert!(matches!(system, System::Unable), "it has been registered"));
            assert_eq!(written(begin, size), None);
            return;
        };
        let page = begin.next_multiple_of(PAGE) + 5 * PAGE;
        memory[page - begin + 7] = 2;
        memory[page - begin + PAGE] = 2;
        let told = written(begin, size).expect("it was known before");
        assert!(told.contains(&(page..page + 2 * PAGE)), "{told:?}");
        assert_eq!(told.len(), ends.len() + 1);
        assert_eq!(written(begin, size), Some(ends));
        assert_eq!(written(begin, LEAST / 2), None, "it is compared sooner");
    }
}
