//! The word lists of `data/fill`.

use super::stem::stem;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    stop: String,
    verbs: String,
    form_stop: String,
    bool_stop: String,
    weak: String,
    again: String,
    colors: String,
    streets: String,
    switches: String,
    negations: Vec<String>,
    numbers: HashMap<String, f64>,
    ordinals: HashMap<String, f64>,
    magnitudes: HashMap<String, f64>,
    frequencies: HashMap<String, f64>,
    units: Vec<UnitLine>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitLine {
    names: Vec<String>,
    dimension: String,
    size: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meanings {
    synonyms: Vec<String>,
    roles: HashMap<String, RoleLine>,
    classes: HashMap<Class, String>,
    shares: SharesLine,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleLine {
    names: String,
    before: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SharesLine {
    decimal: Vec<String>,
    percent: Vec<String>,
    rates: String,
    money: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Places {
    states: HashMap<String, String>,
    cities: HashMap<String, String>,
    world: HashMap<String, String>,
    countries: HashMap<String, String>,
    continents: HashMap<String, String>,
    currencies: HashMap<String, Vec<String>>,
}

/// What kind of thing an argument wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Class {
    Email,
    Url,
    Path,
    Date,
    Time,
    Weekday,
    Year,
    Month,
    Currency,
    Language,
    Color,
    Country,
    State,
    City,
    Place,
    Id,
    Expression,
    Person,
    Organisation,
    Title,
    Unit,
}

/// The order in which classes are tried.
pub(super) const CLASSES: [Class; 21] = [
    Class::Email,
    Class::Url,
    Class::Path,
    Class::Date,
    Class::Time,
    Class::Weekday,
    Class::Year,
    Class::Month,
    Class::Currency,
    Class::Language,
    Class::Color,
    Class::Country,
    Class::State,
    Class::City,
    Class::Place,
    Class::Id,
    Class::Expression,
    Class::Person,
    Class::Organisation,
    Class::Title,
    Class::Unit,
];

/// What a known place is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A city of the United States with its state's code.
    City(String),
    /// A city elsewhere with its country.
    World(String),
    /// A state of the United States with its code.
    State(String),
    Country,
    Continent,
}

/// A unit of measurement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    /// Which line of the list.
    pub line: usize,
    pub dimension: String,
    pub size: f64,
}

/// Words that mark one side of something.
#[derive(Debug, Default)]
pub(super) struct Role {
    /// In an argument's name.
    pub names: HashSet<String>,
    /// Before a value.
    pub before: HashSet<String>,
}

/// All lists, ready for use.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    pub stop: HashSet<String>,
    pub verbs: HashSet<String>,
    pub form_stop: HashSet<String>,
    pub bool_stop: HashSet<String>,
    pub weak: HashSet<String>,
    pub again: HashSet<String>,
    pub colors: HashSet<String>,
    pub streets: HashSet<String>,
    /// Names of arguments that are a switch.
    pub switches: HashSet<String>,
    pub negations: HashSet<String>,
    pub numbers: HashMap<String, f64>,
    pub ordinals: HashMap<String, f64>,
    pub magnitudes: HashMap<String, f64>,
    pub frequencies: HashMap<String, f64>,
    pub units: HashMap<String, Unit>,
    synonyms: HashMap<String, Vec<usize>>,
    pub roles: HashMap<String, Role>,
    classes: HashMap<Class, HashSet<String>>,
    pub decimal: Vec<String>,
    pub percent: Vec<String>,
    pub rates: HashSet<String>,
    pub money: HashSet<String>,
    pub places: HashMap<String, Place>,
    /// Code by state name and the reverse, lower case names.
    pub states: HashMap<String, String>,
    /// Name of a state by its code.
    pub state_names: HashMap<String, String>,
    /// Country by the word for what is from there.
    pub nations: HashMap<String, String>,
    pub currencies: HashMap<String, String>,
}

fn set(text: &str) -> HashSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn stems(text: &str) -> HashSet<String> {
    text.split_whitespace().map(stem).collect()
}

