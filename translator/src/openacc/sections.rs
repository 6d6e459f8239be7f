//! Sections of several dimensions. Arrays in each other are one object, of which the bytes from the first element
//! to the last are meant. Where a dimension is a pointer's, the rows lie apart: the device gets the pointers and
//! each row (OpenACC 3.3 section 2.7.1, "dynamically-sized array of pointers").
//!
//! Only the compiler knows for all objects which dimensions these are. So it decides it: what is written
//! for each dimension holds for both.

use std::ops::Range;

/// The first element of a section and how many there are, as far as they are said; an element alone has
/// [`Section::ONE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub first: Option<Range<usize>>,
    pub count: Option<Range<usize>>,
}

impl Section {
    /// The count of what is no section.
    pub const ONE: Range<usize> = 0..0;
}

/// What is subscripted by each dimension, and its first element and number of elements, as source.
pub struct Sections {
    dimensions: Vec<[String; 3]>,
}

impl Sections {
    pub fn of(object: &str, sections: &[Section], read: &dyn Fn(&Range<usize>) -> String) -> Self {
        let mut dimensions = Vec::new();
        let mut base = format!("({object})");
        for section in sections {
            let low = section.first.as_ref().map_or("0".to_owned(), read);
            let length = match &section.count {
                Some(range) if *range == Section::ONE => "1".to_owned(),
                Some(range) => read(range),
                None => format!("(sizeof({base}) / sizeof({base}[0]) - ({low}))"),
            };
            let next = format!("{base}[{low}]");
            dimensions.push([std::mem::replace(&mut base, next), low, length]);
        }
        Self { dimensions }
    }

    /// The first and the last element, where all dimensions but the first are arrays'.
    pub fn ends(&self) -> (String, String) {
        let object = self.dimensions[0][0].clone();
        self.dimensions.iter().fold((object.clone(), object), |(first, last), [_, low, length]| {
            (format!("{first}[{low}]"), format!("{last}[({low}) + ({length}) - 1]"))
        })
    }

    /// The first byte of the first dimension, and of those that lie in it.
    pub fn begin(&self) -> String {
        format!("(void *)((char *)&{}[0] + {})", self.dimensions[0][0], self.offset(0))
    }

    /// Where the section begins in what a dimension subscripts, in bytes.
    fn offset(&self, at: usize) -> String {
        let [base, low, _] = &self.dimensions[at];
        let own = format!("(long)({low}) * (long)sizeof({base}[0])");
        match at + 1 < self.dimensions.len() {
            true => format!("({own} + ({} ? 0 : {}))", self.is_pointer(at + 1), self.offset(at + 1)),
            false => format!("({own})"),
        }
    }

    /// How many bytes the section has there.
    pub fn bytes(&self, at: usize) -> String {
        format!("(unsigned long)({})", self.extent(at))
    }

    fn extent(&self, at: usize) -> String {
        let [base, _, length] = &self.dimensions[at];
        let one = format!("(long)sizeof({base}[0])");
        let last = match at + 1 < self.dimensions.len() {
            true => format!("({} ? {one} : {})", self.is_pointer(at + 1), self.extent(at + 1)),
            false => one.clone(),
        };
        format!("(((long)({length}) - 1) * {one} + {last})")
    }

    fn is_pointer(&self, at: usize) -> String {
        format!("__gangway_acc_is_pointer({})", self.dimensions[at][0])
    }

    /// The flag of an item whose rows lie apart.
    pub fn rows_flag(&self) -> String {
        let any: Vec<String> = (1..self.dimensions.len()).map(|at| self.is_pointer(at)).collect();
        format!("(({}) ? __GANGWAY_ACC_HAS_ROWS : 0)", any.join(" || "))
    }

    /// The dimensions that the section has where it is updated, as the runtime reads them: their declaration, and a
    /// pointer to those of a row, or of all where rows do not lie apart.
    pub fn dimensions(&self, place: usize) -> (String, String) {
        let dimension = |[base, _, length]: &[String; 3]| {
            format!("{{ 0, (unsigned long)({length}), sizeof({base}[0]) }}, ")
        };
        let all: String = self.dimensions.iter().map(dimension).collect();
        let first = (1..self.dimensions.len())
            .fold("0".to_owned(), |outer, at| format!("{} ? {at} : {outer}", self.is_pointer(at)));
        (
            format!(
                "const struct __gangway_acc_dimension __acc_dimensions_{place}[] = {{ {all}{{ 0, 0, 0 }} }}; "
            ),
            format!("(void *)&__acc_dimensions_{place}[{first}]"),
        )
    }

    /// What is a row of each dimension but the first: items behind all others, which lead to the item at a
    /// place of the list.
    pub fn rows(&self, place: usize) -> Vec<String> {
        let row = |at: usize| {
            format!(
                "{{ (void *){}, {}, (void **)&__acc_items[{place}], __GANGWAY_ACC_ROW, \
                 (unsigned)({} ? __GANGWAY_ACC_HAS_ROWS : 0), 0, 0 }}",
                self.offset(at),
                self.bytes(at),
                self.is_pointer(at)
            )
        };
        (1..self.dimensions.len()).map(row).collect()
    }
}
