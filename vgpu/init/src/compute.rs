//! What is computed of values.

use gangway_ptx::meaning::{Bits, Combine, Comparison, Conversion, Convert, Integer, Logic, Order, Part};
use gangway_ptx::{Compute, Operand, Type};

use crate::weaver::{Shade, Weaver, line};

/// The operands of an instruction, without the optional ones that are not there: results first.
struct Operands {
    results: Vec<Operand>,
    sources: Vec<Operand>,
}

impl Weaver<'_> {
    fn split(&self) -> Operands {
        let Some(instruction) = self.instruction else {
            return Operands { results: Vec::new(), sources: Vec::new() };
        };
        let opcode = self.module.opcode(instruction);
        let all = self.body.operands(instruction).iter().zip(&opcode.expected);
        let of = |writes: bool| {
            let these = all.clone().filter(move |(operand, expected)| {
                expected.role.writes() == writes && !matches!(operand, Operand::Absent)
            });
            these.map(|(&operand, _)| operand).collect()
        };
        Operands { results: of(true), sources: of(false) }
    }

    /// What an opcode is called.
    fn opcode(&self) -> String {
        self.instruction.map_or_else(String::new, |instruction| self.module.opcode(instruction).to_string())
    }

    /// The shadow of what is computed, before it is.
    pub fn compute(&mut self, compute: Compute) {
        let Operands { results, sources } = self.split();
        let shades = self.shades(&sources);
        if shades.is_empty() {
            return results.into_iter().for_each(|result| self.set(result, None));
        }
        match compute {
            Compute::Truth(op) => self.logic_of(op, 1, results[0], &sources),
            Compute::Logic { op, ty } => self.logic_of(op, ty.bits(), results[0], &sources),
            Compute::Table(_) if results.len() == 1 => self.joined(results[0], &shades),
            Compute::Bits { op, ty } => self.bits_of(op, ty, results[0], &sources, &shades),
            Compute::Integer { op, ty } => self.integer(op, ty, results[0], &shades),
            Compute::Float { .. } | Compute::Half { .. } | Compute::Approximate { .. } => {
                self.joined(results[0], &shades);
            }
            Compute::Convert(convert) => self.convert(&convert, results[0], &shades),
            Compute::SetPredicate(compare) | Compute::Set(compare, _) => {
                let unknown = self.comparison(compare.comparison, compare.ty, &sources[..2]);
                let unknown = match (compare.combine, sources.get(2)) {
                    (Some(combine), Some(&third)) => self.combined(combine, unknown, third),
                    _ => unknown,
                };
                let origin = self.origin(&shades);
                for result in results {
                    let Operand::Register(id) = result else { continue };
                    let shadow = match &unknown {
                        Some(unknown) => self.all(self.bits(id), unknown),
                        None => Self::zero(self.bits(id)).to_owned(),
                    };
                    self.set(result, Some((&shadow, &origin)));
                }
            }
            Compute::Select(ty) => self.select_of(ty, results[0], &sources),
            Compute::Table(_)
            | Compute::Packed { .. }
            | Compute::Carry(_)
            | Compute::Dot(_)
            | Compute::Test { .. }
            | Compute::SelectBySign { .. }
            | Compute::Video(_)
            | Compute::VideoMad(_) => results.into_iter().for_each(|result| self.set_all(result, &shades)),
        }
    }

    /// A result whose bits are made of the same bits of values that have its size, or of all of others.
    fn joined(&mut self, result: Operand, shades: &[Shade]) {
        let Operand::Register(id) = result else { return };
        let bits = self.bits(id);
        if shades.iter().any(|shade| shade.bits != bits) {
            return self.set_all(result, shades);
        }
        let shadow = self.join(bits, shades);
        let origin = self.origin(shades);
        self.set(result, Some((&shadow, &origin)));
    }

    fn join(&mut self, bits: u32, shades: &[Shade]) -> String {
        let mut shadow = shades[0].shadow.clone();
        for shade in &shades[1..] {
            shadow = self.or(bits, &shadow, &shade.shadow);
        }
        shadow
    }

    /// A bit that decides alone does so though the other one is undefined.
    fn logic_of(&mut self, op: Logic, bits: u32, result: Operand, sources: &[Operand]) {
        let shades = self.shades(sources);
        let origin = self.origin(&shades);
        let shadow = match (op, sources) {
            (Logic::And | Logic::Or, &[one, other]) => {
                let mut shadow: Option<String> = None;
                for (one, other) in [(one, other), (other, one)] {
                    let Some(shade) = self.shade(one) else { continue };
                    // Where the other one is undefined, or lets this one through.
                    let open = self.lets_through(op, bits, other);
                    let open = match (self.shade(other), open) {
                        (Some(other), Some(open)) => Some(self.or(bits, &other.shadow, &open)),
                        (_, open) => open,
                    };
                    let part = match open {
                        Some(open) => self.and(bits, &shade.shadow, &open),
                        None => shade.shadow,
                    };
                    shadow = Some(match shadow {
                        Some(shadow) => self.or(bits, &shadow, &part),
                        None => part,
                    });
                }
                shadow.unwrap_or_else(|| Self::zero(bits).to_owned())
            }
            _ => self.join(bits, &shades),
        };
        self.set(result, Some((&shadow, &origin)));
    }

    /// The bits of an operand that do not decide alone; none if they have no name.
    fn lets_through(&mut self, op: Logic, bits: u32, operand: Operand) -> Option<String> {
        let value = self.value(operand)?;
        match (op, bits, value.strip_prefix('!')) {
            (Logic::And, ..) => Some(value),
            (_, 1, Some(name)) => Some(name.to_owned()),
            (_, 1, None) => Some(format!("!{value}")),
            _ => Some(self.not(bits, &value)),
        }
    }

    fn bits_of(&mut self, op: Bits, ty: Type, result: Operand, sources: &[Operand], shades: &[Shade]) {
        // What says where bits go has to be defined.
        let (moved, fixed) = match op {
            Bits::ShiftLeft | Bits::ShiftRight | Bits::Extract => sources.split_at(1),
            Bits::Funnel { .. } | Bits::Insert | Bits::Permute(_) => sources.split_at(2),
            Bits::Reverse => (sources, &sources[..0]),
            Bits::IsZero
            | Bits::Population
            | Bits::LeadingZeros
            | Bits::Find { .. }
            | Bits::FindNth
            | Bits::Extend { .. }
            | Bits::Mask { .. } => return self.set_all(result, shades),
        };
        let values: Option<Vec<String>> = fixed.iter().map(|&operand| self.value(operand)).collect();
        let (Some(values), true) = (values, self.shades(fixed).is_empty()) else {
            return self.set_all(result, shades);
        };
        let mut operands: Vec<String> =
            moved.iter().map(|&operand| self.shadow(operand, ty.bits())).collect();
        operands.extend(values);
        let (opcode, shadow) = (self.opcode(), self.scratch(ty.bits()));
        line!(self, "\t{opcode} {shadow}, {};", operands.join(", "));
        let origin = self.origin(shades);
        self.set(result, Some((&shadow, &origin)));
    }

    /// Sums and products: what is undefined spreads upwards.
    fn integer(&mut self, op: Integer, ty: Type, result: Operand, shades: &[Shade]) {
        match op {
            Integer::Add { sat: false }
            | Integer::Sub { sat: false }
            | Integer::Neg
            | Integer::Mul(Part::Low)
            | Integer::Mad { part: Part::Low, sat: false } => {
                let bits = ty.bits();
                let joined = self.join(bits, shades);
                let negated = self.scratch(bits);
                line!(self, "\tneg.s{bits} {negated}, {joined};");
                let shadow = self.or(bits, &joined, &negated);
                let origin = self.origin(shades);
                self.set(result, Some((&shadow, &origin)));
            }
            _ => self.set_all(result, shades),
        }
    }

    fn convert(&mut self, convert: &Convert, result: Operand, shades: &[Shade]) {
        let Operand::Register(id) = result else { return };
        let bits = self.bits(id);
        if convert.between != Conversion::Integers || convert.mode.sat {
            return self.set_all(result, shades);
        }
        let shadow = self.scratch(bits);
        line!(self, "\tcvt.{}.{} {shadow}, {};", convert.to, convert.from, shades[0].shadow);
        self.set(result, Some((&shadow, &shades[0].origin)));
    }

    /// Where the outcome of a comparison is not known: where some values that the operands may have give one, and others
    /// the other.
    fn comparison(&mut self, comparison: Comparison, ty: Type, sources: &[Operand]) -> Option<String> {
        let shades = self.shades(sources);
        if shades.is_empty() {
            return None;
        }
        let any = self.any(&shades);
        let (Comparison::Integers(order), Some(one), Some(other)) =
            (comparison, self.value(sources[0]), self.value(sources[1]))
        else {
            return Some(any);
        };
        let bits = ty.bits();
        if matches!(order, Order::Equal | Order::NotEqual) {
            // Bits that are known to differ decide.
            let (joined, differ) = (self.join(bits, &shades), self.logic("xor", bits, &one, &other));
            let known = self.not(bits, &joined);
            let differ = self.and(bits, &differ, &known);
            let same = self.scratch(1);
            line!(self, "\tsetp.eq.b{bits} {same}, {differ}, 0;");
            return Some(self.and(1, &any, &same));
        }
        let [(least_one, most_one), (least_other, most_other)] = [(sources[0], &one), (sources[1], &other)]
            .map(|(operand, value)| match self.shade(operand) {
                Some(shade) => self.bounds(ty, value, &shade.shadow),
                None => (value.clone(), value.clone()),
            });
        let name = match order {
            Order::Less => "lt",
            Order::LessEqual => "le",
            Order::Greater => "gt",
            _ => "ge",
        };
        let signed = if ty.is_signed() { "s" } else { "u" };
        let [low, high] = [(least_one, most_other), (most_one, least_other)].map(|(one, other)| {
            let holds = self.scratch(1);
            line!(self, "\tsetp.{name}.{signed}{bits} {holds}, {one}, {other};");
            holds
        });
        Some(self.logic("xor", 1, &low, &high))
    }

    /// The least and the most that a value may be.
    fn bounds(&mut self, ty: Type, value: &str, shadow: &str) -> (String, String) {
        let bits = ty.bits();
        let known = self.not(bits, shadow);
        let (least, most) = (self.and(bits, value, &known), self.or(bits, value, shadow));
        if !ty.is_signed() {
            return (least, most);
        }
        // The other way round for the sign.
        let sign = 1_i64 << (bits - 1);
        let sign = if bits == 64 { i64::MIN } else { sign };
        let sign = self.and(bits, shadow, &sign.to_string());
        (self.or(bits, &least, &sign), self.logic("xor", bits, &most, &sign))
    }

    fn combined(&mut self, combine: Combine, unknown: Option<String>, third: Operand) -> Option<String> {
        let other = self.shade(third).map(|shade| shade.shadow);
        let op = match combine {
            Combine::And => Logic::And,
            Combine::Or => Logic::Or,
            Combine::Xor => Logic::Xor,
        };
        let unknown = match (unknown, op) {
            (Some(unknown), Logic::And | Logic::Or) => match self.lets_through(op, 1, third) {
                Some(open) => Some(self.and(1, &unknown, &open)),
                None => Some(unknown),
            },
            (unknown, _) => unknown,
        };
        match (unknown, other) {
            (Some(unknown), Some(other)) => Some(self.or(1, &unknown, &other)),
            (unknown, other) => unknown.or(other),
        }
    }

    /// Where it is not known which value is chosen, bits in which both are the same are known.
    fn select_of(&mut self, ty: Type, result: Operand, sources: &[Operand]) {
        let &[yes, no, by] = sources else { return };
        let bits = ty.bits();
        let shades = self.shades(&[by, yes, no]);
        let origin = self.origin(&shades);
        let (yes_shadow, no_shadow) = (self.shadow(yes, bits), self.shadow(no, bits));
        let Some(holds) = self.value(by) else { return self.set_all(result, &shades) };
        let mut shadow = match holds.strip_prefix('!') {
            Some(holds) => self.select(bits, &no_shadow, &yes_shadow, holds),
            None => self.select(bits, &yes_shadow, &no_shadow, &holds),
        };
        if let Some(unknown) = self.shade(by) {
            let differ = match (self.value(yes), self.value(no)) {
                (Some(yes), Some(no)) => self.logic("xor", bits, &yes, &no),
                _ => "-1".to_owned(),
            };
            let either = self.or(bits, &yes_shadow, &no_shadow);
            let either = self.or(bits, &either, &differ);
            let either = self.select(bits, &either, "0", &unknown.shadow);
            shadow = self.or(bits, &shadow, &either);
        }
        self.set(result, Some((&shadow, &origin)));
    }
}
