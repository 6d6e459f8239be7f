//! The memories that lanes reach: global memory, LDS, their private memory.

use gangway_gcn::Gpu;
use gangway_gcn::operand::scalar;

use crate::atomics::Update;
use crate::dispatch::{GROUP_APERTURE, PRIVATE_APERTURE};
use crate::fault::FaultKind;
use crate::memory::Memory;
use crate::mode::Mode;
use crate::wave::{LANES, Wave};

/// Which memory an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    /// LDS.
    Group,
    /// Behind the wave's flat scratch address.
    Private,
}

/// Where a lane's access goes.
#[derive(Clone, Copy)]
pub struct Place {
    pub lane: usize,
    pub space: Space,
    pub address: u64,
}

/// The memories, as one work-group has them.
pub struct Memories<'a> {
    pub memory: &'a dyn Memory,
    pub gpu: Gpu,
    pub group: &'a mut [u8],
    /// Bytes of private memory of a lane.
    pub private_size: usize,
}

type Result<T = ()> = std::result::Result<T, FaultKind>;

/// What a flat address leads to.
pub const fn flat(address: u64) -> (Space, u64) {
    match address >> 32 << 32 {
        GROUP_APERTURE => (Space::Group, address & 0xffff_ffff),
        PRIVATE_APERTURE => (Space::Private, address & 0xffff_ffff),
        _ => (Space::Global, address),
    }
}

impl Memories<'_> {
    /// Where the private memory of all lanes begins.
    fn private_base(&self, wave: &Wave) -> u64 {
        // Since gfx942 hardware sets it, and no register has it.
        if self.gpu == Gpu::Gfx942 { wave.scratch } else { wave.pair(scalar::FLAT_SCRATCH) }
    }

    fn private_range(&self, offset: u64, size: usize, write: bool) -> Result {
        let limit = self.private_size;
        let inside = usize::try_from(offset).is_ok_and(|offset| offset <= limit && size <= limit - offset);
        if inside { Ok(()) } else { Err(FaultKind::OutsidePrivate { address: offset, size, limit, write }) }
    }

    fn group_range(&self, offset: u64, size: usize, write: bool) -> Result<std::ops::Range<usize>> {
        let limit = self.group.len();
        match usize::try_from(offset) {
            Ok(start) if start <= limit && size <= limit - start => Ok(start..start + size),
            _ => Err(FaultKind::OutsideGroup { address: offset, size, limit, write }),
        }
    }

    pub fn read(&self, wave: &Wave, place: Place, bytes: &mut [u8]) -> Result {
        let Place { lane, space, address } = place;
        match space {
            Space::Global => self.memory.read(address, bytes),
            Space::Group => {
                bytes.copy_from_slice(&self.group[self.group_range(address, bytes.len(), false)?]);
                Ok(())
            }
            Space::Private => {
                self.private_range(address, bytes.len(), false)?;
                let base = self.private_base(wave);
                pieces(base, lane, address, bytes.len(), |at, range| self.memory.read(at, &mut bytes[range]))
            }
        }
    }

    pub fn write(&mut self, wave: &Wave, place: Place, bytes: &[u8]) -> Result {
        let Place { lane, space, address } = place;
        match space {
            Space::Global => self.memory.write(address, bytes),
            Space::Group => {
                let range = self.group_range(address, bytes.len(), true)?;
                self.group[range].copy_from_slice(bytes);
                Ok(())
            }
            Space::Private => {
                self.private_range(address, bytes.len(), true)?;
                let base = self.private_base(wave);
                pieces(base, lane, address, bytes.len(), |at, range| self.memory.write(at, &bytes[range]))
            }
        }
    }

    /// An atomic operation; the old value comes back.
    pub fn update(
        &mut self,
        wave: &Wave,
        place: Place,
        update: &Update,
        mode: Mode,
        data: [u64; 2],
    ) -> Result<u64> {
        let Place { space, address, .. } = place;
        let size = update.bytes;
        let mask = u64::MAX >> (64 - 8 * size);
        let data = data.map(|value| value & mask);
        if !address.is_multiple_of(size as u64) {
            return Err(FaultKind::Misaligned { address, size });
        }
        let combine = |old: u64| (update.combine)(mode, old, data) & mask;
        if space == Space::Global {
            return self.memory.update(address, size, &mut { combine });
        }
        let mut bytes = [0; 8];
        self.read(wave, place, &mut bytes[..size])?;
        let old = u64::from_le_bytes(bytes);
        self.write(wave, place, &combine(old).to_le_bytes()[..size])?;
        Ok(old)
    }
}

/// The words of a lane's private memory lie apart: those of all lanes side by side.
fn pieces(
    base: u64,
    lane: usize,
    offset: u64,
    size: usize,
    mut each: impl FnMut(u64, std::ops::Range<usize>) -> Result,
) -> Result {
    let mut done = 0;
    while done < size {
        let at = offset + done as u64;
        let count = (4 - (at % 4) as usize).min(size - done);
        each(base.wrapping_add(interleaved(at, lane)), done..done + count)?;
        done += count;
    }
    Ok(())
}

/// Where a byte of a lane is in the memory of all lanes.
pub const fn interleaved(offset: u64, lane: usize) -> u64 {
    offset / 4 * 4 * LANES as u64 + 4 * lane as u64 + offset % 4
}
