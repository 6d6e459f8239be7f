//! Which bytes of shared memory variables have that the threads of a gang share.
//!
//! Those that are never alive together have the same bytes: variables of blocks that follow each other, and what
//! reductions and broadcasts put there for a moment. A scope is a block of the text, or such a moment; scopes in
//! one scope take turns, and what is in a scope itself lives as long as all that is in it.
//!
//! That is safe as [`super::gpu`] has barriers between what one thread computes and what all compute, wherever
//! something has been computed: whoever writes to a variable first is either the thread that computes for all,
//! and all have waited if others than it have been in memory since the last barrier ([`super::mode::Since`]);
//! or it comes out of a loop's beginning, where all wait as well. What workers have, each has apart from the
//! others, as they do not wait for each other: only lanes of one worker use the same bytes for several things.

use std::fmt::Write;

use super::index::Space;

/// What stands for the bytes in the text.
const POOL: &str = "__acc_shared";

/// The shared memory of a kernel or a routine.
#[derive(Debug)]
pub struct Layout {
    scopes: Vec<Scope>,
    /// The scope that is written now.
    current: usize,
    places: Vec<Place>,
}

#[derive(Debug, Default)]
struct Scope {
    parent: usize,
    /// How many workers have each what is in it, if it is theirs.
    workers: Option<u64>,
    places: Vec<usize>,
    inner: Vec<usize>,
}

#[derive(Debug)]
struct Place {
    space: Space,
    /// What is there, for notes.
    what: String,
}

/// Where a place is: in a worker's bytes, if workers have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Position {
    begin: u64,
    end: u64,
    /// The bytes of all workers.
    workers: Option<(u64, u64)>,
    /// How far it is from one worker to the next.
    stride: u64,
}

impl Default for Layout {
    fn default() -> Self {
        Self { scopes: vec![Scope::default()], current: 0, places: Vec::new() }
    }
}

impl Layout {
    /// Begins a scope. With `workers`, so many have each what is in it.
    pub fn enter(&mut self, workers: Option<u64>) {
        let inner = self.scopes.len();
        self.scopes.push(Scope { parent: self.current, workers, ..Scope::default() });
        self.scopes[self.current].inner.push(inner);
        self.current = inner;
    }

    /// Ends the scope that was begun last.
    pub fn leave(&mut self) {
        self.current = self.scopes[self.current].parent;
    }

    /// A place in the scope that is written: the address of a thread's, as an expression.
    pub fn place(&mut self, space: Space, what: String) -> String {
        let number = self.places.len();
        self.places.push(Place { space, what });
        self.scopes[self.current].places.push(number);
        let worker = match self.scopes[self.current].workers {
            Some(_) => format!(" + __gangway_acc_worker() * __acc_w{number}"),
            None => String::new(),
        };
        format!("__gangway_acc_at(&{POOL}[__acc_o{number}{worker}], __acc_u{number})")
    }

    /// How many bytes there would be with one place more.
    pub fn bytes_with(&mut self, space: Space) -> u64 {
        self.place(space, String::new());
        let bytes = self.bytes();
        self.places.pop();
        self.scopes[self.current].places.pop();
        bytes
    }

    fn bytes(&self) -> u64 {
        self.arrange(0, 0, &mut vec![Position::default(); self.places.len()])
    }

    /// Gives places of a scope their bytes, from one on; where those end. What is aligned most comes first.
    fn arrange(&self, scope: usize, begin: u64, positions: &mut [Position]) -> u64 {
        let Scope { workers, places, inner, .. } = &self.scopes[scope];
        let mut order = places.clone();
        order.sort_by_key(|place| std::cmp::Reverse(self.places[*place].space.align));
        let mut end = begin;
        for place in order {
            let Space { bytes, align } = self.places[place].space;
            let begin = end.next_multiple_of(align);
            end = begin.saturating_add(bytes);
            positions[place] = Position { begin, end, ..Position::default() };
        }
        let mut last = end;
        for inner in inner {
            let of_workers = self.scopes[*inner].workers.filter(|_| workers.is_none());
            last = last.max(match of_workers {
                None => self.arrange(*inner, end, positions),
                Some(workers) => {
                    let align = self.align(*inner);
                    let begin = end.next_multiple_of(align);
                    let stride = self.arrange(*inner, 0, positions).next_multiple_of(align);
                    let all = (begin, begin.saturating_add(stride.saturating_mul(workers)));
                    for place in self.within(*inner) {
                        (positions[place].workers, positions[place].stride) = (Some(all), stride);
                    }
                    all.1
                }
            });
        }
        last
    }

    /// The places of a scope and of those in it.
    fn within(&self, scope: usize) -> Vec<usize> {
        let Scope { places, inner, .. } = &self.scopes[scope];
        let inner = inner.iter().flat_map(|inner| self.within(*inner));
        places.iter().copied().chain(inner).collect()
    }

    fn align(&self, scope: usize) -> u64 {
        self.within(scope).into_iter().map(|place| self.places[place].space.align).max().unwrap_or(1)
    }

