//! The stream of a run's events: cut, resumed, crowded, and how fast it is.

mod crowd;
mod cut;
mod latency;
mod reader;
mod slow;
