//! How the iterations of a loop are divided among threads: which are a thread's, in chunks of gangs (OpenACC
//! 3.3 section 2.9.2), and in tiles (section 2.9.8).

use super::directive::{Directive, bytes};
use super::header::Header;
use super::loops::Total;
use super::nest::Levels;
use super::writer::{Names, Writer};
use crate::lexer::Token;

/// Which iterations are a thread's: the first one, and how far it is to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    first: String,
    stride: String,
}

impl Share {
    /// All of them.
    pub fn all() -> Self {
        Self { first: "0".to_owned(), stride: "1".to_owned() }
    }

    /// Those of one gang among those of some dimensions.
    pub fn of_gangs(levels: Levels) -> Self {
        let mut share = Self::all();
        share.divide_among_gangs(levels);
        share
    }

    /// Divides each of the shares among the gangs of some dimensions.
    pub fn divide_among_gangs(&mut self, levels: Levels) {
        for (_, dimension) in Levels::DIMENSIONS.iter().filter(|(level, _)| levels.has(*level)) {
            let id = format!("(long)__gangway_acc_gang({dimension})");
            self.divide(&id, &gangs(*dimension));
        }
    }

    /// Divides each of the shares among several.
    pub fn divide(&mut self, id: &str, count: &str) {
        self.first =
            if self.first == "0" { id.to_owned() } else { format!("({} * {count} + {id})", self.first) };
        self.stride =
            if self.stride == "1" { count.to_owned() } else { format!("{} * {count}", self.stride) };
    }

    /// The head of the loop over these iterations, for the threads of a gang. There are at most 1,024 of them, so
    /// that counters of 32 bits stay far from their limit.
    pub fn head(&self, counter: &str, Total { text, is_narrow }: &Total) -> String {
        let Self { first, stride } = self;
        let ty = if *is_narrow { "unsigned" } else { "long" };
        format!("for ({ty} {counter} = {first}; {counter} < {text}; {counter} += {stride})")
    }

    /// The same where lanes share the iterations. All go round as often, so that the lanes of a warp part only
    /// in what they do the last time, if they do: `whole` are rounds in which each has an iteration. How many
    /// rounds there are does not depend on the thread, so that compilers may unroll them.
    pub fn head_of_lanes(&self, counter: &str, Total { text, is_narrow }: &Total, whole: bool) -> String {
        let Self { first, stride } = self;
        let ty = if *is_narrow { "unsigned" } else { "long" };
        let is_there = if whole { String::new() } else { format!(" if ({counter} < {text})") };
        format!(
            "for ({ty} __acc_q = 0, {counter}; {counter} = __acc_q + {first}, __acc_q < {text}; \
             __acc_q += {stride}){is_there}"
        )
    }

    /// The head of a loop over one part of the iterations, which follow each other, and in it over those that are
    /// `within` it: what stands side by side in memory is one gang's, as with GCC and with OpenMP.
    pub fn in_one_piece(&self, within: &Self, counter: &str, Total { text, is_narrow }: &Total) -> String {
        let Self { first, stride } = self;
        let Self { first: begin, stride: step } = within;
        let (ty, most) = match is_narrow {
            true => ("unsigned", "__gangway_acc_most"),
            false => ("long", "__gangway_acc_least"),
        };
        // Whole rounds of the threads that share it.
        format!(
            "const long __acc_q = {step}, __acc_g = {stride} * __acc_q; \
             const long __acc_c = ({text} + __acc_g - 1) / __acc_g * __acc_q; \
             const {ty} __acc_b = {most}({first} * __acc_c, {text}), __acc_e = {most}(__acc_b + __acc_c, {text}); \
             for ({ty} {counter} = __acc_b + {begin}; {counter} < __acc_e; {counter} += {step})"
        )
    }

    /// The heads of loops over chunks of iterations, and in each over those that are `within` it. `chunk`
    /// declares its size, `__acc_c`.
    pub fn in_chunks(&self, within: &Self, counter: &str, total: &str, chunk: &str) -> String {
        let Self { first, stride } = self;
        let Self { first: begin, stride: step } = within;
        format!(
            "{chunk}for (long __acc_b = {first} * __acc_c; __acc_b < {total}; __acc_b += {stride} * __acc_c) \
             for (long {counter} = __acc_b + {begin}; {counter} < {total} && {counter} < __acc_b + __acc_c; \
             {counter} += {step})"
        )
    }
}

/// How many gangs a dimension has.
fn gangs(dimension: usize) -> String {
    format!("(long)__gangway_acc_gangs({dimension})")
}

/// The numbers of the iterations of loops in each other, of which all are counted by `__acc_k`.
pub fn numbers(heads: &[Header]) -> Vec<String> {
    let number = |at: usize| {
        let inner: Vec<String> = (at + 1..heads.len()).map(|inner| format!("__acc_n{inner}")).collect();
        let number = match inner.is_empty() {
            true => "__acc_k".to_owned(),
            false => format!("(__acc_k / ({}))", inner.join(" * ")),
        };
        if at > 0 { format!("({number} % __acc_n{at})") } else { number }
    };
    (0..heads.len()).map(number).collect()
}

