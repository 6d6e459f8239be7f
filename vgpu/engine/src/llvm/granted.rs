//! Check mode: what a region has windows for ([`windows`](super::windows)).

use gangway_simt::Base;

/// Of so many there is one for each kind of access and pointer. More share theirs with others.
const MOST: usize = 64;

/// What is looked at together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub base: Base,
    pub writes: bool,
    pub bytes: u64,
}

/// The windows of a region.
#[derive(Debug, Default)]
pub(super) struct Granted {
    pub windows: Vec<Window>,
}

impl Granted {
    /// Adds a window, if there is none for such accesses.
    pub fn add(&mut self, window: Window) {
        let windows = &mut self.windows;
        let full = windows.len() >= MOST && windows.iter().any(|other| other.is_like(window));
        if !full && !windows.contains(&window) {
            windows.push(window);
        }
    }

    /// The number of the window for an access.
    pub fn find(&self, wanted: Window) -> usize {
        let find = |is: &dyn Fn(&Window) -> bool| self.windows.iter().rposition(is);
        find(&|window| *window == wanted)
            .or_else(|| find(&|window| window.is_like(wanted)))
            .unwrap_or_else(|| unreachable!("all accesses have been looked at: {wanted:?}"))
    }
}

impl Window {
    /// Whether it would do for another pointer's accesses.
    fn is_like(self, other: Window) -> bool {
        (self.writes, self.bytes) == (other.writes, other.bytes)
    }
}
