//! What a kernel wants of a launch: the form of its arguments, and limits.
//!
//! Called by the launch path. A kernel of clang's on the CPU takes slots and has no
//! limits: all that costs its launch is two comparisons.

use crate::environment::Work;
use crate::error::{Error, ErrorKind, Result};
use crate::target::Shape;
use gangway_backend::{ArgumentForm, ArgumentTable, Kernel};
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

/// Whether the kernel can have what the launch asks for.
///
/// # Errors
/// It wants more group memory than there is, or insists on more threads.
#[inline]
pub(crate) fn check_limits(work: &Work, name: &str, kernel: &Kernel, shape: &Shape) -> Result<()> {
    if shape.is_exact && kernel.limits.bound(shape.thread_limit) != shape.thread_limit {
        return Err(too_many_threads(work, name, kernel, shape));
    }
    match kernel.limits.dynamic_group_memory {
        Some(most) if shape.dynamic_group_memory > most => {
            Err(too_much_group_memory(work, name, kernel, shape))
        }
        _ => Ok(()),
    }
}

#[cold]
fn wrong_count(work: &Work, name: &str, given: usize, taken: usize) -> Box<Error> {
    work.fail(ErrorKind::ArgumentCount { kernel: readable(name), given, taken })
}

#[cold]
fn too_many_threads(work: &Work, name: &str, kernel: &Kernel, shape: &Shape) -> Box<Error> {
    work.fail(ErrorKind::TeamSize {
        kernel: readable(name),
        wanted: shape.thread_limit,
        most: kernel.limits.threads.map_or(u32::MAX, NonZeroU32::get),
    })
}

#[cold]
fn too_much_group_memory(work: &Work, name: &str, kernel: &Kernel, shape: &Shape) -> Box<Error> {
    work.fail(ErrorKind::GroupMemory {
        kernel: readable(name),
        wanted: shape.dynamic_group_memory,
        most: kernel.limits.dynamic_group_memory.unwrap_or_default(),
        fixed: kernel.limits.static_group_memory,
    })
}

fn readable(kernel: &str) -> String {
    gangway_trace::pretty_kernel_name(kernel).into()
}
