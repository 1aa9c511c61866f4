//! The domains of an installation together, with what their databases say about keys, as one caller may see them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use steward_core::tables::Table;
use steward_core::text::stem;

use crate::model::{Domain, Field, Grantee, Relation, RelationKind};

/// What the database knows about a domain's table and its text does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The fields of the primary key.
    pub key: Vec<String>,
    /// The fields that are never null.
    pub required: BTreeSet<String>,
    /// The declared types by field, as the database spells them.
    pub types: BTreeMap<String, String>,
}

impl Facts {
    /// What is known about the fields of a domain from its table.
    pub fn of(domain: &Domain, table: &Table) -> Self {
        let mut facts = Self::default();
        for column in &table.columns {
            if !domain.fields.iter().any(|field| field.name == column.name) {
                continue;
            }
            if column.pk {
                facts.key.push(column.name.clone());
            }
            if column.pk || column.not_null {
                facts.required.insert(column.name.clone());
            }
            facts.types.insert(column.name.clone(), column.kind.clone());
        }
        // A key with a column that the domain leaves out does not name a row by what is left of it.
        if table.columns.iter().filter(|column| column.pk).count() != facts.key.len() {
            facts.key.clear();
        }
        facts
    }
}

/// All domains. Without [`Facts`] the key of a domain is taken from its names and relations.
#[derive(Debug, Clone, Default)]
pub struct Domains {
    list: Vec<Domain>,
    facts: Vec<Facts>,
    by_name: HashMap<String, usize>,
}

impl Domains {
    /// Of domains with the same name the first one counts.
    pub fn new(list: Vec<Domain>) -> Self {
        let mut by_name = HashMap::new();
        for (at, domain) in list.iter().enumerate() {
            by_name.entry(domain.name.clone()).or_insert(at);
        }
        let facts = list.iter().map(|domain| guessed(domain, &list)).collect();
        Self { list, facts, by_name }
    }

    /// Replaces what was taken from names by what the database says; an unknown domain is ignored.
    #[must_use]
    pub fn with_facts(mut self, domain: &str, facts: Facts) -> Self {
        if let Some(&at) = self.by_name.get(domain) {
            let key = std::mem::take(&mut self.facts[at].key);
            self.facts[at] = facts;
            if self.facts[at].key.is_empty() {
                self.facts[at].required.extend(key.iter().cloned());
                self.facts[at].key = key;
            }
        }
        self
    }

    pub fn get(&self, name: &str) -> Option<&Domain> {
        self.by_name.get(name).map(|&at| &self.list[at])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Domain> {
        self.list.iter()
    }

    /// The fields that name a row; empty if that is not known.
    pub fn key(&self, name: &str) -> &[String] {
        self.by_name.get(name).map_or(&[], |&at| &self.facts[at].key)
    }

    pub fn seen_by<'d>(&'d self, roles: &'d [Grantee]) -> Visible<'d> {
        Visible { domains: self, roles }
    }
}

fn squeeze(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The key by convention: `id`, `customer_id` of customers, or what relations of others lead to.
fn guessed(domain: &Domain, all: &[Domain]) -> Facts {
    let table = domain.table.rsplit('.').next().unwrap_or(&domain.table);
    let roots = [stem(&squeeze(table)), stem(&squeeze(&domain.name))];
    let named_after =
        |field: &&Field| squeeze(&field.name).strip_suffix("id").is_some_and(|root| roots.contains(&stem(root)));
    let named = domain.fields.iter().find(|field| squeeze(&field.name) == "id");
    let named = named.or_else(|| domain.fields.iter().find(named_after)).map(|field| vec![field.name.clone()]);
    let referred = || {
        let own = domain.relations.iter().filter(|relation| relation.kind != RelationKind::BelongsTo);
        let own = own.map(|relation| relation.bind.iter().map(|(local, _)| local.clone()).collect::<Vec<_>>());
        let others = all.iter().filter(|other| other.datasource == domain.datasource);
        let others = others
            .flat_map(|other| &other.relations)
            .filter(|relation| relation.kind == RelationKind::BelongsTo && relation.domain == domain.name);
        let others = others.map(|relation| relation.bind.iter().map(|(_, foreign)| foreign.clone()).collect());
        own.chain(others).find(|key| !key.is_empty())
    };
    let key = named.or_else(referred).unwrap_or_default();
    let key =
        if key.iter().all(|name| domain.fields.iter().any(|field| field.name == *name)) { key } else { Vec::new() };
    Facts { required: key.iter().cloned().collect(), key, types: BTreeMap::new() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    Read,
    Write,
    Delete,
}

/// The domains that a caller may read. For the others everything here answers as if they did not exist.
#[derive(Debug, Clone, Copy)]
pub struct Visible<'d> {
    domains: &'d Domains,
    /// What the caller is: their role and groups.
    roles: &'d [Grantee],
}

/// A domain with its facts.
#[derive(Debug, Clone, Copy)]
pub struct Known<'d> {
    pub domain: &'d Domain,
    pub facts: &'d Facts,
}

impl<'d> Known<'d> {
    /// By its exact name, or by the only one that is equal but for case.
    pub fn field(&self, name: &str) -> Option<&'d Field> {
        by_name(&self.domain.fields, name, |field| &field.name)
    }

