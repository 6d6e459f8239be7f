//! A construct from its beginning to its end: what users are told of it (`LIBOMPTARGET_INFO` and
//! `LIBOMPTARGET_PROFILE`), its run on a device, and its completion.
//!
//! Whoever performs a construct begins a [`Construct`], which tells its arguments, and issues it to a
//! device. It is [`UnderWay`] then, and whoever has that ends it: a deferred one is kept until then.
//! The profile has the time between. One that fails ends there, and nothing more is told of it but its
//! error.
//!
//! | performed by | ends for its user |
//! |---|---|
//! | its call, or a task of ours | when the device has done it ([`UnderWay::complete`]) |
//! | a queue of OpenACC's | when the queue has taken it: nobody waits for it but the queue |
//! | a task of libomp's | when the task has taken its job ([`UnderWay::end_by`]), as with the stock library |
//! | a routine, or a launch of CUDA's language | nothing is told of it ([`Construct::untold`]) |

use crate::information;
use crate::profile::Section;
use crate::state::RUNTIME;
use gangway_runtime::events::{self, Site};
use gangway_runtime::placement::Place;
use gangway_runtime::queue::Queue;
use gangway_runtime::{DataOperation, Device, Items, Job, Result, Shape};

/// A construct that has begun, and is not issued yet. Its section of the profile ends when it fails.
#[must_use]
pub struct Construct {
    site: Site,
    /// Nothing if nobody wants to know.
    told: Option<Box<Told>>,
}

/// A construct that has been issued. Its section of the profile ends with it, or when it fails.
#[must_use]
pub struct UnderWay {
    /// None: it is over, or a queue has it.
    job: Option<Box<Job>>,
    told: Option<Box<Told>>,
}

struct Told {
    site: Site,
    section: Option<Section>,
}

impl Construct {
    /// A construct that moves data.
    #[inline]
    pub fn data(device: &Device, site: &Site, title: &str, items: &impl Items) -> Self {
        Self::begin(device, site, title, items, "Runtime: Data Copy", String::new)
    }

    /// A target region; `shape` is how it is launched, for the profile: `NumTeams=4`.
    #[inline]
    pub fn region(
        device: &Device,
        site: &Site,
        title: &str,
        items: &impl Items,
        shape: impl FnOnce() -> String,
    ) -> Self {
        Self::begin(device, site, title, items, "Runtime: target exe", || shape() + ";")
    }

    /// What runs as a construct does and is none: users are told of its steps alone.
    #[inline]
    pub fn untold(site: &Site) -> Self {
        Self { site: *site, told: None }
    }

    #[inline]
    fn begin(
        device: &Device,
        site: &Site,
        title: &str,
        items: &impl Items,
        section: &'static str,
        shape: impl FnOnce() -> String,
    ) -> Self {
        if !events::observed() {
            return Self::untold(site);
        }
        information::construct(device, site, title, items);
        let section = Section::begin(section, site, || format!("{}NumArgs={}", shape(), items.len()));
        Self { site: *site, told: Some(Box::new(Told { site: *site, section })) }
    }

    /// Launches a region.
    ///
    /// # Errors
    /// As [`Runtime::run`](gangway_runtime::Runtime::run).
    #[inline]
    pub fn run(
        self,
        place: impl Into<Place>,
        host: usize,
        items: &impl Items,
        shape: &Shape,
    ) -> Result<UnderWay> {
        let job = RUNTIME.run(place, self.site, host, items, shape)?;
        Ok(UnderWay { job: Some(job), told: self.told })
    }

    /// Launches a region in a queue.
    ///
    /// # Errors
    /// As [`Runtime::run_in`](gangway_runtime::Runtime::run_in).
    #[inline]
    pub fn run_in(self, queue: &Queue, host: usize, items: &impl Items, shape: &Shape) -> Result<UnderWay> {
        RUNTIME.run_in(queue, self.site, host, items, shape)?;
        Ok(UnderWay { job: None, told: self.told })
    }

    /// Begins, ends or updates data.
    ///
    /// # Errors
    /// As [`Runtime::data`](gangway_runtime::Runtime::data).
    #[inline]
    pub fn perform(
        self,
        place: impl Into<Place>,
        operation: DataOperation,
        items: &impl Items,
    ) -> Result<UnderWay> {
        let job = RUNTIME.data(place, self.site, operation, items)?;
        Ok(UnderWay { job, told: self.told })
    }

    /// Begins, ends or updates data in a queue.
    ///
    /// # Errors
    /// As [`Runtime::data_in`](gangway_runtime::Runtime::data_in).
    #[inline]
    pub fn perform_in(self, queue: &Queue, operation: DataOperation, items: &impl Items) -> Result<UnderWay> {
        RUNTIME.data_in(queue, self.site, operation, items)?;
        Ok(UnderWay { job: None, told: self.told })
    }
}

impl UnderWay {
    /// Waits for it, and ends it.
    ///
    /// # Errors
    /// A device operation failed.
    #[inline]
    pub fn complete(self) -> Result<()> {
        self.end_by(complete)
    }

    /// Ends it when `end` has done so with its job: has waited for it ([`complete`]), or given it to
    /// who will.
    ///
    /// # Errors
    /// Those of `end`.
    #[inline]
    pub fn end_by(self, end: impl FnOnce(Option<Box<Job>>) -> Result<()>) -> Result<()> {
        end(self.job)?;
        if let Some(told) = self.told {
            told.done();
        }
        Ok(())
    }

    /// Whether it could be completed without a wait.
    pub fn is_idle(&mut self) -> bool {
        self.job.as_mut().is_none_or(|job| job.is_idle())
    }

    /// It outlives the call that it was begun in: others may begin and end meanwhile.
    pub fn outlives_its_call(mut self) -> Self {
        if let Some(section) = self.told.as_mut().and_then(|told| told.section.as_mut()) {
            section.overlaps();
        }
        self
    }
}

/// Waits for a job, if there is one, and ends it.
///
/// # Errors
/// A device operation failed.
#[inline]
pub fn complete(job: Option<Box<Job>>) -> Result<()> {
    job.map_or(Ok(()), |job| job.complete())
}

impl Told {
    #[cold]
    fn done(self) {
        drop(self.section);
        information::construct_done(&self.site);
    }
}
