//! Kernels that call functions of the host, each way in which they may find it.

mod support;

use gangway_backend::{
    AllocationKind, ArgumentTable, Backend, CallingConvention, Capabilities, Device, DevicePtr, Error,
    HostCallLink, HostCallOutcome, HostCallService, HostCalls, Kernel, KernelHandle, Launch, Module, Result,
    Stream, VisibleMemory,
};
use gangway_host_channel::{Channel, PORTS, Request, Warp, call};
use gangway_runtime::NoItems;
use gangway_runtime::host_calls;
use gangway_system::Operation;
use std::alloc::{Layout, alloc_zeroed};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::construct::World;

/// How kernels of a test's device call the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The device cannot.
    None,
    /// The device can, and the image does not.
    Unused,
    Direct,
    /// The channel's address stands in a global of the image.
    Global {
        rings: bool,
    },
    /// It stands in the first slot of every launch.
    Launch {
        rings: bool,
    },
}

const WAYS: [Way; 5] = [
    Way::Direct,
    Way::Global { rings: true },
    Way::Global { rings: false },
    Way::Launch { rings: true },
    Way::Launch { rings: false },
];

/// What the device has been asked for.
#[derive(Debug, Default)]
struct Asked {
    links: AtomicUsize,
    visible: AtomicUsize,
    freed: AtomicUsize,
    connections: AtomicUsize,
    copies: AtomicUsize,
}

/// What threads of a kernel do: each call brings a function and words, and gets an outcome.
type Body = Arc<dyn Fn(&Caller<'_>) + Send + Sync>;

/// A device that runs its kernels in this process.
struct CallingDevice {
    way: Way,
    asked: Arc<Asked>,
    service: Arc<Mutex<Option<HostCallService>>>,
    /// The image's pointer to the channel.
    global: Arc<AtomicU64>,
    body: Body,
    fails_to_connect: bool,
}

struct CallingBackend(CallingDevice);

struct CallingModule {
    way: Way,
    asked: Arc<Asked>,
    global: Arc<AtomicU64>,
}

/// A kernel's way to the host.
struct Caller<'d> {
    channel: Option<&'static Channel>,
    service: HostCallService,
    device: &'d CallingDevice,
}

impl Caller<'_> {
    fn call(&self, function: u64, words: &mut [u64]) -> u32 {
        let Some(channel) = self.channel else {
            // SAFETY: words are bytes.
            return self.service.call(function, unsafe { words.align_to_mut().1 }).number();
        };
        let rings = matches!(self.device.way, Way::Global { rings: true } | Way::Launch { rings: true });
        let thread = Thread { service: rings.then_some(self.service) };
        // SAFETY: the runtime serves the channel.
        unsafe { call(&thread, channel, function, words.as_mut_ptr().cast(), size_of_val(words)) }
    }
}

/// A thread as a warp of one lane.
struct Thread {
    service: Option<HostCallService>,
}

impl Warp for Thread {
    fn active(&self) -> u32 {
        1 << self.lane()
    }

    fn lane(&self) -> u32 {
        self.spread() % 32
    }

    fn broadcast(&self, _mask: u32, value: u32, _lane: u32) -> u32 {
        value
    }

    fn ballot(&self, mask: u32, predicate: bool) -> u32 {
        if predicate { mask } else { 0 }
    }

    fn synchronise(&self, _mask: u32) {}

    fn spread(&self) -> u32 {
        thread_local!(static NUMBER: u64 = number());
        NUMBER.with(|number| *number as u32)
    }

    fn pause(&self, _attempt: u32) {
        if let Some(service) = self.service {
            service.ring();
        }
        std::thread::yield_now();
    }

    fn is_copied_by_host(&self, _address: *const u8) -> bool {
        false
    }
}

/// Between host and device addresses of visible memory.
const ELSEWHERE: usize = 1 << 60;

impl Module for CallingModule {
    fn kernel(&self, _name: &str) -> Result<Kernel> {
        let leading = usize::from(matches!(self.way, Way::Launch { .. }));
        let convention = CallingConvention { leading: Some(leading), ..CallingConvention::SLOTS };
        Ok(Kernel::new(KernelHandle(0)).with_convention(convention))
    }

