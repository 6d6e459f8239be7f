//! A wave's registers.

use gangway_gcn::operand::scalar;

use crate::fault::FaultKind;
use crate::mode::Mode;
use crate::registers::Registers;

/// Lanes of a wave.
pub const LANES: usize = 64;

/// What a wave waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Running,
    Barrier,
    Ended,
}

/// A wave, and what of the launch is its own.
#[derive(Clone, Debug)]
pub struct Wave {
    pub status: Status,
    /// The address of the next instruction.
    pub pc: u64,
    pub scc: bool,
    pub mode: Mode,
    /// Scalar registers by the numbers that encodings have, VCC, M0 and EXEC among them.
    pub scalar: [u32; 128],
    /// Vector registers, then accumulation registers, of which some of the first may be the same.
    pub vector: Vec<[u32; LANES]>,
    /// How many there are of each.
    pub registers: Registers,
    /// Where its private memory begins, and how many bytes it has in all.
    pub scratch: u64,
    pub scratch_size: u64,
    /// Its number in the work-group.
    pub number: u32,
    /// The work-items of the work-group in each direction.
    pub extent: [u32; 3],
    /// The work-group's number in each direction.
    pub group: [u32; 3],
}

/// Why a wave cannot go on, and which lane was it.
#[derive(Clone, Debug)]
pub struct Stop {
    pub kind: FaultKind,
    pub lane: Option<usize>,
}

impl From<FaultKind> for Stop {
    fn from(kind: FaultKind) -> Self {
        Self { kind, lane: None }
    }
}

impl Stop {
    pub fn unsupported(what: impl Into<String>) -> Self {
        FaultKind::Unsupported(what.into()).into()
    }
}

pub type Result<T = ()> = std::result::Result<T, Stop>;

/// Adds the lane to what stops the wave.
pub fn of_lane<T>(lane: usize, found: std::result::Result<T, FaultKind>) -> Result<T> {
    found.map_err(|kind| Stop { kind, lane: Some(lane) })
}

impl Wave {
    pub fn pair(&self, first: u8) -> u64 {
        let at = usize::from(first);
        let high = self.scalar.get(at + 1).copied().unwrap_or(0);
        u64::from(self.scalar[at]) | u64::from(high) << 32
    }

    pub fn set_pair(&mut self, first: u8, value: u64) {
        self.set_scalar(first, value as u32);
        self.set_scalar(first + 1, (value >> 32) as u32);
    }

    pub fn set_scalar(&mut self, number: u8, value: u32) {
        if number != scalar::NULL
            && let Some(register) = self.scalar.get_mut(usize::from(number))
        {
            *register = value;
        }
    }

    pub fn exec(&self) -> u64 {
        self.pair(scalar::EXEC)
    }

    pub fn set_exec(&mut self, mask: u64) {
        self.set_pair(scalar::EXEC, mask);
    }

    pub fn vcc(&self) -> u64 {
        self.pair(scalar::VCC)
    }

    pub fn m0(&self) -> u32 {
        self.scalar[usize::from(scalar::M0)]
    }

    /// The lanes that are on, lowest first.
    pub fn lanes(&self) -> Lanes {
        Lanes(self.exec())
    }

    /// Up to 64 bits of a lane's registers.
    pub fn lane(&self, first: usize, words: u8, lane: usize) -> u64 {
        let low = u64::from(self.vector[first][lane]);
        if words > 1 { low | u64::from(self.vector[first + 1][lane]) << 32 } else { low }
    }

    pub fn set_lane(&mut self, first: usize, words: u8, lane: usize, value: u64) {
        self.vector[first][lane] = value as u32;
        if words > 1 {
            self.vector[first + 1][lane] = (value >> 32) as u32;
        }
    }

    /// The work-item that a lane runs.
    pub fn item(&self, lane: usize) -> [u32; 3] {
        let index = self.number * LANES as u32 + lane as u32;
        let [x, y, _] = self.extent;
        [index % x, index / x % y, index / x / y]
    }
}

/// Lanes of a mask, lowest first.
#[derive(Clone, Copy, Debug)]
pub struct Lanes(pub u64);

impl Iterator for Lanes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}
