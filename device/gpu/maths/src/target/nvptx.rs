//! What PTX alone has.

pub mod rounding;
