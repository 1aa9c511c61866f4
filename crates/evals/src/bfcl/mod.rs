//! `steward-evals bfcl`: function calls of the Berkeley leaderboard, judged by its own checker.

mod answer;
mod cases;
mod package;
mod report;
mod run;

pub use run::run;
