//! Reads paths, addresses, numbers, arithmetic and times. Pure functions over text and a listing of the workspace.

pub mod address;
pub mod arithmetic;
pub mod clause;
pub mod moment;
pub mod number;
pub mod path;
