//! Saved and found connections, what exams found out about them, and the router that is notified of every change.

mod check;
mod connections;
mod exam_prompts;
mod examiner;
mod merge;
mod stale;

pub use connections::{BookParts, ConnectionBook, Known};
pub use exam_prompts::ExamPrompts;
pub use stale::watch;
