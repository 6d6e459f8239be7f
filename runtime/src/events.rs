//! What the runtime tells those who watch it: tools (OMPT), `LIBOMPTARGET_INFO`,
//! the trace.
//!
//! The launch path asks [`observed`] once, one relaxed load; everything else here
//! happens only if somebody watches. Observers are added at start-up and never
//! removed.

use gangway_backend::{Copies, DevicePtr, Launch, LaunchShape, SourceLocation, SourceText};
use gangway_present::Label;
use gangway_present::Snapshot;
use gangway_present::StreamRef;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where in the program the runtime was called from.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The compiler's description of the construct.
    pub source: SourceText,
    /// Return address of the call into the runtime, for tools; null if unknown.
    pub return_address: *const std::ffi::c_void,
}

// SAFETY: the return address is a number that tools are told; nothing is read or
// written through it.
unsafe impl Send for Site {}
// SAFETY: as above.
unsafe impl Sync for Site {}

impl Site {
    /// A call that is not a construct of the program.
    pub const NONE: Self = Self { source: SourceText::NONE, return_address: std::ptr::null() };

    /// The construct's place in the source.
    #[must_use]
    pub fn location(&self) -> Option<SourceLocation<'static>> {
        let location = self.source.decode();
        if location.is_none() && self.source != SourceText::NONE {
            WITHOUT_PLACE.store(true, Ordering::Relaxed);
        }
        location
    }
}

/// A construct has been asked for its place whose compiler describes places, and has not.
static WITHOUT_PLACE: AtomicBool = AtomicBool::new(false);

/// Whether messages would say more if the program had been compiled with debug information: not
/// if it has been, nor if its compiler tells the runtime no places, as GCC does.
#[must_use]
pub fn lacks_debug_information() -> bool {
    WITHOUT_PLACE.load(Ordering::Relaxed)
}

/// A step that takes time and that observers see begin and end, on one thread.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Device memory is allocated (`device` is not known at the beginning, nor if it failed).
    Allocate { host: usize, device: Option<DevicePtr>, size: usize, label: Label },
    /// Device memory is freed.
    Deallocate { device: DevicePtr },
    /// Data goes to the device.
    ToDevice { host: usize, device: DevicePtr, size: usize, label: Label },
    /// Data comes from the device.
    FromDevice { host: usize, device: DevicePtr, size: usize, label: Label },
    /// Data goes from one device to another.
    BetweenDevices { from: DevicePtr, to_device: i32, to: DevicePtr, size: usize },
    /// A host address is associated with device storage.
    Associate { host: usize, device: DevicePtr, size: usize },
    /// An association is undone (`removed`: device storage and size, not known at the beginning, nor if it failed).
    Disassociate { host: usize, removed: Option<(DevicePtr, usize)> },
    /// Device memory is set to a byte.
    Fill { device: DevicePtr, byte: &'a u8, size: usize },
    /// A kernel is launched. `shape` is what it will have, where the device has blocks of threads
    /// and says it.
    Launch { launch: &'a Launch<'a>, shape: Option<LaunchShape> },
    /// An image is loaded (`loaded` is false at the beginning, and if it failed).
    Load { image: &'a [u8], loaded: bool },
}

/// What happened to a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MappingChange {
    /// A new entry.
    Created,
    /// Found; its count went up.
    Acquired,
    /// Found; its count went down.
    Released {
        /// To zero: it will be removed.
        last: bool,
        /// By `delete`.
        delete: bool,
    },
    /// Found for an item of the construct; its count was left alone.
    Seen,
    /// Looked up by address, for a kernel's argument, an attachment or an update.
    Found,
    /// Gone.
    Removed,
}

/// A mapping, as an observer sees it.
#[derive(Debug, Clone, Copy)]
pub struct MappingEvent {
    /// What happened.
    pub change: MappingChange,
    /// Whether it was mapped implicitly.
    pub implicit: bool,
    /// Whether the operation was on the hold count.
    pub hold: bool,
    /// Base address of the variable.
    pub host_base: usize,
    /// First host byte of the list item.
    pub host: usize,
    /// Its size.
    pub size: usize,
    /// Device allocation of the entry; none if it is not the runtime's.
    pub allocation: Option<DevicePtr>,
    /// Device address of the list item.
    pub device: DevicePtr,
    /// The counts afterwards.
    pub counts: Option<Snapshot>,
    /// The name.
    pub label: Label,
}

