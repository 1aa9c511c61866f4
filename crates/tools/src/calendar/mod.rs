//! Calendars as iCalendar files (RFC 5545), one for each user: `calendar_list`, `calendar_create`,
//! `calendar_delete`, `calendar_import`, `calendar_export`.

mod change;
mod component;
mod create;
mod day;
mod delete;
mod event;
mod export;
mod files;
mod import;
mod line;
mod list;
mod occurrence;
mod rule;
mod span;
mod value;
mod zone;
mod zone_rows;

pub use create::CalendarCreate;
pub use delete::CalendarDelete;
pub use export::CalendarExport;
pub use files::{CalendarConfig, CalendarFiles};
pub use import::CalendarImport;
pub use list::CalendarList;

use crate::dispatcher::DispatcherBuilder;
use std::sync::Arc;
use steward_core::ports::{Blobs, Clock};

#[must_use]
pub fn with_calendar(
    builder: DispatcherBuilder,
    config: CalendarConfig,
    clock: &Arc<dyn Clock>,
    blobs: &Arc<dyn Blobs>,
) -> DispatcherBuilder {
    let files = Arc::new(CalendarFiles::new(config));
    let (clock, blobs) = (Arc::clone(clock), Arc::clone(blobs));
    builder
        .with(CalendarList::new(Arc::clone(&files), Arc::clone(&clock)))
        .with(CalendarCreate::new(Arc::clone(&files), Arc::clone(&clock)))
        .with(CalendarDelete::new(Arc::clone(&files), clock))
        .with(CalendarImport::new(Arc::clone(&files)))
        .with(CalendarExport::new(files, blobs))
}
