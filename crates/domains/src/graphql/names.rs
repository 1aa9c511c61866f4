//! Names of domains, fields and relations as GraphQL permits them.
//!
//! A name of letters, digits and underscores stays as it is. In others every run of other characters becomes one
//! underscore; where that name is taken already, or nothing is left of it, six digits of a hash of the name are added.
//! What the caller may not read has no name here and so changes none.

use std::collections::HashSet;

use serde_json::Value;
use steward_core::hash;

use crate::chunks::scope;
use crate::model::{FieldKind, RelationKind};
use crate::registry::{Known, Visible};

/// The field of the query that lists the domains.
pub(super) const DOMAINS: &str = "_domains";
/// Keys of a filter that are no fields.
pub(super) const ANY: &str = "any";
pub(super) const ALL: &str = "all";
pub(super) const EXISTS: &str = "exists";

/// Types that every schema has.
const SHARED: &str = "Query Mutation Subscription Upload Int Float String Boolean ID Date DateTime JSON Direction Group \
    GroupTime IntFilter FloatFilter StringFilter BooleanFilter DateFilter DateTimeFilter";

/// What is made of the name of a domain.
const SUFFIXES: &[&str] = &[
    "",
    "_aggregate",
    "_filter",
    "_order",
    "_group",
    "_numbers",
    "_distinct",
    "_sums",
    "_averages",
    "_extremes",
    "_numbers_order",
    "_field_order",
    "_having",
    "_number_having",
];

/// The names of all domains that a caller may read.
#[derive(Debug)]
pub(super) struct Names {
    pub domains: Vec<DomainNames>,
}

#[derive(Debug)]
pub(super) struct DomainNames {
    /// The domain's own name.
    pub domain: String,
    pub graphql: String,
    pub scope: Option<String>,
    /// The fields that name a row.
    pub key: Vec<String>,
    pub members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub graphql: String,
    /// The name in the domain.
    pub name: String,
    pub what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Field {
        kind: FieldKind,
        filterable: bool,
    },
    Relation {
        kind: RelationKind,
        /// The place of the other domain among the names.
        to: usize,
        /// A field of the other domain that is null only where there is no row.
        present: String,
    },
}

impl Names {
    pub fn new(visible: &Visible<'_>) -> Self {
        // Short names first: what is derived from `album` goes before a domain `album_filter`.
        let mut known: Vec<Known<'_>> = visible.iter().collect();
        known.sort_by_key(|known| (known.domain.name.len(), &known.domain.name));
        known.dedup_by(|one, other| one.domain.name == other.domain.name);
        let mut taken: HashSet<String> = SHARED.split(' ').chain([DOMAINS]).map(str::to_owned).collect();
        let wanted: Vec<&str> = known.iter().map(|known| known.domain.name.as_str()).collect();
        let names = assign(&wanted, &mut taken, SUFFIXES);
        let place = |name: &str| known.iter().position(|known| known.domain.name == name);
        let domains = known.iter().zip(names).map(|(one, graphql)| DomainNames {
            domain: one.domain.name.clone(),
            graphql,
            scope: scope(one.domain).map(str::to_owned),
            key: one.facts.key.clone(),
            members: members(visible, *one, place),
        });
        Self { domains: domains.collect() }
    }
}

impl DomainNames {
    pub fn member(&self, graphql: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.graphql == graphql)
    }

    pub fn fields(&self) -> impl Iterator<Item = (&Member, FieldKind)> {
        self.members.iter().filter_map(|member| match member.what {
            What::Field { kind, .. } => Some((member, kind)),
            What::Relation { .. } => None,
        })
    }

    /// A type or field whose name is made of that of the domain.
    pub fn named(&self, suffix: &str) -> String {
        debug_assert!(SUFFIXES.contains(&suffix), "the suffix {suffix} is not set aside");
        format!("{}{suffix}", self.graphql)
    }

    /// A field that rows can be read with when none is asked for.
    pub fn least(&self) -> Option<&str> {
        self.key.first().map(String::as_str).or_else(|| self.fields().next().map(|(field, _)| field.name.as_str()))
    }
}

