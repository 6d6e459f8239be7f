//! The functions against those of the host's C library, on random and on chosen arguments.

use gangway_gpu_library::{arithmetic, array, letter, memory, number, text};
use std::ffi::{CStr, CString, c_char, c_double, c_float, c_int, c_long, c_uint, c_void};

mod host {
    use super::*;

    unsafe extern "C" {
        pub fn strcmp(left: *const c_char, right: *const c_char) -> c_int;
        pub fn strncmp(left: *const c_char, right: *const c_char, most: usize) -> c_int;
        pub fn strcasecmp(left: *const c_char, right: *const c_char) -> c_int;
        pub fn strchr(text: *const c_char, letter: c_int) -> *mut c_char;
        pub fn strrchr(text: *const c_char, letter: c_int) -> *mut c_char;
        pub fn strstr(text: *const c_char, part: *const c_char) -> *mut c_char;
        pub fn strspn(text: *const c_char, set: *const c_char) -> usize;
        pub fn strcspn(text: *const c_char, set: *const c_char) -> usize;
        pub fn strncpy(to: *mut c_char, from: *const c_char, room: usize) -> *mut c_char;
        pub fn strtok_r(text: *mut c_char, set: *const c_char, place: *mut *mut c_char) -> *mut c_char;
        pub fn memchr(memory: *const c_void, letter: c_int, count: usize) -> *mut c_void;
        pub fn memmem(memory: *const c_void, count: usize, part: *const c_void, length: usize)
        -> *mut c_void;
        pub fn strtol(text: *const c_char, end: *mut *mut c_char, base: c_int) -> c_long;
        pub fn strtoul(text: *const c_char, end: *mut *mut c_char, base: c_int) -> u64;
        pub fn strtod(text: *const c_char, end: *mut *mut c_char) -> c_double;
        pub fn strtof(text: *const c_char, end: *mut *mut c_char) -> c_float;
        pub fn __ctype_b_loc() -> *const *const u16;
        pub fn tolower(letter: c_int) -> c_int;
        pub fn toupper(letter: c_int) -> c_int;
        pub fn isspace(letter: c_int) -> c_int;
        pub fn isxdigit(letter: c_int) -> c_int;
        pub fn ispunct(letter: c_int) -> c_int;
    }
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A text of few different letters.
    fn text(&mut self, letters: &[u8], most: u64) -> CString {
        let length = self.below(most + 1);
        let text = (0..length).map(|_| letters[self.below(letters.len() as u64) as usize]);
        CString::new(text.collect::<Vec<_>>()).unwrap()
    }
}

#[test]
fn texts_are_searched_and_compared_as_the_host_does() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let (left, right) = (random.text(b"aAb\x80\xff", 9), random.text(b"aAb\x80\xff", 3));
        let (l, r, most) = (left.as_ptr(), right.as_ptr(), random.below(6) as usize);
        let letter = [0, 97, 0x80, 0x1ff, -1][random.below(5) as usize];
        // SAFETY: both texts end with a null byte.
        unsafe {
            let shown = (&left, &right, most, letter);
            assert_eq!(text::strcmp(l, r).signum(), host::strcmp(l, r).signum(), "{shown:?}");
            assert_eq!(text::strncmp(l, r, most).signum(), host::strncmp(l, r, most).signum(), "{shown:?}");
            assert_eq!(text::strcasecmp(l, r).signum(), host::strcasecmp(l, r).signum(), "{shown:?}");
            assert_eq!(text::strchr(l, letter), host::strchr(l, letter), "{shown:?}");
            assert_eq!(text::strrchr(l, letter), host::strrchr(l, letter), "{shown:?}");
            assert_eq!(text::strstr(l, r), host::strstr(l, r), "{shown:?}");
            assert_eq!(text::strspn(l, r), host::strspn(l, r), "{shown:?}");
            assert_eq!(text::strcspn(l, r), host::strcspn(l, r), "{shown:?}");
            let count = left.count_bytes();
            let (m, p, length) = (l.cast(), r.cast(), right.count_bytes());
            assert_eq!(memory::memchr(m, letter, count), host::memchr(m, letter, count), "{shown:?}");
            assert_eq!(memory::memmem(m, count, p, length), host::memmem(m, count, p, length), "{shown:?}");
            let (mut mine, mut theirs) = ([b'x' as c_char; 12], [b'x' as c_char; 12]);
            text::strncpy(mine.as_mut_ptr(), l, most);
            host::strncpy(theirs.as_mut_ptr(), l, most);
            assert_eq!(mine, theirs, "{shown:?}");
        }
    }
}

