//! What all constructs have in common: where they run, and what they wait for before.

use crate::abi::{device, kind};
use crate::libgomp::Libgomp;
use crate::stack;
use crate::table::{Construct, Table};
use crate::words::WORDS;
use gangway_frontend::devices::ready;
use gangway_frontend::host::{Host, Offload};
use gangway_frontend::state::RUNTIME;
use gangway_frontend::{caller, policy};
use gangway_openmp::devices::{self, Destination};
use gangway_runtime::events::Site;
use gangway_runtime::placement::{self, Place, Purpose};
use gangway_runtime::{Device, Error, Item, Items, MapKind, memory};
use std::cell::Cell;

/// The place a construct was called from. GCC's code says nothing about the source.
#[inline]
pub(crate) fn site() -> Site {
    Site { return_address: caller::noted(), ..Site::NONE }
}

/// Where a construct is to run, as far as its device number says.
#[derive(Clone, Copy)]
pub(crate) struct Aim {
    /// Ready; the default device if the number names none.
    device: &'static Device,
    /// Another device may do as well. Which one is decided when the construct is issued: what it
    /// waits for may put its data on a device.
    by_load: bool,
}

impl Aim {
    /// What a device number says.
    ///
    /// # Errors
    /// The host runs the construct; because of an error, if it was not asked for.
    #[inline]
    pub(crate) fn of(number: i32, site: &Site) -> Result<Self, Option<Box<Error>>> {
        match destination(number, site) {
            Destination::Device(device) => {
                let by_load = matches!(number, device::ICV | device::DEFAULT) && placement::is_balancing();
                Ok(Self { device, by_load })
            }
            Destination::Host(error) => Err(error),
        }
    }

    /// The device, though another one may do as well.
    #[inline]
    pub(crate) const fn device(&self) -> &'static Device {
        self.device
    }

    /// The device, if no other may do as well.
    #[inline]
    pub(crate) fn fixed(self) -> Option<&'static Device> {
        (!self.by_load).then_some(self.device)
    }

    /// Where the construct runs, which begins now.
    #[inline]
    pub(crate) fn destination(self, purpose: Purpose, site: &Site, table: &Table<'_>) -> Destination<Place> {
        match self.by_load {
            true => devices::chosen::<Libgomp>(self.device, purpose, site, table),
            false => Destination::Device(self.device.into()),
        }
    }

    /// Where it would run if it began now.
    #[inline]
    pub(crate) fn likely(self, purpose: Purpose, site: &Site, table: &Table<'_>) -> &'static Device {
        if !self.by_load {
            return self.device;
        }
        RUNTIME.choose(self.device, purpose, site, table).map_or(self.device, |place| place.device())
    }
}

/// Where a construct with this device number runs.
#[inline]
fn destination(number: i32, site: &Site) -> Destination {
    let number = match number {
        device::HOST_FALLBACK => return Destination::Host(None),
        device::ICV | device::DEFAULT => match Libgomp::default_device() {
            device::INITIAL => return Destination::Host(None),
            number => number,
        },
        number => number.into(),
    };
    if number < 0 || number > devices::omp_get_initial_device::<Libgomp>().into() {
        return beyond_devices(number, site);
    }
    devices::destination::<Libgomp>(number, site)
}

/// libgomp has the host run what is for a device that there is not, unless the program names none on
/// purpose.
#[cold]
fn beyond_devices(number: i64, site: &Site) -> Destination {
    if number == i64::from(device::INVALID) {
        policy::mistake(format_args!("a construct is for omp_invalid_device"));
    }
    if policy::offload() == Offload::Mandatory
        && let Err(error) = ready(number, site)
    {
        policy::terminate(&error, WORDS);
    }
    Destination::Host(None)
}

/// Has the first-private items of a region be what they are now, whatever other tasks do to
/// the variables while the region waits. What is answered holds their values.
///
/// # Safety
/// The table is the compiler's.
#[cold]
pub(crate) unsafe fn keep_private_values(table: &Table<'_>) -> Vec<u128> {
    // SAFETY: the compiler says that a variable of this size is there.
    unsafe { keep_values(table, |index| private_size(table, index)) }
}

/// Bytes of a first-private item; 0 if it is another one.
fn private_size(table: &Table<'_>, index: usize) -> usize {
    let is_private = table.kinds()[index] as u8 == kind::FIRSTPRIVATE && table.hosts()[index].get() != 0;
    if is_private { table.sizes()[index] } else { 0 }
}

/// Bytes of what Fortran's code maps an array through, if the host may have another array there
/// before the construct is done: a pointer to it, or its descriptor. 0 if it is another item.
///
/// It may be a temporary of the calling function's, which the next construct uses again. It may be
/// a variable, too, with which a loop goes through parts of an array. libgomp has read it when the call
/// returns, as it runs a region at once that waits for nothing. What is on the device stays where it is,
/// but for temporaries: what a function before this one had there was something else.
fn changing_size(device: &'static Device, table: &Table<'_>, index: usize) -> usize {
    let size = match table.kinds()[index] as u8 {
        kind::TO_PSET => table.sizes()[index],
        kind::POINTER | kind::POINTER_TO_ZERO_LENGTH_ARRAY_SECTION if !is_in_descriptor(table, index) => {
            size_of::<usize>()
        }
        _ => return 0,
    };
    let host = table.hosts()[index].get();
    let changes = stack::has(host) || memory::mapped_address(device, host).is_none();
    if changes { size } else { 0 }
}

