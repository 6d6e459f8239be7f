//! The range and its process: when it cannot be reserved, and what a forked child has of it.
//!
//! Each test runs in a process of its own: the range of a process is reserved once.

use std::os::unix::process::CommandExt;
use std::process::Command;

use gangway_commands::{Run, again, is_alone};
use gangway_device_memory::{AMD, AllocationKind, BASE, Error, NVIDIA, Request, Space, is_device_address};

#[test]
fn a_limit_of_address_space_is_a_clean_error() {
    let Some(mut program) = again("a_limit_of_address_space_is_a_clean_error") else {
        let error = Space::get().expect_err("there is a limit");
        assert_eq!(Space::get().expect_err("it stays"), error);
        let text = "cannot reserve the addresses 0x200000000000 to 0x240000000000 for device memory: \
                    the kernel refuses so much address space (is there a limit, `ulimit -v`?)";
        assert_eq!(error.to_string(), text);
        return;
    };
    let limit = libc::rlimit { rlim_cur: 4 << 30, rlim_max: 4 << 30 };
    // SAFETY: a call that reads a structure of this process.
    prepared(&mut program, move || unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) });
    program.run().succeeded();
}

/// Linux places libraries elsewhere then, far below where they are mostly.
#[test]
fn a_stack_without_a_limit_leaves_the_range() {
    let Some(mut program) = again("a_stack_without_a_limit_leaves_the_range") else {
        Space::get().expect("the addresses of device memory");
        assert!(is_free(AMD.base));
        return;
    };
    // SAFETY: calls that read and write a structure of this process.
    prepared(&mut program, || unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        match libc::getrlimit(libc::RLIMIT_STACK, &mut limit) {
            0 => libc::setrlimit(libc::RLIMIT_STACK, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit }),
            failed => failed,
        }
    });
    program.run().succeeded();
}

#[test]
fn the_old_layout_leaves_the_range() {
    let Some(mut program) = again("the_old_layout_leaves_the_range") else {
        Space::get().expect("the addresses of device memory");
        assert!(is_free(AMD.base));
        return;
    };
    // SAFETY: a call that changes how the next program of this process is laid out.
    prepared(&mut program, || unsafe { libc::personality(libc::ADDR_COMPAT_LAYOUT as libc::c_ulong).min(0) });
    program.run().succeeded();
}

/// Whether nothing is mapped at an address; takes the page.
fn is_free(address: u64) -> bool {
    let at = std::ptr::with_exposed_provenance_mut::<libc::c_void>(address as usize);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: nothing that is there is replaced.
    unsafe { libc::mmap(at, 4096, libc::PROT_NONE, flags, -1, 0) == at }
}

/// The libraries of both makers' GPUs have a copy of this crate each.
#[test]
fn amds_devices_have_a_range_of_their_own() {
    if !is_alone("amds_devices_have_a_range_of_their_own") {
        return;
    }
    let space = Space::of_amd().expect("the addresses of device memory");
    assert!(is_free(NVIDIA.base) && !is_free(AMD.base) && !is_free(AMD.base + AMD.size - 4096));
    let request = Request::new(0, 3 << 30, AllocationKind::Device);
    let sizes: Vec<_> = (0..4).map(|_| space.allocate(&request).expect("memory")).collect();
    for &address in &sizes {
        assert!(is_device_address(address) && address >= AMD.base && space.check(address, 8, true).is_ok());
        // SAFETY: the test owns the allocation.
        unsafe { space.write(address + request.size - 8, &[1; 8]).expect("it is allocated") };
    }
    assert!(!is_device_address(NVIDIA.base) && space.check(NVIDIA.base, 8, false).is_err());
    assert_eq!(space.describe(NVIDIA.base + 64), "a pointer to memory of the virtual NVIDIA GPU");
    sizes.iter().for_each(|&address| space.free(address).expect("it is allocated"));
    let constants = Request::new(0, 64, AllocationKind::Constant);
    assert!(matches!(space.allocate(&constants), Err(Error::OutOfMemory { .. })));
    assert!(gangway_device_memory::shadow::enable().is_err());
    // All of it, and not a byte more.
    assert!(space.allocate(&Request::new(0, AMD.size, AllocationKind::Device)).is_err());
    space.allocate(&Request::new(0, AMD.size / 2, AllocationKind::Device)).expect("half of it");
}