#[test]
fn texts_are_copied_and_appended() {
    let mut room = [b'x' as c_char; 16];
    // SAFETY: there is room for the texts.
    unsafe {
        let start = room.as_mut_ptr();
        assert_eq!(text::stpcpy(start, c"ab".as_ptr()), start.add(2));
        assert_eq!(text::strcat(start, c"cd".as_ptr()), start);
        text::strncat(start, c"efg".as_ptr(), 2);
        assert_eq!(CStr::from_ptr(start), c"abcdef");
        assert_eq!(text::strcpy(start, c"".as_ptr()), start);
        assert_eq!((room[0], room[1]), (0, b'b' as c_char));
        let end = memory::memccpy(room.as_mut_ptr().cast(), c"a=b".as_ptr().cast(), i32::from(b'='), 3);
        assert_eq!(end, room.as_mut_ptr().add(2).cast());
        assert!(memory::memccpy(room.as_mut_ptr().cast(), c"ab".as_ptr().cast(), 120, 2).is_null());
    }
}

#[test]
fn pieces_are_those_of_the_host() {
    let mut random = Random(2);
    for _ in 0..2_000 {
        let pieces =
            |next: unsafe extern "C" fn(*mut c_char, *const c_char, *mut *mut c_char) -> *mut c_char,
             text: &CStr| {
                let mut text = text.to_bytes_with_nul().to_vec();
                let (mut place, mut found) = (std::ptr::null_mut(), Vec::new());
                let mut from: *mut c_char = text.as_mut_ptr().cast();
                loop {
                    // SAFETY: the text is this one's.
                    let piece = unsafe { next(from, c",;".as_ptr(), &raw mut place) };
                    if piece.is_null() {
                        return found;
                    }
                    // SAFETY: a piece ends with a null byte.
                    found.push(unsafe { CStr::from_ptr(piece) }.to_owned());
                    from = std::ptr::null_mut();
                }
            };
        let text = random.text(b"ab,;", 12);
        assert_eq!(pieces(text::strtok_r, &text), pieces(host::strtok_r, &text), "{text:?}");
    }
}

#[test]
fn letters_have_the_hosts_kinds() {
    // SAFETY: the tables have entries from -128 to 255.
    unsafe {
        let (mine, theirs) = (*letter::__ctype_b_loc().cast::<*const u16>(), *host::__ctype_b_loc());
        for letter in -128..256 {
            let entry = |table: *const u16| table.offset(letter).read();
            assert_eq!(entry(mine), entry(theirs), "{letter}");
        }
        for letter in -1..256 {
            assert_eq!(letter::tolower(letter), host::tolower(letter), "{letter}");
            assert_eq!(letter::toupper(letter), host::toupper(letter), "{letter}");
            assert_eq!(letter::isspace(letter) != 0, host::isspace(letter) != 0, "{letter}");
            assert_eq!(letter::isxdigit(letter) != 0, host::isxdigit(letter) != 0, "{letter}");
            assert_eq!(letter::ispunct(letter) != 0, host::ispunct(letter) != 0, "{letter}");
        }
    }
}

/// What both make of a text as a number, and how many bytes of it they read.
fn number_agrees(text: &CStr) {
    let start = text.as_ptr();
    let both = |mine: &dyn Fn(*mut *mut c_char) -> u64, theirs: &dyn Fn(*mut *mut c_char) -> u64| {
        let (mut my_end, mut their_end) = (std::ptr::null_mut(), std::ptr::null_mut());
        assert_eq!(mine(&raw mut my_end), theirs(&raw mut their_end), "{text:?}");
        assert_eq!(my_end, their_end, "{text:?}");
    };
    // SAFETY: the text ends with a null byte.
    unsafe {
        for base in [0, 2, 8, 10, 16, 36] {
            both(&|end| number::strtol(start, end, base) as u64, &|end| {
                host::strtol(start, end, base) as u64
            });
            both(&|end| number::strtoul(start, end, base), &|end| host::strtoul(start, end, base));
        }
        // The sign of what is not a number is not told.
        let bits = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        both(&|end| bits(number::strtod(start, end)), &|end| bits(host::strtod(start, end)));
        let bits = |value: f32| u64::from(if value.is_nan() { f32::NAN } else { value }.to_bits());
        both(&|end| bits(number::strtof(start, end)), &|end| bits(host::strtof(start, end)));
    }
}

