//! Waiting for values in memory and writing them, in the order of a stream: `cuStreamWaitValue*`,
//! `cuStreamWriteValue*`, `cuStreamBatchMemOp`.

use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::Duration;

use gangway_engine::guard;
use gangway_streams::{Outcome, Payload};

use super::{watched, written};
use crate::abi::number::{memory_operation, node_type, wait_value, write_value};
use crate::abi::{CUstreamBatchMemOpParams, Result, Status};
use crate::objects::context::Context;
use crate::objects::memory;

/// The most operations of one batch: the driver API wants fewer than 256.
const MOST: u32 = 255;

/// `CUstreamWaitValue_flags`: what a wait waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// Not behind `value`, for values that wrap around.
    AtLeast,
    Equal,
    And,
    Nor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Four,
    Eight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Wait(Width, u64, u64, Condition),
    Write(Width, u64, u64),
    Barrier,
}

impl Width {
    /// A value of memory as an unsigned number, read so that what was written before it is seen;
    /// `None` if it is not mapped. The caller holds the memory, and has seen that it is aligned.
    fn load(self, address: u64) -> Option<u64> {
        let mut value = 0_u64;
        // SAFETY: the memory is the caller's, and so is the value, which is large enough for both
        // widths. Numbers are little-endian.
        let there =
            unsafe { guard::copy_word((&raw mut value).cast(), address as *const u8, self.size() as usize) };
        there.then_some(value)
    }

    /// Writes a value; `None` if the memory is not mapped.
    fn store(self, address: u64, value: u64) -> Option<()> {
        written::filled(address, self.size());
        watched::changes(address, self.size());
        let address = memory::host_address(address);
        // SAFETY: as in `load`.
        let there =
            unsafe { guard::copy_word(address as *mut u8, (&raw const value).cast(), self.size() as usize) };
        there.then_some(())
    }

    const fn size(self) -> u64 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    fn check(self, address: u64) -> Result {
        if !address.is_multiple_of(self.size()) {
            return Err(Status::INVALID_VALUE);
        }
        memory::check_device_range(address, self.size())
    }

    fn holds(self, now: u64, value: u64, condition: Condition) -> bool {
        match (condition, self) {
            (Condition::AtLeast, Self::Four) => (now as u32).wrapping_sub(value as u32) as i32 >= 0,
            (Condition::AtLeast, Self::Eight) => now.wrapping_sub(value) as i64 >= 0,
            (Condition::Equal, _) => now == value,
            (Condition::And, _) => now & value != 0,
            (Condition::Nor, Self::Four) => !((now | value) as u32) != 0,
            (Condition::Nor, Self::Eight) => !(now | value) != 0,
        }
    }
}

