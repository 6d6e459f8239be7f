//! The processors of one virtual device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gangway_interpreter::FaultKind;
use gangway_ptx::Module;
use gangway_races::{Host, HostAccess, Origin, Past, Transfer};

use crate::device::Device;
use crate::fault::{Fault, Place};
use crate::functions::CodeCache;
use crate::generator::Tier;
use crate::launch::KernelLaunch;
use crate::load::LoadError;
use crate::program::Program;
use crate::run::{
    Accessed, Accesses, AtOnce, Interpreter, Job, Listeners, Pool, Watched, provided, told_race,
};
use crate::{fall_back, output};

/// How an engine works.
#[derive(Clone, Debug)]
pub struct Options {
    /// The device's number; whose memory it allocates from.
    pub device: u32,
    /// Worker threads.
    pub workers: usize,
    pub checks: Checks,
    /// Who hears of what the checks find.
    pub listeners: Listeners,
    pub execution: Execution,
    /// Which generators make code.
    pub tier: Tier,
    /// Whether loads and stores need not be at a multiple of their size, as on AMD's GPUs.
    pub unaligned: bool,
    /// Where compiled code is kept for others who load the same module, if anywhere.
    pub cache: Option<Arc<CodeCache>>,
    /// Bytes of local memory per thread; see also [`Engine::set_stack`].
    pub stack: u64,
    /// Bytes of the heap of the device's `malloc`; see also [`Engine::set_heap`].
    pub heap: u64,
}

/// One worker, without checks, with little memory for each thread.
impl Default for Options {
    fn default() -> Self {
        Options {
            device: 0,
            workers: 1,
            checks: Checks::default(),
            listeners: Listeners::default(),
            execution: Execution::default(),
            tier: Tier::default(),
            unaligned: false,
            cache: None,
            stack: 1 << 12,
            heap: 0,
        }
    }
}

/// What is looked for while kernels run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Accesses, to the byte.
    pub memory: bool,
    /// Accesses of threads that nothing orders.
    pub race: bool,
    /// Accesses are noted, for those who ask after a kernel.
    pub map: bool,
    /// Barriers that not all come to, and what lanes wait for.
    pub sync: bool,
    /// Uses of what nothing has written.
    pub init: bool,
}

impl Checks {
    pub const NONE: Self = Self { memory: false, race: false, map: false, sync: false, init: false };
    pub const MEMORY: Self = Self { memory: true, ..Self::NONE };
    pub const RACE: Self = Self { race: true, ..Self::NONE };
    pub const SYNC: Self = Self { sync: true, ..Self::NONE };
    pub const INIT: Self = Self { init: true, ..Self::NONE };
}

/// What runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Execution {
    /// Compiled code. A launch whose kernel the compiler refuses is interpreted, and noted in
    /// [`fall_backs`](crate::fall_backs). Only the kernel's own code is made before the launch. A
    /// function that the kernel calls is compiled at the first call, and a flavour for some lanes
    /// when lanes first part. A refusal of those ends the launch with a fault: blocks have run.
    #[default]
    Compiled,
    /// Compiled code. A kernel that the compiler refuses fails, as what it calls does; for tests
    /// of compiled code.
    CompiledOnly,
    /// The interpreter.
    Interpreted,
}

/// Races that have been found, in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Races {
    /// Pairs of instructions.
    pub places: usize,
    pub count: u64,
    /// Launches and blocks that were not looked at.
    pub unseen: u64,
}

#[derive(Debug)]
pub struct Engine {
    device: Arc<Device>,
    options: Options,
    stack: AtomicU64,
    interpreter: Interpreter,
    /// Where accesses are watched.
    races: Option<Arc<gangway_races::Device>>,
    /// The same, of the program itself.
    host: Option<Host>,
    /// Where they are noted.
    accesses: Option<Arc<Accesses>>,
    pool: Pool,
    at_once: AtOnce,
}

impl Engine {
    #[must_use]
    pub fn new(options: Options) -> Arc<Self> {
        // Accesses that are watched go where they are checked.
        let checks = options.checks;
        let watch = checks.race || checks.map;
        let device = Device::new(options.device, checks.memory || watch, watch, options.heap);
        let device = device.with_init(checks.init).with_tier(options.tier).with_unaligned(options.unaligned);
        let device = Arc::new(device);
        let races = checks.race.then(|| gangway_races::Device::new(gangway_device_memory::BASE));
        let host = races.as_ref().map(Host::new);
        let accesses = checks.map.then(Accesses::new).flatten().map(Arc::new);
        let pool = Pool::new(device.clone(), options.workers);
        let stack = AtomicU64::new(options.stack);
        Arc::new(Engine {
            device,
            options,
            stack,
            interpreter: Interpreter::default(),
            races,
            host,
            accesses,
            pool,
            at_once: AtOnce::default(),
        })
    }

