//! Ranges of the host that somebody uses: none of their pages is closed before the last user has left.

use super::lock::this_thread;

/// Uses that are listed.
const LISTED: usize = 256;

/// Who uses a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The runtime, whose steps all end.
    Runtime,
    /// A call of the C library, which a thread may leave without an end.
    Library,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    user: User,
    /// 0: nobody.
    thread: usize,
    begin: usize,
    end: usize,
}

const NONE: Use = Use { user: User::Library, thread: 0, begin: 0, end: 0 };

/// All that are under way. Nothing here allocates.
pub struct Uses {
    listed: [Use; LISTED],
    /// How many at the beginning of the list may be there.
    high: usize,
    /// Where one of the library's is given up next.
    oldest: usize,
    /// Uses of the runtime that found no room: everything counts as used.
    unlisted: usize,
}

impl Uses {
    pub const fn new() -> Self {
        Self { listed: [NONE; LISTED], high: 0, oldest: 0, unlisted: 0 }
    }

    pub fn begin(&mut self, user: User, begin: usize, size: usize) {
        let free = self.listed.iter().position(|one| one.thread == 0).or_else(|| {
            // One that has never ended, most likely.
            let places = (0..LISTED).map(|step| (self.oldest + step) % LISTED);
            let place = places.into_iter().find(|&at| self.listed[at].user == User::Library)?;
            self.oldest = place + 1;
            Some(place)
        });
        match free {
            Some(at) => {
                self.listed[at] = Use { user, thread: this_thread(), begin, end: begin.saturating_add(size) };
                self.high = self.high.max(at + 1);
            }
            None => self.unlisted += usize::from(user == User::Runtime),
        }
    }

    pub fn end(&mut self, user: User, begin: usize, size: usize) {
        let (thread, end) = (this_thread(), begin.saturating_add(size));
        let is_it =
            |one: &Use| one.thread == thread && one.user == user && one.begin == begin && one.end == end;
        match self.listed[..self.high].iter().position(is_it) {
            Some(at) => self.listed[at] = NONE,
            None if user == User::Runtime => self.unlisted = self.unlisted.saturating_sub(1),
            None => {}
        }
        while self.high > 0 && self.listed[self.high - 1].thread == 0 {
            self.high -= 1;
        }
    }

    /// Whether somebody uses a part of a range.
    pub fn overlap(&self, begin: usize, size: usize) -> bool {
        let end = begin.saturating_add(size);
        self.unlisted != 0
            || self.listed[..self.high]
                .iter()
                .any(|one| one.thread != 0 && one.begin < end && begin < one.end)
    }

    /// A forked child has this thread alone.
    pub fn forget_other_threads(&mut self) {
        let thread = this_thread();
        self.listed.iter_mut().filter(|one| one.thread != thread).for_each(|one| *one = NONE);
        self.unlisted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_used_until_its_last_user_has_left() {
        let mut uses = Uses::new();
        uses.begin(User::Runtime, 100, 50);
        uses.begin(User::Runtime, 100, 50);
        uses.begin(User::Library, 140, 20);
        uses.end(User::Runtime, 100, 50);
        assert!(
            uses.overlap(149, 1) && uses.overlap(90, 11) && !uses.overlap(90, 10) && !uses.overlap(160, 9)
        );
        uses.end(User::Runtime, 100, 50);
        assert!(!uses.overlap(100, 40) && uses.overlap(100, 41));
        uses.end(User::Library, 140, 20);
        assert!(!uses.overlap(0, usize::MAX));
    }

    #[test]
    fn calls_that_never_end_give_way_and_steps_do_not() {
        let mut uses = Uses::new();
        (0..LISTED).for_each(|at| uses.begin(User::Library, at, 1));
        (0..LISTED).for_each(|_| uses.begin(User::Runtime, 1000, 1));
        assert!(!uses.overlap(0, LISTED) && uses.overlap(1000, 1));
        uses.begin(User::Runtime, 2000, 1);
        assert!(uses.overlap(3000, 1), "it is not listed");
        uses.end(User::Runtime, 2000, 1);
        assert!(!uses.overlap(3000, 1) && !uses.overlap(2000, 1));
        uses.forget_other_threads();
        assert!(uses.overlap(1000, 1));
    }
}
