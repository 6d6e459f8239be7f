//! Sections that are not contiguous, as LLVM's compilers describe them.
//!
//! The description comes from outside and is walked only when it has been found to
//! make sense: clang 22 passes a size in bytes where the number of dimensions belongs
//! if the length of a strided section is not constant. Of an array of one dimension the
//! number is known all the same.

use gangway_runtime::{Item, Result, Section};
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the process has code of clang 23 or later, as far as launches have shown it.
static HAS_LATER_CODE: AtomicBool = AtomicBool::new(false);

/// Code of clang 23 or later has launched a region.
#[inline]
pub(crate) fn note_later_code() {
    if !HAS_LATER_CODE.load(Ordering::Relaxed) {
        HAS_LATER_CODE.store(true, Ordering::Relaxed);
    }
}

/// What the offsets of dimensions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Elements, up to clang 22.
    Elements,
    /// Bytes, from clang 23 on.
    Bytes,
}

impl Unit {
    /// What offsets count most likely, and what else they may count. The last dimension is an element: one step of its size,
    /// or with clang 23 as many steps of one byte. Of elements of one byte nothing tells.
    fn likely(dimensions: &[Dimension], has_later_code: bool) -> (Self, Option<Self>) {
        match dimensions.last() {
            Some(Dimension { offset: 0, count: 1, stride: 1 }) if !has_later_code => {
                (Self::Elements, Some(Self::Bytes))
            }
            Some(Dimension { offset: 0, stride: 1, .. }) => (Self::Bytes, Some(Self::Elements)),
            _ => (Self::Elements, None),
        }
    }
}

/// The section of an item: the compiler passes the dimensions in place of the section and
/// their number in place of its size.
///
/// # Safety
/// So many dimensions are there, if a section may have as many, and at least two.
pub(crate) unsafe fn of(item: &Item) -> std::result::Result<Box<dyn Section + '_>, gangway_runtime::Damage> {
    // SAFETY: the caller's promise.
    let section = unsafe { SectionAt::of(item) };
    section.map(|section| Box::new(section) as Box<dyn Section>).map_err(|damage| {
        gangway_runtime::Damage(format!(
            "{damage}\n  help: clang 22 does so for sections with a stride and a length that is no constant; \
             give it a constant length, or update the elements one by one"
        ))
    })
}

/// One dimension of a non-contiguous section. Units: `offset` and `count` in steps of
/// `stride`, `stride` in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dimension {
    /// First step.
    pub offset: u64,
    /// Number of steps.
    pub count: u64,
    /// Bytes from one step to the next.
    pub stride: u64,
}

const _: () = assert!(size_of::<Dimension>() == 24);

/// How many dimensions a section has: one alone would be contiguous, and no language
/// has arrays of more than these.
const DIMENSIONS: RangeInclusive<usize> = 2..=32;

/// What is wrong with the description of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It cannot have that many dimensions.
    Count(i64),
    /// A dimension, by its number from 0, does not fit into a step of the one around
    /// it, or has no size.
    Dimension {
        /// Its number.
        number: usize,
        /// How many there are.
        of: usize,
        /// What the compiler says.
        dimension: Dimension,
    },
    /// It reaches beyond the address space.
    TooLarge,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => {
                write!(f, "{count} dimensions, {} to {} are possible", DIMENSIONS.start(), DIMENSIONS.end())
            }
            Self::Dimension { number, of, dimension: Dimension { offset, count, stride } } => write!(
                f,
                "{of} dimensions, of which number {} does not fit into the others: \
                 {count} steps of {stride} bytes, from step {offset}",
                number + 1
            ),
            Self::TooLarge => f.write_str("a last element that is beyond the address space"),
        }
    }
}

/// The section of an item.
struct SectionAt<'a> {
    base: usize,
    steps: Steps<'a>,
}

