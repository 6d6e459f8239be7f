//! A code object on an agent: its segments in device memory, with all relocations applied.

use std::ops::Range;
use std::sync::Mutex;

use gangway_code_object::{CodeObject, Error, Loaded as Layout, Symbol as Named, SymbolKind};
use gangway_device_memory::{AllocationKind, Request};

use super::interpreted::Spent;
use super::lines::Lines;
use super::symbol::{Meaning, Symbol};
use crate::abi::{Result, Status};
use crate::objects::agent::{self, Agent};
use crate::objects::memory::status;
use crate::objects::process::report::report;

/// What images lie at multiples of: a page.
const ALIGNMENT: u64 = 4096;

/// Code and variables of one image; the memory goes with it.
#[derive(Debug)]
pub struct Loaded {
    pub agent: &'static Agent,
    pub base: u64,
    pub size: u64,
    /// What of it nothing writes.
    constant: Vec<Range<u64>>,
    /// What of it is code, and addresses of that which its data holds.
    code: Vec<Range<u64>>,
    pub held: Vec<u64>,
    pub lines: Option<Lines>,
    /// Whose turn it is to compile its kernels together.
    pub(super) together: Mutex<()>,
    /// How long its kernels have been interpreted.
    pub interpreted: Spent,
}

impl Loaded {
    /// Loads an image. `resolve` knows the addresses of variables that it does not have.
    pub fn new(
        agent: &'static Agent,
        object: &CodeObject<'_>,
        image: &[u8],
        resolve: impl FnMut(&Named<'_>) -> Option<u64>,
    ) -> Result<Self> {
        let device = agent.device().ok_or(Status::ERROR_INVALID_AGENT)?;
        let space = agent::space()?;
        let align = object.segments.iter().map(|segment| segment.align).max().unwrap_or(1).max(ALIGNMENT);
        let size = object.memory_size.max(1);
        let request = Request::new(device, size, AllocationKind::Module).align(align);
        let base = space.allocate(&request).map_err(|error| {
            report!("a code object cannot be loaded: {error}");
            status(&error)
        })?;
        let constant = object.constant.iter().map(|range| base + range.start..base + range.end).collect();
        let is_code = object.segments.iter().filter(|segment| segment.access.executes);
        let code = is_code.map(|segment| base + segment.address..base + segment.address + segment.size);
        let (code, lines) = (code.collect(), Lines::of(image));
        let (held, together, interpreted) = Default::default();
        let mut loaded = Self { agent, base, size, constant, code, held, lines, together, interpreted };
        let layout = Layout::new(object, base, resolve).map_err(|error| {
            report!("a code object cannot be loaded: {error}");
            match error {
                Error::Missing { .. } => Status::ERROR_VARIABLE_UNDEFINED,
                _ => Status::ERROR_INVALID_CODE_OBJECT,
            }
        })?;
        let values = layout.patches.iter().map(|patch| patch.value);
        loaded.held = gangway_gcn_lifter::held(values, |address| loaded.is_code(address));
        let write = |address: u64, bytes: &[u8]| {
            // SAFETY: nothing knows of the memory yet.
            unsafe { space.write(address, bytes) }
        };
        layout.write(write).map_err(|error| status(&error))?;
        Ok(loaded)
    }

    /// Whether nothing writes these bytes of it.
    #[must_use]
    pub fn is_constant(&self, address: u64, size: u64) -> bool {
        let end = address.checked_add(size);
        self.constant.iter().any(|range| range.start <= address && end.is_some_and(|end| end <= range.end))
    }

    /// Whether there is code of it at an address.
    #[must_use]
    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }

    /// The symbols that programs can ask for: kernels by the names of their descriptors, and variables.
    #[must_use]
    pub fn symbols(&self, object: &CodeObject<'_>) -> Vec<Symbol> {
        let meaning = |named: &Named<'_>| {
            let kernels = object.kernels.iter();
            let kernel = kernels.map(|kernel| (kernel, object.said(kernel)));
            if let Some((kernel, said)) = kernel.clone().find(|(_, said)| said.symbol == named.name) {
                return Some(Meaning::Kernel {
                    object: self.base + kernel.descriptor_address,
                    kernarg_size: said.kernarg_segment_size,
                    kernarg_align: said.kernarg_segment_align.max(1),
                    group_size: said.group_segment_fixed_size,
                    private_size: said.private_segment_fixed_size,
                    dynamic_stack: said.uses_dynamic_stack,
                });
            }
            if named.kind != SymbolKind::Object {
                return None;
            }
            let segment = object.segments.iter().find(|segment| segment.contains(named.address, named.size));
            Some(Meaning::Variable {
                address: self.base.wrapping_add(named.address),
                size: named.size,
                align: 1 << named.address.trailing_zeros().min(12),
                constant: segment.is_some_and(|segment| !segment.access.writes),
            })
        };
        let symbol = |named: &Named<'_>| {
            Some(Symbol {
                name: named.name.to_owned(),
                agent: self.agent.handle(),
                is_global: !named.weak,
                meaning: meaning(named)?,
            })
        };
        object.symbols.iter().filter(|named| named.defined).filter_map(symbol).collect()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(space) = agent::space() {
            // It was allocated when this was made.
            let _ = space.free(self.base);
        }
    }
}
