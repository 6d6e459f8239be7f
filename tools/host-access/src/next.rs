//! The functions behind those of this library, which have the same names.
//!
//! They are looked for together, and when the library is loaded: a search takes the loader's lock. Whoever has it may
//! wait for the thread that searches, as a library's constructor does that has a parallel region.

use libc::{c_int, c_void, dl_phdr_info, size_t};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next function of a name.
pub struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static str) -> Self {
        let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else { panic!("a null is at the end") };
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address.
    #[inline]
    pub fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.search() } else { found }
    }

    /// It is called before the library's constructor, or what has it was loaded behind that.
    #[cold]
    fn search(&self) -> *mut c_void {
        find_all();
        if self.is_missing() {
            find_in_private_libraries();
        }
        if self.is_missing() {
            eprintln!("gangway: error: no library that is loaded has {}", self.name.to_string_lossy());
            std::process::abort();
        }
        self.found.load(Ordering::Relaxed)
    }

    fn is_missing(&self) -> bool {
        self.found.load(Ordering::Relaxed).is_null()
    }

    /// Looks for it, if it is missing, behind this library.
    pub fn find(&self) {
        self.find_in(libc::RTLD_NEXT);
    }

    /// Looks for it, if it is missing, in an object that is loaded, or behind this library.
    fn find_in(&self, object: *mut c_void) {
        if self.is_missing() {
            // SAFETY: the name has a null behind it, and the object is one of the loader's.
            let found = unsafe { libc::dlsym(object, self.name.as_ptr()) };
            // Another thread may have found it elsewhere since.
            if !found.is_null() {
                self.found.store(found, Ordering::Relaxed);
            }
        }
    }
}

/// The next function of a name.
macro_rules! next {
    ($name:ident: $kind:ty) => {{
        let next = $crate::next::$name.get();
        // SAFETY: what has a function of that name has one of that type.
        unsafe { std::mem::transmute::<*mut libc::c_void, $kind>(next) }
    }};
}

macro_rules! functions {
    ($($list:ident: $($name:ident)+;)+) => {$(
        $(
            #[allow(non_upper_case_globals, reason = "they are other people's functions")]
            pub static $name: Next = Next::new(concat!(stringify!($name), "\0"));
        )+
        static $list: &[&Next] = &[$(&$name),+];
    )+};
}

functions! {
    OF_ALLOCATOR: free realloc malloc_usable_size reallocarray;
    OF_C: read write pread pread64 pwrite pwrite64 readv writev preadv preadv64 pwritev pwritev64 recv send recvfrom
        sendto recvmsg sendmsg getrandom fread fread_unlocked fwrite fwrite_unlocked fputs puts open open64 openat
        openat64 fopen fopen64 stat lstat access unlink posix_spawn posix_spawnp system popen execve execv execvp
        execvpe fexecve __read_chk __pread_chk __pread64_chk __recv_chk __fread_chk munmap mmap mmap64 mremap mprotect
        pkey_mprotect madvise shmdt sigaction signal bsd_signal ssignal sysv_signal __sysv_signal sigprocmask
        pthread_sigmask;
    OF_CXX: _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t
        _ZdaPvmSt11align_val_t;
    OF_LIBOMP: __kmpc_omp_target_task_alloc __kmpc_omp_task __kmpc_omp_task_with_deps __kmpc_omp_task_begin_if0
        __kmpc_omp_taskwait __kmpc_omp_wait_deps __kmpc_omp_taskwait_deps_51 __kmpc_end_taskgroup __kmpc_barrier
        __kmpc_barrier_master __kmpc_cancel_barrier __kmpc_end_reduce __kmpc_copyprivate
        __kmpc_end_serialized_parallel omp_fulfill_event __kmpc_taskloop __kmpc_taskloop_5 __kmpc_fork_call_if
        __kmpc_fork_call;
}

/// Looks for all that are missing.
pub fn find_all() {
    [OF_ALLOCATOR, OF_C, OF_CXX, OF_LIBOMP].into_iter().flatten().for_each(|next| next.find());
    forget_errors();
}

/// Looks for libomp and C++'s library where nobody sees them but who has loaded them (`RTLD_LOCAL`), as extensions of
/// Python's.
fn find_in_private_libraries() {
    let mut files: Vec<CString> = Vec::new();
    // SAFETY: the function gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(note_file), (&raw mut files).cast()) };
    for file in files {
        // SAFETY: a name that the loader has given; nothing is loaded.
        let object = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if !object.is_null() {
            OF_CXX.iter().chain(OF_LIBOMP).for_each(|next| next.find_in(object));
            // SAFETY: it has been opened here. Who has loaded it keeps it.
            unsafe { libc::dlclose(object) };
        }
    }
    forget_errors();
}

unsafe extern "C" fn note_file(object: *mut dl_phdr_info, _size: size_t, files: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` passes what it was given, and an object with its name.
    let (file, files) = unsafe { (CStr::from_ptr((*object).dlpi_name), &mut *files.cast::<Vec<CString>>()) };
    // The program itself has none. What it has, and this library is a part of that, has been looked through.
    if !file.is_empty() && !is_this_library(file) {
        files.push(file.to_owned());
    }
    0
}

fn is_this_library(file: &CStr) -> bool {
    // SAFETY: plain data that the call fills; the name is the loader's.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(find_all as *const c_void, &raw mut found) != 0
            && CStr::from_ptr(found.dli_fname) == file
    }
}

/// The program's `dlerror` is about what the program has looked for.
fn forget_errors() {
    // SAFETY: without conditions.
    unsafe { libc::dlerror() };
}
