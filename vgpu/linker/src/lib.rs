//! Links several PTX modules into one, as the driver does.
