//! Two front ends in one process, each with a library of its own for the host's threads: the
//! devices are the same, what they ask of their libraries is not.

use gangway_frontend::host::{Dependences, End, Host, Offload, Work};
use gangway_frontend::process::FrontEnd;
use gangway_frontend::words::Words;
use gangway_frontend::{libraries, policy};
use gangway_openmp::asynchronous::omp_target_memcpy_async;
use gangway_openmp::devices::{
    DEFAULT_DEVICE, Destination, destination, omp_get_initial_device, omp_get_num_devices,
};
use gangway_openmp::memory::{
    omp_get_mapped_ptr, omp_target_alloc, omp_target_associate_ptr, omp_target_disassociate_ptr,
    omp_target_free, omp_target_is_accessible, omp_target_is_present, omp_target_memcpy, omp_target_memset,
};
use gangway_runtime::events::Site;
use gangway_runtime::{Error, ErrorKind, Registration};
use std::any::Any;
use std::ffi::c_void;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tests count calls: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

static CONNECTED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static HELD: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static FINISHED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn count(counters: &[AtomicUsize; 2], front_end: usize) {
    counters[front_end].fetch_add(1, Ordering::Relaxed);
}

fn counted(counters: &[AtomicUsize; 2]) -> [usize; 2] {
    [0, 1].map(|front_end| counters[front_end].load(Ordering::Relaxed))
}

fn hold<const FRONT_END: usize>() -> Box<dyn Any> {
    count(&HELD, FRONT_END);
    Box::new(())
}

static FIRST: FrontEnd = FrontEnd::new(|| count(&CONNECTED, 0), hold::<0>, || count(&FINISHED, 0));
static SECOND: FrontEnd = FrontEnd::new(|| count(&CONNECTED, 1), hold::<1>, || count(&FINISHED, 1));

/// What users of a compiler can do about all errors.
struct Advice(&'static str);

impl Words for Advice {
    fn help(&self, _kind: &ErrorKind) -> Vec<String> {
        vec![self.0.to_owned()]
    }
}

/// A library without tasks, whose default device is 2.
struct FirstHost;

impl Host for FirstHost {
    const END: End = End::Abort;
    const WORDS: &dyn Words = &Advice("ask the first compiler");

    fn default_device() -> i64 {
        2
    }

    fn target_offload() -> Option<Offload> {
        Some(Offload::Mandatory)
    }

    fn no_device(error: &Error) {
        policy::terminate(error, Self::WORDS);
    }

    unsafe fn spawn(work: Work, _dependences: Dependences) -> bool {
        work();
        true
    }
}

/// A library whose default device is 1, and whose tasks wait until they are run.
struct SecondHost;

/// Tasks and what each waits for, as the second library's compiler lays it out: a number.
static TASKS: Mutex<Vec<(Work, Vec<usize>)>> = Mutex::new(Vec::new());

/// What the second library was told of routines with wrong device numbers.
static REFUSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Host for SecondHost {
    const END: End = End::Status;
    const WORDS: &dyn Words = &Advice("ask the second compiler");

    fn default_device() -> i64 {
        1
    }

    fn target_offload() -> Option<Offload> {
        Some(Offload::Disabled)
    }

    fn no_device(error: &Error) {
        REFUSED.lock().unwrap().push(error.to_string());
    }

    unsafe fn spawn(work: Work, dependences: Dependences) -> bool {
        let objects = dependences.objects.cast::<*const usize>();
        // SAFETY: the caller's promise.
        let dependence = |index| unsafe { **objects.add(index) };
        TASKS.lock().unwrap().push((work, (0..dependences.count as usize).map(dependence).collect()));
        true
    }
}

fn begin() -> MutexGuard<'static, ()> {
    let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..3 {
        gangway_openmp::start::<FirstHost>(&FIRST);
        gangway_openmp::start::<SecondHost>(&SECOND);
    }
    libraries::number_all_devices();
    one
}

fn number<H: Host>(device: i64) -> Option<i32> {
    match destination::<H>(device, &Site::NONE) {
        Destination::Device(device) => Some(device.number()),
        Destination::Host(_) => None,
    }
}

#[test]
fn constructs_without_a_device_go_where_their_own_library_says() {
    let _one = begin();
    assert_eq!(omp_get_num_devices::<FirstHost>(), 4);
    assert_eq!(number::<FirstHost>(DEFAULT_DEVICE), Some(2));
    assert_eq!(number::<SecondHost>(DEFAULT_DEVICE), Some(1));
    assert_eq!(number::<SecondHost>(3), Some(3));
    assert_eq!(number::<FirstHost>(i64::from(omp_get_initial_device::<FirstHost>())), None);
}

#[test]
fn the_policy_is_the_processs() {
    let _one = begin();
    // That of the front end that has started first.
    assert_eq!(policy::offload(), Offload::Mandatory);
}

#[test]
fn each_is_connected_once() {
    let _one = begin();
    assert_eq!(counted(&CONNECTED), [1, 1]);
}

#[test]
fn all_are_told_when_the_last_library_goes() {
    let _one = begin();
    let before = counted(&FINISHED);
    for key in [0x10, 0x20] {
        libraries::register(Registration { key, ..Registration::default() });
    }
    libraries::finish_without();
    libraries::unregister(0x10);
    assert_eq!(counted(&FINISHED), before);
    libraries::unregister(0x20);
    assert_eq!(counted(&FINISHED), before.map(|times| times + 1));
}

