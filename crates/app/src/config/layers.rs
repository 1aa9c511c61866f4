use super::check::{Wrong, problem};
use super::fields::{FIELDS, Field, named};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use utoipa::ToSchema;

/// Who says what a setting is. The first that does counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ConfigSource)]
pub enum Source {
    /// An option on the command line.
    Option,
    /// An environment variable.
    Environment,
    /// The file of settings.
    File,
    /// The database, where this interface saves.
    Database,
    /// Nobody.
    Default,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Given {
    pub value: String,
    pub source: Source,
    /// The option, variable or file, for people.
    pub by: String,
}

/// The settings in their layers: option, variable, file, database, default.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Layers {
    given: BTreeMap<&'static str, Given>,
    saved: BTreeMap<&'static str, String>,
    /// Defaults that differ between machines.
    defaults: BTreeMap<&'static str, String>,
    /// How the files that settings name were when they were last looked at.
    stamps: BTreeMap<&'static str, String>,
}

// Values may be secrets.
impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<_> = self.given.iter().map(|(name, one)| (name, one.source)).collect();
        f.debug_struct("Layers").field("given", &given).field("saved", &self.saved.keys()).finish_non_exhaustive()
    }
}

impl Layers {
    /// By whoever starts the program; a source that counts more is not overwritten.
    pub fn give(&mut self, name: &'static str, source: Source, by: impl Into<String>, value: impl Into<String>) {
        let given = Given { value: value.into(), source, by: by.into() };
        match self.given.get(name) {
            Some(known) if (known.source as u8) <= (source as u8) => {}
            _ => {
                self.given.insert(name, given);
            }
        }
    }

    pub fn set_default(&mut self, name: &'static str, value: impl Into<String>) {
        self.defaults.insert(name, value.into());
    }

    /// Notes how the file of a setting is, so that another one with the same name is a change.
    pub fn stamp(&mut self, name: &'static str, stamp: impl Into<String>) {
        self.stamps.insert(name, stamp.into());
    }

    pub fn stamp_of(&self, name: &str) -> Option<&str> {
        self.stamps.get(name).map(String::as_str)
    }

    /// Without what this source says.
    #[must_use]
    pub fn without(&self, source: Source) -> Self {
        let mut layers = self.clone();
        layers.given.retain(|_, given| given.source != source);
        layers
    }

    /// With other values of the database.
    #[must_use]
    pub fn with_saved(&self, saved: BTreeMap<&'static str, String>) -> Self {
        Self { saved, ..self.clone() }
    }

    pub fn saved(&self) -> &BTreeMap<&'static str, String> {
        &self.saved
    }

    /// By an option, a variable or the file.
    pub fn fixed(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// What somebody has set.
    pub fn set(&self, name: &str) -> Option<&str> {
        let fixed = self.given.get(name).map(|one| one.value.as_str());
        fixed.or_else(|| self.saved.get(name).map(String::as_str))
    }

    /// What counts.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.set(name)
            .or_else(|| self.defaults.get(name).map(String::as_str))
            .or_else(|| named(name).and_then(|field| field.default))
    }

    pub fn default_of(&self, field: &Field) -> Option<&str> {
        self.defaults.get(field.name).map(String::as_str).or(field.default)
    }

    pub fn source(&self, name: &str) -> Source {
        match self.given.get(name) {
            Some(given) => given.source,
            None if self.saved.contains_key(name) => Source::Database,
            None => Source::Default,
        }
    }

    /// The value of the setting of this variable; a variable that is no setting's has none here.
    pub fn by_variable(&self, variable: &str) -> Option<&str> {
        let field = FIELDS.iter().find(|field| field.variable == variable)?;
        self.set(field.name)
    }

    /// What is wrong with values of the file or the database; those of options and variables are judged where they are read.
    pub fn wrong(&self) -> Vec<(&'static str, Wrong)> {
        let from_file = self.given.iter().filter(|(_, one)| one.source == Source::File);
        let from_file = from_file.map(|(name, one)| (*name, one.value.as_str()));
        let all = from_file.chain(self.saved.iter().map(|(name, value)| (*name, value.as_str())));
        all.filter_map(|(name, value)| Some((name, problem(named(name)?, value)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Layers, Source};
    use std::collections::BTreeMap;

    #[test]
    fn the_first_source_counts() {
        let mut layers = Layers::default();
        assert_eq!((layers.value("MAX_RUNS"), layers.source("MAX_RUNS")), (Some("256"), Source::Default));
        assert_eq!(layers.set("MAX_RUNS"), None);
        layers = layers.with_saved(BTreeMap::from([("MAX_RUNS", "4".to_owned())]));
        assert_eq!((layers.value("MAX_RUNS"), layers.source("MAX_RUNS")), (Some("4"), Source::Database));
        for (source, value) in [(Source::File, "5"), (Source::Environment, "6"), (Source::Option, "7")] {
            layers.give("MAX_RUNS", source, "by", value);
            assert_eq!((layers.value("MAX_RUNS"), layers.source("MAX_RUNS")), (Some(value), source));
        }
        layers.give("MAX_RUNS", Source::File, "by", "8");
        assert_eq!(layers.by_variable("STEWARD_MAX_RUNS"), Some("7"));
        assert_eq!(layers.by_variable("HOME"), None);
        layers.give("POSTGRES_PASSWORD", Source::File, "by", "quiet");
        assert!(!format!("{layers:?}").contains("quiet"));
    }
}
