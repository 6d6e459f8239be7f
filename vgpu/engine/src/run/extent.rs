//! How large a launch is: its grid and its blocks.

use crate::abi::{ALL, LANES};

/// The sizes of a launch.
#[derive(Debug)]
pub(crate) struct Extent {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
}

fn product(sides: [u32; 3]) -> u64 {
    sides.iter().map(|&side| u64::from(side)).product()
}

impl Extent {
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Extent { grid, block, threads: product(block) as u32 }
    }

    #[must_use]
    pub fn blocks(&self) -> u64 {
        product(self.grid)
    }

    /// Warps of a block.
    #[must_use]
    pub fn warps(&self) -> usize {
        self.threads.div_ceil(LANES as u32) as usize
    }

    /// Whether a block has a warp of which no lane is missing.
    #[must_use]
    pub fn has_whole_warps(&self) -> bool {
        self.threads >= LANES as u32
    }

    /// The lanes that a warp of a block lacks.
    #[must_use]
    pub fn missing(&self, warp: u32) -> u32 {
        match self.threads - warp * LANES as u32 {
            threads if threads >= LANES as u32 => 0,
            threads => ALL << threads,
        }
    }

    /// The place in its block of a thread with this number.
    #[must_use]
    pub fn thread(&self, number: u32) -> [u32; 3] {
        let [width, height, _] = self.block;
        [number % width, number / width % height, number / (width * height)]
    }

    /// A thread of a block in words, by their numbers.
    #[must_use]
    pub fn told(&self, block: u64, thread: u32) -> String {
        let ([a, b, c], [x, y, z]) = (self.place(block), self.thread(thread));
        format!("thread ({x}, {y}, {z}) of block ({a}, {b}, {c})")
    }

    /// The place in the grid of a block with this number.
    #[must_use]
    pub fn place(&self, number: u64) -> [u32; 3] {
        let [width, height, _] = self.grid.map(u64::from);
        [number % width, number / width % height, number / (width * height)].map(|side| side as u32)
    }

    /// The number of a block in the grid.
    #[must_use]
    pub fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.grid.map(u64::from);
        u64::from(x) + width * (u64::from(y) + height * u64::from(z))
    }

    /// The block behind a block.
    #[must_use]
    pub fn after(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        let [width, height, _] = self.grid;
        match (x + 1 < width, y + 1 < height) {
            (true, _) => [x + 1, y, z],
            (false, true) => [0, y + 1, z],
            (false, false) => [0, 0, z + 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_in_the_order_of_their_numbers() {
        let extent = Extent::new([3, 2, 4], [1, 1, 1]);
        let mut block = [0; 3];
        for number in 0..extent.blocks() {
            assert_eq!(extent.place(number), block);
            block = extent.after(block);
        }
        assert_eq!(block, [0, 0, 4]);
    }

    #[test]
    fn the_last_warp_lacks_lanes() {
        let extent = Extent::new([1, 1, 1], [5, 7, 2]);
        assert_eq!((extent.threads, extent.warps(), extent.has_whole_warps()), (70, 3, true));
        assert_eq!([0, 1, 2].map(|warp| extent.missing(warp)), [0, 0, ALL << 6]);
        assert_eq!(
            [0, 4, 5, 69].map(|number| extent.thread(number)),
            [[0, 0, 0], [4, 0, 0], [0, 1, 0], [4, 6, 1]]
        );
    }
}
