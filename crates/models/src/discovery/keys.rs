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
    base_url: String,
    model: String,
}

/// Connections whose key is set. The key itself is not looked at.
pub(super) fn find(environment: &Environment) -> Vec<Found> {
    // A test reads the table, so it is never empty.
    let rows: Vec<Row> = serde_json::from_str(DATA).unwrap_or_default();
    rows.into_iter()
        .filter_map(|row| one(environment, row))
        .collect()
}

fn one(environment: &Environment, row: Row) -> Option<Found> {
    environment.var(&row.variable)?;
    let own_url = row
        .url_variable
        .as_ref()
        .and_then(|name| environment.var(name));
    let base_url = own_url.clone().unwrap_or(row.base_url);
    let model = environment.var(&row.model_variable).unwrap_or(row.model);
    // Behind another address it is only the dialect.
    let provider = if own_url.is_some() {
        Provider::Compatible
    } else {
        row.provider
    };
    let mut how = format!("{} is set", row.variable);
    if let (Some(_), Some(name)) = (own_url, row.url_variable) {
        how = format!("{how}, and {name}");
    }
    Some(Found {
        detail: format!(
            "{model} at {base_url}; {} chooses another model",
            row.model_variable
        ),
        how,
        connection: Connection {
            id: stable_id(&row.name, &base_url, &model),
            capabilities: capabilities(&model, None),
            name: row.name,
            provider,
            base_url,
            model,
            auth: Auth::BearerEnv {
                variable: row.variable,
            },
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
            assert!(row.base_url.starts_with("https://"), "{row:?}");
            assert!(
                !row.base_url.ends_with('/') && !row.model.is_empty(),
                "{row:?}"
            );
        }
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
