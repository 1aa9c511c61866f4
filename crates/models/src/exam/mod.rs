//! The model exam: finds out within a minute what a model can do at one endpoint, grades
//! it by kind of request, and decides how it is used. The questions are data (`data/exam`); what a
//! model answered is judged by rules, never by another model.

mod constrained;
mod crowd;
mod decide;
mod desk;
mod examine;
mod findings;
mod judge;
mod png;
mod questions;
mod server;
mod speed;
mod tasks;
mod told;
mod tongue;
mod tools;
mod vision;
mod window;

pub use desk::ExamLimits;
pub use examine::{Exam, endpoint, examine};
pub use server::server_version;
pub use tongue::Tongue;
