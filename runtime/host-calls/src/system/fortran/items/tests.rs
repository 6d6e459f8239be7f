use super::*;
use gangway_system::fortran::head;
use proptest::prelude::*;

fn item(kind: Kind, words: &[u64], text: &[u8]) -> Vec<u8> {
    let mut bytes = head(kind, (words.len() * 8 + text.len()) as u64).to_ne_bytes().to_vec();
    words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.extend(text);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn read(parts: &[Vec<u8>]) -> Result<usize, FortranError> {
    let bytes = parts.concat();
    Items::of(&bytes).collect::<Result<Vec<_>, _>>().map(|items| items.len())
}

fn begins() -> Vec<u8> {
    item(Kind::ExternalFormatted, &[6, 12, 5, 4], b"a.f90(i5)")
}

#[test]
fn items_are_read() {
    let bytes =
        [begins(), item(Kind::Integer, &[], &7_i32.to_ne_bytes()), item(Kind::Text, &[], b"abc")].concat();
    let items: Vec<_> = Items::of(&bytes).map(Result::unwrap).collect();
    let file = CString::from(c"a.f90");
    let kind = Kind::ExternalFormatted;
    assert_eq!(items[0], Item::Begin(Begin { kind, unit: 6, length: 0, line: 12, file, format: b"(i5)" }));
    assert_eq!(items[1..], [Item::Integer(Integer::Four(7)), Item::Text(b"abc")]);
    let array = item(Kind::Array, &[2, 27, 4, 2, 3], &[1; 24]);
    assert_eq!(read(&[begins(), array]), Ok(2));
    assert_eq!(read(&[begins(), item(Kind::Number, &[1, 5], &[]), item(Kind::Setting, &[1], b"no")]), Ok(3));
}

#[test]
fn what_is_no_statement_is_refused() {
    let refused =
        |parts: &[Vec<u8>]| assert!(matches!(read(parts), Err(FortranError::Malformed(_))), "{parts:?}");
    refused(&[]);
    refused(&[item(Kind::Integer, &[], &[0; 4])]);
    refused(&[begins(), begins()]);
    refused(&[begins(), vec![0; 8]]);
    refused(&[begins(), vec![1; 4]]);
    refused(&[begins(), head(Kind::Text, 9).to_ne_bytes().to_vec(), vec![0; 8]]);
    refused(&[begins(), head(Kind::Text, u64::MAX >> 8).to_ne_bytes().to_vec()]);
    for bytes in [0, 3, 17] {
        for kind in [Kind::Integer, Kind::Real, Kind::Complex, Kind::Logical, Kind::Handlers] {
            refused(&[begins(), item(kind, &[], &vec![0; bytes])]);
        }
    }
    refused(&[item(Kind::InternalList, &[1 << 40, 1, 0, 0], &[])]);
    refused(&[item(Kind::InternalList, &[LARGEST_VARIABLE + 1, 1, 0, 0], &[])]);
    assert_eq!(read(&[item(Kind::InternalList, &[LARGEST_VARIABLE, 1, 0, 0], &[])]), Ok(1));
    refused(&[item(Kind::ExternalList, &[6, 1, 9, 0], b"short")]);
    refused(&[item(Kind::ExternalList, &[6, 1, 3, 0], b"a\0b")]);
    refused(&[begins(), item(Kind::Setting, &[9], b"no")]);
}

#[test]
fn arrays_have_the_elements_that_they_say() {
    let refused = |words: &[u64], data: usize| {
        let result = read(&[begins(), item(Kind::Array, words, &vec![0; data])]);
        assert!(matches!(result, Err(FortranError::Malformed(_))), "{words:?}");
    };
    refused(&[1, 27, 4, 3], 8);
    refused(&[1, 27, 8, 3], 24);
    refused(&[16, 27, 4], 4);
    // A pointer, a derived type, none.
    [41, 42, 0, 255].into_iter().for_each(|kind| refused(&[0, kind, 8], 8));
    refused(&[2, 27, 4, 1 << 62, 4], 0);
    // No elements, and strides that no number has.
    refused(&[3, 1, 1, 1 << 40, 1 << 40, 0], 0);
    refused(&[1, 40, 1 << 63, 0], 0);
    assert_eq!(read(&[begins(), item(Kind::Array, &[2, 28, 8, 1 << 20, 0], &[])]), Ok(2));
    // Elements without bytes, more than anyone waits for.
    refused(&[2, 40, 0, 1 << 31, 1 << 31], 0);
    refused(&[1, 40, 0, MOST_EMPTY + 1], 0);
    refused(&[3, 40, 0, 1 << 40, 1 << 40, 0], 0);
    assert_eq!(read(&[begins(), item(Kind::Array, &[1, 40, 0, 5], &[])]), Ok(2));
    // All arrays of a statement count.
    let half = || item(Kind::Array, &[2, 40, 0, MOST_EMPTY / 16, 8], &[]);
    assert_eq!(read(&[begins(), half(), half()]), Ok(3));
    assert!(read(&[begins(), half(), half(), item(Kind::Array, &[0, 40, 0], &[])]).is_err());
}

/// Items of any kind and length, with words that are small, as lengths and extents are, or not.
fn any_item() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![0..50_u64, any::<u64>(), Just(u64::MAX), Just(1 << 32)];
    let head =
        prop_oneof![(0..20_u64, 0..80_u64).prop_map(|(kind, length)| kind | length << 8), any::<u64>()];
    (head, prop::collection::vec(word, 0..10), 0..8_usize).prop_map(|(head, words, cut)| {
        let mut bytes = head.to_ne_bytes().to_vec();
        words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.truncate(bytes.len() - cut.min(bytes.len()));
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 4000 }))]

    /// What a device sends is taken apart to its end or refused, and arrays have as many bytes as
    /// they say.
    #[test]
    fn any_statement_is_read_or_refused(begins_well in any::<bool>(), items in prop::collection::vec(any_item(), 0..6)) {
        let mut bytes = if begins_well { begins() } else { Vec::new() };
        bytes.extend(items.concat());
        let mut count = 0;
        for item in Items::of(&bytes) {
            count += 1;
            prop_assert!(count <= bytes.len() / 8 + 1);
            if let Ok(Item::Array(array)) = item {
                let elements: i64 = array.extents.iter().product();
                prop_assert_eq!(elements as usize * array.element, array.data.len());
            }
        }
    }
}