    fn global(&self, name: &str, _size: usize) -> Result<DevicePtr> {
        Err(Error::NoSuchSymbol { name: name.to_owned() })
    }

    fn host_calls(&self) -> Result<HostCallLink> {
        self.asked.links.fetch_add(1, Ordering::Relaxed);
        Ok(match self.way {
            Way::None | Way::Unused => HostCallLink::Unused,
            Way::Direct | Way::Launch { .. } => HostCallLink::Linked,
            Way::Global { .. } => HostCallLink::Global(DevicePtr(Arc::as_ptr(&self.global).addr())),
        })
    }
}

impl Device for CallingDevice {
    fn capabilities(&self) -> Capabilities {
        let host_calls = match self.way {
            Way::None => HostCalls::None,
            Way::Direct | Way::Unused => HostCalls::Direct,
            Way::Global { rings } | Way::Launch { rings } => HostCalls::Channel { rings },
        };
        Capabilities { host_calls, ..Capabilities::default() }
    }

    fn load(&self, _image: &[u8]) -> Result<Box<dyn Module>> {
        let (asked, global) = (self.asked.clone(), self.global.clone());
        Ok(Box::new(CallingModule { way: self.way, asked, global }))
    }

    fn allocate(&self, size: usize, _kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        Err(Error::OutOfMemory { requested: size })
    }

    unsafe fn deallocate(&self, _pointer: DevicePtr, _kind: AllocationKind) -> Result<()> {
        Ok(())
    }

    fn immediate(&self) -> &dyn Stream {
        self
    }

    fn allocate_visible(&self, size: usize) -> Result<VisibleMemory> {
        self.asked.visible.fetch_add(1, Ordering::Relaxed);
        // So that threads meet here.
        std::thread::sleep(Duration::from_millis(20));
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc_zeroed(Layout::from_size_align(size, 4096).unwrap()) };
        let host = NonNull::new(memory).unwrap();
        Ok(VisibleMemory { host, device: DevicePtr(memory.expose_provenance() ^ ELSEWHERE) })
    }

    unsafe fn deallocate_visible(&self, memory: VisibleMemory) -> Result<()> {
        // SAFETY: as the caller says. Nobody may read it from here on.
        unsafe { memory.host.as_ptr().write(b'?') };
        self.asked.freed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn connect_host_calls(&self, service: HostCallService) -> Result<()> {
        self.asked.connections.fetch_add(1, Ordering::Relaxed);
        if self.fails_to_connect {
            return Err(Error::Device { code: 3, message: "the doorbell is broken".to_owned() });
        }
        *self.service.lock().unwrap() = Some(service);
        Ok(())
    }
}

impl Stream for CallingDevice {
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        assert_eq!((to.0, size), (Arc::as_ptr(&self.global).addr(), 8), "only the global is written");
        self.asked.copies.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        self.global.store(unsafe { from.cast::<u64>().read_unaligned() }, Ordering::Release);
        Ok(())
    }

    unsafe fn copy_from_device(&self, _to: *mut u8, _from: DevicePtr, _size: usize) -> Result<()> {
        unreachable!("nothing is copied back")
    }

    /// Runs the kernel's body on as many threads as the launch has teams.
    unsafe fn launch(&self, launch: &Launch<'_>, mut table: ArgumentTable<'_>) -> Result<()> {
        let service = self.service.lock().unwrap().expect("connected before a kernel runs");
        let told = |address: u64| -> &'static Channel {
            let host = address as usize ^ ELSEWHERE;
            // SAFETY: the runtime's channel is never freed.
            unsafe { &*std::ptr::with_exposed_provenance(host) }
        };
        let channel = match self.way {
            Way::Global { .. } => Some(told(self.global.load(Ordering::Acquire))),
            Way::Launch { .. } => {
                table.leading()[0] = service.channel().expect("a channel").0 as u64;
                Some(told(table.slots()[0]))
            }
            _ => None,
        };
        std::thread::scope(|scope| {
            for _ in 0..launch.teams[0].max(1) {
                scope.spawn(|| (self.body)(&Caller { channel, service, device: self }));
            }
        });
        Ok(())
    }
}