fn members(visible: &Visible<'_>, of: Known<'_>, place: impl Fn(&str) -> Option<usize>) -> Vec<Member> {
    let fields = &of.domain.fields;
    // Rows of a relation stand under its name, which must not be that of a field.
    let relations: Vec<_> = visible
        .relations(of)
        .filter(|(relation, _)| !fields.iter().any(|field| field.name == relation.name))
        .filter_map(|(relation, to)| Some((relation, place(&to.domain.name)?, relation.bind.first()?)))
        .collect();
    let own = fields.iter().map(|field| field.name.as_str());
    let wanted: Vec<&str> = own.chain(relations.iter().map(|(relation, ..)| relation.name.as_str())).collect();
    let mut taken: HashSet<String> = [ANY, ALL, EXISTS].map(str::to_owned).into();
    let mut names = assign(&wanted, &mut taken, &[""]).into_iter();
    let mut list = Vec::with_capacity(wanted.len());
    for field in fields {
        let what = What::Field { kind: field.kind, filterable: field.filterable };
        list.extend(names.next().map(|graphql| Member { graphql, name: field.name.clone(), what }));
    }
    for (relation, to, (_, foreign)) in relations {
        let what = What::Relation { kind: relation.kind, to, present: foreign.clone() };
        list.extend(names.next().map(|graphql| Member { graphql, name: relation.name.clone(), what }));
    }
    list
}

/// Names that need no change are given first, so that they keep themselves.
fn assign(wanted: &[&str], taken: &mut HashSet<String>, suffixes: &[&str]) -> Vec<String> {
    let mut given: Vec<Option<String>> = vec![None; wanted.len()];
    let mut claim = |name: &str| {
        let all: Vec<String> = suffixes.iter().map(|suffix| format!("{name}{suffix}")).collect();
        let free = !all.iter().any(|name| taken.contains(name));
        if free {
            taken.extend(all);
        }
        free
    };
    for (at, name) in wanted.iter().enumerate() {
        if is_name(name) && claim(name) {
            given[at] = Some((*name).to_owned());
        }
    }
    for (at, name) in wanted.iter().enumerate() {
        if given[at].is_none() {
            let plain = squeezed(name);
            let digits = hash::of_json(&Value::from(*name));
            let ends = (0..=digits.len()).filter(|end| *end == 0 || *end >= 6).map(|end| &digits[..end]);
            let candidates = ends.map(|end| if end.is_empty() { plain.clone() } else { format!("{plain}_{end}") });
            given[at] = candidates.filter(|name| is_name(name)).find(|name| claim(name));
        }
    }
    // Only names that stand twice have the same digits all along; they can't be told apart anyway.
    given.into_iter().zip(wanted).map(|(name, wanted)| name.unwrap_or_else(|| squeezed(wanted))).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with("__")
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name != "_"
}

fn squeezed(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            plain.push(c);
        } else if !plain.ends_with('_') {
            plain.push('_');
        }
    }
    let plain = plain.trim_matches('_');
    match plain.chars().next() {
        None => "name".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{plain}"),
        Some(_) => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{assign, is_name};
    use std::collections::HashSet;

    #[test]
    fn names_that_graphql_permits() {
        for (wanted, expect) in [
            (&["title", "Total Price", "2nd", "__id", "_x"][..], &["title", "Total_Price", "_2nd", "id", "_x"][..]),
            // What is right keeps its name, wherever it stands.
            (&["a-b", "a_b"], &["a_b_53c3f0", "a_b"]),
            (&["Größe", "名前", "☃"], &["Gr_e", "name", "name_1f21ba"]),
            (&["any", "_", ""], &["any_e5b0e3", "name", "name_12ae32"]),
        ] {
            let mut taken: HashSet<String> = ["any".to_owned()].into();
            let given = assign(wanted, &mut taken, &[""]);
            assert!(given.iter().all(|name| is_name(name)), "{given:?}");
            let unlike = |(one, other): (&String, &&str)| {
                // Digits of hashes are checked by their form.
                one != other
                    && one.rsplit_once('_').map(|(head, _)| head) != other.rsplit_once('_').map(|(head, _)| head)
            };
            assert!(!given.iter().zip(expect).any(unlike), "{given:?} {expect:?}");
            assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len(), "{given:?}");
            assert_eq!(given, assign(wanted, &mut ["any".to_owned()].into(), &[""]));
        }
    }

    #[test]
    fn derived_names_are_set_aside() {
        let given = assign(&["album", "album_filter"], &mut HashSet::new(), &["", "_filter"]);
        assert_eq!(given[0], "album");
        assert!(given[1].starts_with("album_filter_"), "{given:?}");
    }
}