    /// So many kernels run at once, and others wait for one of them to end; 0 sets no limit.
    pub fn set_kernels_at_once(&self, most: usize) {
        self.at_once.set(most);
    }

    /// Gives the threads of later launches so many bytes of local memory.
    pub fn set_stack(&self, bytes: u64) {
        self.stack.store(bytes, Ordering::Relaxed);
    }

    /// Gives the device's `malloc` so many bytes; `false` when a kernel has used it already.
    #[must_use]
    pub fn set_heap(&self, bytes: u64) -> bool {
        self.device.set_heap_size(bytes)
    }

    /// Places a linked module: its variables get memory and their initial values.
    pub fn load(&self, module: Module) -> Result<Arc<Program>, LoadError> {
        Program::load(module, &self.device, self.options.cache.clone(), provided).map(Arc::new)
    }

    /// Compiles a kernel's own code for a launch, if that is not done yet: then the launch itself
    /// does not. Whether there was anything to do.
    pub fn make_ready(&self, launch: &KernelLaunch<'_>) -> bool {
        if self.options.execution == Execution::Interpreted {
            return false;
        }
        let before = crate::compiled();
        let stack = self.stack.load(Ordering::Relaxed);
        // The launch hears why it cannot be compiled, if so.
        let _ = Job::new(launch, stack, self.options.workers as u32, None, None).compile();
        crate::compiled() != before
    }

    /// Runs a kernel to its end. What it prints goes to the standard output of the process.
    /// The driver has checked sizes against the device's limits.
    pub fn launch(&self, launch: &KernelLaunch<'_>) -> Result<(), Box<Fault>> {
        self.launch_until(launch, None, None)
    }

    /// As [`launch`](Engine::launch), but ends early, without a fault, when `stop` becomes true. Who looks for races
    /// goes by what the launch comes after, if that is known.
    pub fn launch_until(
        &self,
        launch: &KernelLaunch<'_>,
        stop: Option<Arc<AtomicBool>>,
        past: Option<Arc<dyn Past>>,
    ) -> Result<(), Box<Fault>> {
        self.launch_part(launch, 0, stop, past)
    }

    /// As [`launch_until`](Engine::launch_until) without the blocks before the one with a number, which somebody else
    /// runs. Only for an engine that does not interpret: its interpreter runs launches whole.
    pub fn launch_from(
        &self,
        launch: &KernelLaunch<'_>,
        first: u64,
        stop: Option<Arc<AtomicBool>>,
    ) -> Result<(), Box<Fault>> {
        self.launch_part(launch, first, stop, None)
    }

    fn launch_part(
        &self,
        launch: &KernelLaunch<'_>,
        first: u64,
        stop: Option<Arc<AtomicBool>>,
        past: Option<Arc<dyn Past>>,
    ) -> Result<(), Box<Fault>> {
        let turn = self.at_once.take(stop.as_deref());
        let result = self.run(launch, first, stop, past);
        drop(turn);
        output::flush();
        result
    }

    fn run(
        &self,
        launch: &KernelLaunch<'_>,
        first: u64,
        stop: Option<Arc<AtomicBool>>,
        past: Option<Arc<dyn Past>>,
    ) -> Result<(), Box<Fault>> {
        if self.options.execution == Execution::Interpreted {
            return self.interpret(launch, stop.as_deref());
        }
        let (stack, workers) = (self.stack.load(Ordering::Relaxed), self.options.workers as u32);
        self.device.before_launch();
        let races = self.races.as_ref().map(|device| Watched { device, past });
        let mut job = Job::new(launch, stack, workers, stop.clone(), races);
        job.handout.begin_at(first);
        job.accesses.clone_from(&self.accesses);
        job.sync = self.options.checks.sync.then(Default::default);
        if let Err(refusal) = job.compile() {
            return self.fall_back(launch, &refusal, stop.as_deref());
        }
        if launch.cooperative {
            let failed = |reason| {
                Fault::new(&self.device, job.kernel.name(), &FaultKind::Launch(reason), &Place::default())
            };
            job.room.workspace = Some(self.device.workspace().map_err(failed)?);
        }
        let job = self.pool.run(job);
        job.tell_races(self.options.listeners);
        job.tell_sync(self.options.listeners);
        match launch.program.init() {
            Some(_) => job.tell_uses(self.options.listeners),
            None => self.define_all(),
        }
        job.ending.result()
    }

