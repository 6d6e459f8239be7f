//! Making, destroying and waiting for signals (HSA runtime 1.2, 2.4).

use super::entry::{Call, entry, value};
use super::exports::entry as entries;
use crate::abi::handle::Handle;
use crate::abi::{List, Out, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::signal::wait::{Condition, deadline, wait_any};
use crate::objects::signal::{GROUPS, Group, Signal};

/// The agents that will wait for a signal: checked, and of no use here.
pub(super) fn check_consumers(count: u32, list: List<Handle>) -> Result {
    let mut consumers = list.get(count as usize)?;
    consumers.iter().try_for_each(|&agent| Agent::get(agent).map(|_| ()))?;
    consumers.sort_unstable();
    let twice = consumers.windows(2).any(|pair| pair[0] == pair[1]);
    if twice { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(()) }
}

/// Makes a signal.
#[entry]
fn hsa_signal_create(
    _: &Call,
    value: i64,
    count: u32,
    consumers: List<Handle>,
    signal: Out<Handle>,
) -> Result {
    signal.check()?;
    check_consumers(count, consumers)?;
    signal.put(Signal::create(value)?.handle())
}

/// Ends a signal.
#[entry]
fn hsa_signal_destroy(_: &Call, signal: Handle) -> Result {
    if signal == Handle::NULL {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    Signal::get(signal)?.destroy()
}

/// Functions that wait for a condition, and answer the value that was seen last.
macro_rules! waits {
    ($($name:ident)+) => {
        $(
            /// Sleeps until a condition holds or the time is over.
            ///
            /// # Safety
            ///
            /// None needed: no pointer is passed.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                signal: Handle,
                condition: u32,
                compared: i64,
                timeout: u64,
                _hint: u32,
            ) -> i64 {
                value(&entries::$name, signal.0, || {
                    let condition = Condition::new(condition, compared)?;
                    Ok(Signal::get(signal)?.wait(condition, deadline(timeout), || false))
                })
            }
        )+
    };
}

waits! { hsa_signal_wait_relaxed hsa_signal_wait_scacquire hsa_signal_wait_acquire }

/// Makes a group of signals, any of which can be waited for.
#[entry]
fn hsa_signal_group_create(
    _: &Call,
    count: u32,
    signals: List<Handle>,
    consumers: u32,
    list: List<Handle>,
    group: Out<Handle>,
) -> Result {
    group.check()?;
    if count == 0 || signals.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let signals = signals.get(count as usize)?;
    signals.iter().try_for_each(|&signal| Signal::get(signal).map(|_| ()))?;
    check_consumers(consumers, list)?;
    group.put(GROUPS.insert(Group { signals }))
}

/// Ends a group; its signals stay.
#[entry]
fn hsa_signal_group_destroy(_: &Call, group: Handle) -> Result {
    if group == Handle::NULL {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    GROUPS.remove(group).map(|_| ())
}

/// Sleeps until one of a group's conditions holds.
#[entry]
fn hsa_signal_group_wait_any_scacquire(
    _: &Call,
    group: Handle,
    conditions: List<u32>,
    compared: List<i64>,
    _hint: u32,
    signal: Out<Handle>,
    value: Out<i64>,
) -> Result {
    wait_for_group(group, conditions, compared, signal, value)
}

/// Sleeps until one of a group's conditions holds.
#[entry]
fn hsa_signal_group_wait_any_relaxed(
    _: &Call,
    group: Handle,
    conditions: List<u32>,
    compared: List<i64>,
    _hint: u32,
    signal: Out<Handle>,
    value: Out<i64>,
) -> Result {
    wait_for_group(group, conditions, compared, signal, value)
}

fn wait_for_group(
    group: Handle,
    conditions: List<u32>,
    compared: List<i64>,
    signal: Out<Handle>,
    value: Out<i64>,
) -> Result {
    let group = GROUPS.get(group)?;
    signal.check()?;
    value.check()?;
    let watched = watched(&group.signals, conditions, compared)?;
    let (at, seen) = wait_any(&watched, None, || false).ok_or(Status::ERROR)?;
    signal.put(group.signals[at])?;
    value.put(seen)
}

/// Signals with their conditions, from lists of the same length.
pub(super) fn watched(
    signals: &[Handle],
    conditions: List<u32>,
    compared: List<i64>,
) -> Result<Vec<(Signal, Condition)>> {
    let (conditions, compared) = (conditions.get(signals.len())?, compared.get(signals.len())?);
    let each = signals.iter().zip(conditions.into_iter().zip(compared));
    each.map(|(&signal, (kind, value))| Ok((Signal::get(signal)?, Condition::new(kind, value)?))).collect()
}
