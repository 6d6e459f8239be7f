//! Agents: the host's processor and the virtual GPUs. They are there for as long as the process.

pub mod cache;
pub mod info;
pub mod isa;
pub mod region;

use std::sync::{Arc, OnceLock};

use gangway_device_memory::Space;
use gangway_engine::{Checks, CodeCache, Engine, Execution, Options};

use crate::abi::handle::Kind;
use crate::abi::{Handle, Result, Status};
use crate::objects::process::config::Config;
use crate::objects::process::report::report;
use crate::objects::process::trace;

/// An agent: the processor is number 0, GPUs are numbered from 1.
#[derive(Debug)]
pub struct Agent {
    number: u32,
    config: Arc<Config>,
    engine: OnceLock<Arc<Engine>>,
}

struct Agents {
    agents: Vec<Agent>,
    /// `None` if there is no memory for devices: then there are none.
    space: Option<&'static Space>,
}

static AGENTS: OnceLock<Agents> = OnceLock::new();

/// Reads the environment and makes the agents; once in a process.
pub fn start() {
    AGENTS.get_or_init(|| {
        let config = Arc::new(Config::from_environment());
        let space = match Space::of_amd() {
            Ok(space) => Some(space),
            Err(error) => {
                report!("there is no virtual AMD GPU: {error}");
                None
            }
        };
        let devices = space.map_or(0, |space| prepare(space, &config));
        let agent = |number| Agent { number, config: Arc::clone(&config), engine: OnceLock::new() };
        Agents { agents: (0..=devices).map(agent).collect(), space }
    });
}

/// Makes memory what devices have, and says how many there are.
fn prepare(space: &Space, config: &Config) -> u32 {
    space.set_poison(config.check_memory);
    if config.unified == Some(true) {
        space.share_host();
    }
    for device in 0..config.devices {
        if let Err(error) = space.set_limit(device, config.memory) {
            report!("the memory of device {device} has no limit: {error}");
        }
    }
    config.devices
}

/// All agents, the processor first; none before the runtime has been initialised.
#[must_use]
pub fn all() -> &'static [Agent] {
    AGENTS.get().map_or(&[], |made| &made.agents)
}

/// Lets all devices use the host's memory, unless the user has said that they must not.
pub fn share_host() {
    if let (Some(agent), Ok(space)) = (all().first(), space())
        && agent.config().unified != Some(false)
    {
        space.share_host();
    }
}

/// Whether kernels may use all of the host's memory.
#[must_use]
pub fn shares_host() -> bool {
    space().is_ok_and(Space::shares_host)
}

/// The memory of all devices.
pub fn space() -> Result<&'static Space> {
    AGENTS.get().and_then(|made| made.space).ok_or(Status::ERROR_OUT_OF_RESOURCES)
}

impl Agent {
    /// The agent of a handle.
    pub fn get(handle: Handle) -> Result<&'static Self> {
        let number = handle.number(Kind::Agent).ok_or(Status::ERROR_INVALID_AGENT)?;
        all().get(number as usize).ok_or(Status::ERROR_INVALID_AGENT)
    }

    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(Kind::Agent, u64::from(self.number))
    }

    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.number > 0
    }

    /// The number that the device has in device memory; `None` for the processor.
    #[must_use]
    pub fn device(&self) -> Option<u32> {
        self.number.checked_sub(1)
    }

    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What runs kernels that are compiled. Made for the first of them.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        self.engine.get_or_init(|| {
            Engine::new(Options {
                device: self.device().unwrap_or_default(),
                workers: self.config.workers as usize,
                checks: Checks { memory: self.config.check_memory, ..Checks::NONE },
                execution: Execution::CompiledOnly,
                unaligned: true,
                stack: gangway_gcn_lifter::STACK,
                cache: Some(Arc::clone(code_cache(&self.config))),
                ..Options::default()
            })
        })
    }
}

/// Where the code of all devices is kept.
fn code_cache(config: &Config) -> &'static Arc<CodeCache> {
    static CACHE: OnceLock<Arc<CodeCache>> = OnceLock::new();
    CACHE.get_or_init(|| {
        let cache = config.cache.as_deref().map_or_else(CodeCache::new, CodeCache::open);
        if let Some(reason) = cache.refusal()
            && trace::tells()
        {
            report!("compiled kernels are not kept: {reason}");
        }
        Arc::new(cache)
    })
}

/// The processor.
pub fn processor() -> Result<&'static Agent> {
    all().first().ok_or(Status::ERROR_NOT_INITIALIZED)
}