impl Operation {
    fn new(given: &CUstreamBatchMemOpParams) -> Result<Self> {
        let width = match given.operation {
            memory_operation::WAIT_32 | memory_operation::WRITE_32 => Width::Four,
            _ => Width::Eight,
        };
        let value = if width == Width::Four { u64::from(given.value as u32) } else { given.value };
        Ok(match given.operation {
            memory_operation::WAIT_32 | memory_operation::WAIT_64 => {
                let condition = match given.flags & !wait_value::FLUSH {
                    wait_value::GEQ => Condition::AtLeast,
                    wait_value::EQ => Condition::Equal,
                    wait_value::AND => Condition::And,
                    wait_value::NOR => Condition::Nor,
                    _ => return Err(Status::INVALID_VALUE),
                };
                width.check(given.address)?;
                Self::Wait(width, given.address, value, condition)
            }
            memory_operation::WRITE_32 | memory_operation::WRITE_64
                if given.flags & !write_value::NO_MEMORY_BARRIER == 0 =>
            {
                width.check(given.address)?;
                Self::Write(width, given.address, value)
            }
            memory_operation::FLUSH_REMOTE_WRITES | memory_operation::BARRIER => Self::Barrier,
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// Waits give up when the context fails or goes. Memory is held while it is looked at, not
    /// while it is waited for.
    fn run(self, context: &Weak<Context>) -> Outcome {
        let unmapped = |address: u64| memory::unmapped(format_args!("a memory operation at {address:#x}"));
        match self {
            Self::Barrier => fence(Ordering::SeqCst),
            Self::Write(width, address, value) => {
                let _held = memory::hold(address, width.size(), true)?;
                // Who waits for the value comes after this.
                gangway_streams::hand_on();
                width.store(address, value).ok_or_else(|| unmapped(address))?;
            }
            Self::Wait(width, address, value, condition) => {
                for attempt in 0_u32.. {
                    let held = memory::hold(address, width.size(), false)?;
                    let now = width.load(address).ok_or_else(|| unmapped(address))?;
                    drop(held);
                    if width.holds(now, value, condition) {
                        break;
                    }
                    if context.upgrade().is_none_or(|context| context.usable().is_err()) {
                        break;
                    }
                    match attempt {
                        0..100 => std::hint::spin_loop(),
                        100..200 => std::thread::yield_now(),
                        _ => std::thread::sleep(Duration::from_micros(50)),
                    }
                }
            }
        }
        Ok(())
    }
}

/// Operations that are done one after another.
#[derive(Clone, Debug)]
pub struct MemoryOperations {
    operations: Vec<Operation>,
    /// As they were given, for calls that ask a node.
    pub given: Vec<CUstreamBatchMemOpParams>,
    context: Weak<Context>,
}

impl MemoryOperations {
    /// A batch, which is asked for when its length has been checked.
    pub fn batch(
        context: &Arc<Context>,
        count: u32,
        given: impl FnOnce(usize) -> Result<Vec<CUstreamBatchMemOpParams>>,
    ) -> Result<Self> {
        if !(1..=MOST).contains(&count) {
            return Err(Status::INVALID_VALUE);
        }
        Self::new(context, given(count as usize)?)
    }

    pub fn new(context: &Arc<Context>, given: Vec<CUstreamBatchMemOpParams>) -> Result<Self> {
        let operations = given.iter().map(Operation::new).collect::<Result<_>>()?;
        Ok(Self { operations, given, context: Arc::downgrade(context) })
    }

    #[must_use]
    pub fn context(&self) -> Option<Arc<Context>> {
        self.context.upgrade()
    }
}

impl Payload for MemoryOperations {
    fn run(&self) -> Outcome {
        self.operations.iter().try_for_each(|operation| operation.run(&self.context))
    }

    /// Waits may be for what the program does, and the program may be waiting for the stream.
    fn on_host(&self) -> bool {
        self.operations.iter().any(|operation| matches!(operation, Operation::Wait(..)))
    }

    fn sort(&self) -> u32 {
        node_type::MEMORY_OPERATIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_wrap_around_and_keep_their_width() {
        let four = |now, value, condition| Width::Four.holds(now, value, condition);
        assert!(four(5, 5, Condition::AtLeast) && four(6, 5, Condition::AtLeast));
        assert!(!four(4, 5, Condition::AtLeast));
        assert!(four(3, 0xffff_fff0, Condition::AtLeast), "wrapped around");
        assert!(!Width::Eight.holds(3, 0xffff_fff0, Condition::AtLeast));
        assert!(four(6, 2, Condition::And) && !four(4, 2, Condition::And));
        assert!(!four(0xffff_0000, 0xffff, Condition::Nor) && four(0, 1, Condition::Nor));
        assert!(Width::Eight.holds(0xffff_0000, 0xffff, Condition::Nor));
        assert!(four(7, 7, Condition::Equal) && !four(7, 8, Condition::Equal));
    }

    #[test]
    fn nonsense_is_refused() {
        let given = |operation, flags| CUstreamBatchMemOpParams { operation, flags, ..Default::default() };
        for wrong in [
            given(0, 0),
            given(99, 0),
            given(memory_operation::WAIT_32, 4),
            given(memory_operation::WRITE_64, 2),
        ] {
            assert_eq!(Operation::new(&wrong), Err(Status::INVALID_VALUE), "{wrong:?}");
        }
    }
}
