//! Loads, stores, atomic operations: the shadows of memory.

use gangway_device_memory::shadow::{NOTHING, NOWHERE, SHADOW};
use gangway_device_memory::{BASE, LOCAL_SIZE, LOCAL_WINDOW, SIZE};
use gangway_ptx::meaning::{Atomic, AtomicOperation, Matrix, MemoryAccess};
use gangway_ptx::{Base, Operand, StateSpace, Symbol, Type};

use crate::layout::{LOCAL_SHADOW, OWN_NOTHING, OWN_NOWHERE, POISON};
use crate::place::UseKind;
use crate::weaver::{Known, Shade, Target, Weaver, line};

/// Offsets that are added to addresses that are none, which stay where nothing is.
const MOST_OFFSET: i64 = 1 << 30;

impl Weaver<'_> {
    /// Where the shadow of an access is, if it has one.
    pub fn target(&mut self, space: StateSpace, address: Operand) -> Option<Target> {
        let Operand::Address(base, offset) = address else { return None };
        let space = match space.plain() {
            space @ (StateSpace::Generic | StateSpace::Global | StateSpace::Shared | StateSpace::Local) => {
                space
            }
            _ => return None,
        };
        if offset.abs() >= MOST_OFFSET {
            return None;
        }
        let register = match base {
            Base::Register(id) => Some(id),
            Base::Symbol(Symbol::Function(_)) => return None,
            // Whichever space it is of.
            Base::Symbol(_) if space == StateSpace::Generic => return None,
            _ => None,
        };
        let known =
            self.addresses.iter().find(|known| known.space == space && Some(known.register) == register);
        if let Some(known) = known {
            return Some(Target { offset, ..known.target.clone() });
        }
        let wide = self.scratch(64);
        match base {
            Base::Register(id) => {
                let name = self.body.register_name(id);
                match self.bits(id) {
                    64 if space == StateSpace::Shared => line!(self, "\tand.b64 {wide}, {name}, 4294967295;"),
                    64 => line!(self, "\tmov.b64 {wide}, {name};"),
                    32 => line!(self, "\tcvt.u64.u32 {wide}, {name};"),
                    _ => return None,
                }
            }
            Base::Symbol(symbol) => {
                let name = &self.module.variable_of(self.function, symbol)?.name;
                line!(self, "\tmov.u64 {wide}, {name};");
            }
            Base::Absolute => line!(self, "\tmov.u64 {wide}, 0;"),
        }
        let target = match space {
            StateSpace::Local => self.own(wide),
            StateSpace::Shared => {
                let generic = self.scratch(64);
                line!(self, "\tcvta.shared.u64 {generic}, {wide};");
                self.certain(generic)
            }
            StateSpace::Global => self.certain(wide),
            // Whoever weaves the fast form has ruled out that it is the thread's own.
            _ if register.is_none() || self.is_fast => self.certain(wide),
            _ => self.searched(wide),
        };
        let target = Target { offset, ..target };
        if let Some(register) = register {
            self.addresses.push(Known { space, register, target: target.clone() });
        }
        Some(target)
    }

    /// The shadow of a place in the thread's own memory.
    pub fn own(&mut self, address: String) -> Target {
        let shadow = self.scratch(64);
        line!(self, "\tsub.u64 {shadow}, {address}, {LOCAL_SHADOW};");
        Target {
            space: ".local",
            load: shadow.clone(),
            store: shadow,
            distance: LOCAL_SHADOW.to_string(),
            address,
            window: LOCAL_WINDOW,
            offset: 0,
        }
    }

    /// The shadow of what is no thread's own. Of memory of the host it is where nothing is: who accesses that finds zeros
    /// there, and writes nothing (the engine's `support/place.rs`).
    fn certain(&mut self, address: String) -> Target {
        let shadow = self.scratch(64);
        line!(self, "\tsub.u64 {shadow}, {address}, {SHADOW};");
        Target {
            space: ".global",
            load: shadow.clone(),
            store: shadow,
            distance: SHADOW.to_string(),
            address,
            window: 0,
            offset: 0,
        }
    }

    /// The shadow of what may be the thread's own, or memory of the host.
    fn searched(&mut self, address: String) -> Target {
        let (above, inside) = (self.scratch(64), self.scratch(1));
        line!(self, "\tsub.u64 {above}, {address}, {BASE};");
        line!(self, "\tsetp.lt.u64 {inside}, {above}, {SIZE};");
        let (within, own, distance) = (self.scratch(64), self.scratch(1), self.scratch(64));
        line!(self, "\tsub.u64 {within}, {address}, {LOCAL_WINDOW};");
        line!(self, "\tsetp.lt.u64 {own}, {within}, {LOCAL_SIZE};");
        line!(self, "\tselp.b64 {distance}, {LOCAL_SHADOW}, {SHADOW}, {own};");
        let shadow = self.scratch(64);
        line!(self, "\tsub.u64 {shadow}, {address}, {distance};");
        let (load, store) = (self.scratch(64), self.scratch(64));
        line!(self, "\tselp.b64 {load}, {shadow}, {NOTHING}, {inside};");
        line!(self, "\tselp.b64 {store}, {shadow}, {NOWHERE}, {inside};");
        Target { space: "", load, store, distance, address, window: 0, offset: 0 }
    }

    /// The address of the origin of an access.
    fn own_origin_address(&mut self, target: &Target, store: bool) -> String {
        let from = if store { &target.store } else { &target.load };
        let start = self.scratch(64);
        line!(self, "\tadd.u64 {start}, {from}, {};", target.offset);
        line!(self, "\tand.b64 {start}, {start}, -8;");
        line!(self, "\tsub.u64 {start}, {start}, {};", target.distance);
        start
    }

    /// The address of the origin of an access, or of one that is not there where a predicate does not hold.
    fn origin_address(&mut self, target: &Target, store: bool, holds: &str) -> String {
        let start = self.own_origin_address(target, store);
        let none = match (target.space, store) {
            (".local", false) => OWN_NOTHING,
            (".local", true) => OWN_NOWHERE,
            (_, false) => NOTHING - SHADOW,
            (_, true) => NOWHERE - SHADOW,
        };
        self.select(64, &start, &none.to_string(), holds)
    }

    /// Loads the shadows of elements of a type.
    fn load_shadows(&mut self, target: &Target, ty: Type, registers: &[u32]) -> Vec<Shade> {
        let guarded = self.guarded();
        let spelled = if ty.is_integer() { ty.to_string() } else { format!("b{}", ty.bits()) };
        let shadows: Vec<String> = registers.iter().map(|&bits| self.scratch(bits)).collect();
        let (vector, list) = match shadows.len() {
            1 => (String::new(), shadows[0].clone()),
            count => (format!(".v{count}"), format!("{{{}}}", shadows.join(", "))),
        };
        line!(
            self,
            "\t{guarded}ld{}{vector}.{spelled} {list}, [{}{:+}];",
            target.space,
            target.load,
            target.offset
        );
        let shades = shadows.into_iter().zip(registers);
        let mut shades: Vec<Shade> =
            shades.map(|(shadow, &bits)| Shade { shadow, origin: String::new(), bits }).collect();
        let any = self.any(&shades);
        let (origin, fresh, none) = (self.scratch(64), self.scratch(64), self.scratch(1));
        if guarded.is_empty() {
            // Where all is well nothing is loaded.
            let address = self.own_origin_address(target, false);
            line!(self, "\tmov.b64 {origin}, 0;");
            line!(self, "\t@{any} ld{}.b64 {origin}, [{address}];", target.space);
        } else {
            let address = self.origin_address(target, false, &any);
            line!(self, "\t{guarded}ld{}.b64 {origin}, [{address}];", target.space);
        }
        let place = self.read(false);
        line!(
            self,
            "\tadd.u64 {fresh}, {}, {};",
            target.address,
            target.window.wrapping_add_signed(target.offset)
        );
        line!(self, "\tand.b64 {fresh}, {fresh}, {};", Self::address_bits());
        line!(self, "\tor.b64 {fresh}, {fresh}, {};", place as i64);
        line!(self, "\tsetp.eq.u64 {none}, {origin}, 0;");
        let origin = self.select(64, &fresh, &origin, &none);
        shades.iter_mut().for_each(|shade| shade.origin.clone_from(&origin));
        shades
    }

    /// The shadows of elements that have so many bits each, alone.
    pub fn shadows_at(&mut self, target: &Target, bits: u32, count: usize) -> Vec<Shade> {
        let guarded = self.guarded();
        let least = bits.max(16);
        let shadows: Vec<String> = (0..count).map(|_| self.scratch(least)).collect();
        if !guarded.is_empty() {
            shadows.iter().for_each(|shadow| line!(self, "\tmov.b{least} {shadow}, 0;"));
        }
        let (vector, list) = match shadows.len() {
            1 => (String::new(), shadows[0].clone()),
            count => (format!(".v{count}"), format!("{{{}}}", shadows.join(", "))),
        };
        let (space, at, offset) = (target.space, &target.load, target.offset);
        line!(self, "\t{guarded}ld{space}{vector}.u{bits} {list}, [{at}{offset:+}];");
        shadows.into_iter().map(|shadow| Shade { shadow, origin: String::new(), bits: least }).collect()
    }

    /// Stores the shadows of elements that have so many bits each.
    pub fn store_shadows(&mut self, target: &Target, bits: u32, elements: &[Option<Shade>]) {
        let guarded = self.guarded();
        let least = bits.max(16);
        let zero = Self::zero(least).to_owned();
        let shadow = |element: &Option<Shade>| {
            element.as_ref().map_or_else(|| zero.clone(), |shade| shade.shadow.clone())
        };
        let shadows: Vec<String> = elements.iter().map(shadow).collect();
        let (vector, list) = match shadows.len() {
            1 => (String::new(), shadows[0].clone()),
            count => (format!(".v{count}"), format!("{{{}}}", shadows.join(", "))),
        };
        line!(
            self,
            "\t{guarded}st{}{vector}.b{bits} [{}{:+}], {list};",
            target.space,
            target.store,
            target.offset
        );
        let shades: Vec<Shade> = elements.iter().flatten().cloned().collect();
        if shades.is_empty() {
            return;
        }
        let (any, origin) = (self.any(&shades), self.origin(&shades));
        self.store_origin(target, &any, &origin, u64::from(bits) / 8 * elements.len() as u64);
    }

    /// Stores the origin of so many bytes where a predicate holds.
    fn store_origin(&mut self, target: &Target, holds: &str, origin: &str, bytes: u64) {
        let (guarded, address) = match self.guarded() {
            none if none.is_empty() => (format!("@{holds} "), self.own_origin_address(target, true)),
            guarded => (guarded, self.origin_address(target, true, holds)),
        };
        for offset in (0..bytes).step_by(8) {
            line!(self, "\t{guarded}st{}.b64 [{address}+{offset}], {origin};", target.space);
        }
    }

    /// What an address is made of must be defined.
    pub fn check_address(&mut self, address: Operand) {
        if let Operand::Address(Base::Register(id), _) = address {
            self.must_be_defined(Operand::Register(id), UseKind::Address, true);
        }
    }

    /// The elements of an operand that may be a vector.
    pub fn elements(&self, operand: Operand) -> Vec<Operand> {
        match operand {
            Operand::Vector { .. } => self.body.elements(operand).to_vec(),
            Operand::Register(id) if self.body.register(id).vector > 1 => {
                (0..self.body.register(id).vector).map(|element| Operand::Component(id, element)).collect()
            }
            other => vec![other],
        }
    }

    /// Behind a load whose shadow is at `target`.
    pub fn loaded(&mut self, access: &MemoryAccess, target: Option<&Target>, results: Operand) {
        let results = self.elements(results);
        let Some(target) = target else {
            return results.into_iter().for_each(|result| self.set(result, None));
        };
        if self.shades(&results).is_empty() {
            return;
        }
        let least = access.ty.bits().max(16);
        let registers: Vec<u32> =
            results.iter().map(|&result| self.shade(result).map_or(least, |shade| shade.bits)).collect();
        let shades = self.load_shadows(target, access.ty, &registers);
        for (result, shade) in results.into_iter().zip(shades) {
            self.set(result, Some((&shade.shadow, &shade.origin)));
        }
    }

    /// Before a store.
    pub fn stores(&mut self, access: &MemoryAccess, operands: &[Operand]) {
        let Some(target) = self.target(access.space, operands[0]) else { return };
        let elements: Vec<Option<Shade>> =
            self.elements(operands[1]).into_iter().map(|element| self.shade(element)).collect();
        self.store_shadows(&target, access.ty.bits(), &elements);
    }

    /// Before an atomic operation: what memory holds then. What it held before an exchange.
    pub fn exchanges(&mut self, atomic: &Atomic, target: &Target, operands: &[Operand]) -> Option<Shade> {
        let bits = atomic.ty.bits();
        let first = usize::from(atomic.returns);
        let sources = &operands[first + 1..];
        if atomic.op == AtomicOperation::Exchange {
            let old = self.load_shadows(target, unsigned(bits), &[bits.max(16)]).pop();
            let new = self.shade(sources[0]);
            self.store_shadows(target, bits, &[new]);
            return old;
        }
        let new = if atomic.op == AtomicOperation::CompareAndSwap { &sources[1..] } else { sources };
        let shades = self.shades(new);
        if !shades.is_empty() {
            let (any, origin) = (self.any(&shades), self.origin(&shades));
            let (start, guarded) = (self.scratch(64), self.guarded());
            line!(self, "\tadd.u64 {start}, {}, {};", target.store, target.offset);
            // Not just `NOWHERE`, which stands for what has no shadow.
            let start = self.select(64, &start, &(NOWHERE + 64).to_string(), &any);
            line!(self, "\t{guarded}st{}.b{bits} [{start}], -1;", target.space);
            self.store_origin(target, &any, &origin, u64::from(bits) / 8);
        }
        None
    }

    /// Behind an atomic operation, what has come of it; `old` where that is known already.
    pub fn exchanged(
        &mut self,
        atomic: &Atomic,
        target: Option<&Target>,
        old: Option<Shade>,
        result: Operand,
    ) {
        let (Some(target), Some(shade)) = (target, self.shade(result)) else { return self.set(result, None) };
        let old = match old {
            Some(old) => old,
            None => {
                let mut loaded = self.load_shadows(target, unsigned(atomic.ty.bits()), &[shade.bits]);
                let Some(loaded) = loaded.pop() else { return };
                loaded
            }
        };
        self.set(result, Some((&old.shadow, &old.origin)));
    }

    /// Before a copy from device memory to shared memory.
    pub fn copies(&mut self, operands: &[Operand]) {
        let Operand::Integer(bytes @ (4 | 8 | 16)) = operands[2] else { return };
        let words = vec![32; bytes as usize / 4];
        let elements = match (operands[3], self.target(StateSpace::Global, operands[1])) {
            (Operand::Absent, Some(from)) => {
                self.load_shadows(&from, Type::B32, &words).into_iter().map(Some).collect()
            }
            // The rest is filled with zeros.
            _ => vec![None; words.len()],
        };
        if let Some(to) = self.target(StateSpace::Shared, operands[0]) {
            self.store_shadows(&to, 32, &elements);
        }
    }

    /// Before a matrix is stored: each of the first lanes says where a row goes.
    pub fn stores_rows(&mut self, matrix: Matrix, address: Operand) {
        let Matrix::Store(access) = matrix else { return };
        let Some(target) = self.target(access.space, address) else { return };
        let (lane, stores) = (self.scratch(32), self.scratch(1));
        line!(self, "\tmov.u32 {lane}, %laneid;");
        line!(self, "\tsetp.lt.u32 {stores}, {lane}, {};", 8 * access.count);
        let zero = Self::zero(32);
        line!(
            self,
            "\t@{stores} st{}.v4.b32 [{}{:+}], {{{zero}, {zero}, {zero}, {zero}}};",
            target.space,
            target.store,
            target.offset
        );
    }

    /// Makes what stands on the stack at an address undefined: so many bytes, a number or a register.
    pub fn poison(&mut self, address: &str, bytes: &str) {
        line!(self, "\t{{ .param .b64 gstart; .param .b64 gsize;");
        line!(self, "\tst.param.b64 [gstart], {address}; st.param.b64 [gsize], {bytes};");
        line!(self, "\tcall {POISON}, (gstart, gsize); }}");
    }
}

/// The type of bits of that size that no sign extends.
fn unsigned(bits: u32) -> Type {
    match bits {
        16 => Type::U16,
        32 => Type::U32,
        _ => Type::U64,
    }
}
