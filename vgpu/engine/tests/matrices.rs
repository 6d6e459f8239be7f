//! Products of matrices in all forms of `mma`, compiled and interpreted. What is expected comes from
//! the ISA's own description of fragments (PTX ISA 9.7.14.5): of each element, by its number in a
//! lane's fragment, the row and the column.

mod bench;

use bench::{Bench, options};
use gangway_engine::{Execution, Options, Reason};
use gangway_ptx::forms::table;
use gangway_ptx::meaning::{Matrix, Multiply};
use gangway_ptx::{Meaning, Opcode, Type};

const LANES: usize = 32;

/// An element's row and column in the first factor.
fn place_in_a(op: &Multiply, i: usize, lane: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let below = |is_first: bool| if is_first { group } else { group + 8 };
    match (op.a.bits(), op.m, op.k) {
        (16, _, 8) => (below(i < 2), thread * 2 + (i & 1)),
        (16, ..) => (below(matches!(i, 0..2 | 4..6)), thread * 2 + (i & 1) + if i < 4 { 0 } else { 8 }),
        (8, 8, _) => (group, thread * 4 + i),
        (8, _, 16) => (below(i < 4), thread * 4 + (i & 3)),
        (8, ..) => (below(matches!(i, 0..4 | 8..12)), thread * 4 + (i & 3) + if i < 8 { 0 } else { 16 }),
        (_, 8, _) => (group, thread),
        (_, _, 4) => (below(i == 0), thread),
        (_, _, 8) => (below(matches!(i, 0 | 2)), thread + if i < 2 { 0 } else { 4 }),
        _ if i.is_multiple_of(2) => (group, i * 2 + thread),
        _ => (group + 8, i * 2 - 2 + thread),
    }
}

/// An element's row and column in the second factor.
fn place_in_b(op: &Multiply, i: usize, lane: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let row = match (op.b.bits(), op.k) {
        (16, 8) => thread * 2 + i,
        (16, _) => thread * 2 + (i & 1) + if i < 2 { 0 } else { 8 },
        (8, 16) => thread * 4 + i,
        (8, _) => thread * 4 + (i & 3) + if i < 4 { 0 } else { 16 },
        _ => thread + i * 4,
    };
    (row, group)
}

/// An element's row and column in the sum.
fn place_in_sum(i: usize, lane: usize) -> (usize, usize) {
    (lane / 4 + if i < 2 { 0 } else { 8 }, (lane % 4) * 2 + (i & 1))
}

/// The bits of a small whole number.
fn bits(value: i64, ty: Type) -> u64 {
    let float = |exponent: u32, fraction: u32| {
        let bits = (value.unsigned_abs() as f64).to_bits();
        let sign = u64::from(value < 0) << (exponent + fraction);
        let scale = (bits >> 52).wrapping_sub(1023).wrapping_add((1 << (exponent - 1)) - 1);
        let magnitude = scale << fraction | bits << 12 >> (64 - fraction);
        sign | if value == 0 { 0 } else { magnitude }
    };
    match ty {
        Type::F16 => float(5, 10),
        Type::Bf16 => float(8, 7),
        Type::F32 | Type::Tf32 => float(8, 23),
        Type::E4m3 => float(4, 3),
        Type::E5m2 => float(5, 2),
        Type::F64 => float(11, 52),
        _ => value as u64,
    }
}

/// Registers of an operand, with the elements of 8 and 16 bits side by side.
fn registers(count: usize, ty: Type, element: impl Fn(usize, usize) -> i64) -> Vec<[u64; LANES]> {
    let size = if ty == Type::F64 { 64 } else { 32 };
    let per = size / ty.bits() as usize;
    let mask = if ty.bits() == 64 { u64::MAX } else { (1 << ty.bits()) - 1 };
    let value = |register: usize, lane: usize| {
        (0..per).fold(0, |all, part| {
            let bits = bits(element(register * per + part, lane), ty) & mask;
            all | bits << (part * ty.bits() as usize)
        })
    };
    (0..count).map(|register| std::array::from_fn(|lane| value(register, lane))).collect()
}

/// A product of small whole numbers, the same for all types.
struct Example {
    a: [[i64; 32]; 16],
    b: [[i64; 8]; 32],
    c: [[i64; 8]; 16],
}