impl Backend for CallingBackend {
    fn name(&self) -> &str {
        "calling"
    }

    fn recognises(&self, _image: &[u8]) -> bool {
        true
    }

    fn device_count(&self) -> usize {
        1
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        let CallingDevice { way, asked, service, global, body, fails_to_connect } = &self.0;
        Ok(Box::new(CallingDevice {
            way: *way,
            asked: asked.clone(),
            service: service.clone(),
            global: global.clone(),
            body: body.clone(),
            fails_to_connect: *fails_to_connect,
        }))
    }
}

fn device(way: Way, body: impl Fn(&Caller<'_>) + Send + Sync + 'static) -> CallingDevice {
    CallingDevice {
        way,
        asked: Arc::default(),
        service: Arc::default(),
        global: Arc::default(),
        body: Arc::new(body),
        fails_to_connect: false,
    }
}

/// A world whose kernel does `body` on each of its threads, and what its device was asked.
fn world(way: Way, body: impl Fn(&Caller<'_>) + Send + Sync + 'static) -> (World, Arc<Asked>) {
    let device = device(way, body);
    let asked = device.asked.clone();
    (World::with(Box::new(CallingBackend(device))), asked)
}

fn run(world: &World, threads: u32) {
    let shape = gangway_runtime::Shape { teams: [threads, 1, 1], ..Default::default() };
    let (site, region) = (gangway_runtime::events::Site::NONE, support::construct::REGION);
    world.runtime.run(world.device, site, region, &NoItems, &shape).unwrap().complete().unwrap();
}

/// A number that no other test has.
fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[test]
fn calls_get_their_own_answers_from_several_threads_at_once() {
    for way in WAYS {
        let mix = number();
        assert!(host_calls::register(mix, |call| {
            let words = call.words();
            let sum = words.iter().sum();
            words.iter_mut().for_each(|word| *word = word.wrapping_mul(3));
            words[0] = sum;
        }));
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let (world, _) = world(way, move |caller| {
            for round in 0..50 {
                let thread = counted.fetch_add(1, Ordering::Relaxed) as u64;
                let words: Vec<u64> = (0..1 + round * round % 77).map(|at| thread * 100 + at).collect();
                let mut answer = words.clone();
                assert_eq!(caller.call(mix, &mut answer), HostCallOutcome::Answered.number());
                assert_eq!(answer[0], words.iter().sum());
                assert!(answer[1..].iter().zip(&words[1..]).all(|(got, word)| *got == word * 3));
            }
        });
        // Kernels of several host threads as well.
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| run(&world, 4));
            }
        });
        assert_eq!(calls.load(Ordering::Relaxed), 3 * 4 * 50, "{way:?}");
        assert!(host_calls::unregister(mix));
    }
}

