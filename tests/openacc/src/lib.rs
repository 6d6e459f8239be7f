//! Random nests of OpenACC's loops: programs whose result is known, as a compiler without OpenACC runs the
//! same source one iteration after the other.
//!
//! A nest has code at each level, with variables of gangs, workers and lanes, conditions, loops that are not
//! partitioned, reductions, atomic updates of what is private and of what all share. What one iteration reads,
//! no other one writes.

//! Other programs have loops of which nobody says whether their iterations are independent, with subscripts
//! that make them so, or not.

pub mod loops;
pub mod nest;
mod random;
