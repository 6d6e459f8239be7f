//! What a kernel wants of a launch: the form of its arguments, and limits.
//!
//! Called by the launch path. A kernel of clang's on the CPU takes slots and has no
//! limits: all that costs its launch is two comparisons.

use crate::environment::Work;
use crate::error::{Error, ErrorKind, Result};
use crate::shape::{GivenGroupMemory, GroupMemoryFallback, Shape};
use gangway_backend::{ArgumentForm, ArgumentTable, GroupMemory, Kernel};
use std::num::NonZeroU32;

/// Puts the arguments that have been added into the form that the kernel takes.
///
/// # Errors
/// It takes another number of them, or there is no device memory for a table.
#[inline]
pub(crate) fn close_table(
    work: &mut Work,
    name: &str,
    kernel: &Kernel,
    table: &mut ArgumentTable<'_>,
) -> Result<()> {
    match &kernel.convention.form {
        ArgumentForm::Slots => table.close(),
        ArgumentForm::Packed(parameters) => {
            table.close();
            if table.len() != parameters.len() {
                return Err(wrong_count(work, name, table.len(), parameters.len()));
            }
        }
        ArgumentForm::DeviceTable => place_table(work, kernel, table)?,
    }
    Ok(())
}

/// Gives the kernel the address of its arguments instead of them: where the back end has
/// had them built in memory that the device sees, or in a copy on the device.
#[cold]
fn place_table(work: &mut Work, kernel: &Kernel, table: &mut ArgumentTable<'_>) -> Result<()> {
    let address = match table.visible() {
        Some(address) => address,
        None => work.copy_table(table.arguments())?,
    };
    table.replace_arguments(address, &kernel.convention);
    Ok(())
}

/// Whether the kernel can have what the launch asks for, and what it gets of group memory.
///
/// # Errors
/// It wants more group memory than there is and nothing else, or insists on more threads.
#[inline]
pub(crate) fn check_limits(
    work: &Work,
    name: &str,
    kernel: &Kernel,
    shape: &Shape,
) -> Result<GivenGroupMemory> {
    if shape.is_exact && kernel.limits.bound(shape.thread_limit) != shape.thread_limit {
        return Err(too_many_threads(work, name, kernel, shape));
    }
    let wanted = shape.dynamic_group_memory;
    if wanted == 0 {
        return Ok(GivenGroupMemory { dynamic: 0, replaced: None });
    }
    given_group_memory(kernel, shape).ok_or_else(|| too_much_group_memory(work, name, kernel, shape))
}

/// What is given to a launch that asks for some; `None`: it fails.
fn given_group_memory(kernel: &Kernel, shape: &Shape) -> Option<GivenGroupMemory> {
    let wanted = shape.dynamic_group_memory;
    let all = GivenGroupMemory { dynamic: wanted, replaced: None };
    let replaced = |bytes| Some(GivenGroupMemory { dynamic: 0, replaced: Some(bytes) });
    let limits = &kernel.limits;
    if limits.group_memory != GroupMemory::Absent && wanted <= limits.dynamic_group_memory.unwrap_or(u32::MAX)
    {
        return Some(all);
    }
    match (shape.group_memory_fallback, limits.group_memory) {
        (GroupMemoryFallback::Unsaid, GroupMemory::Absent) => Some(all),
        (GroupMemoryFallback::Without, _) => replaced(0),
        (GroupMemoryFallback::DeviceMemory, GroupMemory::Replaceable) => replaced(wanted),
        (
            GroupMemoryFallback::Unsaid | GroupMemoryFallback::DeviceMemory,
            GroupMemory::Absent | GroupMemory::Present | GroupMemory::Replaceable,
        ) => None,
    }
}

#[cold]
fn wrong_count(work: &Work, name: &str, given: usize, taken: usize) -> Box<Error> {
    work.construct().fail(ErrorKind::ArgumentCount { kernel: readable(name), given, taken })
}

#[cold]
fn too_many_threads(work: &Work, name: &str, kernel: &Kernel, shape: &Shape) -> Box<Error> {
    work.construct().fail(ErrorKind::TeamSize {
        kernel: readable(name),
        wanted: shape.thread_limit,
        most: kernel.limits.threads.map_or(u32::MAX, NonZeroU32::get),
    })
}

#[cold]
fn too_much_group_memory(work: &Work, name: &str, kernel: &Kernel, shape: &Shape) -> Box<Error> {
    work.construct().fail(ErrorKind::GroupMemory {
        kernel: readable(name),
        wanted: shape.dynamic_group_memory,
        most: kernel.limits.dynamic_group_memory.unwrap_or_default(),
        fixed: kernel.limits.static_group_memory,
    })
}

fn readable(kernel: &str) -> String {
    gangway_trace::pretty_kernel_name(kernel).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_backend::{KernelHandle, KernelLimits};

    #[test]
    fn group_memory_is_given_replaced_or_missing() {
        let given = |group_memory, fallback, wanted| {
            let dynamic_group_memory = (group_memory != GroupMemory::Absent).then_some(100);
            let limits =
                KernelLimits { threads: None, group_memory, static_group_memory: 0, dynamic_group_memory };
            let kernel = Kernel { limits, ..Kernel::new(KernelHandle(0)) };
            let shape =
                Shape { dynamic_group_memory: wanted, group_memory_fallback: fallback, ..Shape::default() };
            given_group_memory(&kernel, &shape).map(|given| (given.dynamic, given.replaced))
        };
        use GroupMemory::{Absent, Present, Replaceable};
        use GroupMemoryFallback::{DeviceMemory, Unsaid, Without};
        for fallback in [Unsaid, Without, DeviceMemory] {
            assert_eq!(given(Present, fallback, 100), Some((100, None)));
            assert_eq!(given(Replaceable, fallback, 100), Some((100, None)));
        }
        for (fallback, absent, present, replaceable) in [
            (Unsaid, Some((101, None)), None, None),
            (Without, Some((0, Some(0))), Some((0, Some(0))), Some((0, Some(0)))),
            (DeviceMemory, None, None, Some((0, Some(101)))),
        ] {
            assert_eq!(given(Absent, fallback, 101), absent, "{fallback:?}");
            assert_eq!(given(Present, fallback, 101), present, "{fallback:?}");
            assert_eq!(given(Replaceable, fallback, 101), replaceable, "{fallback:?}");
        }
    }
}