/// A call whose function never returns blocks its caller alone.
#[test]
fn a_function_that_waits_holds_nobody_up() {
    for way in WAYS {
        let (wait, open) = (number(), number());
        let gate = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
        let (waits, opens) = (gate.clone(), gate.clone());
        host_calls::register(wait, move |_| {
            waits.0.fetch_add(1, Ordering::AcqRel);
            while !waits.1.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        // Opens when all the others wait at the same time.
        host_calls::register(open, move |call| {
            if opens.0.load(Ordering::Acquire) == 12 {
                opens.1.store(true, Ordering::Release);
                call.words()[0] = 1;
            }
        });
        let next = AtomicUsize::new(0);
        let (world, _) = world(way, move |caller| {
            if next.fetch_add(1, Ordering::Relaxed) < 12 {
                assert_eq!(caller.call(wait, &mut []), 0);
                return;
            }
            let mut opened = [0];
            while opened == [0] {
                assert_eq!(caller.call(open, &mut opened), 0);
            }
        });
        run(&world, 13);
        assert!(gate.1.load(Ordering::Acquire));
    }
}

/// The functions of a warp's lanes wait for each other, so that each needs a thread.
#[test]
fn lanes_of_a_warp_hold_no_other_up() {
    for rings in [true, false] {
        let meet = number();
        let met = Arc::new(AtomicUsize::new(0));
        let inside = met.clone();
        host_calls::register(meet, move |call| {
            inside.fetch_add(1, Ordering::AcqRel);
            let begin = Instant::now();
            while inside.load(Ordering::Acquire) < 8 {
                // Without an increment: they have not met.
                if begin.elapsed() > Duration::from_secs(30) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            call.words()[0] += 1;
        });
        let (world, _) = world(Way::Global { rings }, move |caller| {
            let channel = caller.channel.unwrap();
            let (number, lanes) = (PORTS - 1, [0_usize, 1, 2, 7, 8, 20, 30, 31]);
            let port = &channel.ports[number];
            for turn in 1..3 {
                for lane in lanes {
                    port.function[lane].store(meet, Ordering::Relaxed);
                    port.size[lane].store(8, Ordering::Relaxed);
                    port.words[0][lane].store(lane as u64, Ordering::Relaxed);
                    port.outcome[lane].store(u32::MAX, Ordering::Relaxed);
                }
                let mask = lanes.iter().fold(0, |mask, lane| mask | 1 << lane);
                port.lanes.store(mask, Ordering::Relaxed);
                port.request.store(Request::BeginAndRun as u32, Ordering::Relaxed);
                channel.doorbells[number].store(turn, Ordering::Release);
                let begin = Instant::now();
                while port.answered.load(Ordering::Acquire) != turn {
                    assert!(begin.elapsed() < Duration::from_secs(300), "no answer");
                    caller.service.ring();
                    std::thread::yield_now();
                }
                for lane in lanes {
                    assert_eq!(port.outcome[lane].load(Ordering::Relaxed), 0);
                    assert_eq!(port.words[0][lane].load(Ordering::Relaxed), lane as u64 + 1);
                }
                met.store(0, Ordering::Release);
            }
        });
        run(&world, 1);
        assert!(host_calls::unregister(meet));
    }
}

#[test]
fn wrong_calls_get_an_outcome() {
    for way in WAYS {
        let (panics, missing) = (number(), number());
        host_calls::register(panics, |call| {
            call.words()[0] = 5;
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(!host_calls::register(panics, |_| ()), "the number is taken");
        let (world, _) = world(way, move |caller| {
            let mut words = [1, 2];
            assert_eq!(caller.call(missing, &mut words), HostCallOutcome::NoSuchFunction.number());
            assert_eq!(words, [1, 2]);
            assert_eq!(caller.call(panics, &mut words), HostCallOutcome::Failed.number());
            assert_eq!(words, [5, 2]);
            if let Some(channel) = caller.channel {
                // News of ports without a call.
                (0..10_000).for_each(|port| {
                    channel.doorbells[port * 7 % PORTS].fetch_add(1, Ordering::Relaxed);
                });
                caller.service.ring();
                std::thread::sleep(Duration::from_millis(20));
                assert_eq!(caller.call(missing, &mut words), HostCallOutcome::NoSuchFunction.number());
            }
        });
        run(&world, 1);
        assert!(host_calls::unregister(panics) && !host_calls::unregister(panics));
    }
}

/// More calls at a time than a channel has ports.
#[test]
fn callers_wait_for_a_port() {
    let add = number();
    let total = Arc::new(AtomicU64::new(0));
    let sum = total.clone();
    host_calls::register(add, move |call| {
        sum.fetch_add(call.words()[0], Ordering::Relaxed);
        std::thread::sleep(Duration::from_micros(200));
    });
    let (world, _) = world(Way::Global { rings: true }, move |caller| {
        for _ in 0..3 {
            assert_eq!(caller.call(add, &mut [2]), 0);
        }
    });
    run(&world, 400);
    assert_eq!(total.load(Ordering::Relaxed), 400 * 3 * 2);
}

/// Threads of this process that serve channels.
fn workers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    tasks.map(name).filter(|name| name.trim() == "gangway-calls").count()
}

/// Waits until a thread that has been started has its name.
fn wait_for_workers(count: usize) {
    let begin = Instant::now();
    while workers() != count {
        assert!(begin.elapsed() < Duration::from_secs(20), "{} threads, not {count}", workers());
        std::thread::yield_now();
    }
}

/// Whether a test runs in a process of its own. If not, it has been run in one.
fn is_alone(test: &str) -> bool {
    if std::env::var_os("GANGWAY_ALONE").is_some() {
        return true;
    }
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env("GANGWAY_ALONE", "a value")
        .status();
    assert!(status.unwrap().success());
    false
}

#[test]
fn what_does_not_call_the_host_pays_nothing() {
    // The threads of other tests count.
    if !is_alone("what_does_not_call_the_host_pays_nothing") {
        return;
    }
    let counts = |asked: &Asked| {
        [&asked.links, &asked.visible, &asked.connections, &asked.copies, &asked.freed]
            .map(|count| count.load(Ordering::Relaxed))
    };
    for (way, expected) in
        [(Way::None, [0, 0, 0, 0, 0]), (Way::Unused, [1, 0, 0, 0, 0]), (Way::Direct, [1, 0, 1, 0, 0])]
    {
        let (_world, asked) = world(way, |_| ());
        assert_eq!(counts(&asked), expected, "{way:?}");
        assert_eq!(workers(), 0, "{way:?}");
    }
    let (world, asked) = world(Way::Global { rings: true }, |_| ());
    run(&world, 1);
    assert_eq!(counts(&asked), [1, 1, 1, 1, 0]);
    wait_for_workers(1);
    // Another image of the device uses the same channel.
    let (images, entries) = (vec![&b"MOCK"[..]], Vec::new());
    world.runtime.register(gangway_runtime::Registration { key: 2, images, entries, ..Default::default() });
    world.runtime.device(0, &gangway_runtime::events::Site::NONE).unwrap();
    run(&world, 1);
    assert_eq!(counts(&asked), [2, 1, 2, 2, 0]);
    assert_eq!(workers(), 1);
}

/// The image is not used, and the reason is told.
#[test]
fn a_device_that_cannot_be_connected() {
    let mut device = device(Way::Direct, |_| ());
    device.fails_to_connect = true;
    let runtime: &'static gangway_runtime::Runtime = Box::leak(Box::default());
    runtime.add_backend(Box::new(CallingBackend(device)));
    let (images, entries) = (vec![&b"MOCK"[..]], Vec::new());
    runtime.register(gangway_runtime::Registration { key: 1, images, entries, ..Default::default() });
    let error = runtime.device(0, &gangway_runtime::events::Site::NONE).err().unwrap();
    assert!(error.to_string().contains("the doorbell is broken (error 3)"), "{error}");
}

/// Threads that ask for a variable of the environment at the same time share one piece of memory.
#[test]
fn values_of_the_environment_stand_once_in_memory() {
    // Of the devices with a number, the last one is asked for memory.
    if !is_alone("values_of_the_environment_stand_once_in_memory") {
        return;
    }
    const THREADS: u32 = 8;
    let (addresses, together) = (Arc::new(Mutex::new(Vec::new())), std::sync::Barrier::new(THREADS as usize));
    let found = addresses.clone();
    let (world, asked) = world(Way::Direct, move |caller| {
        let name = u64::from_ne_bytes(*b"GANGWAY_");
        let mut block = [Operation::Environment as u64, 0, 0, 13, name, u64::from_ne_bytes(*b"ALONE\0\0\0")];
        together.wait();
        assert_eq!(caller.call(gangway_system::FUNCTION, &mut block), 0);
        found.lock().unwrap().push(block[1] as usize);
    });
    run(&world, THREADS);
    let addresses = addresses.lock().unwrap();
    assert!(addresses.len() == THREADS as usize && addresses.iter().all(|one| *one == addresses[0]));
    let value = std::ptr::with_exposed_provenance::<[u8; 8]>(addresses[0] ^ ELSEWHERE);
    // SAFETY: memory of the device's, which is this process.
    assert_eq!(&unsafe { value.read() }, b"a value\0");
    let [visible, freed] = [&asked.visible, &asked.freed].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(visible - freed, 1, "{visible} have been allocated, {freed} freed");
    assert!(visible > 1, "no two threads have met");
}
