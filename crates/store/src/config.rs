//! What a store is opened with.

use std::path::PathBuf;
#[derive(Debug, Clone)]
pub enum Place {
    /// SQLite, as `steward.db` in this folder, which is made if it is missing.
    Sqlite { data_dir: PathBuf },
    /// PostgreSQL 15 or newer.
    Postgres {
        /// `postgres://user:password@host:port/database`.
        url: String,
    },
}

/// How to open a [`crate::Store`].
#[derive(Debug, Clone)]
pub struct StoreConfig {
    pub place: Place,
    /// Connections that read (SQLite) or do all but append (PostgreSQL); at least 1.
    pub connections: u32,
    /// Most pages that a SQLite database may have, to see a full disk in tests. `None`: no limit.
    pub max_pages: Option<u32>,
}

impl StoreConfig {
    pub fn sqlite(data_dir: impl Into<PathBuf>) -> Self {
        Self { place: Place::Sqlite { data_dir: data_dir.into() }, connections: 4, max_pages: None }
    }

    pub fn postgres(url: impl Into<String>) -> Self {
        Self { place: Place::Postgres { url: url.into() }, connections: 16, max_pages: None }
    }
}
