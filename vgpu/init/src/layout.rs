//! Where shadows of a thread's own memory are, and what calls pass.
//!
//! A thread's own memory has its origins first, then its shadows, and then a page for calls. Behind it is what it would be
//! without the check.

/// A byte's shadow is so far below it in a thread's own memory, and its origin twice as far. It is as much as stacks may
/// have.
pub const LOCAL_SHADOW: u64 = 1 << 20;
/// What is passed to functions and comes back.
const CALLS: u64 = 2 * LOCAL_SHADOW;
const CALLS_SIZE: u64 = 4096;
/// A thread's own memory begins here.
pub const OWN_START: u64 = CALLS + CALLS_SIZE;

/// In a thread's own memory: what reads as zero, and what is written and not read.
pub(crate) const OWN_NOTHING: u64 = CALLS + 8;
pub(crate) const OWN_NOWHERE: u64 = CALLS + 16;

/// The shadows of parameters, and how many bytes of them are passed.
pub(crate) const PARAMETERS: u64 = CALLS + 64;
pub(crate) const PARAMETERS_SIZE: u64 = 1536;
/// The shadows of results.
pub(crate) const RESULTS: u64 = PARAMETERS + PARAMETERS_SIZE;
pub(crate) const RESULTS_SIZE: u64 = 1024;
/// The origins of parameters, by their index, and of results.
pub(crate) const PARAMETER_ORIGINS: u64 = RESULTS + RESULTS_SIZE;
pub(crate) const MOST_ORIGINS: u64 = 128;
pub(crate) const RESULT_ORIGIN: u64 = PARAMETER_ORIGINS + 8 * MOST_ORIGINS;

const _: () = assert!(RESULT_ORIGIN + 8 <= OWN_START);

/// Makes some of a thread's own memory undefined: its address, how many bytes. Words of four bytes that are not wholly
/// in it stay as they are.
pub(crate) const POISON: &str = "__gangway_init_poison";

/// Functions that code which is woven in calls.
pub(crate) const HELPERS: &str = ".func __gangway_init_poison(.param .b64 start, .param .b64 size)
{
	.reg .b64 %at, %end, %size;
	.reg .pred %more;
	ld.param.u64 %at, [start];
	ld.param.u64 %size, [size];
	add.u64 %end, %at, %size;
	and.b64 %end, %end, -4;
	add.u64 %at, %at, 3;
	and.b64 %at, %at, -4;
	bra.uni TEST;
NEXT:
	st.local.u32 [%at-1048576], -1;
	st.local.u32 [%at-2097152], 0;
	add.u64 %at, %at, 4;
TEST:
	setp.lt.u64 %more, %at, %end;
	@%more bra NEXT;
	ret;
}
";
const _: () = assert!(LOCAL_SHADOW == 1_048_576);