impl Lexicon {
    /// The lists that come with the program. A broken file (a test reads them all) has no words.
    pub fn get() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(|| {
            Self::of(
                toml::from_str(include_str!("../../data/fill/words.toml")).unwrap_or_default(),
                toml::from_str(include_str!("../../data/fill/meanings.toml")).unwrap_or_default(),
                toml::from_str(include_str!("../../data/fill/places.toml")).unwrap_or_default(),
            )
        })
    }

    fn of(words: Words, meanings: Meanings, places: Places) -> Self {
        let mut units = HashMap::new();
        for (line, unit) in words.units.iter().enumerate() {
            for name in &unit.names {
                units.entry(name.clone()).or_insert(Unit { line, dimension: unit.dimension.clone(), size: unit.size });
            }
        }
        let mut synonyms: HashMap<String, Vec<usize>> = HashMap::new();
        for (line, group) in meanings.synonyms.iter().enumerate() {
            for word in stems(group) {
                synonyms.entry(word).or_default().push(line);
            }
        }
        let mut known = HashMap::new();
        for (name, nation) in &places.continents {
            known.insert(name.to_lowercase(), Place::Continent);
            known.insert(nation.to_lowercase(), Place::Continent);
        }
        for name in places.countries.keys() {
            known.insert(name.to_lowercase(), Place::Country);
        }
        for (name, code) in &places.states {
            known.insert(name.to_lowercase(), Place::State(code.clone()));
        }
        for (name, country) in &places.world {
            known.insert(name.to_lowercase(), Place::World(country.clone()));
        }
        for (name, code) in &places.cities {
            known.insert(name.to_lowercase(), Place::City(code.clone()));
        }
        for nation in places.continents.values() {
            known.remove(&nation.to_lowercase());
        }
        Self {
            stop: set(&words.stop),
            verbs: set(&words.verbs),
            form_stop: stems(&words.form_stop),
            bool_stop: stems(&words.bool_stop),
            weak: set(&words.weak),
            again: set(&words.again),
            colors: set(&words.colors),
            streets: set(&words.streets),
            switches: set(&words.switches),
            negations: words.negations.into_iter().collect(),
            numbers: words.numbers,
            ordinals: words.ordinals,
            magnitudes: words.magnitudes,
            frequencies: words.frequencies,
            units,
            synonyms,
            roles: meanings
                .roles
                .into_iter()
                .map(|(name, line)| {
                    let role = Role { names: stems(&line.names), before: set(&line.before) };
                    (name, role)
                })
                .collect(),
            classes: meanings.classes.into_iter().map(|(class, words)| (class, stems(&words))).collect(),
            decimal: meanings.shares.decimal,
            percent: meanings.shares.percent,
            rates: stems(&meanings.shares.rates),
            money: stems(&meanings.shares.money),
            places: known,
            states: places.states.iter().map(|(name, code)| (name.to_lowercase(), code.clone())).collect(),
            state_names: places.states.iter().map(|(name, code)| (code.clone(), name.clone())).collect(),
            nations: places
                .countries
                .iter()
                .filter(|(name, _)| name.len() > 4)
                .map(|(name, nation)| (nation.to_lowercase(), name.clone()))
                .collect(),
            currencies: places
                .currencies
                .into_iter()
                .flat_map(|(code, names)| {
                    let own = (code.to_lowercase(), code.clone());
                    names.into_iter().map(move |name| (name, code.clone())).chain([own])
                })
                .collect(),
        }
    }

    /// Whether two stems stand in one line of synonyms.
    pub fn alike(&self, a: &str, b: &str) -> bool {
        match (self.synonyms.get(a), self.synonyms.get(b)) {
            (Some(a), Some(b)) => a.iter().any(|line| b.contains(line)),
            _ => false,
        }
    }

    /// Whether a stem belongs to a class.
    pub fn is_class(&self, class: Class, word: &str) -> bool {
        self.classes.get(&class).is_some_and(|words| words.contains(word))
    }

    /// A place by its name in any case.
    pub fn place(&self, name: &str) -> Option<&Place> {
        self.places.get(&name.to_lowercase())
    }

    /// A unit by its name in any case.
    pub fn unit(&self, name: &str) -> Option<&Unit> {
        self.units.get(name)
    }

    /// Code of a currency by one of its names.
    pub fn currency(&self, name: &str) -> Option<&String> {
        let lower = name.to_lowercase();
        self.currencies.get(&lower).or_else(|| self.currencies.get(lower.strip_suffix('s')?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Meanings, Places, Words};

    #[test]
    fn the_files_can_be_read() {
        let words: Words = toml::from_str(include_str!("../../data/fill/words.toml")).unwrap();
        assert!(words.units.len() > 20);
        let meanings: Meanings = toml::from_str(include_str!("../../data/fill/meanings.toml")).unwrap();
        assert!(meanings.synonyms.len() > 20 && meanings.roles.len() == 5);
        assert_eq!(meanings.classes.len(), super::CLASSES.len());
        let places: Places = toml::from_str(include_str!("../../data/fill/places.toml")).unwrap();
        assert_eq!(places.states.len(), 50);
    }
}
