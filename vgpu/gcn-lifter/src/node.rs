//! What a lifted kernel computes: values in static single assignment form, in blocks.
//!
//! A value is one for the whole wave, or one for each lane. Which of the two it is follows from what it is made of.

use rustc_hash::FxHashMap;

/// The first register of which each lane has its own.
pub const FIRST_VECTOR: u16 = 256;

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A predicate.
    Bit,
    /// 32 bits.
    Word,
    /// 64 bits.
    Wide,
    /// Nothing.
    Nothing,
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Global,
    /// LDS.
    Group,
    /// The lane's own.
    Private,
    /// Where the address says: in one of the others.
    Flat,
    /// The same of the first lane alone: what it loads all lanes get, and what it stores is one value.
    FlatOfFirst,
}

/// A load or a store of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub space: Space,
    /// 8, 16, 32 or 64.
    pub bits: u8,
    pub signed: bool,
    /// Others see it, and nothing moves across.
    pub strong: bool,
    pub offset: i32,
}

/// An atomic operation: PTX's name of it with its type, and whether its result counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    pub space: Space,
    pub name: &'static str,
    pub offset: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Constant(u64),
    /// Arguments in the order of the block's predecessors.
    Phi,
    /// A word of the launch's parameters.
    Parameter(u32),
    /// What a register holds where a function begins.
    Entry(u16),
    /// A call of the function with a number, with the registers that it takes, or of one by its address, which comes first.
    Call(Option<u32>),
    /// What a register holds behind a call.
    Result(u16),
    /// The end of a function, with the registers that it gives.
    Return,
    /// One of PTX's special registers that all lanes share.
    Special(&'static str),
    /// The lane's number, 0 to 63.
    Lane,
    /// Lanes below this one in the lower or upper half of the wave.
    Below(bool),
    /// The bits in a word of a mask's half that belong to lanes below this one.
    MaskBelow(bool),
    Pack,
    Low,
    High,
    /// One of PTX's instructions, whose arguments are its sources.
    Plain(&'static str),
    /// A bit, then the value if it is set, then the other one.
    Select,
    /// A mask with a bit for each lane.
    Ballot,
    /// The lane's bit of a mask.
    LaneBit,
    /// Whether a sum of words overflows.
    AddCarry,
    /// A sum of words and a carry.
    AddWith,
    SubBorrow,
    SubWith,
    /// A value of the lane with a number, which differs.
    Gather,
    /// A value of one lane for all.
    ReadLane,
    /// Address, then a bit that says whether, if there is one.
    Load(Access),
    /// Address, value, bit.
    Store(Access),
    /// Address, one or two values; the bit is last.
    Update(Update, bool),
    Barrier,
    Fence,
    Pause,
    /// The wave fails.
    Trap,
    /// It fails if a bit is set that all lanes share: an index is too large.
    Beyond,
    /// The kernel is refused for this, unless the bit is known to be set when all is known.
    Require(&'static str),
    /// An instruction that nothing is made of: the kernel is refused if it is needed.
    Unknown(&'static str),
}

impl Op {
    /// Whether it is more than its value.
    pub const fn has_effect(self) -> bool {
        matches!(
            self,
            Self::Load(_)
                | Self::Store(_)
                | Self::Update(..)
                | Self::Barrier
                | Self::Fence
                | Self::Pause
                | Self::Trap
                | Self::Beyond
                | Self::Require(_)
                | Self::Call(_)
                | Self::Return
        )
    }
}

#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub args: Vec<Value>,
    pub ty: Type,
    /// The instruction's place in the code, in words.
    pub at: u32,
}

/// How a block ends; blocks by their numbers.
#[derive(Clone, Debug)]
pub enum End {
    Jump(usize),
    Branch(Value, usize, usize),
    Stop,
    /// Behind [`Op::Return`].
    Return,
}

impl End {
    pub fn successors(&self) -> Vec<usize> {
        match self {
            Self::Jump(to) => vec![*to],
            Self::Branch(_, yes, no) if yes == no => vec![*yes],
            Self::Branch(_, yes, no) => vec![*yes, *no],
            Self::Stop | Self::Return => Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Block {
    pub phis: Vec<Value>,
    pub list: Vec<Value>,
    pub before: Vec<usize>,
    pub end: End,
}

/// Something that a value is equal to, and that is there already or simpler.
pub type Rules = fn(&mut Function, Op, &[Value], Type) -> Option<Value>;

/// A kernel.
#[derive(Debug)]
pub struct Function {
    pub nodes: Vec<Node>,
    /// What a value has been found to be equal to.
    forward: Vec<Value>,
    /// Which values are the same in all lanes by what they are made of.
    shared: Vec<bool>,
    pub blocks: Vec<Block>,
    /// The block that is written, and the place of the instruction.
    pub block: usize,
    pub at: u32,
    known: FxHashMap<(usize, Op, Vec<Value>), Value>,
    /// Which values differ from lane to lane; empty as long as nobody has looked.
    pub lanes: Vec<bool>,
    rules: Rules,
}

impl Function {
    pub fn new(rules: Rules) -> Self {
        Self {
            nodes: Vec::new(),
            forward: Vec::new(),
            shared: Vec::new(),
            blocks: Vec::new(),
            block: 0,
            at: 0,
            known: FxHashMap::default(),
            lanes: Vec::new(),
            rules,
        }
    }

    /// What a value is called now.
    pub fn find(&self, mut value: Value) -> Value {
        while self.forward[value.index()] != value {
            value = self.forward[value.index()];
        }
        value
    }

    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[self.find(value).index()]
    }

    pub fn op(&self, value: Value) -> Op {
        self.node(value).op
    }

    pub fn ty(&self, value: Value) -> Type {
        self.node(value).ty
    }

    pub fn arg(&self, value: Value, index: usize) -> Value {
        self.find(self.node(value).args[index])
    }

    /// Whether it is known to be the same in all lanes.
    pub fn is_uniform(&self, value: Value) -> bool {
        let value = self.find(value);
        self.shared[value.index()] || self.lanes.get(value.index()).is_some_and(|lanes| !lanes)
    }

    pub fn as_constant(&self, value: Value) -> Option<u64> {
        match self.op(value) {
            Op::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub fn constant(&mut self, value: u64, ty: Type) -> Value {
        let value = match ty {
            Type::Bit => value & 1,
            Type::Word => value & 0xffff_ffff,
            Type::Wide | Type::Nothing => value,
        };
        // Of all blocks: emission writes them where they are used.
        let key = (usize::MAX, Op::Constant(value), vec![Value(ty as u32)]);
        if let Some(found) = self.known.get(&key) {
            return *found;
        }
        let made = self.push(Node { op: Op::Constant(value), args: Vec::new(), ty, at: 0 });
        self.known.insert(key, made);
        made
    }

    pub fn word(&mut self, value: u32) -> Value {
        self.constant(value.into(), Type::Word)
    }

    pub fn wide(&mut self, value: u64) -> Value {
        self.constant(value, Type::Wide)
    }

    pub fn bit(&mut self, value: bool) -> Value {
        self.constant(value.into(), Type::Bit)
    }

    fn is_shared(&self, node: &Node) -> bool {
        match node.op {
            Op::Constant(_) | Op::Parameter(_) | Op::Special(_) | Op::ReadLane | Op::Ballot => true,
            Op::Entry(register) | Op::Result(register) => register < FIRST_VECTOR,
            Op::Phi | Op::Lane | Op::Below(_) | Op::MaskBelow(_) | Op::LaneBit | Op::Gather => false,
            Op::Update(..) | Op::Unknown(_) => false,
            Op::Load(access) | Op::Store(access) if matches!(access.space, Space::Private | Space::Flat) => {
                false
            }
            _ => node.args.iter().all(|arg| self.shared[self.find(*arg).index()]),
        }
    }

    fn push(&mut self, node: Node) -> Value {
        let value = Value(self.nodes.len() as u32);
        self.shared.push(self.is_shared(&node));
        self.nodes.push(node);
        self.forward.push(value);
        value
    }

    /// A value, or one that is known to be equal to it.
    pub fn make(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let args: Vec<Value> = args.iter().map(|arg| self.find(*arg)).collect();
        if op.has_effect() {
            let made = self.push(Node { op, args, ty, at: self.at });
            self.blocks[self.block].list.push(made);
            return made;
        }
        if let Some(found) = (self.rules)(self, op, &args, ty) {
            return self.find(found);
        }
        let key = (self.block, op, args);
        if let Some(found) = self.known.get(&key) {
            return self.find(*found);
        }
        let made = self.push(Node { op, args: key.2.clone(), ty, at: self.at });
        self.known.insert(key, made);
        self.blocks[self.block].list.push(made);
        made
    }

    /// A value in no block, whatever it is equal to.
    pub fn apart(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.push(Node { op, args: args.to_vec(), ty, at: self.at })
    }

    /// A PTX instruction with a word as its result.
    pub fn plain(&mut self, name: &'static str, args: &[Value]) -> Value {
        self.make(Op::Plain(name), args, Type::Word)
    }

    pub fn plain_wide(&mut self, name: &'static str, args: &[Value]) -> Value {
        self.make(Op::Plain(name), args, Type::Wide)
    }

    pub fn test(&mut self, name: &'static str, args: &[Value]) -> Value {
        self.make(Op::Plain(name), args, Type::Bit)
    }

    pub fn select(&mut self, bit: Value, yes: Value, no: Value) -> Value {
        let ty = self.ty(yes);
        self.make(Op::Select, &[bit, yes, no], ty)
    }

    pub fn low(&mut self, wide: Value) -> Value {
        self.make(Op::Low, &[wide], Type::Word)
    }

    pub fn high(&mut self, wide: Value) -> Value {
        self.make(Op::High, &[wide], Type::Word)
    }

    pub fn pack(&mut self, low: Value, high: Value) -> Value {
        self.make(Op::Pack, &[low, high], Type::Wide)
    }

    pub fn lane_bit(&mut self, mask: Value) -> Value {
        self.make(Op::LaneBit, &[mask], Type::Bit)
    }

    pub fn not(&mut self, bit: Value) -> Value {
        self.test("not.pred", &[bit])
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.test("and.pred", &[a, b])
    }

    pub fn phi(&mut self, block: usize, ty: Type) -> Value {
        let made = self.push(Node { op: Op::Phi, args: Vec::new(), ty, at: self.at });
        self.blocks[block].phis.push(made);
        made
    }

    /// From here on `value` is `other`.
    pub fn replace(&mut self, value: Value, other: Value) {
        let (value, other) = (self.find(value), self.find(other));
        if value != other {
            self.forward[value.index()] = other;
        }
    }

    /// Writes all blocks anew: what has become simpler since is.
    pub fn rebuild(&mut self) {
        self.known.retain(|key, _| key.0 == usize::MAX);
        for block in 0..self.blocks.len() {
            self.block = block;
            let list = std::mem::take(&mut self.blocks[block].list);
            for value in list {
                if self.find(value) != value {
                    continue;
                }
                let Node { op, ref args, ty, at } = self.nodes[value.index()];
                let args: Vec<Value> = args.iter().map(|arg| self.find(*arg)).collect();
                self.at = at;
                if !op.has_effect() {
                    if let Some(found) = (self.rules)(self, op, &args, ty)
                        && self.find(found) != value
                    {
                        self.replace(value, found);
                        continue;
                    }
                    let key = (block, op, args.clone());
                    if let Some(found) = self.known.get(&key).copied() {
                        self.replace(value, found);
                        continue;
                    }
                    self.known.insert(key, value);
                }
                self.nodes[value.index()].args = args;
                self.blocks[block].list.push(value);
            }
            let phis = std::mem::take(&mut self.blocks[block].phis);
            self.blocks[block].phis = phis.into_iter().filter(|phi| self.find(*phi) == *phi).collect();
        }
    }
}
