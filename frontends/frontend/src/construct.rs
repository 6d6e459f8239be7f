//! What users are told of a construct, from its beginning to its end: `LIBOMPTARGET_INFO` and
//! `LIBOMPTARGET_PROFILE`.
//!
//! Whoever performs a construct begins a [`Construct`] before the runtime is called, and keeps it as
//! long as the construct lasts: a deferred one beside its job.

use crate::information;
use crate::profile::Section;
use gangway_runtime::events::{self, Site};
use gangway_runtime::{Device, Items};

/// A construct under way. Its section of the profile ends when this goes.
#[must_use]
pub struct Construct {
    /// Nothing if nobody wants to know.
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
            return Self { told: None };
        }
        information::construct(device, site, title, items);
        let section = Section::begin(section, site, || format!("{}NumArgs={}", shape(), items.len()));
        Self { told: Some(Box::new(Told { site: *site, section })) }
    }

    /// It outlives the call that it was begun in: others may begin and end meanwhile.
    pub fn outlives_its_call(mut self) -> Self {
        if let Some(section) = self.told.as_mut().and_then(|told| told.section.as_mut()) {
            section.overlaps();
        }
        self
    }

    /// The device has done it.
    #[inline]
    pub fn done(mut self) {
        if let Some(told) = self.told.take() {
            told.done();
        }
    }
}

impl Told {
    #[cold]
    fn done(self) {
        drop(self.section);
        information::construct_done(&self.site);
    }
}
