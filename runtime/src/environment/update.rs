//! `target update`: moving data of present items (OpenMP 6.0 section 7.9.9).

use super::work::Work;
use crate::arguments::{Arguments, Components, Item};
use crate::error::{ErrorKind, HostRange, Result};
use crate::events;
use crate::map_type as bit;
use crate::present::Relation;

/// One dimension of a non-contiguous section, as LLVM's compilers describe it.
/// Units: `offset` and `count` in steps of `stride`, `stride` in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// First step.
    pub offset: u64,
    /// Number of steps.
    pub count: u64,
    /// Bytes from one step to the next.
    pub stride: u64,
}

const _: () = assert!(size_of::<Dimension>() == 24);

impl Work {
    /// Moves the data of all arguments.
    ///
    /// # Errors
    /// `present` and not present, or a copy failed.
    pub(crate) fn update(&mut self, arguments: &Arguments<'_>) -> Result<()> {
        for (index, item) in arguments.iter().enumerate() {
            self.check_map_type(&item, index)?;
            if item.map_type & (bit::LITERAL | bit::PRIVATE) != 0 {
                continue;
            }
            match item.mapper {
                Some(mapper) => {
                    for component in &Components::of(&item, mapper) {
                        self.update_item(component)?;
                    }
                }
                None => self.update_item(&item)?,
            }
        }
        Ok(())
    }

    fn update_item(&mut self, item: &Item) -> Result<()> {
        if item.map_type & bit::NON_CONTIGUOUS == 0 {
            return self.update_section(item, item.begin, item.size as usize);
        }
        // SAFETY: for such items the compiler passes the dimensions in place of the
        // section and their number in place of its size.
        let dimensions =
            unsafe { std::slice::from_raw_parts(item.begin as *const Dimension, item.size as usize) };
        each_run(dimensions, 0, &mut |offset, size| self.update_section(item, item.base + offset, size))
    }

    fn update_section(&mut self, item: &Item, host: usize, size: usize) -> Result<()> {
        let Relation::Contained(entry) = self.recent.lookup(&self.device.table, host, size) else {
            return self.nothing_to_update(item, host, size);
        };
        if !entry.wait_allocated() {
            return self.nothing_to_update(item, host, size);
        }
        self.wait_for_event(entry)?;
        if events::observed() {
            self.tell_found(entry, host, size);
        }
        if size == 0 {
            return Ok(());
        }
        if item.map_type & bit::TO != 0 {
            self.copy_in(entry, host, size, item.label)?;
        }
        if item.map_type & bit::FROM != 0 {
            self.copy_out(entry, host, size, item.label)?;
        }
        Ok(())
    }

    /// OpenMP 5.2 section 5.9: no assignment for an item that is not present, an error
    /// with `present`.
    fn nothing_to_update(&self, item: &Item, host: usize, size: usize) -> Result<()> {
        if item.map_type & bit::PRESENT == 0 || self.unified_shared_memory {
            return Ok(());
        }
        let wanted = HostRange { begin: host, size, label: item.label };
        Err(self.fail(ErrorKind::NotPresent { wanted, near: self.device.near(host) }))
    }
}

/// Calls `visit` with byte offset and size of each contiguous run of a section,
/// in address order. Inner dimensions that are complete are merged into one run.
fn each_run(
    dimensions: &[Dimension],
    offset: usize,
    visit: &mut impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let Some((first, inner)) = dimensions.split_first() else { return Ok(()) };
    let start = offset + (first.offset * unit_of(first, inner)) as usize;
    // The steps of the last dimension are adjacent; so are those of an outer one
    // whose inner dimensions fill its whole stride.
    if inner.is_empty() || fills(inner, first.stride) {
        return visit(start, (first.count * first.stride) as usize);
    }
    (0..first.count).try_for_each(|step| each_run(inner, start + (step * first.stride) as usize, visit))
}

/// Bytes that one step of a dimension's offset stands for: compilers count the
/// offset in elements, and `stride` is the distance of the elements selected. The
/// innermost dimension's elements are described by the last one; for outer
/// dimensions nothing tells a stride from a row, so they are taken as unstrided.
fn unit_of(first: &Dimension, inner: &[Dimension]) -> u64 {
    match inner {
        [Dimension { offset: 0, count: 1, stride }] => *stride,
        _ => first.stride,
    }
}

/// Whether the dimensions select every byte of `stride`.
fn fills(dimensions: &[Dimension], stride: u64) -> bool {
    dimensions.split_first().is_none_or(|(first, inner)| {
        first.offset == 0
            && first.count.checked_mul(first.stride) == Some(stride)
            && (inner.is_empty() || fills(inner, first.stride))
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn runs(dimensions: &[[u64; 3]]) -> Vec<(usize, usize)> {
        let dimensions: Vec<Dimension> =
            dimensions.iter().map(|&[offset, count, stride]| Dimension { offset, count, stride }).collect();
        let mut runs = Vec::new();
        each_run(&dimensions, 0, &mut |offset, size| {
            runs.push((offset, size));
            Ok(())
        })
        .unwrap();
        runs
    }

    #[test]
    fn strided_elements() {
        // a[0:3:2] of 4-byte elements: three steps of 8 bytes, one element each.
        assert_eq!(runs(&[[0, 3, 8], [0, 1, 4]]), [(0, 4), (8, 4), (16, 4)]);
    }

    #[test]
    fn strided_elements_that_start_later() {
        // a[2:3:5] of 4-byte elements.
        assert_eq!(runs(&[[2, 3, 20], [0, 1, 4]]), [(8, 4), (28, 4), (48, 4)]);
    }

    #[test]
    fn a_block_of_a_matrix() {
        // m[1:2][3:4] of an 8-column matrix of 4-byte elements.
        assert_eq!(runs(&[[1, 2, 32], [3, 4, 4]]), [(32 + 12, 16), (64 + 12, 16)]);
    }

    #[test]
    fn whole_rows_are_one_run() {
        assert_eq!(runs(&[[2, 3, 32], [0, 8, 4]]), [(64, 96)]);
    }
}