    /// What stands before the text: the bytes, and which are whose.
    pub fn declared(&self) -> String {
        let mut positions = vec![Position::default(); self.places.len()];
        let bytes = self.arrange(0, 0, &mut positions);
        if bytes == 0 {
            return String::new();
        }
        let mut text = format!(
            "static __gangway_acc_shared __attribute__((aligned({}))) char {POOL}[{bytes}]; enum {{ ",
            self.align(0)
        );
        for (number, position) in positions.iter().enumerate() {
            let others = positions.iter().enumerate().filter(|(other, _)| *other != number);
            let is_used_again = others.into_iter().any(|(_, other)| position.meets(other));
            let begin = position.workers.map_or(0, |(begin, _)| begin) + position.begin;
            let _ = write!(
                text,
                "__acc_o{number} = {begin}, __acc_w{number} = {}, __acc_u{number} = {}, ",
                position.stride,
                u8::from(is_used_again)
            );
        }
        text + "}; "
    }

    /// How many bytes there are, and of what; nothing if there are none.
    pub fn described(&self) -> Option<String> {
        let bytes = self.bytes();
        if bytes == 0 {
            return None;
        }
        let mut parts: Vec<(&str, u64)> = Vec::new();
        for (scope, number) in
            self.scopes.iter().flat_map(|scope| scope.places.iter().map(move |number| (scope, *number)))
        {
            let Place { space, what } = &self.places[number];
            let own = space.bytes.saturating_mul(scope.workers.unwrap_or(1));
            match parts.iter_mut().find(|(known, _)| known == what) {
                Some((_, all)) => *all += own,
                None => parts.push((what, own)),
            }
        }
        let apart: u64 = parts.iter().map(|(_, own)| own).sum();
        let parts: Vec<String> = parts.iter().map(|(what, own)| format!("{what} {own}")).collect();
        let turns = if apart > bytes { "; some take turns" } else { "" };
        Some(format!("{bytes} bytes of shared memory: {}{turns}", parts.join(", ")))
    }
}

impl Position {
    /// Whether some bytes are those of another, too.
    fn meets(&self, other: &Self) -> bool {
        let meet = |(begin, end): (u64, u64), (other_begin, other_end): (u64, u64)| {
            begin < other_end && other_begin < end
        };
        if self.workers == other.workers {
            return meet((self.begin, self.end), (other.begin, other.end));
        }
        let of_all = |one: &Self| one.workers.unwrap_or((one.begin, one.end));
        meet(of_all(self), of_all(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(bytes: u64, align: u64) -> Space {
        Space { bytes, align }
    }

    /// Where places are, whether their bytes are used again, and how many bytes there are.
    fn positions(layout: &Layout) -> (Vec<(u64, u64)>, u64) {
        let mut positions = vec![Position::default(); layout.places.len()];
        let bytes = layout.arrange(0, 0, &mut positions);
        (positions.iter().map(|position| (position.begin, position.end)).collect(), bytes)
    }

    #[test]
    fn scopes_that_follow_each_other_have_the_same_bytes() {
        let mut layout = Layout::default();
        layout.place(space(3, 1), "a".to_owned());
        for bytes in [16, 40, 8] {
            layout.enter(None);
            layout.place(space(bytes, 8), "b".to_owned());
            layout.leave();
        }
        layout.place(space(8, 8), "c".to_owned());
        assert_eq!(positions(&layout), (vec![(8, 11), (16, 32), (16, 56), (16, 24), (0, 8)], 56));
        assert!(layout.declared().contains("__acc_u0 = 0, __acc_o1 = 16, __acc_w1 = 0, __acc_u1 = 1, "));
        let said = "56 bytes of shared memory: a 3, c 8, b 64; some take turns";
        assert_eq!(layout.described().as_deref(), Some(said));
    }

    #[test]
    fn what_is_in_a_scope_stays_beside_all_that_is_in_it() {
        let mut layout = Layout::default();
        layout.enter(None);
        layout.place(space(4, 4), "a".to_owned());
        layout.enter(None);
        layout.place(space(8, 8), "b".to_owned());
        layout.leave();
        layout.leave();
        assert_eq!(positions(&layout), (vec![(0, 4), (8, 16)], 16));
        assert!(layout.declared().contains("aligned(8))) char __acc_shared[16]"));
        assert!(!layout.declared().contains("__acc_u1 = 1"));
    }

    #[test]
    fn each_worker_has_bytes_of_its_own() {
        let mut layout = Layout::default();
        layout.place(space(8, 8), "a".to_owned());
        layout.enter(Some(4));
        assert!(layout.place(space(4, 4), "b".to_owned()).contains("__gangway_acc_worker() * __acc_w1"));
        layout.enter(Some(4));
        layout.place(space(2, 2), "c".to_owned());
        layout.leave();
        layout.enter(Some(4));
        layout.place(space(16, 8), "d".to_owned());
        layout.leave();
        layout.leave();
        layout.enter(None);
        layout.place(space(64, 8), "e".to_owned());
        layout.leave();
        assert_eq!(positions(&layout), (vec![(0, 8), (0, 4), (4, 6), (8, 24), (8, 72)], 8 + 4 * 24));
        let text = layout.declared();
        assert!(text.contains("__acc_o3 = 16, __acc_w3 = 24, __acc_u3 = 1, "), "{text}");
        assert!(text.contains("__acc_u0 = 0, "), "{text}");
    }

    #[test]
    fn what_is_asked_for_is_not_taken() {
        let mut layout = Layout::default();
        assert_eq!(layout.bytes_with(space(100, 4)), 100);
        assert_eq!((layout.declared(), layout.described()), (String::new(), None));
    }
}
