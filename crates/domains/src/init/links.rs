//! Foreign keys as relations of both tables.

use super::names::{Namer, snake, words};
use crate::model::{Relation, RelationKind};
use std::collections::HashMap;
use steward_core::tables::{Column, ForeignKey, Table};
use steward_core::text::stem as stem_of;

/// A foreign key with all of its columns. Tables are positions in the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub child: usize,
    pub parent: usize,
    /// Columns of the child and of the parent.
    pub pairs: Vec<(String, String)>,
}

/// A link as a relation of one of its two tables.
pub(super) struct Side {
    name: String,
    pub kind: RelationKind,
    /// The other table.
    pub other: usize,
    bind: Vec<(String, String)>,
}

impl Side {
    pub(super) fn relation(&self, names: &[String]) -> Relation {
        Relation {
            name: self.name.clone(),
            kind: self.kind,
            domain: names[self.other].clone(),
            bind: self.bind.clone(),
        }
    }
}

pub(super) fn find(tables: &[Table]) -> Vec<Link> {
    let positions: HashMap<&str, usize> =
        tables.iter().enumerate().map(|(at, table)| (table.name.as_str(), at)).collect();
    let mut links: Vec<Link> = Vec::new();
    for (child, table) in tables.iter().enumerate() {
        let mut open: HashMap<usize, Link> = HashMap::new();
        let mut found: Vec<Link> = Vec::new();
        for key in &table.foreign_keys {
            let Some(parent) = positions.get(key.table.as_str()).copied() else { continue };
            let primary: Vec<&str> = primary_key(&tables[parent]);
            let begun = open.get(&parent).map_or(0, |link| link.pairs.len());
            let Some(column) = referenced(key, &tables[parent], &primary, begun) else { continue };
            let pair = (key.column.clone(), column.clone());
            // Columns of a key of several are listed one by one, and a new key begins with a column that was there.
            let joins = primary.len() > 1
                && primary.contains(&column.as_str())
                && open.get(&parent).is_some_and(|link| {
                    link.pairs.len() < primary.len()
                        && link.pairs.iter().all(|(local, foreign)| *foreign != column && *local != key.column)
                });
            if joins {
                if let Some(link) = open.get_mut(&parent) {
                    link.pairs.push(pair);
                }
            } else if let Some(done) = open.insert(parent, Link { child, parent, pairs: vec![pair] }) {
                found.push(done);
            }
        }
        found.extend(open.into_values());
        // In the order of the columns.
        let position = |link: &Link| {
            let first = link.pairs.first().map(|(column, _)| column.as_str());
            table.columns.iter().position(|column| Some(column.name.as_str()) == first)
        };
        found.sort_by(|a, b| {
            position(a).cmp(&position(b)).then_with(|| a.parent.cmp(&b.parent)).then_with(|| a.pairs.cmp(&b.pairs))
        });
        found.dedup();
        found.retain(|link| position(link).is_some());
        let named = named_after(tables, child, &found);
        links.extend(found);
        links.extend(named);
    }
    links
}

/// Links that nobody declared: `customer_id` or `CustomerId` refers to the key of `customers`.
fn named_after(tables: &[Table], child: usize, declared: &[Link]) -> Vec<Link> {
    let squeeze =
        |name: &str| name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let table = &tables[child];
    let free = table.columns.iter().filter(|column| {
        let is_it = |(local, _): &(String, String)| *local == column.name;
        !declared.iter().any(|link| link.pairs.iter().any(is_it))
    });
    let link = |column: &Column| {
        let name = squeeze(&column.name);
        let root = name.strip_suffix("id").filter(|root| !root.is_empty())?;
        let is_parent = |(at, other): &(usize, &Table)| {
            *at != child && !other.view && stem_of(&squeeze(&other.name)) == stem_of(root)
        };
        let (parent, other) = tables.iter().enumerate().find(is_parent)?;
        let [key] = primary_key(other)[..] else { return None };
        let to = other.columns.iter().find(|column| column.name == key)?;
        let is_like = column.kind.eq_ignore_ascii_case(&to.kind)
            || (column.is_number() && to.is_number())
            || (column.is_text() && to.is_text());
        is_like.then(|| Link { child, parent, pairs: vec![(column.name.clone(), key.to_owned())] })
    };
    if table.view { Vec::new() } else { free.filter_map(link).collect() }
}

fn primary_key(table: &Table) -> Vec<&str> {
    table.columns.iter().filter(|column| column.pk).map(|column| column.name.as_str()).collect()
}

/// The column that a key refers to. A key that names none refers to the primary key.
fn referenced(key: &ForeignKey, parent: &Table, primary: &[&str], begun: usize) -> Option<String> {
    if key.references.is_empty() {
        return primary.get(begun % primary.len().max(1)).map(|column| (*column).to_owned());
    }
    parent.columns.iter().find(|column| column.name == key.references).map(|column| column.name.clone())
}

/// The relations of each table: those to its parents first.
pub(super) fn sides(tables: &[Table], names: &[String], links: &[Link]) -> Vec<Vec<Side>> {
    let mut used: Vec<Namer> = tables.iter().map(namer_of).collect();
    let mut sides: Vec<Vec<Side>> = tables.iter().map(|_| Vec::new()).collect();
    let twins =
        |link: &Link| links.iter().filter(|other| other.child == link.child && other.parent == link.parent).count();
    for link in links {
        let used = &mut used[link.child];
        let name = parent_name(link, &names[link.parent], twins(link) > 1, used);
        let (kind, other) = (RelationKind::BelongsTo, link.parent);
        sides[link.child].push(Side { name: used.unique(&name), kind, other, bind: link.pairs.clone() });
    }
    for link in links {
        let child = &names[link.child];
        let plain = twins(link) == 1 && link.child != link.parent;
        let name = if plain { child.clone() } else { format!("{child}_by_{}", stem(link)) };
        let kind = if is_key(link, &tables[link.child]) { RelationKind::HasOne } else { RelationKind::HasMany };
        let bind = link.pairs.iter().map(|(local, foreign)| (foreign.clone(), local.clone())).collect();
        let name = used[link.parent].unique(&name);
        sides[link.parent].push(Side { name, kind, other: link.child, bind });
    }
    sides
}

/// The names that fields have, as they are and in the form of relations.
fn namer_of(table: &Table) -> Namer {
    let mut namer = Namer::default();
    for column in &table.columns {
        namer.take(&column.name);
        namer.take(&snake(&column.name));
    }
    namer
}

/// What the column says about its parent, or else what the parent is.
fn parent_name(link: &Link, parent: &str, twins: bool, namer: &Namer) -> String {
    let stem = stem(link);
    if link.pairs.len() == 1 && namer.is_free(&stem) {
        stem
    } else if !twins && namer.is_free(parent) {
        parent.to_owned()
    } else {
        format!("{stem}_{parent}")
    }
}

/// The name of the first column without the last word of the column that it refers to: `support_rep` of `SupportRepId`.
fn stem(link: &Link) -> String {
    let Some((local, foreign)) = link.pairs.first() else { return String::new() };
    let mut own = words(local);
    if own.len() > 1 && own.last() == words(foreign).last() {
        own.pop();
    }
    snake(&own.join("_"))
}

/// Whether the child has at most one row for each row of the parent.
fn is_key(link: &Link, child: &Table) -> bool {
    let primary = primary_key(child);
    primary.len() == link.pairs.len() && link.pairs.iter().all(|(local, _)| primary.contains(&local.as_str()))
}
