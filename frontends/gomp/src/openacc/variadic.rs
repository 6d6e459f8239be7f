//! Functions that take a list of arguments of any length.
//!
//! Rust defines no such functions. What is exported is a few instructions that pass the address of
//! the arguments on the stack on, behind six in registers. GCC's functions have six that are named,
//! but for `GOACC_wait`, of which four more are in registers. Only the System V ABI of x86-64 is
//! known here; GCC's programs for NVIDIA's GPUs have been seen on that alone.

/// Exports functions with a list, by module, which note their caller on the way.
macro_rules! export_variadic {
    (prefix $prefix:literal; $($module:ident: $($name:ident),+;)+) => {$($(
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                gangway_frontend::note_caller!(),
                // Behind the return address; pushing it aligns the stack, too.
                "lea r10, [rsp + 8]",
                "push r10",
                "call {body}",
                "add rsp, 8",
                "ret",
                body = sym $module::$name,
            )
        }
    )+)+};
}
pub(crate) use export_variadic;

/// Arguments on the stack: each in eight bytes.
#[derive(Debug)]
pub struct List {
    next: *const u64,
}

impl List {
    /// Those at an address.
    ///
    /// # Safety
    /// It is the address of the arguments of the call under way, of which there are as many as
    /// are [read](Self::number).
    #[must_use]
    pub const unsafe fn at(next: *const u64) -> Self {
        Self { next }
    }

    /// The next one, an `int`.
    pub const fn number(&mut self) -> i32 {
        // SAFETY: `at`'s promise.
        unsafe {
            let word = *self.next;
            self.next = self.next.add(1);
            word as i32
        }
    }

    /// The next ones.
    pub fn numbers(&mut self, count: u32) -> impl Iterator<Item = i32> {
        (0..count).map(|_| self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_low_halves_of_words() {
        let words = [1_u64, 0xffff_ffff_ffff_fffe, 0xdead_beef_0000_0007, 9];
        // SAFETY: so many are there.
        let mut list = unsafe { List::at(words.as_ptr()) };
        assert_eq!((list.number(), list.number()), (1, -2));
        assert_eq!(list.numbers(2).collect::<Vec<_>>(), [7, 9]);
    }

    mod proper {
        /// Answers its arguments in order.
        pub unsafe extern "C" fn gangway_test_variadic(
            a: usize,
            b: usize,
            c: usize,
            d: usize,
            e: usize,
            f: usize,
            rest: *const u64,
        ) -> i64 {
            // SAFETY: the test passes three more.
            let mut list = unsafe { super::List::at(rest) };
            let first = [a, b, c, d, e, f].into_iter().fold(0, |all, digit| all * 10 + digit as i64);
            list.numbers(3).fold(first, |all, digit| all * 10 + i64::from(digit))
        }
    }

    #[cfg(target_arch = "x86_64")]
    export_variadic! { prefix ""; proper: gangway_test_variadic; }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn what_is_on_the_stack_arrives() {
        type Exported = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, i32, i32, i32) -> i64;
        // SAFETY: the export passes its arguments on to the function proper.
        let digits = unsafe {
            let exported: Exported = std::mem::transmute(gangway_test_variadic as *const ());
            exported(1, 2, 3, 4, 5, 6, 7, 8, 9)
        };
        assert_eq!(digits, 123_456_789);
    }
}