/// Has the child make a system call before it becomes another program.
fn prepared(program: &mut Command, call: impl Fn() -> i32 + Send + Sync + 'static) {
    let prepare = move || match call() {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    };
    // SAFETY: the child does nothing but the call.
    unsafe { program.pre_exec(prepare) };
}

#[test]
fn what_is_mapped_in_the_range_stays() {
    if !is_alone("what_is_mapped_in_the_range_stays") {
        return;
    }
    let at = std::ptr::with_exposed_provenance_mut::<libc::c_void>(BASE as usize + 4096);
    let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: nothing is there in this process, and the mapping is its own.
    let page = unsafe {
        let page = libc::mmap(at, 4096, rights, flags | libc::MAP_FIXED_NOREPLACE, -1, 0);
        assert_eq!(page, at);
        page.cast::<u8>()
    };
    // SAFETY: the page was just mapped.
    unsafe { page.write_volatile(7) };
    let error = Space::get().expect_err("something is there");
    assert!(matches!(&error, Error::NotReserved(why) if why == "something else is mapped there"), "{error}");
    // SAFETY: as above.
    assert_eq!(unsafe { page.read_volatile() }, 7);
}

#[test]
fn a_forked_child_has_a_copy() {
    if !is_alone("a_forked_child_has_a_copy") {
        return;
    }
    let space = Space::get().expect("the addresses of device memory");
    let request = Request::new(0, 8, AllocationKind::Device);
    let address = space.allocate(&request).expect("memory");
    // SAFETY: the test owns the allocation; the child only uses memory, allocates and ends, and no
    // other thread of this process allocates.
    unsafe {
        space.write(address, &[1; 8]).expect("it is allocated");
        let child = libc::fork();
        if child == 0 {
            let mut bytes = [0; 8];
            let read = space.read(address, &mut bytes).is_ok() && bytes == [1; 8];
            let written = space.write(address, &[2; 8]).is_ok();
            let more = space.allocate(&request).is_ok() && space.free(address).is_ok();
            libc::_exit(if read && written && more { 0 } else { 1 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert_eq!(status, 0, "the child's copy");
        let mut bytes = [0; 8];
        space.read(address, &mut bytes).expect("it is still allocated");
        assert_eq!(bytes, [1; 8], "the child has changed its own copy only");
    }
}

/// What is freed cannot be read any more, not even by a wild pointer; nor can the page behind an
/// allocation.
#[test]
fn freed_memory_and_what_is_behind_an_end_fault() {
    if !is_alone("freed_memory_and_what_is_behind_an_end_fault") {
        return;
    }
    let space = Space::get().expect("the addresses of device memory");
    let faults = |address: u64| {
        // SAFETY: the child reads one byte and ends, in one way or the other.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let pointer = std::ptr::with_exposed_provenance::<u8>(address as usize);
                let value = pointer.read_volatile();
                libc::_exit(i32::from(value) & 1);
            }
            let mut status = -1;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV
        }
    };
    for size in [1, 256, 400, 4096, 100_000, 3 << 20, 5 << 20, 700 << 20] {
        let address = space.allocate(&Request::new(0, size, AllocationKind::Device)).expect("memory");
        assert!(!faults(address) && !faults(address + size - 1), "{size} bytes");
        assert!(faults(address + size.next_multiple_of(256)), "behind {size} bytes");
        space.free(address).expect("it is allocated");
        assert!(faults(address) && faults(address + size - 1), "{size} freed bytes");
    }
}