impl Example {
    fn new(op: &Multiply) -> Self {
        let signed = |ty: Type| !matches!(ty, Type::U8);
        let number = |seed: usize, signed: bool| {
            let value = (seed.wrapping_mul(2_654_435_761) >> 7) as i64 % 7;
            if signed { value - 3 } else { value }
        };
        Self {
            a: std::array::from_fn(|row| {
                std::array::from_fn(|column| number(row * 37 + column + 1, signed(op.a)))
            }),
            b: std::array::from_fn(|row| {
                std::array::from_fn(|column| number(row * 41 + column + 999, signed(op.b)))
            }),
            c: std::array::from_fn(|row| {
                std::array::from_fn(|column| number(row * 43 + column + 5555, true))
            }),
        }
    }

    fn sum(&self, op: &Multiply, row: usize, column: usize) -> i64 {
        (0..usize::from(op.k)).fold(self.c[row][column], |sum, k| sum + self.a[row][k] * self.b[k][column])
    }
}

fn kernel(opcode: &Opcode, counts: [usize; 4], wide: bool) -> String {
    let (ty, size) = if wide { ("b64", 8) } else { ("b32", 4) };
    let names = ["d", "a", "b", "c"];
    let list = |index: usize| {
        let names: Vec<String> =
            (0..counts[index]).map(|number| format!("{}{number}", names[index])).collect();
        format!("{{{}}}", names.join(", "))
    };
    let mut text = String::from(
        ".visible .entry k(.param .u64 buffer) { .reg .u64 %b; .reg .u32 %lane; .reg .u64 %l;\n\
         ld.param.u64 %b, [buffer]; mov.u32 %lane, %laneid; cvt.u64.u32 %l, %lane;\n",
    );
    text += &format!("mad.lo.u64 %b, %l, {size}, %b;\n");
    for (name, count) in names.iter().zip(counts) {
        text += &format!(".reg .{ty} {name}<{count}>;\n");
    }
    let mut offset = 0;
    for (name, count) in names.iter().zip(counts).skip(1) {
        for number in 0..count {
            text += &format!("ld.global.{ty} {name}{number}, [%b+{offset}];\n");
            offset += LANES * size;
        }
    }
    text += &format!("{opcode} {}, {}, {}, {};\n", list(0), list(1), list(2), list(3));
    for number in 0..counts[0] {
        text += &format!("st.global.{ty} [%b+{offset}], d{number};\n");
        offset += LANES * size;
    }
    text + "ret; }\n"
}

/// All ways to run kernels.
fn engines() -> [Options; 2] {
    [options(), Options { execution: Execution::Interpreted, ..options() }]
}

#[test]
fn products_are_those_of_the_matrices_whose_fragments_lanes_hold() {
    let mut forms = 0;
    for form in table().named("mma") {
        for modifiers in form.spellings() {
            let opcode = table().find("mma", &modifiers).expect("a form");
            let Meaning::Matrix(Matrix::Multiply(op)) = opcode.meaning else { unreachable!("{opcode}") };
            check(&opcode, &op);
            forms += 1;
        }
    }
    assert!(forms > 40, "only {forms} forms");
}

fn check(opcode: &Opcode, op: &Multiply) {
    let counts: Vec<usize> =
        opcode.expected.iter().map(|expected| expected.role.fragment().expect("a fragment").into()).collect();
    let counts: [usize; 4] = counts.try_into().expect("four operands");
    let (example, wide) = (Example::new(op), op.sum == Type::F64);
    let mut given = registers(counts[1], op.a, |i, lane| {
        let (row, column) = place_in_a(op, i, lane);
        example.a[row][column]
    });
    given.extend(registers(counts[2], op.b, |i, lane| {
        let (row, column) = place_in_b(op, i, lane);
        example.b[row][column]
    }));
    let sum_type = if op.sum == Type::S32 { Type::B32 } else { op.sum };
    given.extend(registers(counts[3], sum_type, |i, lane| {
        let (row, column) = place_in_sum(i, lane);
        example.c[row][column]
    }));
    let wanted = registers(counts[0], sum_type, |i, lane| {
        let (row, column) = place_in_sum(i, lane);
        example.sum(op, row, column)
    });
    let text = kernel(opcode, counts, wide);
    for options in engines() {
        let execution = options.execution;
        let bench = Bench::of_target(options, ".version 9.0\n.target sm_90\n.address_size 64\n", &text);
        bench.fill(|word| {
            let (register, lane, half) = match wide {
                true => (word / 64, word % 64 / 2, word % 2),
                false => (word / LANES, word % LANES, 0),
            };
            given.get(register).map_or(0, |values| (values[lane] >> (32 * half)) as u32)
        });
        bench.launch(1, [LANES as u32, 1, 1], false).unwrap_or_else(|fault| panic!("{opcode}: {fault}"));
        let words = bench.words();
        for (number, wanted) in wanted.iter().enumerate() {
            for (lane, &wanted) in wanted.iter().enumerate() {
                let index = (given.len() + number) * LANES + lane;
                let found = match wide {
                    true => u64::from(words[2 * index]) | u64::from(words[2 * index + 1]) << 32,
                    false => words[index].into(),
                };
                assert_eq!(found, wanted, "{opcode} {execution:?}: register {number} of lane {lane}");
            }
        }
    }
}

