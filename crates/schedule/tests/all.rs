//! The tests of the room, one program: each one links the room anew.
#![allow(clippy::expect_used, clippy::too_many_lines, clippy::unwrap_used, reason = "tests")]

#[path = "all/clock.rs"]
mod clock;
#[path = "all/cron.rs"]
mod cron;
#[path = "all/describe.rs"]
mod describe;
#[path = "all/fates.rs"]
mod fates;
#[path = "all/hostile.rs"]
mod hostile;
#[path = "all/limits.rs"]
mod limits;
#[path = "all/oracle.rs"]
mod oracle;
#[path = "all/rrule.rs"]
mod rrule;
#[path = "all/support.rs"]
mod support;
#[path = "all/words.rs"]
mod words;
#[path = "all/year.rs"]
mod year;
