//! What of a block's shape code may be specialised for.

/// How `%tid` runs through the lanes of a warp: what code may be specialised for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct BlockShape {
    /// How many consecutive lanes have consecutive `%tid.x`, and the same `%tid.y` and `%tid.z`:
    /// 32, 16, 8, 4, or 1 where nothing is known.
    pub row: u8,
    /// Whether a block has a number of whole warps in a row of it: `%ntid.x` is a multiple of 32.
    pub whole: bool,
}

impl BlockShape {
    /// Of a launch's block.
    #[must_use]
    pub fn of(block: [u32; 3]) -> Self {
        let row = if block[1] == 1 && block[2] == 1 {
            32
        } else {
            [32, 16, 8, 4].into_iter().find(|&row| block[0].is_multiple_of(row)).unwrap_or(1)
        };
        BlockShape { row: row as u8, whole: block[0].is_multiple_of(32) }
    }
}
