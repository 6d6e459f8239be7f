//! The names of the instructions.

use crate::types::spelled;

spelled! {
    /// The name of an instruction.
    Op {
        Abs = "abs", Activemask = "activemask", Add = "add", Addc = "addc", Alloca = "alloca", And = "and",
        Atom = "atom", Bar = "bar", Barrier = "barrier", Bfe = "bfe", Bfi = "bfi", Bfind = "bfind",
        Bmsk = "bmsk", Bra = "bra", Brev = "brev", Brkpt = "brkpt", Brx = "brx", Call = "call", Clz = "clz",
        Cnot = "cnot", Copysign = "copysign", Cos = "cos", Cp = "cp", Cvt = "cvt", Cvta = "cvta", Div = "div",
        Dp2a = "dp2a", Dp4a = "dp4a", Elect = "elect", Ex2 = "ex2", Exit = "exit", Fence = "fence", Fma = "fma",
        Fns = "fns", Isspacep = "isspacep", Ld = "ld", Ldmatrix = "ldmatrix", Ldu = "ldu", Lg2 = "lg2", Lop3 = "lop3", Mad = "mad",
        Mad24 = "mad24", Madc = "madc", Match = "match", Max = "max", Membar = "membar", Min = "min",
        Mma = "mma", Mov = "mov", Movmatrix = "movmatrix", Mul = "mul", Mul24 = "mul24", Nanosleep = "nanosleep", Neg = "neg", Not = "not", Or = "or",
        Popc = "popc", Prefetch = "prefetch", Prefetchu = "prefetchu", Prmt = "prmt", Rcp = "rcp", Red = "red",
        Redux = "redux", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad", Selp = "selp", Set = "set",
        Setp = "setp", Shf = "shf", Shfl = "shfl", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct",
        Sqrt = "sqrt", St = "st", Stackrestore = "stackrestore", Stacksave = "stacksave", Stmatrix = "stmatrix", Sub = "sub",
        Subc = "subc", Szext = "szext", Tanh = "tanh", Testp = "testp", Trap = "trap", Vabsdiff = "vabsdiff",
        Vabsdiff2 = "vabsdiff2", Vabsdiff4 = "vabsdiff4", Vadd = "vadd", Vadd2 = "vadd2", Vadd4 = "vadd4",
        Vmad = "vmad", Vmax = "vmax", Vmax2 = "vmax2", Vmax4 = "vmax4", Vmin = "vmin", Vmin2 = "vmin2",
        Vmin4 = "vmin4", Vote = "vote", Vset = "vset", Vset2 = "vset2", Vset4 = "vset4", Vshl = "vshl",
        Vshr = "vshr", Vsub = "vsub", Vsub2 = "vsub2", Vsub4 = "vsub4", Xor = "xor",
    }
}
