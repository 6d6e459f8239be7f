//! A second vendor plugs in: a back end of a device like none in this repository, written against
//! the traits of `gangway-backend` alone. No other crate knows it.
//!
//! Its device is one as HSA describes them. A queue is a ring of packets with a doorbell, which
//! engines of the device serve. Packets count signals down, which others wait for. A kernel is an
//! object of the driver's, and reads its arguments from a kernarg segment when it runs. An address is
//! the number of a buffer and an offset in it.
//!
//! | module | |
//! |---|---|
//! | [`ring`] | packets and rings |
//! | [`memory`], [`kernargs`] | buffers, and segments for arguments |
//! | [`card`] | the engines, and what the driver keeps |
//! | [`code`] | images, and the code of kernels |
//! | [`device`] | the back end |
//! | [`program`] | a program for it |
//! | `running` | data, launches, streams, events, queues, sessions, host calls |
//! | `failing` | images that do not fit, kernels that fail, a card that is lost |

mod card;
mod code;
mod device;
mod failing;
mod kernargs;
mod memory;
mod program;
mod ring;
mod running;
#[path = "../support/mod.rs"]
mod support;