impl<'a> SectionAt<'a> {
    /// # Safety
    /// As [`of`].
    unsafe fn of(item: &'a Item) -> std::result::Result<Self, Damage> {
        let count = item.size;
        let described = if DIMENSIONS.contains(&count) {
            // SAFETY: the caller's promise.
            unsafe { Self::with(item, count) }
        } else {
            Err(Damage::Count(count as i64))
        };
        // SAFETY: the caller's promise: every section has at least two dimensions.
        described.or_else(|damage| unsafe { Self::with_bytes(item) }.ok_or(damage))
    }

    /// A section of an array of one dimension, whose bytes stand in the place of the number of dimensions. The array's
    /// dimension and that of its elements, which are the two that there are, tell the bytes.
    ///
    /// # Safety
    /// Two dimensions are there.
    unsafe fn with_bytes(item: &'a Item) -> Option<Self> {
        // SAFETY: the caller's promise.
        let dimensions = unsafe { &*(item.begin as *const [Dimension; 2]) };
        let [array, Dimension { offset: 0, count: 1, stride }] = dimensions else { return None };
        let bytes = array.count.checked_mul(*stride)?;
        if bytes != item.size as u64 || array.stride.checked_rem(*stride)? != 0 {
            return None;
        }
        // SAFETY: two are there.
        unsafe { Self::with(item, 2) }.ok()
    }

    /// # Safety
    /// So many dimensions are there.
    unsafe fn with(item: &'a Item, count: usize) -> std::result::Result<Self, Damage> {
        // SAFETY: the caller's promise.
        let dimensions = unsafe { std::slice::from_raw_parts(item.begin as *const Dimension, count) };
        let (likely, other) = Unit::likely(dimensions, HAS_LATER_CODE.load(Ordering::Relaxed));
        // What is wrong with the likely meaning is what is said.
        let steps = Steps::new(dimensions, likely)
            .or_else(|damage| other.and_then(|unit| Steps::new(dimensions, unit).ok()).ok_or(damage))?;
        match item.base.checked_add(steps.hull.end) {
            Some(_) => Ok(Self { base: item.base, steps }),
            None => Err(Damage::TooLarge),
        }
    }
}

impl Section for SectionAt<'_> {
    fn hull(&self) -> Range<usize> {
        self.base + self.steps.hull.start..self.base + self.steps.hull.end
    }

    fn runs(&self) -> u64 {
        self.steps.runs()
    }

    fn each_run(&self, visit: &mut dyn FnMut(usize, usize) -> Result<()>) -> Result<()> {
        self.steps.each_run(&mut |offset, size| visit(self.base + offset, size))
    }
}

/// A section whose description makes sense: each dimension is inside one step of the
/// dimension around it, and no offset overflows.
struct Steps<'a> {
    dimensions: &'a [Dimension],
    unit: Unit,
    hull: Range<usize>,
}

impl<'a> Steps<'a> {
    /// Checks a description.
    fn new(dimensions: &'a [Dimension], unit: Unit) -> std::result::Result<Self, Damage> {
        let of = dimensions.len();
        let mut hull = 0..0;
        for number in (0..of).rev() {
            let (dimension, inner) = (dimensions[number], &dimensions[number + 1..]);
            let outer = number.checked_sub(1).map_or(isize::MAX as u64, |outer| dimensions[outer].stride);
            let inner_hull = if inner.is_empty() { 0..dimension.stride } else { hull };
            hull = hull_of(dimension, inner, unit, inner_hull)
                .filter(|hull| hull.end <= outer && (dimension.stride <= outer || dimension.count == 1))
                .ok_or(Damage::Dimension { number, of, dimension })?;
        }
        Ok(Self { dimensions, unit, hull: hull.start as usize..hull.end as usize })
    }

    /// Upper bound of the contiguous runs.
    fn runs(&self) -> u64 {
        let outer = &self.dimensions[..self.dimensions.len().saturating_sub(1)];
        outer.iter().fold(1, |runs: u64, dimension| runs.saturating_mul(dimension.count))
    }

