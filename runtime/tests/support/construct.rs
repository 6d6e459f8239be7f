//! Constructs as a front end passes them.

use super::device::{INCREMENT, Mock, MockBackend, Options};
use gangway_backend::Backend;
use gangway_runtime::events::Site;
use gangway_runtime::map_type as bit;
use gangway_runtime::{
    Arguments, Components, DataOperation, Device, EntryKind, HostEntry, Item, Job, Label, MapperFunction,
    Registration, Result, Runtime, Shape,
};
use std::sync::Arc;

/// Host address of the one target region: adds one to each byte of its arguments,
/// or checks them.
pub const REGION: usize = 0x4000;

/// What a section is checked for.
pub const EXPECTED: u8 = 0x5a;

/// One list item.
#[derive(Debug, Clone, Copy)]
pub struct ListItem {
    pub base: usize,
    pub begin: usize,
    pub size: usize,
    pub map_type: u64,
    /// What the kernel does with it, if it is a parameter.
    pub access: Access,
    pub mapper: Option<MapperFunction>,
}

/// What a kernel does with a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    None,
    Increment,
    Check,
}

impl ListItem {
    pub fn section(begin: usize, size: usize, map_type: u64) -> Self {
        Self { base: begin, begin, size, map_type, access: Access::None, mapper: None }
    }

    /// A parameter of the kernel.
    pub fn parameter(self, access: Access) -> Self {
        Self { map_type: self.map_type | bit::TARGET_PARAM, access, ..self }
    }

    /// What a construct makes of it: what its mapper says, or itself.
    pub fn components(&self) -> Vec<Self> {
        let Some(mapper) = self.mapper else { return vec![*self] };
        let mut components = Components::default();
        let Self { base, begin, size, map_type, .. } = *self;
        // SAFETY: mappers of the tests call nothing but `push` on what they are given.
        unsafe {
            mapper((&raw mut components).cast(), base, begin, size as i64, map_type, Label::NONE);
        }
        let component = |item: &Item| Self {
            base: item.base,
            ..Self::section(item.begin, item.size as usize, item.map_type)
        };
        components.items().iter().map(component).collect()
    }

    /// The same item, to be given up altogether.
    pub fn deleted(self) -> Self {
        Self { map_type: bit::DELETE, ..self }
    }

    /// How the kernel gets its extent: size, distance from the base, whether to check.
    fn extent(&self) -> usize {
        let base = if self.map_type & bit::PTR_AND_OBJ != 0 {
            // SAFETY: tests give the address of a pointer.
            unsafe { *(self.base as *const usize) }
        } else {
            self.base
        };
        let distance = self.begin.wrapping_sub(base) as u32 as usize;
        match self.access {
            _ if self.size == 0 => 0,
            Access::None => 0,
            Access::Increment => self.size | distance << 24,
            Access::Check => self.size | distance << 24 | 1 << 63,
        }
    }
}

/// A runtime of its own with one device.
pub struct World {
    pub runtime: &'static Runtime,
    pub device: &'static Device,
}

impl World {
    pub fn with(backend: Box<dyn Backend>) -> Self {
        let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
        runtime.add_backend(backend);
        runtime.register(Registration {
            key: 1,
            images: vec![b"MOCK"],
            entries: vec![HostEntry { kind: EntryKind::Kernel, address: REGION, name: INCREMENT, size: 0 }],
        });
        Self { runtime, device: runtime.device(0, &Site::NONE).unwrap() }
    }

    pub fn mock(options: Options) -> (Self, Arc<Mock>) {
        let mock = Mock::new(options);
        (Self::with(Box::new(MockBackend(mock.clone()))), mock)
    }

    /// A data construct, waited for.
    pub fn data(&self, operation: DataOperation, items: &[ListItem]) -> Result<()> {
        self.issue_data(operation, items)?.complete()
    }

    pub fn issue_data(&self, operation: DataOperation, items: &[ListItem]) -> Result<Box<Job>> {
        Arrays::of(items, false)
            .with(|arguments| self.runtime.data(self.device, Site::NONE, operation, arguments))
    }

    /// A target region, waited for.
    pub fn launch(&self, items: &[ListItem]) -> Result<()> {
        self.issue(items)?.complete()
    }

    pub fn issue(&self, items: &[ListItem]) -> Result<Box<Job>> {
        let shape = Shape::default();
        Arrays::of(items, true)
            .with(|arguments| self.runtime.run(self.device, Site::NONE, REGION, arguments, &shape))
    }

    /// Begin, end, dynamic count (`u32::MAX` without end) and hold count of what is mapped.
    pub fn mapped(&self) -> Vec<(usize, usize, u32, u32)> {
        let entries = self.device.table.entries();
        let counts = entries.iter().filter_map(|entry| {
            let counts = entry.snapshot()?;
            assert_eq!(counts.unmapping, 0, "nobody is unmapping");
            let dynamic = if counts.is_infinite() { u32::MAX } else { counts.dynamic };
            Some((entry.host_begin(), entry.host_end(), dynamic, counts.hold))
        });
        counts.collect()
    }
}

/// The compiler's arrays.
pub struct Arrays {
    bases: Vec<usize>,
    begins: Vec<usize>,
    sizes: Vec<i64>,
    types: Vec<u64>,
    mappers: Vec<Option<MapperFunction>>,
}

impl Arrays {
    /// The items; for a kernel, followed by the extents of its parameters.
    pub fn of(items: &[ListItem], kernel: bool) -> Self {
        let mut arrays =
            Self { bases: vec![], begins: vec![], sizes: vec![], types: vec![], mappers: vec![] };
        let mut push = |base, begin, size, map_type, mapper| {
            arrays.bases.push(base);
            arrays.begins.push(begin);
            arrays.sizes.push(size);
            arrays.types.push(map_type);
            arrays.mappers.push(mapper);
        };
        for item in items {
            push(item.base, item.begin, item.size as i64, item.map_type, item.mapper);
        }
        for item in items.iter().filter(|item| kernel && item.map_type & bit::TARGET_PARAM != 0) {
            push(item.extent(), 0, 8, bit::LITERAL | bit::TARGET_PARAM, None);
        }
        arrays
    }

    pub fn with<R>(&mut self, use_them: impl FnOnce(&Arguments<'_>) -> R) -> R {
        // SAFETY: the arrays have the same length and outlive the call.
        let arguments = unsafe {
            Arguments::from_raw(
                self.bases.len(),
                self.bases.as_mut_ptr(),
                self.begins.as_ptr(),
                self.sizes.as_ptr(),
                self.types.as_ptr(),
                std::ptr::null(),
                self.mappers.as_ptr(),
            )
        };
        use_them(&arguments)
    }

    /// The bases, as the construct left them.
    pub fn bases(&self) -> &[usize] {
        &self.bases
    }
}
