//! Skill packages: `.skill` archives and Agent Skills folders, read, scanned, kept, activated.
//!
//! [`read`] and [`write`] are pure functions over bytes; [`Packages`] is the flow over the ports.

mod activate;
mod definition;
mod diff;
mod error;
mod front;
mod names;
mod packages;
mod permissions;
mod read;
mod ready;
mod references;
mod scan;
mod zip;

pub use diff::{Change, FileDiff, diff};
pub use error::PackageError;
pub use front::{Front, front_matter};
pub use packages::{Dangers, Packages};
pub use permissions::undeclared;
pub use read::{Files, Read, hash, read, understand};
pub use ready::{ready, ready_names};
pub use references::{Library, REFERENCE_TOOLS, ReferenceList, ReferenceRead, ReferenceSearch, with_references};
pub use scan::scan;
pub use zip::{Limits, write};
