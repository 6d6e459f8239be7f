//! Constructs of a program that GCC might have built.

use crate::gomp::{Construct, FIRSTPRIVATE_INT, Language, Table, with_table};
use crate::support::construct::{REGION, World};
use crate::support::device::{Mock, Options, Passing};
use gangway_backend::DevicePtr;
use gangway_runtime::events::Site;
use gangway_runtime::queue::Queue;
use gangway_runtime::{DataOperation, Result, Shape, memory};
use std::cell::Cell;
use std::sync::{Arc, RwLock};

/// One list item: address, size, kind.
pub type Entry = (usize, usize, u8);

/// A program on a device of its own.
pub struct Program {
    pub world: World,
    pub mock: Arc<Mock>,
    pub language: Language,
    /// Items of the next constructs that have a mapper, by number.
    pub mappers: RwLock<Vec<(usize, Vec<Entry>)>>,
}

pub fn address<T: ?Sized>(of: &T) -> usize {
    std::ptr::from_ref(of).cast::<u8>().addr()
}

/// The whole of a variable.
pub fn whole<T: ?Sized>(variable: &T, kind: u8) -> Entry {
    (address(variable), size_of_val(variable), kind)
}

impl Program {
    pub fn new(options: Options, language: Language) -> Self {
        let (world, mock) = World::mock(options);
        Self { world, mock, language, mappers: RwLock::default() }
    }

    /// Runs `test` on each type of device.
    pub fn each(language: Language, test: impl Fn(&Self)) {
        for options in Options::ALL {
            let program = Self::new(options, language);
            test(&program);
            program.end();
        }
    }

    /// Nothing is mapped and all memory is free.
    #[track_caller]
    pub fn end(&self) {
        assert_eq!(self.world.mapped(), []);
        self.mock.assert_all_freed();
    }

    /// A data construct; answers the addresses as it left them.
    pub fn data(&self, construct: Construct, entries: &[Entry]) -> Result<Vec<usize>> {
        let operation = match construct {
            Construct::Begin => DataOperation::Begin,
            Construct::End => DataOperation::End,
            Construct::Update => DataOperation::Update,
            Construct::Region => unreachable!("regions are launched"),
        };
        self.with_table(construct, entries, |table| {
            self.world.runtime.data_and_wait(self.world.device, Site::NONE, operation, table)?;
            Ok(table.hostaddrs.iter().map(Cell::get).collect())
        })
    }

    pub fn begin(&self, entries: &[Entry]) -> Result<()> {
        self.data(Construct::Begin, entries).map(|_| ())
    }

    pub fn finish(&self, entries: &[Entry]) -> Result<()> {
        self.data(Construct::End, entries).map(|_| ())
    }

    /// A region whose kernel adds one to each byte of the items whose number is in `added`.
    pub fn run(&self, entries: &[Entry], added: &[usize]) -> Result<()> {
        self.with_region(entries, added, |table, shape| {
            self.world.runtime.run(self.world.device, Site::NONE, REGION, table, shape)?.complete()
        })
    }

    /// The same in a queue of the program's, as OpenACC's `async` clause has it.
    pub fn run_in(&self, queue: &Queue, entries: &[Entry], added: &[usize]) -> Result<()> {
        self.with_region(entries, added, |table, shape| {
            self.world.runtime.run_in(queue, Site::NONE, REGION, table, shape)
        })
    }

    /// The end of unstructured data, in a queue of the program's.
    pub fn finish_in(&self, queue: &Queue, entries: &[Entry]) -> Result<()> {
        self.with_table(Construct::End, entries, |table| {
            self.world.runtime.data_in(queue, Site::NONE, DataOperation::End, table)
        })
    }

    fn with_region<R>(
        &self,
        entries: &[Entry],
        added: &[usize],
        then: impl FnOnce(&Table<'_>, &Shape) -> R,
    ) -> R {
        // The test's kernel takes an extent for every slot.
        let extent = |(index, entry): (usize, &Entry)| {
            (if added.contains(&index) { entry.1 } else { 0 }, 8, FIRSTPRIVATE_INT)
        };
        let mut all = entries.to_vec();
        all.extend(entries.iter().enumerate().map(extent));
        self.with_table(Construct::Region, &all, |table| then(table, &Shape::default()))
    }

    fn with_table<R>(
        &self,
        construct: Construct,
        entries: &[Entry],
        then: impl FnOnce(&Table<'_>) -> R,
    ) -> R {
        with_table(construct, self.language, entries, &self.mappers.read().unwrap(), then)
    }

    /// What is mapped: begin, end, and both counts.
    pub fn mapped(&self) -> Vec<(usize, usize, u32, u32)> {
        self.world.mapped()
    }

    /// How often each mapped range is counted.
    pub fn counts(&self) -> Vec<u32> {
        self.mapped().iter().map(|range| range.2).collect()
    }

    /// Device address of a host address.
    pub fn device_address(&self, host: usize) -> Option<DevicePtr> {
        memory::mapped_address(self.world.device, host)
    }

    /// The word on the device that stands for a host one.
    pub fn word(&self, host: usize) -> usize {
        let device = self.device_address(host).expect("it is mapped");
        usize::from_ne_bytes(self.mock.read(device, 8).try_into().unwrap())
    }
}

/// Each type of device with a kernel that takes a pointer to a table of `slots` slots in
/// device memory.
pub fn table_devices(slots: usize) -> impl Iterator<Item = Options> {
    let forms = [Passing::Table(slots), Passing::VisibleTable(slots)];
    Options::ALL.into_iter().flat_map(move |options| forms.map(|passing| Options { passing, ..options }))
}
