//! `steward agents`: who can be asked.

mod change;
mod show;

pub use show::run;
