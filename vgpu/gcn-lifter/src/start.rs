//! What registers begin with (AMDGPU guide, "Initial Kernel Execution State"), and the launch's parameters.

use gangway_code_object::Descriptor;
use gangway_gcn::operand::scalar;
use gangway_gcn_interpreter::{Dispatch, LANES, unsupported};

use crate::graph::Lanes;
use crate::node::{End, Op, Type, Value};
use crate::state::{State, VECTOR, Variable};
use crate::{Kernel, Refusal};

/// Words of the parameters: 16 scalar registers, the work-items of the grid, the waves' memory and how much of it a
/// work-group and a wave have, and the work-items of a work-group.
pub const PARAMETERS: usize = 29;
const GRID: u32 = 16;
pub const SCRATCH: u32 = 20;
const GROUP: u32 = 26;

/// The last words of the descriptor of private memory: by them it is known. Swizzled with lanes' numbers, an index stride of
/// 64, and words as elements.
pub const PRIVATE: [u32; 2] = [u32::MAX, 1 << 23 | 3 << 21 | 4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12];

/// How a kernel is launched, as far as its code depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The work-items of a work-group; zeros where launches tell.
    pub group: [u16; 3],
    /// All work-groups have all their work-items.
    pub whole: bool,
    /// Where among the kernel's arguments the work-group's first two sizes stand, as halves of a word, if they do.
    pub sizes: Option<u32>,
    /// Bytes of private memory of a work-item, if they are more than the kernel's own.
    pub private: u32,
}

impl Shape {
    #[must_use]
    pub fn new(group: [u16; 3], grid: [u32; 3]) -> Self {
        let whole = (0..3).all(|at| grid[at].is_multiple_of(group[at].max(1).into()));
        Self { group, whole, sizes: None, private: 0 }
    }

    /// Any whose work-groups are whole waves: so much may launches differ whose kernels have their functions in common.
    #[must_use]
    pub fn any() -> Self {
        Self { group: [0; 3], whole: true, sizes: None, private: 0 }
    }

    /// Whether [`any`](Self::any) is for launches of this one.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.full() == [true]
    }

    /// The word in which kernels find the work-group's first two sizes.
    #[must_use]
    pub fn word(self) -> u32 {
        u32::from(self.group[0]) | u32::from(self.group[1]) << 16
    }

    fn items(self) -> u32 {
        self.group.iter().map(|&size| u32::from(size)).product()
    }

    /// With which waves the kernel begins: full ones, others.
    pub(crate) fn full(self) -> Vec<bool> {
        if self.whole && self.items().is_multiple_of(LANES) { vec![true] } else { vec![true, false] }
    }

    /// Threads of a block: rows of 32 for each wave.
    #[must_use]
    pub fn block(self) -> [u32; 3] {
        [32, self.items().div_ceil(LANES), 1]
    }
}

/// What is in the way of a kernel as such.
pub fn check(kernel: &Kernel<'_>) -> Result<(), Refusal> {
    let Descriptor { rsrc1, rsrc2, .. } = kernel.descriptor;
    let refuse = |what: &str| Err(Refusal { what: what.to_owned(), address: kernel.entry });
    if rsrc1.round_mode_32() != 0 || rsrc1.round_mode_16_64() != 0 {
        return refuse("a mode of rounding");
    }
    if !matches!(rsrc1.denorm_mode_32(), 0 | 3) || rsrc1.denorm_mode_16_64() != 3 {
        return refuse("a mode of denormals");
    }
    if let Some(what) = unsupported(&kernel.descriptor) {
        return refuse(what);
    }
    if rsrc2.workgroup_info() != 0 || rsrc2.user_sgprs() > 16 {
        return refuse("scalar registers at the kernel's beginning");
    }
    Ok(())
}

