//! A dispatcher with a calendar, in Berlin, on Saturday 2026-11-21 at nine.

use crate::fakes::{Bench, Fixed};
use jiff::tz::TimeZone;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::ports::{Blobs, Clock};
use steward_core::tool::ToolOutput;
use steward_tools::calendar::{CalendarConfig, with_calendar};

pub fn bench() -> Bench {
    let mut bench = Bench::new();
    let config =
        CalendarConfig { folder: bench.outside().join("calendars"), zone: TimeZone::get("Europe/Berlin").unwrap() };
    let clock: Arc<dyn Clock> = Arc::new(Fixed);
    let blobs: Arc<dyn Blobs> = bench.blobs.clone();
    bench.tools = with_calendar(bench.builder(), config, &clock, &blobs).build().unwrap();
    bench
}

pub fn file(bench: &Bench) -> PathBuf {
    let folder = bench.outside().join("calendars").join(bench.scope.tenant.to_string());
    folder.join(format!("{}.ics", bench.scope.user.unwrap()))
}

pub fn text(bench: &Bench) -> String {
    fs::read_to_string(file(bench)).unwrap()
}

pub fn id(output: &ToolOutput) -> String {
    output.data.as_ref().unwrap()["id"].as_str().unwrap().to_owned()
}
