//! What can be read out of a request without a model: quoted text, paths, addresses, numbers,
//! arithmetic, times, commands. Pure functions over text and a listing of the workspace.

pub mod address;
pub mod arithmetic;
pub mod clause;
pub mod command;
pub mod moment;
pub mod number;
pub mod path;
