//! Sequences as text: what is printed is read again, and what is no sequence is refused by line.

use gangway_simt::{Builder, Element, Flaw, IntOrder, Op, Sequence, Type, Value, evaluate, verify};

fn sample() -> Sequence {
    let mut b = Builder::new();
    let a = b.parameter(Type::lanes(Element::I32));
    let c = b.parameter(Type::one(Element::I32));
    let shifted = b.shl_by(a, 5);
    let sum = b.add(shifted, c);
    let less = b.compare(IntOrder::LessSigned, sum, a);
    let kept = b.keep(less, sum);
    b.finish(&[kept, less])
}

const SAMPLE: &str = "\
%0 = parameter i32 lanes
%1 = parameter i32
%2 = constant i32 0x5
%3 = shl %0 %2
%4 = add %1 %3
%5 = lt_s %4 %0
%6 = mask_word %5
%7 = and %4 %6
result %7
result %5
";

#[test]
fn what_is_printed_is_read_again() {
    let sequence = sample();
    assert_eq!(sequence.to_string(), SAMPLE);
    assert_eq!(SAMPLE.parse::<Sequence>().unwrap(), sequence);
    assert_eq!(verify(&sequence), Ok(()));
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    for &op in Op::PLAIN {
        assert_eq!(Op::from_name(op.name()), Some(op));
    }
    for &order in IntOrder::ALL {
        assert_eq!(Op::from_name(Op::CompareInt(order).name()), Some(Op::CompareInt(order)));
    }
    for &order in gangway_simt::FloatOrder::ALL {
        assert_eq!(Op::from_name(Op::CompareFloat(order).name()), Some(Op::CompareFloat(order)));
    }
}

#[test]
fn comments_and_empty_lines_are_skipped() {
    let text = "; nothing yet\n\n%0 = parameter mask ; a predicate\nresult %0\n";
    assert_eq!(text.parse::<Sequence>().unwrap().results, [Value(0)]);
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let error = text.parse::<Sequence>().expect_err("it is no sequence");
    assert_eq!(error.to_string(), message);
}

#[test]
fn what_is_no_sequence_is_refused_by_line() {
    refused("%0 = parameter i33", "line 1: 'i33' is no type");
    refused("%1 = parameter i32", "line 1: '%1' is defined where %0 is expected");
    refused("%0 = parameter i32\n%1 = add %0 %2", "line 2: %2 is not defined yet");
    refused("%0 = parameter i32\n%1 = add %0", "line 2: 'add' does not take (i32)");
    refused("%0 = parameter f32\n%1 = add %0 %0", "line 2: 'add' does not take (f32, f32)");
    refused("%0 = parameter i32\n%1 = plus %0 %0", "line 2: there is no operation 'plus'");
    refused("%0 = constant i32 5", "line 1: '5' does not begin with 0x");
    refused(
        "%0 = constant i64 0x1ffffffffffffffff",
        "line 1: '0x1ffffffffffffffff': number too large to fit in target type",
    );
}

#[test]
fn flaws_are_found() {
    let with = |change: &dyn Fn(&mut Sequence)| {
        let mut sequence = sample();
        change(&mut sequence);
        verify(&sequence).expect_err("it is flawed")
    };
    assert_eq!(with(&|s| s.definitions[1].op = Op::Parameter(7)), Flaw::Parameter(Value(1)));
    assert_eq!(with(&|s| s.definitions[4].operands[0] = Value(4)), Flaw::Order(Value(4)));
    assert_eq!(with(&|s| s.definitions[3].operands[0] = Value(1)), Flaw::Result(Value(3)));
    assert_eq!(with(&|s| s.definitions[4].op = Op::AddFloat), Flaw::Operands(Value(4)));
    assert_eq!(with(&|s| s.definitions[4].ty = Type::one(Element::I32)), Flaw::Result(Value(4)));
    assert_eq!(with(&|s| s.definitions[2].op = Op::Constant(1 << 32)), Flaw::Constant(Value(2)));
    assert_eq!(with(&|s| s.results[0] = Value(8)), Flaw::Undefined(Value(8)));
}

#[test]
fn a_sequence_is_evaluated_for_a_lane() {
    assert_eq!(evaluate(&sample(), &[1, 2]), [0, 0]);
    assert_eq!(evaluate(&sample(), &[1, 0xff00_0000]), [0xff00_0020, 1]);
}

/// What is the same is made once, and constants are computed.
#[test]
fn the_builder_makes_nothing_twice() {
    let mut b = Builder::new();
    let a = b.parameter(Type::lanes(Element::I32));
    let c = b.parameter(Type::lanes(Element::I32));
    assert_eq!(b.add(a, c), b.add(c, a));
    assert_ne!(b.sub(a, c), b.sub(c, a));
    let (two, three) = (b.constant(Element::I32, 2), b.constant(Element::I32, 3));
    let product = b.mul(two, three);
    assert_eq!(b.constant_of(product), Some(6));
    let negative = b.neg(two);
    assert_eq!(b.constant_of(negative), Some(0xffff_fffe));
    // Floats are left to the machine.
    let one = b.constant(Element::F32, 0x3f80_0000);
    let sum = b.fadd(one, one);
    assert_eq!(b.constant_of(sum), None);
}
