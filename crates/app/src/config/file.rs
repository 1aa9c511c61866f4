//! The file of settings: a table for each group, a line for each setting.

use super::check::list;
use super::fields::{Field, Group, Kind, named};
use super::layers::{Layers, Source};
use super::published::replacement;
use toml::{Table, Value};

/// Gives what the file says to `layers`. The error names every line that is wrong.
pub fn read(text: &str, by: &str, layers: &mut Layers) -> Result<(), String> {
    let tables: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let mut wrong = Vec::new();
    for (name, table) in &tables {
        let Some(group) = Group::ALL.into_iter().find(|group| group.table() == name) else {
            wrong.push(match replacement(name) {
                Some(instead) => format!("there is no table [{name}]; {instead}"),
                None => format!("there is no table [{name}]; write [app], [database], [worker] or [storage]"),
            });
            continue;
        };
        let Value::Table(lines) = table else {
            wrong.push(format!("`{name}` is no table; write [{name}] on a line of its own"));
            continue;
        };
        for (name, value) in lines {
            match line(group, name, value) {
                Ok((field, value)) => layers.give(field.name, Source::File, by, value),
                Err(why) => wrong.push(why),
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

fn line(group: Group, name: &str, value: &Value) -> Result<(&'static Field, String), String> {
    let field = named(name).ok_or_else(|| {
        let instead = replacement(name).unwrap_or("docs/configuration.md lists them");
        format!("there is no setting {name}; {instead}")
    })?;
    if field.group != group {
        return Err(format!("{name} belongs under [{}]", field.group.table()));
    }
    if !field.in_file {
        return Err(format!("{name} can't be set in the file; use the variable {}", field.variable));
    }
    let joined = |values: &[Value], with: &str| {
        let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
        texts.map(|texts| texts.join(with))
    };
    let text = match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(on) => Some(on.to_string()),
        Value::Array(values) if field.kind == Kind::Folders => joined(values, ":"),
        Value::Array(values) if matches!(field.kind, Kind::List | Kind::HostPorts) => joined(values, ","),
        _ => None,
    };
    let text = text.ok_or_else(|| format!("{name} has a value that it can't be; write it as text in quotes"))?;
    Ok((field, text))
}

/// The address of the database that the settings make, if they name a server.
pub fn database(layers: &Layers) -> Option<String> {
    let host = layers.set("POSTGRES_HOST")?;
    let of = |name: &str, default: &str| layers.set(name).unwrap_or(default).to_owned();
    let mut url = url::Url::parse("postgres://host").ok()?;
    if host.starts_with('/') {
        url.query_pairs_mut().append_pair("host", host);
    } else {
        url.set_host(Some(host)).ok()?;
    }
    url.set_port(of("POSTGRES_PORT", "5432").parse().ok()).ok()?;
    url.set_username(&of("POSTGRES_USER", "steward")).ok()?;
    url.set_password(layers.set("POSTGRES_PASSWORD")).ok()?;
    url.set_path(&of("POSTGRES_DATABASE", "steward"));
    Some(url.into())
}

/// Gives the parts of a database's address, so that they are seen one by one.
pub fn give_database(layers: &mut Layers, url: &str, source: Source, by: &str) {
    let Ok(url) = url::Url::parse(url) else { return };
    let decoded = |text: &str| {
        let pair = format!("x={}", text.replace('+', "%2B"));
        url::form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let host = url.host_str().map(str::to_owned);
    let host = host.or_else(|| url.query_pairs().find(|(name, _)| name == "host").map(|(_, value)| value.into_owned()));
    let database = decoded(url.path().trim_start_matches('/'));
    let parts = [
        ("POSTGRES_HOST", host.unwrap_or_else(|| "localhost".to_owned())),
        ("POSTGRES_PORT", url.port().map(|port| port.to_string()).unwrap_or_default()),
        ("POSTGRES_DATABASE", database),
        ("POSTGRES_USER", decoded(url.username())),
        ("POSTGRES_PASSWORD", url.password().map(decoded).unwrap_or_default()),
    ];
    for (name, value) in parts {
        if !value.is_empty() {
            layers.give(name, source, by, value);
        }
    }
}

/// `HOST:PORT` as two settings.
pub fn give_listen(layers: &mut Layers, address: &str, source: Source, by: &str) {
    // What is no address is reported by whoever listens there.
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    layers.give("API_HOST", source, by, host.trim_start_matches('[').trim_end_matches(']'));
    layers.give("API_PORT", source, by, port);
}

/// The names in a setting that is a list.
pub fn names(layers: &Layers, name: &str) -> Vec<String> {
    layers.set(name).map(|text| list(text).map(str::to_owned).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{database, give_database, give_listen, read};
    use crate::config::layers::{Layers, Source};

    #[test]
    fn a_file_gives_settings_and_every_wrong_line_is_named() {
        let mut layers = Layers::default();
        let text = "[app]\nAPI_PORT = 8801\nCORS_ORIGINS = [\"a.example\", \"https://b.example\"]\n[worker]\nDEEP_AGENT_PLANNING_ENABLED = false\nLEASE_SECONDS = 1.5\n";
        read(text, "steward.toml", &mut layers).unwrap();
        assert_eq!(layers.value("API_PORT"), Some("8801"));
        assert_eq!(layers.value("CORS_ORIGINS"), Some("a.example,https://b.example"));
        assert_eq!((layers.value("LEASE_SECONDS"), layers.source("LEASE_SECONDS")), (Some("1.5"), Source::File));
        let wrong =
            "[app]\nAPI_PROT = 1\nMAX_RUNS = 1\nADMIN_PASSWORD = 'x'\n[cache]\nx = 1\n[worker]\nMAX_RUNS = {}\n";
        let error = read(wrong, "steward.toml", &mut layers).unwrap_err();
        for part in ["API_PROT", "belongs under [worker]", "STEWARD_ADMIN_PASSWORD", "[cache]", "MAX_RUNS has a value"]
        {
            assert!(error.contains(part), "{error}");
        }
        assert!(read("[app", "x", &mut layers).is_err());
        // Settings of other platforms are named with what takes their place.
        let elsewhere = "[parser]\nstrategy = 'react'\n[worker]\nRAG_CHUNK_SIZE = 1500\n";
        let error = read(elsewhere, "steward.toml", &mut layers).unwrap_err();
        for part in ["[parser]; how calls are read", "--strategy", "RAG_CHUNK_SIZE; each collection"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn an_address_of_a_database_is_shown_in_parts_and_made_of_them() {
        let mut layers = Layers::default();
        assert_eq!(database(&layers), None);
        give_database(&mut layers, "postgres://ann:p%40ss+w@db.example:5433/home", Source::Option, "--database");
        assert_eq!(layers.value("POSTGRES_HOST"), Some("db.example"));
        assert_eq!(layers.value("POSTGRES_PASSWORD"), Some("p@ss+w"));
        assert_eq!(database(&layers).as_deref(), Some("postgres://ann:p%40ss+w@db.example:5433/home"));
        let mut socket = Layers::default();
        give_database(&mut socket, "postgres:///home?host=/run/postgresql", Source::Environment, "STEWARD_DATABASE");
        assert_eq!(socket.value("POSTGRES_HOST"), Some("/run/postgresql"));
        let mut one = Layers::default();
        one.give("POSTGRES_HOST", Source::File, "steward.toml", "db");
        assert_eq!(database(&one).as_deref(), Some("postgres://steward@db:5432/steward"));
    }

    #[test]
    fn an_address_to_listen_on_is_two_settings() {
        let mut layers = Layers::default();
        give_listen(&mut layers, "[::1]:8801", Source::Option, "--listen");
        assert_eq!((layers.value("API_HOST"), layers.value("API_PORT")), (Some("::1"), Some("8801")));
    }
}
