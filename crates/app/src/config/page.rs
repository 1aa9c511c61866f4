//! The settings as they are shown.

use super::MASK;
use super::fields::{Effect, FIELDS, Field, Group, Kind};
use super::layers::{Layers, Source};
use crate::dto::config::{Config, ConfigField, ConfigGroup, ConfigType};

pub fn config(layers: &Layers, pending: &[&str], file: &str, not_applied: Option<String>) -> Config {
    let groups = Group::ALL.into_iter().map(|group| ConfigGroup {
        id: group,
        title: group.title().to_owned(),
        fields: FIELDS
            .iter()
            .filter(|field| field.group == group)
            .map(|field| shown(field, layers, pending.contains(&field.name), file))
            .collect(),
    });
    Config {
        groups: groups.collect(),
        restart_pending: pending.iter().map(|name| (*name).to_owned()).collect(),
        file: file.to_owned(),
        not_applied,
    }
}

fn shown(field: &Field, layers: &Layers, pending: bool, file: &str) -> ConfigField {
    let value = layers.value(field.name);
    let why_not = why_not(field, layers, file);
    ConfigField {
        name: field.name.to_owned(),
        r#type: match field.kind {
            Kind::Whole(..) | Kind::Seconds(..) => ConfigType::Number,
            Kind::Switch => ConfigType::Switch,
            Kind::Choice(_) => ConfigType::Choice,
            Kind::List | Kind::HostPorts | Kind::Folders => ConfigType::List,
            _ => ConfigType::Text,
        },
        help: field.help.to_owned(),
        value: value.map(|value| if field.secret { MASK } else { value }.to_owned()),
        default: layers.default_of(field).map(str::to_owned),
        default_text: field.default_text.to_owned(),
        secret: field.secret,
        source: layers.source(field.name),
        given_by: layers.fixed(field.name).map(|given| given.by.clone()),
        variable: field.variable.to_owned(),
        effect: field.effect,
        why_restart: field.why_restart.to_owned(),
        changeable: why_not.is_none(),
        why_not,
        pending,
        choices: match field.kind {
            Kind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            _ => Vec::new(),
        },
    }
}

/// Why a setting can't be changed here, and how it is changed; `None` if it can.
pub fn why_not(field: &Field, layers: &Layers, file: &str) -> Option<String> {
    if let Some(given) = layers.fixed(field.name) {
        let what = match given.source {
            Source::Option => "the option",
            Source::Environment => "the variable",
            _ => "the file",
        };
        let then = match given.source {
            Source::File if field.effect == Effect::AtOnce => "change it there, which acts within seconds",
            _ => "change it there, and restart the program",
        };
        return Some(format!("{what} {} sets it and wins over what is saved here; {then}", given.by));
    }
    if field.saved {
        return None;
    }
    let mut ways = vec![format!("the variable {}", field.variable)];
    if !field.option.is_empty() {
        ways.push(format!("the option {}", field.option));
    }
    if field.in_file {
        ways.push(format!("{} under [{}] in {file}", field.name, field.group.table()));
    }
    Some(format!("whoever starts the program sets it: {}", ways.join(", or ")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use crate::config::fields::{Effect, FIELDS, Field, Group};
    use std::fmt::Write as _;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    const BEGIN: &str = "<!-- The tables below are made by a test (`the_page_of_settings_is_this_one`). -->\n";

    #[test]
    fn the_page_of_settings_is_this_one() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let (introduction, tables) = page.split_once(BEGIN).unwrap();
        let mut wanted = String::new();
        for group in Group::ALL {
            write!(wanted, "\n## {}: `[{}]`\n", group.title(), group.table()).unwrap();
            wanted += "| setting | variable, option | default | changed in | acts | what it is |\n|---|---|---|---|---|---|\n";
            for field in FIELDS.iter().filter(|field| field.group == group) {
                wanted += &row(field);
            }
        }
        if std::env::var_os("STEWARD_UPDATE_OPENAPI").is_some() {
            std::fs::write(PAGE, format!("{introduction}{BEGIN}{wanted}")).unwrap();
            return;
        }
        assert!(
            tables == wanted,
            "docs/configuration.md is not what this program reads; run this test with STEWARD_UPDATE_OPENAPI=1"
        );
    }

    fn row(field: &Field) -> String {
        let option = if field.option.is_empty() { String::new() } else { format!(", `{}`", field.option) };
        let default = field.default.map_or_else(|| field.default_text.to_owned(), |text| format!("`{text}`"));
        let place = match (field.saved, field.in_file) {
            (true, _) => "studio, file",
            (false, true) => "file",
            (false, false) => "start",
        };
        let acts = match field.effect {
            Effect::AtOnce => "at once".to_owned(),
            Effect::AfterRestart => format!("after a restart: {}", field.why_restart),
        };
        let secret = if field.secret { " Secret." } else { "" };
        format!(
            "| `{}` | `{}`{option} | {default} | {place} | {acts} | {}{secret} |\n",
            field.name, field.variable, field.help
        )
    }
}