/// Each lane multiplies by an identity what it has, and stores the sums.
fn by_identity(before: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 buffer) {{ .reg .u64 %b; .reg .u32 %lane, %x, %i, %group, %pair; .reg .u64 %l;
        .reg .pred %p, %q; .reg .b32 %a<2>; .reg .b32 %e; .reg .f32 %d<4>;
        ld.param.u64 %b, [buffer]; mov.u32 %lane, %laneid; mul.wide.u32 %l, %lane, 16; add.u64 %b, %b, %l;
        cvt.rn.f32.u32 %d0, %lane; cvt.rn.f16x2.f32 %a0, %d0, %d0; mov.b32 %a1, 0; mov.u32 %i, 0;
        // The identity's column is the lane's group, its rows are two of it.
        shr.u32 %group, %lane, 2; and.b32 %pair, %lane, 3; shl.b32 %pair, %pair, 1;
        mov.b32 %e, 0; setp.eq.u32 %p, %group, %pair; @%p mov.b32 %e, 0x00003c00;
        add.u32 %x, %pair, 1; setp.eq.u32 %p, %group, %x; @%p mov.b32 %e, 0x3c000000;
        {before}
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%d0, %d1, %d2, %d3}}, {{%a0, %a1}}, {{%e}},
            {{0f00000000, 0f00000000, 0f00000000, 0f00000000}};
        end: st.global.v4.f32 [%b], {{%d0, %d1, %d2, %d3}}; ret; }}"
    )
}

fn sums(bench: &Bench) -> Vec<f32> {
    bench.words()[..4 * LANES].iter().map(|&word| f32::from_bits(word)).collect()
}

#[test]
fn lanes_that_have_parted_meet_at_a_product() {
    // The lower half counts, and the upper half does not.
    let before = "setp.lt.u32 %q, %lane, 16; @!%q bra on; \
                  top: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 1000; @%p bra top; on:";
    for options in engines() {
        let bench = Bench::new(options, &by_identity(before));
        bench.launch(1, [32, 1, 1], false).expect("a product");
        let wanted: Vec<f32> = (0..LANES).flat_map(|lane| [lane as f32, lane as f32, 0.0, 0.0]).collect();
        assert_eq!(sums(&bench), wanted);
    }
}

#[test]
fn lanes_that_a_block_does_not_have_hold_zeros() {
    for options in engines() {
        let bench = Bench::new(options, &by_identity(""));
        bench.launch(1, [12, 1, 1], false).expect("a product");
        // Three columns of the identity are there.
        let wanted = (0..12).flat_map(|lane: usize| {
            let column = |offset: usize| if lane % 4 * 2 + offset < 3 { lane as f32 } else { 0.0 };
            [column(0), column(1), 0.0, 0.0]
        });
        assert_eq!(sums(&bench)[..48], wanted.collect::<Vec<_>>());
    }
}

#[test]
fn a_product_is_for_a_whole_warp() {
    let other = "setp.lt.u32 %q, %lane, 16; @%q bra here; \
                 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%e}, \
                 {0f00000000, 0f00000000, 0f00000000, 0f00000000}; bra end; here:";
    for options in engines() {
        let bench = Bench::new(options, &by_identity(other));
        let fault = bench.launch(1, [32, 1, 1], false).expect_err("two products of half a warp each");
        assert_eq!(fault.reason, Reason::IllegalInstruction, "{fault}");
        assert!(fault.report.contains("is for a whole warp"), "{fault}");
    }
}