/// The bytes of the parameters.
#[must_use]
pub fn parameters(dispatch: &Dispatch, descriptor: &Descriptor) -> Vec<u8> {
    let properties = descriptor.properties;
    let packet = &dispatch.packet;
    let mut words: Vec<u32> = Vec::with_capacity(PARAMETERS);
    let wide = |words: &mut Vec<u32>, value: u64| words.extend([value as u32, (value >> 32) as u32]);
    if properties.private_segment_buffer() != 0 {
        // Nothing looks at what it says: the lifter knows it by its place.
        words.extend([0; 4]);
    }
    let fields = [
        (properties.dispatch_ptr(), dispatch.packet_address),
        (properties.queue_ptr(), dispatch.queue_address),
        (properties.kernarg_segment_ptr(), packet.kernarg_address),
        (properties.dispatch_id(), dispatch.dispatch_id),
        (properties.flat_scratch_init(), 0),
    ];
    for (_, value) in fields.into_iter().filter(|(enabled, _)| *enabled != 0) {
        wide(&mut words, value);
    }
    if properties.private_segment_size() != 0 {
        words.push(packet.private_segment_size);
    }
    words.resize(GRID as usize, 0);
    words.extend(packet.grid);
    words.resize(SCRATCH as usize, 0);
    wide(&mut words, dispatch.scratch.base);
    wide(&mut words, packet.group_scratch());
    wide(&mut words, packet.wave_scratch());
    words.extend(packet.workgroup.map(u32::from));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Writes block 0: all registers.
pub fn begin(s: &mut State, kernel: &Kernel<'_>, entries: &[usize]) {
    s.begin(0, Lanes::All);
    let Descriptor { rsrc2, properties, .. } = kernel.descriptor;
    let mut first = rsrc2.user_sgprs();
    for number in 0..first {
        let word = s.f.make(Op::Parameter(number), &[], Type::Word);
        s.set(number as Variable, word);
    }
    let group = ["%ctaid.x", "%ctaid.y", "%ctaid.z"].map(|name| s.f.make(Op::Special(name), &[], Type::Word));
    let wave = s.f.make(Op::Special("%tid.y"), &[], Type::Word);
    let [low, high] = scratch(s, group, wave);
    if properties.private_segment_buffer() != 0 {
        // Nothing looks at what it says but for the address: the lifter knows it by its place.
        let words = PRIVATE.map(|word| s.f.word(word));
        let (sixteen, swizzled) = (s.f.word(0xffff), s.f.word(1 << 31));
        let upper = s.f.plain("and.b32", &[high, sixteen]);
        let upper = s.f.plain("or.b32", &[upper, swizzled]);
        for (number, word) in [low, upper, words[0], words[1]].into_iter().enumerate() {
            s.set(number as Variable, word);
        }
    }
    if let Some(at) = flat_scratch(kernel) {
        s.set(at, low);
        s.set(at + 1, high);
    }
    let enabled = [rsrc2.workgroup_id_x(), rsrc2.workgroup_id_y(), rsrc2.workgroup_id_z()];
    for (place, _) in group.iter().zip(enabled).filter(|(_, enabled)| *enabled != 0) {
        s.set(first as Variable, *place);
        first += 1;
    }
    // The wave's place in private memory stays 0: each thread has its own, and addresses are the wave's.
    let extent = extent(s, kernel, group);
    let (six, lane) = (s.f.word(6), s.f.make(Op::Lane, &[], Type::Word));
    let before = s.f.plain("shl.b32", &[wave, six]);
    let index = s.f.plain("add.u32", &[lane, before]);
    items(s, kernel, extent, index);
    let full = kernel.shape.full();
    if full.len() > 1 {
        let items = s.f.plain("mul.lo.u32", &[extent[0], extent[1]]);
        let items = s.f.plain("mul.lo.u32", &[items, extent[2]]);
        // Of a wave that has none of them no lane is on.
        let left = s.f.plain("sub.u32", &[items, before]);
        let (zero, most) = (s.f.word(0), s.f.word(LANES));
        let left = s.f.plain("max.s32", &[left, zero]);
        let left = s.f.plain("min.s32", &[left, most]);
        let ones = s.f.wide(u64::MAX);
        let above = s.f.plain_wide("shl.b64", &[ones, left]);
        let exec = s.f.plain_wide("not.b64", &[above]);
        s.set_pair(scalar::EXEC, exec);
        let is_full = s.f.test("setp.eq.b64", &[exec, ones]);
        s.f.blocks[0].end = End::Branch(is_full, entries[0] + 1, entries[1] + 1);
    }
}

/// The address of the wave's private memory, for code that computes with it, as GCC's does.
fn scratch(s: &mut State, group: [Value; 3], wave: Value) -> [Value; 2] {
    let pair = |s: &mut State, number: u32| {
        let [low, high] =
            [0, 1].map(|half| s.f.make(Op::Parameter(SCRATCH + number + half), &[], Type::Word));
        s.f.pack(low, high)
    };
    let (base, of_group, of_wave) = (pair(s, 0), pair(s, 2), pair(s, 4));
    let [width, height] = ["%nctaid.x", "%nctaid.y"].map(|name| s.f.make(Op::Special(name), &[], Type::Word));
    let place = s.f.plain("mul.lo.u32", &[group[2], height]);
    let place = s.f.plain("add.u32", &[place, group[1]]);
    let place = s.f.plain("mul.lo.u32", &[place, width]);
    let place = s.f.plain("add.u32", &[place, group[0]]);
    let mut address = base;
    for (number, size) in [(place, of_group), (wave, of_wave)] {
        let number = s.f.plain_wide("cvt.u64.u32", &[number]);
        let offset = s.f.plain_wide("mul.lo.u64", &[number, size]);
        address = s.f.plain_wide("add.s64", &[address, offset]);
    }
    [s.f.low(address), s.f.high(address)]
}

/// Writes block 0 of a function.
pub fn enter(s: &mut State, entries: &[usize]) {
    s.begin(0, Lanes::Some);
    let (exec, all) = (s.exec(), s.f.wide(u64::MAX));
    let is_full = s.f.test("setp.eq.b64", &[exec, all]);
    if let &[full, part] = entries {
        s.f.blocks[0].end = End::Branch(is_full, full + 1, part + 1);
    }
}

/// The register that begins with the address of private memory, if the kernel asks for it.
fn flat_scratch(kernel: &Kernel<'_>) -> Option<Variable> {
    let properties = kernel.descriptor.properties;
    (properties.flat_scratch_init() != 0).then(|| place(kernel, 5))
}

/// The register that begins with the address of the kernel's arguments, if it asks for it.
pub fn arguments(kernel: &Kernel<'_>) -> Option<u32> {
    let properties = kernel.descriptor.properties;
    (properties.kernarg_segment_ptr() != 0).then(|| place(kernel, 3).into())
}

/// The first register behind the first `count` things that kernels can ask for.
fn place(kernel: &Kernel<'_>, count: usize) -> Variable {
    let properties = kernel.descriptor.properties;
    let all = [
        (properties.private_segment_buffer(), 4),
        (properties.dispatch_ptr(), 2),
        (properties.queue_ptr(), 2),
        (properties.kernarg_segment_ptr(), 2),
        (properties.dispatch_id(), 2),
    ];
    all.into_iter().take(count).filter(|(enabled, _)| *enabled != 0).map(|(_, words)| words).sum()
}

/// The work-items of the work-group in each direction.
fn extent(s: &mut State, kernel: &Kernel<'_>, group: [Value; 3]) -> [Value; 3] {
    std::array::from_fn(|at| {
        let size = match kernel.shape.group[at] {
            0 => s.f.make(Op::Parameter(GROUP + at as u32), &[], Type::Word),
            size => s.f.word(size.into()),
        };
        if kernel.shape.whole {
            return size;
        }
        let grid = s.f.make(Op::Parameter(GRID + at as u32), &[], Type::Word);
        let before = s.f.plain("mul.lo.u32", &[group[at], size]);
        let left = s.f.plain("sub.u32", &[grid, before]);
        s.f.plain("min.u32", &[left, size])
    })
}

/// Vector registers: the work-items' numbers.
fn items(s: &mut State, kernel: &Kernel<'_>, extent: [Value; 3], index: Value) {
    let zero = s.f.word(0);
    let [width, height, _] = extent;
    let flat = kernel.shape.group[1] == 1 && kernel.shape.group[2] == 1;
    let item = if flat {
        [index, zero, zero]
    } else {
        let row = s.f.plain("div.u32", &[index, width]);
        [
            s.f.plain("rem.u32", &[index, width]),
            s.f.plain("rem.u32", &[row, height]),
            s.f.plain("div.u32", &[row, height]),
        ]
    };
    if !kernel.gpu.unified_registers() {
        for (number, place) in item.into_iter().enumerate() {
            if number as u32 <= kernel.descriptor.rsrc2.workitem_id() {
                s.set(VECTOR + number as Variable, place);
            }
        }
        return;
    }
    let (ten, twenty) = (s.f.word(10), s.f.word(20));
    let (y, z) = (s.f.plain("shl.b32", &[item[1], ten]), s.f.plain("shl.b32", &[item[2], twenty]));
    let packed = s.f.plain("or.b32", &[item[0], y]);
    let packed = s.f.plain("or.b32", &[packed, z]);
    s.set(VECTOR, packed);
}
