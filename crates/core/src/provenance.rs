//! Where something comes from: what of outside it may derive from, and how confidential it is.

use crate::governance::{Classified, higher};
use crate::locks::lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Most origins that are kept of one thing; further ones add nothing that a person would read.
pub const MAX_ORIGINS: usize = 20;
/// Longest origin, in characters.
pub const MAX_ORIGIN_CHARS: usize = 300;

/// Travels with everything that is kept: files, notes, memory, reminders, rows, messages, results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Provenance {
    /// Addresses, senders, files outside of what the house wrote itself. Empty: nothing came from outside.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub origins: BTreeSet<String>,
    /// The most confidential that it may contain, and by which label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub level: Option<Classified>,
}

impl Provenance {
    /// Of something that came from `origin`.
    pub fn from_outside(origin: &str) -> Self {
        let mut provenance = Self::default();
        provenance.add_origin(origin);
        provenance
    }

    pub fn is_from_outside(&self) -> bool {
        !self.origins.is_empty()
    }

    /// Nothing from outside, and nothing confidential.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty() && self.level.is_none()
    }

    /// Of two things that were put together.
    pub fn join(&mut self, other: &Self) {
        for origin in &other.origins {
            self.add_origin(origin);
        }
        self.level = higher(self.level.take(), other.level.clone());
    }

    /// Once [`MAX_ORIGINS`] are known, further ones are left out: it stays marked as from outside.
    pub fn add_origin(&mut self, origin: &str) {
        if self.origins.len() < MAX_ORIGINS {
            self.origins.insert(origin.chars().take(MAX_ORIGIN_CHARS).collect());
        }
    }
}

/// Of something put together from several origins.
impl<T: AsRef<str>> FromIterator<T> for Provenance {
    fn from_iter<I: IntoIterator<Item = T>>(origins: I) -> Self {
        let mut provenance = Self::default();
        for origin in origins {
            provenance.add_origin(origin.as_ref());
        }
        provenance
    }
}

/// What a call has begun to read or to contact. An error may quote any of it, so it comes from there, whatever the tool
/// says: each way out of the house and to a file notes here what it opens, before anything comes back through it.
#[derive(Debug, Clone, Default)]
pub struct Consulted(Arc<Mutex<(Provenance, BTreeSet<String>)>>);

impl Consulted {
    /// A server or page outside of the house.
    pub fn outside(&self, origin: &str) {
        lock(&self.0).0.add_origin(origin);
    }

    /// A file or folder of the workspace, whose provenance whoever judges the error knows.
    pub fn file(&self, path: &str) {
        lock(&self.0).1.insert(path.to_owned());
    }

    /// What came in by its origins, and the files.
    pub fn so_far(&self) -> (Provenance, Vec<String>) {
        let known = lock(&self.0);
        (known.0.clone(), known.1.iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ORIGINS, Provenance};
    use crate::governance::{Classification, Classified};

    #[test]
    fn joining_keeps_all_origins_and_the_higher_level() {
        let level =
            |classification| Some(Classified { classification, label: "hr".to_owned(), source: "hr/a.csv".to_owned() });
        let mut joined = Provenance::from_outside("https://example.org");
        joined.level = level(Classification::Internal);
        let mut other = Provenance::from_outside("uploads/a.txt");
        other.level = level(Classification::Restricted);
        joined.join(&other);
        assert_eq!(joined.origins.len(), 2);
        assert_eq!(joined.level.as_ref().map(|level| level.classification), Some(Classification::Restricted));
        joined.join(&Provenance::default());
        assert_eq!(joined.origins.len(), 2);
        for number in 0..100 {
            joined.add_origin(&number.to_string());
        }
        assert_eq!(joined.origins.len(), MAX_ORIGINS);
    }
}
