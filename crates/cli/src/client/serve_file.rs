//! `DATA/serve.json`: where a running server can be reached by other commands of its owner.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServeFile {
    /// Such as `http://127.0.0.1:8800`.
    pub url: String,
    pub pid: u32,
    pub version: String,
}

impl ServeFile {
    pub const NAME: &str = "serve.json";

    /// `None` if the data directory has none.
    pub fn read(data_dir: &Path) -> anyhow::Result<Option<Self>> {
        let path = data_dir.join(Self::NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        serde_json::from_str(&text)
            .map(Some)
            .with_context(|| format!("{} is damaged; restart `steward serve`, which writes it anew", path.display()))
    }
}
