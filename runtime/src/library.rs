//! Registered libraries: the program's and its shared objects' device images and
//! the table that ties host addresses to names.

use crate::device::Device;
use crate::regions::Region;
use gangway_backend::Module;
use gangway_host_calls::{FunctionTable, Held, MailCall};
use std::ffi::CStr;
use std::sync::Arc;

/// What a host entry stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A target region.
    Kernel,
    /// A variable with a device copy.
    Global,
    /// A pointer variable of the device that holds the device address of what is at
    /// the host address: a function (`declare target indirect`) or a virtual table.
    Indirect,
}

/// One line of a library's table.
#[derive(Debug, Clone, Copy)]
pub struct HostEntry {
    /// What it stands for.
    pub kind: EntryKind,
    /// Host address.
    pub address: usize,
    /// Symbol in the image.
    pub name: &'static CStr,
    /// Bytes; 0 for kernels.
    pub size: usize,
}

/// How code of an image calls the host through a mailbox.
#[derive(Debug, Clone)]
pub struct Mailbox {
    /// The functions that it may call. Null where one is not for the host.
    pub functions: FunctionTable,
    /// The variable of the image that leads to the mailbox.
    pub pointer: &'static CStr,
    /// Serves a call of a device; on any thread, and for several devices at once.
    pub serve: fn(&'static Device, &MailCall),
}

/// A library as a front end registers it.
#[derive(Debug, Clone, Default)]
pub struct Registration {
    /// What it is unregistered by.
    pub key: usize,
    /// Device images, in the compiler's order of preference.
    pub images: Vec<&'static [u8]>,
    /// The table.
    pub entries: Vec<HostEntry>,
    /// Functions that device code may call by their host addresses, besides those among the
    /// entries.
    pub indirect: Option<FunctionTable>,
    /// How device code calls the host, if it is not through a channel.
    pub mailbox: Option<Mailbox>,
}

/// A registered library.
pub(crate) struct Library {
    pub(crate) key: usize,
    /// Tells it from one that was registered under the same key before.
    pub(crate) serial: u64,
    pub(crate) images: Vec<&'static [u8]>,
    /// Per image, the back end that takes it.
    pub(crate) takers: Vec<Option<Taker>>,
    pub(crate) globals: Vec<HostEntry>,
    pub(crate) indirect: Option<Arc<FunctionTable>>,
    pub(crate) mailbox: Option<Arc<Mailbox>>,
    pub(crate) regions: Box<[Region]>,
    /// Whether the devices of its images have their numbers.
    pub(crate) placed: bool,
    /// Per device number, which image it takes and what became of it.
    pub(crate) placements: Vec<Placement>,
}

/// A back end that takes an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker {
    /// Its place in the order of back ends.
    pub(crate) index: usize,
    pub(crate) name: &'static str,
}

/// A library on one device.
pub(crate) enum Placement {
    /// No image for this device.
    None,
    /// One of the images of these indices, not loaded yet.
    Pending(Vec<usize>),
    /// Loaded.
    Loaded {
        /// The image.
        module: Arc<dyn Module>,
        /// Host addresses of the globals it has put into the present table.
        mapped: Vec<usize>,
        /// What its code calls the host through, if not a channel.
        _mailbox: Option<Held>,
    },
    /// Loading failed; not tried again.
    Failed(gangway_backend::Error),
}

impl Library {
    pub(crate) fn new(registration: Registration) -> Self {
        let Registration { key, images, entries, indirect, mailbox } = registration;
        let is_kernel = |entry: &&HostEntry| entry.kind == EntryKind::Kernel;
        let region = |entry: &HostEntry| Region::new(entry.address, entry.name.to_str().unwrap_or("?"));
        Self {
            key,
            serial: 0,
            takers: vec![None; images.len()],
            images,
            indirect: indirect.map(Arc::new),
            mailbox: mailbox.map(Arc::new),
            regions: entries.iter().filter(is_kernel).map(region).collect(),
            globals: entries.into_iter().filter(|entry| entry.kind != EntryKind::Kernel).collect(),
            placed: false,
            placements: Vec::new(),
        }
    }

    /// Says that device `number` may run image `index`.
    pub(crate) fn place(&mut self, number: usize, index: usize) {
        while self.placements.len() <= number {
            self.placements.push(Placement::None);
        }
        match &mut self.placements[number] {
            Placement::Pending(images) => images.push(index),
            placement => *placement = Placement::Pending(vec![index]),
        }
    }

    /// A line for messages about each image.
    pub(crate) fn describe_images(&self) -> Vec<String> {
        let images = self.images.iter().zip(&self.takers);
        images.map(|(image, taker)| describe_image(image, taker.map(|taker| taker.name))).collect()
    }
}

/// What an image is, or why it is none, in one line.
/// What only its back end understands is described as that.
pub(crate) fn describe_image(image: &[u8], taker: Option<&str>) -> String {
    match (gangway_image::recognise(image), taker) {
        (Ok(kind), _) => format!("{kind}, {} bytes", image.len()),
        (Err(_), Some(taker)) => format!("image for {taker} devices, {} bytes", image.len()),
        (Err(error), None) => format!("unreadable image of {} bytes: {error}", image.len()),
    }
}
