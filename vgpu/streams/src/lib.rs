//! Streams, events and graphs of the virtual GPU: what runs after what.