    /// Calls `visit` with byte offset and size of each contiguous run, in address order.
    /// Inner dimensions that are complete are merged into one run.
    fn each_run(&self, visit: &mut impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        if self.hull.is_empty() { Ok(()) } else { each_run(self.dimensions, self.unit, 0, visit) }
    }
}

/// The bytes that a dimension selects, if those of its elements are in `element`;
/// `None` if that is no part of the address space.
fn hull_of(dimension: Dimension, inner: &[Dimension], unit: Unit, element: Range<u64>) -> Option<Range<u64>> {
    let Dimension { offset, count, stride } = dimension;
    let begin = offset.checked_mul(unit_of(&dimension, inner, unit))?;
    if stride == 0 || element.end > stride {
        return None;
    }
    let Some(last) = count.checked_sub(1).filter(|_| !element.is_empty()) else { return Some(begin..begin) };
    let last = begin.checked_add(last.checked_mul(stride)?)?;
    Some(begin.checked_add(element.start)?..last.checked_add(element.end)?)
}

fn each_run(
    dimensions: &[Dimension],
    unit: Unit,
    offset: usize,
    visit: &mut impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let Some((first, inner)) = dimensions.split_first() else { return Ok(()) };
    let start = offset + (first.offset * unit_of(first, inner, unit)) as usize;
    // The steps of the last dimension are adjacent; so are those of an outer one
    // whose inner dimensions fill its whole stride.
    if inner.is_empty() || fills(inner, first.stride) {
        return visit(start, (first.count * first.stride) as usize);
    }
    (0..first.count).try_for_each(|step| each_run(inner, unit, start + (step * first.stride) as usize, visit))
}

/// Bytes that one step of a dimension's offset stands for: compilers up to clang 22 count the
/// offset in elements, and `stride` is the distance of the elements selected. The
/// innermost dimension's elements are described by the last one; for outer
/// dimensions nothing tells a stride from a row, so they are taken as unstrided.
fn unit_of(first: &Dimension, inner: &[Dimension], unit: Unit) -> u64 {
    match inner {
        _ if unit == Unit::Bytes => 1,
        [Dimension { offset: 0, count: 1, stride }] => *stride,
        _ => first.stride,
    }
}

