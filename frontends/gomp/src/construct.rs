//! What all constructs have in common: where they run, and what they wait for before.

use crate::abi::{device, kind};
use crate::libgomp::Libgomp;
use crate::stack;
use crate::table::{Construct, Table};
use gangway_openmp::devices::{self, Destination};
use gangway_openmp::host::{Host, Offload};
use gangway_openmp::{caller, policy};
use gangway_runtime::events::Site;
use gangway_runtime::{Device, Item, Items, MapKind, memory};
use std::cell::Cell;

/// The place a construct was called from. GCC's code says nothing about the source.
#[inline]
pub(crate) fn site() -> Site {
    Site { return_address: caller::noted(), ..Site::NONE }
}

/// Where a construct with this device number runs.
#[inline]
pub(crate) fn destination(number: i32, site: &Site) -> Destination {
    if number == device::HOST_FALLBACK {
        return Destination::Host(None);
    }
    let number = if number == device::ICV { Libgomp::default_device() } else { number.into() };
    if number > devices::omp_get_initial_device::<Libgomp>().into() {
        return beyond_devices(number, site);
    }
    devices::destination::<Libgomp>(number, site)
}

/// libgomp has the host run what is for a device that there is not.
#[cold]
fn beyond_devices(number: i64, site: &Site) -> Destination {
    if policy::offload() == Offload::Mandatory
        && let Err(error) = devices::ready(number, site)
    {
        policy::terminate(&error);
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
    const UNIT: usize = size_of::<u128>();
    let is_private =
        |&index: &usize| table.kinds()[index] as u8 == kind::FIRSTPRIVATE && table.hosts()[index].get() != 0;
    let private = || (0..table.kinds().len()).filter(is_private);
    let units = private().map(|index| table.sizes()[index].div_ceil(UNIT)).sum();
    let mut values = vec![0_u128; units];
    let mut free = values.as_mut_ptr();
    for index in private() {
        let (host, size) = (&table.hosts()[index], table.sizes()[index]);
        // SAFETY: there is room for all of them, and the compiler says that a variable of
        // this size is there.
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
    /// The values of first-private items, which their addresses lead to.
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

    /// A copy with the present values of first-private items.
    ///
    /// # Safety
    /// The table is the compiler's.
    pub(crate) unsafe fn with_private_values(table: &Table<'_>) -> Self {
        let mut copy = Self::copy(table);
        // SAFETY: the caller's promise.
        copy.values = unsafe { keep_private_values(&copy.table(Construct::Region)) };
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

    /// They as a compiler passes them.
    pub(crate) fn pointers(&self) -> (*mut usize, *mut usize, *mut u16) {
        let hosts = self.hosts.as_ptr().cast_mut().cast();
        (hosts, self.sizes.as_ptr().cast_mut(), self.kinds.as_ptr().cast_mut())
    }
}
