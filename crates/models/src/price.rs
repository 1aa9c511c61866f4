use serde::Deserialize;
use std::cell::LazyCell;
use std::path::Path;
use std::sync::Arc;
use steward_core::model::{Connection, Price, Provider, Usage};

const BUILT_IN: &str = include_str!("../data/prices.json");
/// Prefixes of Bedrock model names.
const REGIONS: &[&str] = &["us.", "eu.", "apac.", "jp.", "au.", "ca.", "global.", "us-gov."];

#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error("cannot read the price table {path}: {source}; check the file's permissions")]
    Io { path: String, source: std::io::Error },
    #[error(
        "the price table {path} is not understood: {source}; its form is that of crates/models/data/prices.json (docs/routing.md shows it)"
    )]
    Format { path: String, source: serde_json::Error },
}

/// Prices by provider and model name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    table: Arc<Table>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// When it was compared with the providers' own lists, `YYYY-MM-DD`.
    checked: String,
    #[serde(default)]
    source: String,
    #[serde(default, rename = "unit")]
    _unit: String,
    prices: Vec<Row>,
}

/// In millionths of a US dollar for a million tokens.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    provider: Provider,
    /// For endpoints that can only be told by their host.
    #[serde(default)]
    host: Option<String>,
    /// A model's name, or its beginning up to `-`, `@` or `:`.
    model: String,
    input: u64,
    /// The same as `input` if absent.
    #[serde(default)]
    cached: Option<u64>,
    output: u64,
}

impl Prices {
    pub fn built_in() -> Self {
        // A test reads it, so it can't be wrong here.
        Self::parse(BUILT_IN).unwrap_or_default()
    }

    /// Reads `path`, which replaces the whole built-in table; without the file the built-in table is used.
    pub fn load(path: &Path) -> Result<Self, PriceError> {
        let shown = || path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|source| PriceError::Format { path: shown(), source }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::built_in()),
            Err(source) => Err(PriceError::Io { path: shown(), source }),
        }
    }

    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut table: Table = serde_json::from_str(text)?;
        for row in &mut table.prices {
            row.model = row.model.to_lowercase();
        }
        Ok(Self { table: Arc::new(table) })
    }

    pub fn checked(&self) -> &str {
        &self.table.checked
    }

    pub fn source(&self) -> &str {
        &self.table.source
    }

    /// The connection's own price, else the table's, else zero for models on one's own machines, else `None`.
    /// `answered` is the model name in the endpoint's reply, which says more than a deployment's name.
    pub fn of(&self, connection: &Connection, answered: Option<&str>) -> Option<Price> {
        if connection.price.is_some() {
            return connection.price;
        }
        match connection.provider {
            Provider::Ollama | Provider::LlamaCpp | Provider::Vllm | Provider::TextGen | Provider::Local => {
                return Some(Price::default());
            }
            _ => {}
        }
        answered
            .filter(|name| !name.is_empty())
            .and_then(|name| self.find(connection, name))
            .or_else(|| self.find(connection, &connection.model))
    }

    /// Sets `usage.cost_micros` if the endpoint did not.
    pub fn fill(&self, connection: &Connection, answered: &str, usage: &mut Usage) {
        if usage.cost_micros == 0
            && let Some(price) = self.of(connection, Some(answered))
        {
            usage.cost_micros = price.cost(usage);
        }
    }

    fn find(&self, connection: &Connection, model: &str) -> Option<Price> {
        let name = plain(model);
        let provider = match connection.provider {
            Provider::AzureOpenAi => Provider::OpenAi,
            other => other,
        };
        let host = LazyCell::new(|| {
            url::Url::parse(&connection.base_url).ok().and_then(|url| url.host_str().map(str::to_owned))
        });
        self.table
            .prices
            .iter()
            .filter(|row| row.provider == provider || row.provider == connection.provider)
            .filter(|row| begins(&name, &row.model))
            .filter(|row| row.host.is_none() || row.host == *host)
            // Of two rows of equal length the provider's own wins, as for Azure.
            .max_by_key(|row| (row.model.len(), row.provider == connection.provider))
            .map(|row| Price { input: row.input, cached: row.cached.unwrap_or(row.input), output: row.output })
    }
}

/// The name without providers' prefixes.
fn plain(model: &str) -> String {
    let name = model.trim().to_lowercase();
    let name = name.strip_prefix("models/").unwrap_or(&name);
    let region = REGIONS.iter().find_map(|region| name.strip_prefix(region));
    region.unwrap_or(name).to_owned()
}

/// Whether `pattern` is `name`, or its beginning before a version.
fn begins(name: &str, pattern: &str) -> bool {
    name.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@', ':']))
}

#[cfg(test)]
mod tests;