/// Whether the dimensions select every byte of `stride`.
fn fills(dimensions: &[Dimension], stride: u64) -> bool {
    dimensions.split_first().is_none_or(|(first, inner)| {
        first.offset == 0
            && first.count.checked_mul(first.stride) == Some(stride)
            && (inner.is_empty() || fills(inner, first.stride))
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use gangway_runtime::{Label, MapKind};

    fn runs(dimensions: &[[u64; 3]]) -> Vec<(usize, usize)> {
        runs_of(dimensions, Unit::Elements)
    }

    fn runs_of(dimensions: &[[u64; 3]], unit: Unit) -> Vec<(usize, usize)> {
        let dimensions: Vec<Dimension> =
            dimensions.iter().map(|&[offset, count, stride]| Dimension { offset, count, stride }).collect();
        let mut runs = Vec::new();
        let section = Steps::new(&dimensions, unit).unwrap();
        section
            .each_run(&mut |offset, size| {
                runs.push((offset, size));
                Ok(())
            })
            .unwrap();
        if let (Some(first), Some(last)) = (runs.first(), runs.last()) {
            assert_eq!(section.hull, first.0..last.0 + last.1);
        }
        assert!(section.runs() >= runs.len() as u64);
        runs
    }

    fn damage(dimensions: &[[u64; 3]]) -> Option<Damage> {
        let dimensions: Vec<Dimension> =
            dimensions.iter().map(|&[offset, count, stride]| Dimension { offset, count, stride }).collect();
        Steps::new(&dimensions, Unit::Elements).err()
    }

    #[test]
    fn strided_elements() {
        // a[0:3:2] of 4-byte elements: three steps of 8 bytes, one element each.
        assert_eq!(runs(&[[0, 3, 8], [0, 1, 4]]), [(0, 4), (8, 4), (16, 4)]);
    }

    #[test]
    fn strided_elements_that_start_later() {
        // a[2:3:5] of 4-byte elements.
        assert_eq!(runs(&[[2, 3, 20], [0, 1, 4]]), [(8, 4), (28, 4), (48, 4)]);
    }

    /// The same sections as clang 23 describes them.
    #[test]
    fn offsets_in_bytes() {
        let runs = |dimensions: &[[u64; 3]]| runs_of(dimensions, Unit::Bytes);
        assert_eq!(runs(&[[8, 3, 20], [0, 4, 1]]), [(8, 4), (28, 4), (48, 4)]);
        assert_eq!(runs(&[[32, 2, 32], [12, 4, 4], [0, 4, 1]]), [(32 + 12, 16), (64 + 12, 16)]);
        // c[0:2][1:2][1:3:2] of 6 x 8 elements of 4 bytes: a start on every level.
        let c = [[0, 2, 192], [32, 2, 32], [4, 3, 8], [0, 4, 1]];
        assert_eq!(runs(&c)[..4], [(36, 4), (44, 4), (52, 4), (68, 4)]);
    }

    #[test]
    fn the_unit_of_offsets_is_found() {
        let likely = |last: [u64; 3], later| {
            let [offset, count, stride] = last;
            Unit::likely(&[Dimension { offset, count, stride }], later).0
        };
        assert_eq!(likely([0, 1, 4], true), Unit::Elements);
        assert_eq!(likely([3, 4, 4], true), Unit::Elements);
        assert_eq!(likely([0, 4, 1], false), Unit::Bytes);
        assert_eq!(likely([0, 1, 1], true), Unit::Bytes);
        assert_eq!(likely([0, 1, 1], false), Unit::Elements);
    }

    #[test]
    fn a_block_of_a_matrix() {
        // m[1:2][3:4] of an 8-column matrix of 4-byte elements.
        assert_eq!(runs(&[[1, 2, 32], [3, 4, 4]]), [(32 + 12, 16), (64 + 12, 16)]);
    }

    #[test]
    fn whole_rows_are_one_run() {
        assert_eq!(runs(&[[2, 3, 32], [0, 8, 4]]), [(64, 96)]);
    }

    #[test]
    fn sections_without_elements() {
        assert_eq!(runs(&[[0, 0, 16], [0, 1, 8]]), []);
        assert_eq!(runs(&[[1, 3, 32], [2, 0, 8], [0, 1, 4]]), []);
    }

    #[test]
    fn what_lies_behind_the_dimensions_is_no_dimension() {
        let real = [[0, 8, 16], [0, 1, 8]];
        assert_eq!(damage(&real), None);
        let address = 0x7ffd_1234_5678;
        for behind in [[0, 0, 0], [address, 8, address], [0, 0, address], [1, 2, 3], [u64::MAX; 3], [0, 2, 8]]
        {
            let found = damage(&[real[0], real[1], behind]);
            assert!(matches!(found, Some(Damage::Dimension { number: 1 | 2, of: 3, .. })), "{found:?}");
        }
    }

    #[test]
    fn offsets_that_overflow() {
        for damaged in [
            [[0, u64::MAX, 16], [0, 1, 8]],
            [[u64::MAX, 1, 16], [0, 1, 8]],
            [[1 << 60, 1, 16], [0, 1, 8]],
            [[1, 1 << 59, 16], [0, 1, 8]],
            [[0, 2, u64::MAX], [0, 1, 8]],
            [[0, 2, 16], [u64::MAX, 2, 8]],
            [[0, 2, 16], [1, 2, 8]],
        ] {
            assert!(matches!(damage(&damaged), Some(Damage::Dimension { of: 2, .. })), "{damaged:?}");
        }
        assert_eq!(damage(&[[0, 1 << 58, 16], [0, 1, 8]]), None);
    }

    /// The section `a[offset:count:stride]` of 4-byte elements, with what clang 22 passes if its length is not constant.
    fn with_bytes(size: usize, dimensions: [[u64; 3]; 2]) -> Option<Vec<(usize, usize)>> {
        let mut all = vec![Dimension { offset: 0, count: 0, stride: 0 }; 32];
        for (place, [offset, count, stride]) in all.iter_mut().zip(dimensions) {
            *place = Dimension { offset, count, stride };
        }
        let kind = MapKind::FROM | MapKind::IN_PIECES;
        let item = Item { base: 4096, begin: all.as_ptr().addr(), size, kind, label: Label::NONE };
        // SAFETY: there are as many dimensions as a section may have.
        let section = unsafe { of(&item) }.ok()?;
        let mut runs = Vec::new();
        section
            .each_run(&mut |address, size| {
                runs.push((address - 4096, size));
                Ok(())
            })
            .unwrap();
        Some(runs)
    }

    #[test]
    fn bytes_in_the_place_of_the_number_of_dimensions() {
        // The bytes are a possible number of dimensions, and more and less than that.
        assert_eq!(with_bytes(12, [[0, 3, 8], [0, 1, 4]]).unwrap(), [(0, 4), (8, 4), (16, 4)]);
        assert_eq!(with_bytes(4096, [[2, 1024, 20], [0, 1, 4]]).unwrap()[..2], [(8, 4), (28, 4)]);
        assert_eq!(with_bytes(0, [[0, 0, 8], [0, 1, 4]]).unwrap(), []);
        // Other bytes, a stride that is none of elements, and an array of several dimensions.
        assert_eq!(with_bytes(16, [[0, 3, 8], [0, 1, 4]]), None);
        assert_eq!(with_bytes(12, [[0, 3, 6], [0, 1, 4]]), None);
        assert_eq!(with_bytes(64, [[0, 2, 64], [0, 8, 4]]), None);
    }

    /// What `of` makes of an item that has `count` of many dimensions, the first two good.
    fn damage_of(base: usize, count: i64) -> Option<String> {
        let mut dimensions =
            vec![Dimension { offset: 0x7ffd_0000_1000, count: 3, stride: 0x7ffd_0000_2000 }; 4096];
        dimensions[0] = Dimension { offset: 0, count: 9, stride: 16 };
        dimensions[1] = Dimension { offset: 0, count: 1, stride: 8 };
        let begin = dimensions.as_ptr().addr();
        let kind = MapKind::FROM | MapKind::IN_PIECES;
        let item = Item { base, begin, size: count as usize, kind, label: Label::NONE };
        // SAFETY: there are more dimensions than a section may have.
        unsafe { of(&item) }.err().map(|damage| damage.0)
    }

    #[test]
    fn descriptions_that_make_no_sense_are_refused() {
        assert_eq!(damage_of(4096, 2), None);
        for count in [0, 1, 33, 64, 4096, -1, i64::MIN, i64::MAX] {
            let damage = damage_of(4096, count).unwrap();
            assert!(damage.starts_with(&format!("{count} dimensions, 2 to 32 are")), "{damage}");
        }
        for count in [3, 8, 32] {
            let damage = damage_of(4096, count).unwrap();
            assert!(damage.starts_with(&format!("{count} dimensions, of which")), "{damage}");
        }
        let damage = damage_of(usize::MAX - 8, 2).unwrap();
        assert!(damage.starts_with("a last element that is beyond the address space"), "{damage}");
        assert_eq!(
            damage_of(4096, 64).unwrap(),
            "64 dimensions, 2 to 32 are possible\n  \
             help: clang 22 does so for sections with a stride and a length that is no constant; \
             give it a constant length, or update the elements one by one"
        );
    }

    #[test]
    fn damage_in_words() {
        assert_eq!(Damage::Count(64).to_string(), "64 dimensions, 2 to 32 are possible");
        let dimension = Dimension { offset: 1, count: 2, stride: 0 };
        assert_eq!(
            Damage::Dimension { number: 2, of: 8, dimension }.to_string(),
            "8 dimensions, of which number 3 does not fit into the others: 2 steps of 0 bytes, from step 1"
        );
    }
}
