//! Kernarg segments: the memory from which kernels read their arguments. The host writes a segment
//! in place, and the card reads it when it has come to the packet. So a segment belongs to a session
//! from its start to its end.

use std::ptr::NonNull;

/// All segments of a card. A segment's number is its address for the card.
#[derive(Default)]
pub struct Kernargs(Vec<Segment>);

struct Segment {
    memory: NonNull<[u64]>,
    is_used: bool,
}

// SAFETY: the memory belongs to nobody but the segment; who writes it when is said above.
unsafe impl Send for Segment {}

impl Kernargs {
    /// A segment for a session.
    pub fn take(&mut self) -> usize {
        let number = self.0.iter().position(|segment| !segment.is_used).unwrap_or_else(|| {
            self.0.push(Segment { memory: memory(0), is_used: false });
            self.0.len() - 1
        });
        self.0[number].is_used = true;
        number
    }

    /// The session has ended.
    pub fn give_back(&mut self, number: usize) {
        assert!(std::mem::take(&mut self.0[number].is_used), "a session has ended twice");
    }

    /// Room for so many slots, which the session writes.
    pub fn room(&mut self, number: usize, slots: usize) -> NonNull<u64> {
        let segment = &mut self.0[number];
        if segment.memory.len() < slots {
            let old = std::mem::replace(&mut segment.memory, memory(slots));
            // SAFETY: it came from a box, and no kernel has been launched with it in this session.
            drop(unsafe { Box::from_raw(old.as_ptr()) });
        }
        segment.memory.cast()
    }

    /// What the card reads there. `None`: no session has the segment, or it is smaller.
    pub fn read(&self, number: usize, bytes: usize) -> Option<Vec<u8>> {
        let has_room = |segment: &&Segment| bytes <= segment.memory.len() * size_of::<u64>();
        let segment = self.0.get(number).filter(|segment| segment.is_used).filter(has_room)?;
        // SAFETY: so many bytes are there, and a session does not write them behind its launch.
        Some(unsafe { std::slice::from_raw_parts(segment.memory.cast::<u8>().as_ptr(), bytes) }.to_vec())
    }

    /// Segments that sessions have, and all that have been made.
    pub fn counts(&self) -> (usize, usize) {
        (self.0.iter().filter(|segment| segment.is_used).count(), self.0.len())
    }
}

fn memory(slots: usize) -> NonNull<[u64]> {
    NonNull::from(Box::leak(vec![0; slots].into_boxed_slice()))
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and the card is gone.
        drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
    }
}