    /// Memory is about to be copied or filled, by something that comes after `past`: races with kernels are told.
    pub fn transfer(&self, origin: &Origin, accesses: &[Transfer], past: Option<Arc<dyn Past>>) {
        let found = self.races.iter().flat_map(|device| device.transfer(origin, accesses, past.clone()));
        found.for_each(|finding| self.tell_race(&finding));
    }

    /// The program accesses memory that devices use as well: as [`Host::accesses`], and the races are told.
    pub fn program_accesses(
        &self,
        access: &HostAccess,
        moment: (u64, u64),
        past: impl FnOnce() -> Arc<dyn Past>,
    ) {
        if let Some(host) = &self.host {
            host.accesses(access, moment, past).iter().for_each(|finding| self.tell_race(finding));
        }
    }

    /// The program does nothing more: its last races are told.
    pub fn program_ends(&self) {
        if let Some(host) = &self.host {
            host.found().iter().for_each(|finding| self.tell_race(finding));
        }
    }

    fn tell_race(&self, finding: &gangway_races::Finding) {
        (self.options.listeners.tell)(told_race(finding, self.options.listeners));
    }

    /// Memory of the host is given back: what was done there has nothing to do with what comes.
    pub fn forget_host(&self, address: u64, size: u64) {
        self.races.iter().for_each(|device| device.forget_host(address, size));
    }

    /// Memory is new: what was done there before has nothing to do with what comes.
    pub fn forget_accesses(&self, address: u64, size: u64) {
        self.races.iter().for_each(|device| device.forget(address, size));
    }

    /// Takes what has been noted of the accesses to so many bytes at an address. Answers how many kernels have run whose
    /// accesses nobody has noted; none if they never are.
    pub fn take_accesses(&self, address: u64, size: u64, receive: &mut dyn FnMut(Accessed)) -> Option<u64> {
        let accesses = self.accesses.as_ref()?;
        accesses.take(address, size, receive);
        Some(accesses.unseen())
    }

    /// Has reads of a range noted one by one, or only that there are some.
    pub fn watch_reads(&self, address: u64, size: u64, whether: bool) {
        self.accesses.iter().for_each(|accesses| accesses.watch_reads(address, size, whether));
    }

    /// Something else than a kernel writes memory.
    pub fn note_change(&self, address: u64, size: u64) {
        self.accesses.iter().for_each(|accesses| accesses.change(address, size));
    }

    /// The place of an access that has a number.
    #[must_use]
    pub fn access_place(&self, number: u32) -> Option<gangway_races::Place> {
        self.accesses.as_ref()?.place(number)
    }

    /// What races have been found, where they are looked for.
    #[must_use]
    pub fn races(&self) -> Option<Races> {
        self.races.as_ref().map(|races| {
            let (places, count) = races.found();
            Races { places, count, unseen: races.lost() }
        })
    }

    /// Runs a kernel that is not looked at.
    fn interpret(&self, launch: &KernelLaunch<'_>, stop: Option<&AtomicBool>) -> Result<(), Box<Fault>> {
        self.races.iter().for_each(|races| races.lose());
        self.accesses.iter().for_each(|accesses| accesses.lose());
        let result = self.interpreter.launch(&self.device, launch, stop);
        self.define_all();
        result
    }

    /// A kernel may have written anything: nobody has seen what.
    fn define_all(&self) {
        if self.device.init {
            gangway_device_memory::shadow::define_all();
        }
    }

    /// Runs a kernel that the compiler refuses.
    #[cold]
    fn fall_back(
        &self,
        launch: &KernelLaunch<'_>,
        refusal: &FaultKind,
        stop: Option<&AtomicBool>,
    ) -> Result<(), Box<Fault>> {
        let noted = fall_back::note(launch, refusal);
        match self.options.execution {
            Execution::Compiled | Execution::Interpreted => self.interpret(launch, stop),
            Execution::CompiledOnly => {
                self.races.iter().for_each(|races| races.lose());
                Err(noted.refused())
            }
        }
    }
}