#[test]
fn a_fork_holds_the_locks_of_both() {
    let _one = begin();
    let before = counted(&HELD);
    // SAFETY: the child calls nothing but functions of this library, which a fork leaves
    // usable, and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(omp_get_num_devices::<FirstHost>());
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 4));
    }
    assert_eq!(counted(&HELD), before.map(|times| times + 1));
}

/// What a forked child says that ends by an error.
fn last_words(failing: impl FnOnce()) -> String {
    let (mut read, write) = std::io::pipe().unwrap();
    // SAFETY: the child calls nothing but functions of this library, which a fork leaves usable, and
    // ends in them.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::dup2(write.as_raw_fd(), libc::STDERR_FILENO);
            failing();
            libc::_exit(0);
        }
        drop(write);
        let mut said = String::new();
        read.read_to_string(&mut said).unwrap();
        assert_eq!(libc::waitpid(child, std::ptr::null_mut(), 0), child);
        said
    }
}

#[test]
fn an_error_is_told_in_the_words_of_the_front_end_whose_construct_failed() {
    let _one = begin();
    let first = last_words(|| drop(destination::<FirstHost>(99, &Site::NONE)));
    let second = last_words(|| drop(destination::<SecondHost>(99, &Site::NONE)));
    let failed =
        "gangway: error: there is no device 99: this program has 4 device(s), numbered from 0\n  help: ";
    assert!(first.starts_with(&format!("{failed}ask the first compiler\n")), "{first}");
    assert!(second.starts_with(&format!("{failed}ask the second compiler\n")), "{second}");
}

/// Copies a value to device memory with the asynchronous routine, after one dependence.
///
/// # Safety
/// The memory is large enough, and `value` and `dependence` last until the task has run.
unsafe fn write<H: Host>(memory: *mut c_void, value: &u64, dependence: &usize) -> i32 {
    let objects = [std::ptr::from_ref(dependence).cast::<c_void>()];
    let from = std::ptr::from_ref(value).cast();
    let host = omp_get_initial_device::<FirstHost>();
    // SAFETY: the caller's promise.
    unsafe { omp_target_memcpy_async::<H>(memory, from, 8, 0, 0, 0, host, 1, objects.as_ptr()) }
}

/// # Safety
/// The memory is large enough.
unsafe fn read(memory: *mut c_void) -> u64 {
    let mut value = 0_u64;
    let host = omp_get_initial_device::<FirstHost>();
    // SAFETY: the caller's promise.
    let copied = unsafe { omp_target_memcpy::<FirstHost>((&raw mut value).cast(), memory, 8, 0, 0, host, 0) };
    assert_eq!(copied, 0);
    value
}

#[test]
fn asynchronous_routines_are_tasks_of_the_callers_library() {
    let _one = begin();
    let dependence = 77;
    let memory = omp_target_alloc::<FirstHost>(8, 0);
    // SAFETY: the memory is large enough; the values outlive the tasks.
    unsafe {
        assert_eq!(write::<FirstHost>(memory, &0x1234, &dependence), 0);
        assert_eq!(read(memory), 0x1234);
        assert_eq!(write::<SecondHost>(memory, &0x5678, &dependence), 0);
        assert_eq!(read(memory), 0x1234);
        let (work, dependences) = TASKS.lock().unwrap().pop().unwrap();
        assert_eq!(dependences, [dependence]);
        work();
        assert_eq!(read(memory), 0x5678);
        omp_target_free::<FirstHost>(memory, 0);
    }
}

#[test]
fn routines_fail_without_a_device_if_the_library_lets_them() {
    let _one = begin();
    let mut value = 7_u64;
    let pointer = (&raw mut value).cast::<c_void>();
    let host = omp_get_initial_device::<FirstHost>();
    REFUSED.lock().unwrap().clear();
    assert!(omp_target_alloc::<SecondHost>(8, 99).is_null());
    assert_eq!(omp_target_is_present::<SecondHost>(pointer, 99), 0);
    assert_eq!(omp_target_is_accessible::<SecondHost>(pointer, 8, -5), 0);
    assert!(omp_get_mapped_ptr::<SecondHost>(pointer, -5).is_null());
    // SAFETY: the range is valid on the host; the other device does not exist.
    unsafe {
        omp_target_free::<SecondHost>(pointer, 99);
        assert_ne!(omp_target_memcpy::<SecondHost>(pointer, pointer, 8, 0, 0, host, 99), 0);
        assert_eq!(omp_target_memset::<SecondHost>(pointer, 0, 8, 99), pointer);
        assert_ne!(omp_target_associate_ptr::<SecondHost>(pointer, pointer, 8, 0, 99), 0);
        assert_ne!(omp_target_disassociate_ptr::<SecondHost>(pointer, 99), 0);
    }
    assert_eq!(value, 7);
    let refused = REFUSED.lock().unwrap();
    assert_eq!(refused.len(), 9, "{refused:#?}");
    assert!(refused[0].starts_with("there is no device 99: this program has 4 device(s)"), "{refused:#?}");
}