    pub fn is_required(&self, field: &str) -> bool {
        self.facts.required.contains(field)
    }
}

impl<'d> Visible<'d> {
    pub fn allows(&self, domain: &Domain, right: Right) -> bool {
        domain.permissions.iter().any(|permission| {
            let granted = match right {
                Right::Read => permission.read,
                Right::Write => permission.write,
                Right::Delete => permission.delete,
            };
            granted && (permission.to == Grantee::Everybody || self.roles.contains(&permission.to))
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = Known<'d>> {
        let all = self.domains.list.iter().zip(&self.domains.facts);
        let seen = *self;
        all.filter(move |(domain, _)| seen.allows(domain, Right::Read)).map(|(domain, facts)| Known { domain, facts })
    }

    /// By its exact name, or by the only one that is equal but for case.
    pub fn domain(&self, name: &str) -> Option<Known<'d>> {
        let exact = self.domains.by_name.get(name);
        let exact = exact.map(|&at| Known { domain: &self.domains.list[at], facts: &self.domains.facts[at] });
        if let Some(known) = exact.filter(|known| self.allows(known.domain, Right::Read)) {
            return Some(known);
        }
        let lower = name.to_lowercase();
        only(self.iter().filter(|known| known.domain.name.to_lowercase() == lower))
    }

    /// The relations that lead to a readable domain of the same datasource over fields that exist.
    pub fn relations(&self, from: Known<'d>) -> impl Iterator<Item = (&'d Relation, Known<'d>)> {
        let seen = *self;
        from.domain.relations.iter().filter_map(move |relation| {
            let to = seen.domain(&relation.domain)?;
            let bound = relation.bind.iter().all(|(local, foreign)| {
                from.domain.fields.iter().any(|field| field.name == *local)
                    && to.domain.fields.iter().any(|field| field.name == *foreign)
            });
            let fits = bound && !relation.bind.is_empty() && to.domain.datasource == from.domain.datasource;
            fits.then_some((relation, to))
        })
    }

    pub fn relation(&self, from: Known<'d>, name: &str) -> Option<(&'d Relation, Known<'d>)> {
        let all: Vec<_> = self.relations(from).collect();
        by_name(&all, name, |(relation, _)| &relation.name).copied()
    }
}

fn by_name<'l, T>(list: &'l [T], name: &str, of: impl Fn(&T) -> &str) -> Option<&'l T> {
    let lower = name.to_lowercase();
    let exact = list.iter().find(|item| of(item) == name);
    exact.or_else(|| only(list.iter().filter(|item| of(item).to_lowercase() == lower)))
}

/// The only element; `None` if there are others.
pub(crate) fn only<T>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut items = items.into_iter();
    items.next().filter(|_| items.next().is_none())
}

/// Names that are shown in a message.
const SHOWN: usize = 40;

/// `did you mean …? ` where something is alike, and the known names.
pub(crate) fn suggestion<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let lower: String = wanted.chars().take(80).flat_map(char::to_lowercase).collect();
    let allowed = ((lower.chars().count() + 1) / 3).max(1);
    let near = names
        .iter()
        .filter_map(|name| {
            let other = name.to_lowercase();
            let edits = strsim::damerau_levenshtein(&lower, &other);
            let inside = lower.len() >= 3 && other.len() >= 3 && (lower.contains(&other) || other.contains(&lower));
            let rank = if edits <= allowed { edits } else { allowed + edits };
            (edits <= allowed || inside).then_some((rank, *name))
        })
        .min();
    let guess = near.map(|(_, name)| format!("did you mean `{name}`? ")).unwrap_or_default();
    match names.len() {
        0 => format!("{guess}there are none"),
        _ => format!("{guess}known are {}", listed(names)),
    }
}

pub(crate) fn listed<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<N> = names.by_ref().take(SHOWN).collect();
    let shown = shown.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
