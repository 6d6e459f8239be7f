//! `isspacep`: which space a generic address is in.

use gangway_device_memory::{AllocationKind, LOCAL_SIZE, LOCAL_WINDOW, Space as DeviceMemory};
use gangway_simt::Space;

use super::helper::run;
use super::lanes::lanes;
use super::place::FIRST_LOCAL;
use crate::abi::Warp;

/// What `isspacep` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsIn {
    Global,
    Constant,
    Local,
    Parameters,
}

impl IsIn {
    /// None: compiled code asks that itself.
    #[must_use]
    pub fn of(space: Space) -> Option<Self> {
        match space {
            Space::Constant => Some(IsIn::Constant),
            Space::Local => Some(IsIn::Local),
            Space::Parameters => Some(IsIn::Parameters),
            Space::Global => Some(IsIn::Global),
            Space::Shared => None,
            Space::Generic => unreachable!("every generic address is one"),
        }
    }
}

/// Those lanes of `mask` whose generic address in `values[0]` is in a space. The kernel's
/// parameters count as global memory as well, constants do not.
pub(super) unsafe extern "C" fn is_space(warp: *mut Warp, mask: u64, space: u64) -> u64 {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let mut bits = 0;
            for lane in lanes(mask as u32) {
                let address = warp.values[0][lane];
                let local = address.wrapping_sub(LOCAL_WINDOW);
                let parameter = local >= FIRST_LOCAL && local < warp.local_parameters;
                let shared = address.wrapping_sub(warp.shared as u64) < warp.shared_size;
                let constant = || {
                    let allocation = DeviceMemory::get().ok().and_then(|memory| memory.find(address));
                    allocation.is_some_and(|allocation| allocation.kind == AllocationKind::Constant)
                };
                let holds = if space == IsIn::Parameters as u64 {
                    parameter
                } else if space == IsIn::Local as u64 {
                    local < LOCAL_SIZE && !parameter
                } else if space == IsIn::Constant as u64 {
                    constant()
                } else {
                    parameter || !shared && local >= LOCAL_SIZE && !constant()
                };
                bits |= u64::from(holds) << lane;
            }
            bits
        })
    }
}