/// Somebody who watches. Methods are called on the thread that does the work and
/// must not call back into the runtime.
pub trait Observer: Sync {
    /// A device has been opened; nobody has used it yet. `architecture` is the
    /// back end's name for the kind of processor.
    fn opened(&self, _device: i32, _architecture: &str) {}
    /// A step begins.
    fn begin(&self, _device: i32, _site: &Site, _step: &Step<'_>) {}
    /// The step that began last on this thread ends.
    fn end(&self, _device: i32, _site: &Site, _step: &Step<'_>) {}
    /// A mapping changed or was looked at.
    fn mapping(&self, _device: i32, _event: &MappingEvent) {}
    /// An item has no storage on the device and will be used by its host address.
    fn host_address_used(&self, _device: i32, _host: usize, _size: usize) {}
    /// An item without storage on the device was named in a map clause.
    fn without_counterpart(&self, _device: i32, _label: Label) {}
}

static OBSERVED: AtomicBool = AtomicBool::new(false);
static WAITED: AtomicBool = AtomicBool::new(false);
static EXACT: AtomicBool = AtomicBool::new(false);
/// Filled from the front, without a lock: events may come from within events
/// (a device's constructors), and from many threads.
static OBSERVERS: [OnceLock<&'static dyn Observer>; MAX_OBSERVERS] =
    [const { OnceLock::new() }; MAX_OBSERVERS];
/// Tools, information, trace, OpenACC's profiling, and the checks of stale data and of races.
const MAX_OBSERVERS: usize = 6;

/// Whether anybody watches.
#[inline]
#[must_use]
pub fn observed() -> bool {
    OBSERVED.load(Ordering::Relaxed)
}

/// Adds an observer for the rest of the process.
///
/// # Panics
/// There are as many as there is room for.
pub fn observe(observer: &'static dyn Observer) {
    let added = OBSERVERS.iter().any(|slot| slot.set(observer).is_ok());
    assert!(added, "more than {MAX_OBSERVERS} observers");
    OBSERVED.store(true, Ordering::Release);
}

/// Calls every observer.
#[cold]
pub(crate) fn tell(what: impl Fn(&dyn Observer)) {
    for observer in OBSERVERS.iter().map_while(OnceLock::get) {
        what(*observer);
    }
}

/// Runs `work` as a step that observers see; `after` says what the step has
/// become when it is done.
#[inline]
pub(crate) fn step<'a, R>(
    device: i32,
    site: &Site,
    before: impl Fn() -> Step<'a>,
    work: impl FnOnce() -> R,
    after: impl Fn(&R) -> Step<'a>,
) -> R {
    if !observed() {
        return work();
    }
    tell(|observer| observer.begin(device, site, &before()));
    let result = work();
    tell(|observer| observer.end(device, site, &after(&result)));
    result
}

/// Has observed launches and copies waited for, so that their times are their own. Without
/// it, on an asynchronous device, they end when they have been put into a stream, and whoever
/// waits first seems to have taken their time.
pub fn wait_for_operations() {
    WAITED.store(true, Ordering::Relaxed);
}

/// Has every operation that is observed waited for, whoever issues it, also those of the program's queues, and small
/// data travel alone: contents are what they will stay when a step ends. Before a device is opened.
pub fn wait_for_contents() {
    WAITED.store(true, Ordering::Relaxed);
    EXACT.store(true, Ordering::Relaxed);
}

/// Whether contents are [waited for](wait_for_contents).
pub(crate) fn contents_are_waited_for() -> bool {
    EXACT.load(Ordering::Relaxed)
}

thread_local! {
    /// This thread has to go on whatever is observed.
    static GOES_ON: Cell<bool> = const { Cell::new(false) };
}

/// Issues what nobody waits for, such as a `nowait` construct, on a thread of the program's:
/// its operations are not waited for. A kernel may wait for what this thread does next.
pub fn without_waiting<R>(issue: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = GOES_ON.try_with(|goes_on| goes_on.set(self.0));
        }
    }
    let _restore = Restore(GOES_ON.try_with(|goes_on| goes_on.replace(true)).unwrap_or(false));
    issue()
}

/// As [`step`], for an operation of a construct in a stream. What is put into a queue of the
/// program's is not waited for: it may depend on what the program does next. Callers have asked
/// [`observed`] and come here from a cold function.
pub(crate) fn operation<'a>(
    device: i32,
    site: &Site,
    place: Place,
    before: impl Fn() -> Step<'a>,
    work: impl FnOnce() -> gangway_backend::Result<()>,
) -> gangway_backend::Result<()> {
    let waited = || {
        work()?;
        match place.stream {
            Some(stream) if waits_at(&place) => {
                let mut waited = Ok(());
                stream.on_behalf(Copies::Looks, &mut || waited = stream.synchronize());
                waited
            }
            _ => Ok(()),
        }
    };
    step(device, site, &before, waited, |_| before())
}

fn waits_at(place: &Place) -> bool {
    contents_are_waited_for()
        || !place.queued && WAITED.load(Ordering::Relaxed) && !GOES_ON.try_with(Cell::get).unwrap_or(true)
}

/// Where an operation is put.
pub(crate) struct Place {
    pub(crate) stream: Option<StreamRef>,
    /// The stream is the program's.
    pub(crate) queued: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A device that no other test has.
    const DEVICE: i32 = -77;
    static SEEN: Mutex<Vec<(&str, Option<DevicePtr>)>> = Mutex::new(Vec::new());

    struct Recorder;

    impl Observer for Recorder {
        fn begin(&self, device: i32, _site: &Site, step: &Step<'_>) {
            note(device, "begin", step);
        }

        fn end(&self, device: i32, _site: &Site, step: &Step<'_>) {
            note(device, "end", step);
        }
    }

    fn note(device: i32, endpoint: &'static str, step: &Step<'_>) {
        if let (DEVICE, Step::Allocate { device, .. }) = (device, step) {
            SEEN.lock().unwrap().push((endpoint, *device));
        }
    }

    #[test]
    fn a_step_is_seen_before_and_after_also_within_another() {
        observe(&Recorder);
        let at = |device| Step::Allocate { host: 0, device, size: 1, label: Label::NONE };
        let inner = || step(DEVICE, &Site::NONE, || at(None), || 0, |&result| at(Some(DevicePtr(result))));
        let outer =
            step(DEVICE, &Site::NONE, || at(None), || inner() + 1, |&result| at(Some(DevicePtr(result))));
        assert_eq!(outer, 1);
        assert_eq!(
            *SEEN.lock().unwrap(),
            [("begin", None), ("begin", None), ("end", Some(DevicePtr(0))), ("end", Some(DevicePtr(1)))]
        );
    }
}
