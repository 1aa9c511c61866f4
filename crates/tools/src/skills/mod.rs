//! Skills: what carries them out, and the runtime that finds, opens, runs and scrubs (SKILL-1, -4).

mod executor;

pub use executor::{Executor, Job};
