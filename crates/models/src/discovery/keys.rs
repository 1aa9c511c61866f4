//! Keys of well-known providers in the environment. The table is data.

use serde::Deserialize;
use steward_core::model::{Auth, Connection, Provider};

use super::environment::Environment;
use super::guess::capabilities;
use super::search::{Found, stable_id};

const DATA: &str = include_str!("../../data/providers.json");

#[derive(Debug, Deserialize)]
struct Row {
    name: String,
    variable: String,
    #[serde(default)]
    url_variable: Option<String>,
    model_variable: String,
    provider: Provider,
    /// Empty: the address must come from `url_variable`.
    base_url: String,
    model: String,
    /// The key goes into the provider's own header.
    #[serde(default)]
    own_header: bool,
}

/// Connections whose key is set. The key itself is not looked at.
pub(super) fn find(environment: &Environment) -> Vec<Found> {
    // A test reads the table, so it is never empty.
    let rows: Vec<Row> = serde_json::from_str(DATA).unwrap_or_default();
    rows.into_iter().filter_map(|row| one(environment, row)).collect()
}

fn one(environment: &Environment, row: Row) -> Option<Found> {
    environment.var(&row.variable)?;
    let own_url = row.url_variable.as_ref().and_then(|name| environment.var(name));
    let base_url = own_url.clone().unwrap_or(row.base_url);
    if base_url.is_empty() {
        return None;
    }
    let model = environment.var(&row.model_variable).unwrap_or(row.model);
    // Behind another address OpenAI's dialect is only the dialect.
    let provider = match row.provider {
        Provider::OpenAi if own_url.is_some() => Provider::Compatible,
        known => known,
    };
    let variable = row.variable.clone();
    let auth = if row.own_header { Auth::ApiKeyEnv { variable } } else { Auth::BearerEnv { variable } };
    let mut how = format!("{} is set", row.variable);
    if let (Some(_), Some(name)) = (own_url, row.url_variable) {
        how = format!("{how}, and {name}");
    }
    Some(Found {
        detail: format!("{model} at {base_url}; {} chooses another model", row.model_variable),
        how,
        connection: Connection {
            id: stable_id(&row.name, &base_url, &model),
            capabilities: capabilities(&model, None),
            name: row.name,
            provider,
            base_url,
            model,
            auth,
            price: None,
            weight: 1,
            by_hand: Vec::new(),
            wire: None,
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_table_is_readable_and_safe() {
        let rows: Vec<Row> = serde_json::from_str(DATA).unwrap();
        assert!(rows.len() >= 5);
        for row in rows {
            let own = row.base_url.is_empty() && row.url_variable.is_some();
            assert!(own || row.base_url.starts_with("https://"), "{row:?}");
            assert!(!row.base_url.ends_with('/') && !row.model.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn providers_with_interfaces_of_their_own() {
        let environment = Environment::new(|name| match name {
            "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" | "AZURE_OPENAI_API_KEY" => Some("sk-very-secret".to_owned()),
            _ => None,
        });
        let found = find(&environment);
        // Azure has no address that is everybody's.
        let providers: Vec<Provider> = found.iter().map(|f| f.connection.provider).collect();
        assert_eq!(providers, [Provider::Anthropic, Provider::Gemini]);
        let own = |f: &Found| matches!(f.connection.auth, Auth::ApiKeyEnv { .. });
        assert!(found.iter().all(own));
    }

    #[test]
    fn a_key_makes_a_connection_and_stays_out_of_it() {
        let environment = Environment::new(|name| match name {
            "OPENAI_API_KEY" => Some("sk-very-secret".to_owned()),
            "OPENAI_BASE_URL" => Some("http://127.0.0.1:9/v1".to_owned()),
            "GROQ_API_KEY" => Some("  ".to_owned()),
            _ => None,
        });
        let found = find(&environment);
        assert_eq!(found.len(), 1);
        let connection = &found[0].connection;
        assert_eq!(connection.base_url, "http://127.0.0.1:9/v1");
        assert_eq!(connection.provider, Provider::Compatible);
        assert!(!format!("{found:?}{environment:?}").contains("sk-very"));
    }
}
