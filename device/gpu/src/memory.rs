//! `omp_alloc` and its family: memory of the device's heap, which all threads of the device can reach.
//!
//! In front of each block stand its size and where the heap's own block begins, since the heap
//! aligns to 16 bytes alone and cannot grow a block.

use crate::debug;
use crate::target;
use core::ffi::c_void;

/// An allocator: one of the specification's, or the address of an [`Allocator`].
pub type Handle = *mut c_void;

/// The handles up to this one are the specification's; each of them has the device's heap.
const LAST_PREDEFINED: usize = 8;
const LEAST_ALIGNMENT: usize = 16;

/// Traits of an allocator that the program has made.
struct Allocator {
    alignment: usize,
    fallback: usize,
}

/// `omp_alloctrait_t`
#[repr(C)]
pub struct Trait {
    key: u32,
    value: usize,
}

const TRAIT_ALIGNMENT: u32 = 2;
const TRAIT_FALLBACK: u32 = 5;
/// End the program where there is no memory.
const FALLBACK_ABORT: usize = 13;

#[repr(C)]
struct Header {
    block: *mut c_void,
    bytes: usize,
}

const _: () = assert!(size_of::<Header>() == LEAST_ALIGNMENT);

fn allocate(alignment: usize, bytes: usize, allocator: Handle) -> *mut c_void {
    if bytes == 0 {
        return core::ptr::null_mut();
    }
    let own = if allocator as usize > LAST_PREDEFINED {
        // SAFETY: other handles are of `omp_init_allocator`.
        Some(unsafe { &*allocator.cast::<Allocator>() })
    } else {
        None
    };
    let alignment = alignment.max(own.map_or(0, |own| own.alignment)).max(LEAST_ALIGNMENT);
    let extra = size_of::<Header>() + alignment - LEAST_ALIGNMENT;
    let block = bytes.checked_add(extra).map_or(core::ptr::null_mut(), |all| target::allocate(all as u64));
    if block.is_null() {
        if own.is_some_and(|own| own.fallback == FALLBACK_ABORT) {
            debug::give_up(c"gangway: an allocator with the trait abort_fb has no memory left\n");
        }
        return block;
    }
    let start = (block as usize + size_of::<Header>()).next_multiple_of(alignment);
    let offset = start - block as usize;
    // SAFETY: the block has room for the header before the aligned address.
    unsafe {
        let memory = block.cast::<u8>().add(offset);
        memory.cast::<Header>().sub(1).write(Header { block, bytes });
        memory.cast()
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_alloc(bytes: usize, allocator: Handle) -> *mut c_void {
    allocate(0, bytes, allocator)
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_aligned_alloc(alignment: usize, bytes: usize, allocator: Handle) -> *mut c_void {
    allocate(alignment, bytes, allocator)
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_calloc(count: usize, bytes: usize, allocator: Handle) -> *mut c_void {
    omp_aligned_calloc(0, count, bytes, allocator)
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_aligned_calloc(
    alignment: usize,
    count: usize,
    bytes: usize,
    allocator: Handle,
) -> *mut c_void {
    let Some(all) = count.checked_mul(bytes) else { return core::ptr::null_mut() };
    let memory = allocate(alignment, all, allocator);
    if !memory.is_null() {
        // SAFETY: the memory has that many bytes.
        unsafe { core::ptr::write_bytes(memory.cast::<u8>(), 0, all) };
    }
    memory
}

/// # Safety
/// `memory` is null or of this family.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_realloc(
    memory: *mut c_void,
    bytes: usize,
    allocator: Handle,
    free_allocator: Handle,
) -> *mut c_void {
    let fresh = allocate(0, bytes, allocator);
    if memory.is_null() || (fresh.is_null() && bytes != 0) {
        return fresh;
    }
    // SAFETY: the header stands before the memory, and both have as many bytes as they say.
    unsafe {
        if !fresh.is_null() {
            let kept = (*memory.cast::<Header>().sub(1)).bytes.min(bytes);
            core::ptr::copy_nonoverlapping(memory.cast::<u8>(), fresh.cast::<u8>(), kept);
        }
        omp_free(memory, free_allocator);
    }
    fresh
}

/// # Safety
/// `memory` is null or of this family.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_free(memory: *mut c_void, _: Handle) {
    if !memory.is_null() {
        // SAFETY: the header stands before the memory.
        unsafe { target::release((*memory.cast::<Header>().sub(1)).block) };
    }
}

/// # Safety
/// There are `count` traits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_allocator(_space: Handle, count: i32, traits: *const Trait) -> Handle {
    let mut own = Allocator { alignment: 0, fallback: 0 };
    for index in 0..count.max(0) as usize {
        // SAFETY: as the caller says.
        let one = unsafe { &*traits.add(index) };
        match one.key {
            TRAIT_ALIGNMENT => own.alignment = one.value,
            TRAIT_FALLBACK => own.fallback = one.value,
            // The others say how memory is reached, and there is one kind of it.
            _ => {}
        }
    }
    let memory: *mut Allocator = target::allocate(size_of::<Allocator>() as u64).cast();
    if !memory.is_null() {
        // SAFETY: the memory is large enough.
        unsafe { memory.write(own) };
    }
    memory.cast()
}

/// # Safety
/// The allocator is of [`omp_init_allocator`], or one of the specification's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_destroy_allocator(allocator: Handle) {
    if allocator as usize > LAST_PREDEFINED {
        // SAFETY: as the caller says.
        unsafe { target::release(allocator) };
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_default_allocator() -> Handle {
    core::ptr::without_provenance_mut(1)
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_default_allocator(_: Handle) {}

/// What the `allocate` directive becomes.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_alloc(_: i32, bytes: usize, allocator: Handle) -> *mut c_void {
    allocate(0, bytes, allocator)
}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_aligned_alloc(
    _: i32,
    alignment: usize,
    bytes: usize,
    allocator: Handle,
) -> *mut c_void {
    allocate(alignment, bytes, allocator)
}

/// # Safety
/// `memory` is null or of [`__kmpc_alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_free(_: i32, memory: *mut c_void, allocator: Handle) {
    // SAFETY: as the caller says.
    unsafe { omp_free(memory, allocator) };
}

/// # Safety
/// As for [`omp_init_allocator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_init_allocator(
    _: i32,
    space: Handle,
    count: i32,
    traits: *const Trait,
) -> Handle {
    // SAFETY: as the caller says.
    unsafe { omp_init_allocator(space, count, traits) }
}

/// # Safety
/// As for [`omp_destroy_allocator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_destroy_allocator(_: i32, allocator: Handle) {
    // SAFETY: as the caller says.
    unsafe { omp_destroy_allocator(allocator) };
}