/// Whether an item is the pointer in the descriptor that stands before it.
fn is_in_descriptor(table: &Table<'_>, index: usize) -> bool {
    index.checked_sub(1).is_some_and(|before| {
        table.kinds()[before] as u8 == kind::TO_PSET
            && table.hosts()[before].get() == table.hosts()[index].get()
    })
}

/// Has items be at copies of what they are now, each of the size that is said. What is answered
/// holds the copies.
///
/// # Safety
/// So many bytes are at the addresses of the items, or none is asked for.
unsafe fn keep_values(table: &Table<'_>, size: impl Fn(usize) -> usize) -> Vec<u128> {
    const UNIT: usize = size_of::<u128>();
    let sizes: Vec<usize> = (0..table.kinds().len()).map(size).collect();
    let mut values = vec![0_u128; sizes.iter().map(|size| size.div_ceil(UNIT)).sum()];
    let mut free = values.as_mut_ptr();
    for (host, &size) in table.hosts().iter().zip(&sizes).filter(|(_, size)| **size != 0) {
        // SAFETY: there is room for all of them, and the caller's promise.
        unsafe {
            free.cast::<u8>().copy_from_nonoverlapping(host.get() as *const u8, size);
            host.set(free.expose_provenance());
            free = free.add(size.div_ceil(UNIT));
        }
    }
    values
}

/// Bytes of an item that the runtime packs with others, and fetches without holding anybody up.
const SMALL: usize = 4 << 10;

/// The items that a construct copies back to the host: those that are present stay where they are
/// when a region ends.
fn copied_back(
    device: &'static Device,
    construct: Construct,
    table: &Table<'_>,
) -> impl Iterator<Item = Item> {
    let stays = move |item: &Item| {
        matches!(construct, Construct::Region)
            && !item.kind.has(MapKind::ALWAYS)
            && memory::mapped_address(device, item.begin).is_some()
    };
    table.iter().filter(move |item| item.kind.has(MapKind::FROM) && item.size != 0 && !stays(item))
}

/// Arrays that belong to a construct which outlives its call.
pub(crate) struct Owned {
    hosts: Vec<Cell<usize>>,
    sizes: Vec<usize>,
    kinds: Vec<u16>,
    /// The values of first-private items, and of what arrays are mapped through, which their
    /// addresses lead to.
    #[allow(dead_code, reason = "read through addresses")]
    values: Vec<u128>,
}

impl Owned {
    /// A copy of a construct's arrays.
    pub(crate) fn copy(table: &Table<'_>) -> Self {
        Self {
            hosts: table.hosts().to_vec(),
            sizes: table.sizes().to_vec(),
            kinds: table.kinds().to_vec(),
            values: Vec::new(),
        }
    }

    /// A copy with the present values of first-private items and of what arrays are mapped through,
    /// for a region on this device.
    ///
    /// # Safety
    /// The table is the compiler's.
    pub(crate) unsafe fn with_private_values(device: &'static Device, table: &Table<'_>) -> Self {
        let mut copy = Self::copy(table);
        let own = copy.table(Construct::Region);
        let in_descriptors: Vec<usize> =
            (1..own.kinds().len()).filter(|&index| is_in_descriptor(&own, index)).collect();
        let size = |index| private_size(&own, index).max(changing_size(device, &own, index));
        // SAFETY: the compiler says what is there.
        let values = unsafe { keep_values(&own, size) };
        for index in in_descriptors {
            own.hosts()[index].set(own.hosts()[index - 1].get());
        }
        copy.values = values;
        copy
    }

    /// They as list items.
    pub(crate) fn table(&self, construct: Construct) -> Table<'_> {
        Table::of(construct, &self.hosts, &self.sizes, &self.kinds)
    }

    /// Whether a driver may hold up the thread that issues this, until it has copied from the
    /// device: to memory that is not pinned. What is small is packed, in memory that is.
    pub(crate) fn holds_up(&self, device: &'static Device, construct: Construct) -> bool {
        let table = self.table(construct);
        copied_back(device, construct, &table).any(|item| item.size > SMALL)
    }

    /// Whether the construct has to be done when its call returns, outside of parallel regions.
    ///
    /// libgomp runs them at once there, and programs rely on it without a `taskwait`: they read the
    /// small results of the construct, unless it has dependences for somebody to wait for, or return
    /// from the function whose variables it copies back to. The device would write into the frames
    /// of other functions then; at the program's end, of those that end it.
    pub(crate) fn is_due_at_once(
        &self,
        device: &'static Device,
        construct: Construct,
        has_dependences: bool,
    ) -> bool {
        let table = self.table(construct);
        copied_back(device, construct, &table)
            .any(|item| item.size <= SMALL && !has_dependences || stack::has(item.begin))
    }

    /// Those items that have a slot in the region's table, as its host version expects them. Their
    /// values are these arrays'.
    pub(crate) fn with_slots(&self) -> Self {
        let places = (0..self.kinds.len()).filter(|&at| self.kinds[at] & kind::NO_SLOT == 0);
        let mut own = Self { hosts: vec![], sizes: vec![], kinds: vec![], values: vec![] };
        for at in places {
            own.hosts.push(self.hosts[at].clone());
            own.sizes.push(self.sizes[at]);
            own.kinds.push(self.kinds[at]);
        }
        own
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// They as a compiler passes them.
    pub(crate) fn pointers(&self) -> (*mut usize, *mut usize, *mut u16) {
        let hosts = self.hosts.as_ptr().cast_mut().cast();
        (hosts, self.sizes.as_ptr().cast_mut(), self.kinds.as_ptr().cast_mut())
    }
}
