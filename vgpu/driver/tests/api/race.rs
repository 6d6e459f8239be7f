//! Many host threads at once, on every family of functions.

use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cuda::*;

const THREADS: usize = 8;

/// Runs something in many threads, in which a context is current.
fn race(context: Handle, work: impl Fn(usize) + Sync) {
    let context = context as usize;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let work = &work;
            scope.spawn(move || {
                check!(cuCtxSetCurrent(context as Handle));
                work(thread);
            });
        }
    });
}

#[test]
fn memory_of_one_context() {
    let context = Context::new();
    race(context.0, |thread| {
        for round in 0..100 {
            let values = vec![(thread * 1000 + round) as u32; 1 + round * 7];
            let address = to_device(&values);
            assert_eq!(from_device(address, values.len()), values);
            let pinned = get!(cuMemHostAlloc for *mut c_void; 64, 0);
            assert_eq!(get!(cuMemHostGetDevicePointer_v2(pinned, 0)), pinned as u64);
            check!(cuMemFreeHost(pinned));
            check!(cuMemFree_v2(address));
        }
    });
}

#[test]
fn modules_and_launches_of_one_context() {
    let context = Context::new();
    let text = CString::new(ptx(ADD)).unwrap();
    race(context.0, |thread| {
        let stream = get!(cuStreamCreate for Handle; (thread % 2) as u32);
        for _ in 0..10 {
            let module = get!(cuModuleLoadData for Handle; text.as_ptr().cast());
            let add = get!(cuModuleGetFunction for Handle; module, c"add".as_ptr());
            let address = to_device(&[thread as u32; 64]);
            for _ in 0..10 {
                check!(launch(add, 2, 32, stream, &[argument(&address), argument(&1), argument(&64)]));
            }
            check!(cuStreamSynchronize(stream));
            assert_eq!(from_device(address, 64), [thread as u32 + 10; 64]);
            check!(cuModuleUnload(module));
            check!(cuMemFree_v2(address));
        }
        check!(cuStreamDestroy_v2(stream));
    });
}

#[test]
fn one_function_in_many_threads() {
    let context = Context::new();
    let add = context.kernel(&ptx(ADD), "add") as usize;
    race(context.0, |_| {
        let address = to_device(&[0; 32]);
        for _ in 0..200 {
            let each = [argument(&address), argument(&1), argument(&32)];
            check!(launch(add as Handle, 1, 32, 2 as Handle, &each));
        }
        check!(cuStreamSynchronize(2 as Handle));
        assert_eq!(from_device(address, 32), [200; 32]);
    });
}

#[test]
fn contexts_come_and_go() {
    start();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for round in 0..20 {
                    let context = Context::on((thread % 2) as i32);
                    let address = to_device(&[round; 16]);
                    assert_eq!(from_device(address, 16), [round; 16]);
                    drop(context);
                }
            });
        }
    });
}

#[test]
fn a_context_is_destroyed_under_its_users() {
    for _ in 0..10 {
        let context = Context::new();
        let add = context.kernel(&ptx(ADD), "add") as usize;
        let handle = context.0 as usize;
        let started = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // SAFETY: a handle that may be invalid any moment, which is to be found out.
                    let current = unsafe { cuCtxSetCurrent(handle as Handle) };
                    started.fetch_add(1, Ordering::Release);
                    let mut status = current;
                    for _ in 0..1000 {
                        let mut address = 0;
                        if status == SUCCESS {
                            // SAFETY: as above.
                            status = unsafe { cuMemAlloc_v2(&mut address, 128) };
                        }
                        if status == SUCCESS {
                            let each = [argument(&address), argument(&1), argument(&32)];
                            status = launch(add as Handle, 1, 32, std::ptr::null_mut(), &each);
                        }
                    }
                    // The context was found destroyed, or its function was, or this was too fast.
                    assert!(matches!(status, SUCCESS | 709 | INVALID_HANDLE | INVALID_CONTEXT), "{status}");
                });
            }
            while started.load(Ordering::Acquire) < 4 {
                std::thread::yield_now();
            }
            drop(context);
        });
    }
}

#[test]
fn links_and_libraries() {
    let context = Context::new();
    let text = CString::new(ptx(ADD)).unwrap();
    race(context.0, |_| {
        let (none, null) = (std::ptr::null(), std::ptr::null_mut());
        for _ in 0..10 {
            let mut link = std::ptr::null_mut();
            check!(cuLinkCreate_v2(0, none, null, &mut link));
            let size = text.as_bytes_with_nul().len();
            check!(cuLinkAddData_v2(link, 1, text.as_ptr().cast(), size, c"add".as_ptr(), 0, none, null));
            let (mut image, mut length) = (std::ptr::null_mut(), 0);
            check!(cuLinkComplete(link, &mut image, &mut length));
            let library =
                get!(cuLibraryLoadData for Handle; image.cast_const(), none, null, 0, none, null, 0);
            check!(cuLinkDestroy(link));
            let kernel = get!(cuLibraryGetKernel for Handle; library, c"add".as_ptr());
            let address = to_device(&[1]);
            check!(launch(
                kernel,
                1,
                1,
                std::ptr::null_mut(),
                &[argument(&address), argument(&1), argument(&1)]
            ));
            assert_eq!(from_device(address, 1), [2]);
            check!(cuLibraryUnload(library));
        }
    });
}