#[test]
fn numbers_are_read_as_the_host_does() {
    let chosen = [
        c"",
        c" ",
        c"-",
        c"+7",
        c" \t-12x",
        c"0x",
        c"0x1",
        c"0X1fg",
        c"-0",
        c"08",
        c"9223372036854775807",
        c"9223372036854775808",
        c"-9223372036854775808",
        c"-9223372036854775809",
        c"18446744073709551616",
        c".",
        c"5.",
        c".5",
        c"1e",
        c"1e+",
        c"1e5",
        c"1.5E-3x",
        c"inf",
        c"-INFINITY",
        c"infin",
        c"nan",
        c"nan(12_a)",
        c"nan(",
        c"1e400",
        c"1e-400",
        c"4.9e-324",
        c"2.4e-324",
        c"2.5e-324",
        c"0x.8p1",
        c"0x1.fffffffffffff8p0",
        c"0x1.fffffffffffff7fp0",
        c"0x1p-1074",
        c"0x1p-1075",
        c"0x1.000001p-1075",
        c"0x1p-1076",
        c"0x1p1023",
        c"0x1p1024",
        c"0x1.fffffffffffff8p1023",
        c"0x1p",
        c"0x1p+",
        c"0xp1",
        c"0x.p1",
        c"0x1.000001p0",
        c"0x1.0000010000001p0",
        c"0x123456789abcdef012345p-3",
        c"0x1p-149",
        c"0x1p-150",
        c"0x1.8p-150",
        c"0x1p127",
        c"0x1.ffffffp127",
        c"0x1p99999999999999999999",
        c"0x0p99999999",
        c"1_0",
        c"0.1",
        c"123456789012345678901234567890",
        c"1.7976931348623157e308",
        c"1.7976931348623159e308",
        c"0x0.000000000000000000000001p0",
        c"0x10000000000000000000000000p0",
        c"8.5070592e37",
        c"16777217",
    ];
    chosen.into_iter().for_each(number_agrees);
    let mut random = Random(3);
    for _ in 0..20_000 {
        number_agrees(&random.text(b"0123456789.e-+x", 12));
        let hexadecimal = [&b"0x"[..], random.text(b"0123456789abcdef.", 20).to_bytes(), b"p"].concat();
        let power = random.below(2300) as i64 - 1150;
        number_agrees(&CString::new([hexadecimal, power.to_string().into()].concat()).unwrap());
        let power = random.below(700) as i64 - 350;
        let digits = random.text(b"0123456789", 25);
        number_agrees(&CString::new(format!("{}.5e{power}", digits.to_str().unwrap())).unwrap());
    }
}

unsafe extern "C" fn by_first_word(left: *const c_void, right: *const c_void) -> c_int {
    // SAFETY: elements begin with a word, at any address.
    let (left, right) =
        unsafe { (left.cast::<u32>().read_unaligned(), right.cast::<u32>().read_unaligned()) };
    left.cmp(&right) as c_int
}

#[test]
fn arrays_are_sorted_and_searched() {
    let mut random = Random(4);
    for count in (0..40).chain([500]) {
        for size in [4, 5, 16] {
            let element = |key: u64| {
                let mut bytes = vec![key as u8; size];
                bytes[..4].copy_from_slice(&(key as u32).to_ne_bytes());
                bytes
            };
            let mut elements: Vec<_> = (0..count).map(|_| element(2 * random.below(300))).collect();
            let mut array = elements.concat();
            // SAFETY: the array has so many elements of that size.
            unsafe {
                array::qsort(array.as_mut_ptr().cast(), count, size, by_first_word);
                elements.sort_by_key(|element| u32::from_ne_bytes(element[..4].try_into().unwrap()));
                assert_eq!(array, elements.concat());
                for wanted in [0, 2, 3, 100, 598, 700].map(|key: u64| element(key)) {
                    let (key, start) = (wanted.as_ptr().cast(), array.as_ptr().cast());
                    let found = array::bsearch(key, start, count, size, by_first_word);
                    assert_eq!(!found.is_null(), elements.contains(&wanted));
                    assert!(
                        found.is_null() || std::slice::from_raw_parts(found.cast::<u8>(), size) == wanted
                    );
                }
            }
        }
    }
}

#[test]
fn integers_are_divided() {
    use arithmetic::Division;
    // SAFETY: no divisor is zero.
    unsafe {
        assert_eq!(arithmetic::div(-7, 2), Division { quotient: -3, remainder: -1 });
        assert_eq!(arithmetic::lldiv(7, -2), Division { quotient: -3, remainder: 1 });
        assert_eq!((arithmetic::abs(-5), arithmetic::labs(5)), (5, 5));
    }
}

#[test]
fn random_numbers_spread_and_repeat() {
    let draw = |mut state: c_uint| -> Vec<c_int> {
        // SAFETY: the state is this one's.
        (0..1000).map(|_| unsafe { arithmetic::rand_r(&raw mut state) }).collect()
    };
    let (first, again, other) = (draw(1), draw(1), draw(2));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.iter().all(|&number| number >= 0));
    for part in first.chunks(250) {
        let low = part.iter().filter(|&&number| number < c_int::MAX / 2).count();
        assert!((90..160).contains(&low), "{low} of 250 are in the lower half");
    }
}