/// Loops in each other whose iterations are divided into tiles.
pub struct Tiles {
    /// Declarations of the tiles' sizes, and of how many there are, by loop.
    pub declared: String,
    /// The levels that share the tiles.
    pub levels: Levels,
    /// The levels that share the elements of a tile.
    elements: Levels,
    count: usize,
    is_narrow: bool,
}

/// What `*` stands for as the size of tiles of so many loops: a warp has a row, and tiles of two or three have at most 1,024
/// elements.
const fn any_size(loops: usize) -> u64 {
    if loops > 2 { 8 } else { 32 }
}

/// Tiles of more are counted in 64 bits.
const LARGE: u64 = 64;

impl Tiles {
    /// The tiles of a directive's loops. Gangs share the tiles, and lanes the elements of each; workers
    /// share the elements if lanes do not, or if no clause says who shares anything: there are more elements
    /// than lanes, and gangs are to have a tile each.
    pub fn of(
        writer: &Writer<'_>,
        directive: &Directive,
        levels: Levels,
        is_narrow: bool,
        names: &Names,
    ) -> Option<Self> {
        let sizes = directive.clause("tile")?.items();
        let mut declared = String::new();
        let known = |size: &[Token]| match size {
            [star] if star.is("*") => Some(any_size(sizes.len())),
            size => writer.number(&bytes(size)?),
        };
        let is_small = |size: &&[Token]| known(size).is_some_and(|size| size <= LARGE);
        let is_narrow = is_narrow && sizes.iter().all(is_small);
        let ty = if is_narrow { "unsigned" } else { "long" };
        for (at, size) in sizes.iter().enumerate() {
            let size = match &size[..] {
                [star] if star.is("*") => any_size(sizes.len()).to_string(),
                size => writer.expression(&bytes(size)?, names),
            };
            declared += &format!(
                "const {ty} __acc_t{at} = {size}; \
                 const {ty} __acc_m{at} = (__acc_n{at} + __acc_t{at} - 1) / __acc_t{at}; "
            );
        }
        let names_levels = ["gang", "worker", "vector"].iter().any(|level| directive.clause(level).is_some());
        let elements = match levels.has(Levels::VECTOR) {
            true if names_levels => levels & Levels::VECTOR,
            true => levels & (Levels::VECTOR | Levels::WORKER),
            false => levels & Levels::WORKER,
        };
        Some(Self { declared, levels: levels.without(elements), elements, count: sizes.len(), is_narrow })
    }

    pub const fn element_levels(&self) -> Levels {
        self.elements
    }

    /// How many tiles there are.
    pub fn total(&self) -> Total {
        Total { text: self.product(0, "m"), is_narrow: self.is_narrow }
    }

    /// How many elements a tile has.
    pub fn elements(&self) -> Total {
        Total { text: self.product(0, "t"), is_narrow: self.is_narrow }
    }

    /// The numbers of the iterations that element `__acc_j` of tile `__acc_k` is.
    pub fn numbers(&self) -> Vec<String> {
        let digit = |counter: &str, at: usize, of: &str| {
            let inner = self.product(at + 1, of);
            let number = if inner.is_empty() { counter.to_owned() } else { format!("{counter} / ({inner})") };
            if at > 0 { format!("{number} % __acc_{of}{at}") } else { number }
        };
        let number = |at: usize| {
            format!("(({}) * __acc_t{at} + {})", digit("__acc_k", at, "m"), digit("__acc_j", at, "t"))
        };
        (0..self.count).map(number).collect()
    }

    /// Whether there is such an iteration: tiles at the end are not full.
    pub fn is_there(&self) -> String {
        let numbers = self.numbers();
        let each = numbers.iter().enumerate().map(|(at, number)| format!("{number} < __acc_n{at}"));
        each.collect::<Vec<_>>().join(" && ")
    }

    fn product(&self, from: usize, of: &str) -> String {
        (from..self.count).map(|at| format!("__acc_{of}{at}")).collect::<Vec<_>>().join(" * ")
    }
}

impl Writer<'_> {
    /// The declaration of the size of the chunks that gangs get in turn, if a clause says one: `static: 4`, or
    /// `static: *`, with which each gang gets one. Gangs are counted where the text runs.
    pub fn chunk(&self, directive: &Directive, levels: Levels, total: &str, names: &Names) -> Option<String> {
        let clause = directive.clause("gang")?;
        let (_, size) = clause.named().into_iter().find(|(name, _)| *name == "static")?;
        let (_, dimension) = Levels::DIMENSIONS.iter().find(|(level, _)| levels.has(*level))?;
        let gangs = gangs(*dimension);
        let wanted = match size {
            [star] if star.is("*") => format!("({total} + {gangs} - 1) / {gangs}"),
            size => format!("(long)({})", self.expression(&bytes(size)?, names)),
        };
        // Neither nothing nor more than there is: what is added to it stays a number.
        Some(format!(
            "const long __acc_w = {wanted}; \
             const long __acc_c = __acc_w < 1 ? 1 : __acc_w > {total} ? {total} : __acc_w; "
        ))
    }
}
