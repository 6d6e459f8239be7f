//! Items that a user-defined mapper expands, to whatever form items may have.

use crate::gomp::*;
use crate::program::{Entry, Program, address, whole};
use crate::support::device::{Call, Options};

/// Of which the middle is mapped, with the values.
#[repr(C)]
struct List {
    before: u64,
    count: u64,
    values: *const u8,
    after: u64,
}

struct Data {
    values: Vec<u8>,
    list: Box<List>,
    /// A pointer of its own, to 16 bytes before the values.
    cursor: Box<*const u8>,
}

impl Data {
    fn new() -> Self {
        let values = vec![1; 48];
        let list = Box::new(List { before: 1, count: 48, values: values.as_ptr(), after: 1 });
        let cursor = Box::new(values.as_ptr().wrapping_sub(16));
        Self { values, list, cursor }
    }

    fn member(&self) -> usize {
        address(&self.list.values)
    }

    /// The list: two members, what one of them points to, and a pointer.
    fn components(&self, kind: u8) -> Vec<Entry> {
        vec![
            (address(&*self.list), 2, STRUCT),
            (address(&self.list.count), 8, kind),
            (self.member(), 8, kind),
            (self.values.as_ptr().addr(), self.values.len(), kind),
            (self.member(), 0, ATTACH),
            match kind {
                TOFROM => (address(&*self.cursor), 16, POINTER),
                _ => whole(&*self.cursor, kind),
            },
        ]
    }

    /// The list as an item, which stands for its components.
    fn item(&self, program: &Program, kind: u8) -> Entry {
        *program.mappers.write().unwrap() = vec![(0, self.components(kind))];
        whole(&*self.list, kind)
    }

    /// What is mapped, in order.
    fn ranges(&self, language: Language) -> Vec<(usize, usize)> {
        let mut ranges = vec![
            (address(&self.list.count), self.member() + 8),
            (self.values.as_ptr().addr(), self.values.as_ptr().addr() + self.values.len()),
            (address(&*self.cursor), address(&*self.cursor) + 8),
        ];
        if language == Language::OpenAcc {
            // Each member is there by itself.
            ranges[0].1 = self.member();
            ranges.push((self.member(), self.member() + 8));
        }
        ranges.sort_unstable();
        ranges
    }
}

fn ranges(program: &Program) -> Vec<(usize, usize)> {
    program.mapped().iter().map(|range| (range.0, range.1)).collect()
}

#[test]
fn structures_and_pointers_of_a_mapper() {
    for language in [Language::OpenMp, Language::OpenAcc] {
        Program::each(language, |program| {
            let data = Data::new();
            for _ in 0..2 {
                program.begin(&[data.item(program, TOFROM)]).unwrap();
                assert_eq!(ranges(program), data.ranges(language));
            }
            let values = program.device_address(data.values.as_ptr().addr()).unwrap().0;
            assert_eq!(program.word(data.member()), values, "the member is attached");
            assert_eq!(program.word(address(&*data.cursor)), values - 16, "so is the pointer");
            assert_eq!(program.word(address(&data.list.count)), 48);

            // The host's pointers keep their values, whatever comes back.
            program.finish(&[data.item(program, FROM)]).unwrap();
            assert_eq!(ranges(program), data.ranges(language), "it has been mapped twice");
            program.finish(&[data.item(program, FROM)]).unwrap();
            assert_eq!(ranges(program), []);
            let begin = data.values.as_ptr();
            assert_eq!((data.list.values, *data.cursor), (begin, begin.wrapping_sub(16)));
        });
    }
}

#[test]
fn regions_with_a_mapper() {
    Program::each(Language::OpenMp, |program| {
        let data = Data::new();
        for round in 2..5 {
            let values = (data.values.as_ptr().addr(), data.values.len(), TOFROM);
            program.run(&[data.item(program, TOFROM), values], &[1]).unwrap();
            assert_eq!(data.values, [round; 48]);
            assert_eq!(ranges(program), []);
        }
        let List { before, count, after, .. } = *data.list;
        assert_eq!((before, count, after), (1, 48, 1));
    });
}

#[test]
fn updates_with_a_mapper() {
    Program::each(Language::OpenMp, |program| {
        let mut data = Data::new();
        program.begin(&[data.item(program, TOFROM)]).unwrap();
        data.list.count = 7;
        data.values[47] = 9;
        program.data(Construct::Update, &[data.item(program, TO)]).unwrap();
        assert_eq!(program.word(address(&data.list.count)), 7);
        let last = program.device_address(data.values.as_ptr().addr() + 47).unwrap();
        assert_eq!(program.mock.read(last, 1), [9]);
        program.finish(&[data.item(program, RELEASE)]).unwrap();
    });
}

#[test]
fn a_mapper_that_names_too_few_members() {
    Program::each(Language::OpenMp, |program| {
        let data = Data::new();
        let item = data.item(program, TOFROM);
        program.mappers.write().unwrap()[0].1[0].1 = 6;
        let error = program.begin(&[item]).unwrap_err().to_string();
        assert!(error.contains("a structure of 6 members is followed by 5 items"), "{error}");
    });
}

/// Whatever fails half-way, nothing stays mapped.
#[test]
fn faults() {
    for (options, call) in Options::ALL.into_iter().flat_map(|o| Call::ALL.map(|call| (o, call))) {
        for successes in 0.. {
            let program = Program::new(options, Language::OpenMp);
            let data = Data::new();
            program.mock.fail(call, successes);
            let result = program.run(&[data.item(&program, TOFROM)], &[]);
            let failed = program.mock.stop_failing();
            assert_eq!(result.is_err(), failed, "{options:?}: {call:?} {successes}");
            program.end();
            if !failed {
                break;
            }
        }
    }
}
