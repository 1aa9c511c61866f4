//! How tables are joined: by declared foreign keys, and by those that names imply.

use std::collections::{HashMap, VecDeque};
use steward_core::tables::{Schema, Table};
use steward_core::text::stem;

/// Two tables and the columns that relate them; `child` refers to `parent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub child: String,
    pub parent: String,
    /// Pairs of a column of `child` and one of `parent`.
    pub on: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub table: String,
    pub to: String,
    /// Pairs of a column of `table` and one of `to`.
    pub on: Vec<(String, String)>,
    /// Whether one row of `to` may match many of `table`.
    pub many: bool,
}

pub fn edges(schema: &Schema) -> Vec<Edge> {
    let mut found: Vec<Edge> = Vec::new();
    for table in &schema.tables {
        declared(schema, table, &mut found);
        implied(schema, table, &mut found);
    }
    found
}

fn declared(schema: &Schema, table: &Table, found: &mut Vec<Edge>) {
    let mut by_parent: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for key in &table.foreign_keys {
        let Some(parent) = schema.tables.iter().find(|t| t.name.eq_ignore_ascii_case(&key.table)) else {
            continue;
        };
        let column =
            if key.references.is_empty() { primary(parent).unwrap_or_default() } else { key.references.clone() };
        if column.is_empty() {
            continue;
        }
        let pair = (key.column.clone(), column);
        // Keys that refer to different columns of a table are parts of one key; those to the same column are separate.
        match by_parent.iter_mut().find(|(name, on)| *name == parent.name && on.iter().all(|(_, to)| *to != pair.1)) {
            Some((_, on)) => on.push(pair),
            None => by_parent.push((parent.name.clone(), vec![pair])),
        }
    }
    found.extend(by_parent.into_iter().map(|(parent, on)| Edge { child: table.name.clone(), parent, on }));
}

/// `customer_id` or `CustomerId` refers to the key of `customers`, declared or not.
fn implied(schema: &Schema, table: &Table, found: &mut Vec<Edge>) {
    for column in &table.columns {
        if found.iter().any(|edge| edge.child == table.name && edge.on.iter().any(|(from, _)| *from == column.name)) {
            continue;
        }
        let name = squeeze(&column.name);
        let Some(root) = name.strip_suffix("id").filter(|root| !root.is_empty()) else {
            continue;
        };
        let parent = schema
            .tables
            .iter()
            .find(|other| other.name != table.name && !other.view && stem(&squeeze(&other.name)) == stem(root));
        let Some((parent, key)) = parent.and_then(|parent| Some((parent, primary(parent)?))) else {
            continue;
        };
        found.push(Edge {
            child: table.name.clone(),
            parent: parent.name.clone(),
            on: vec![(column.name.clone(), key)],
        });
    }
}

fn squeeze(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `None` unless the primary key is a single column.
pub fn primary(table: &Table) -> Option<String> {
    let mut keys = table.columns.iter().filter(|column| column.pk);
    match (keys.next(), keys.next()) {
        (Some(only), None) => Some(only.name.clone()),
        _ => None,
    }
}

/// The fewest steps that join `wanted` to the tables `there`; `None` if they are unrelated.
pub fn path(edges: &[Edge], there: &[String], wanted: &str) -> Option<Vec<Step>> {
    let mut came: HashMap<String, Step> = HashMap::new();
    let mut queue: VecDeque<String> = there.iter().cloned().collect();
    while let Some(here) = queue.pop_front() {
        if here == wanted {
            break;
        }
        for edge in edges {
            let (table, on, many) = if edge.child == here && edge.parent != here {
                let on = edge.on.iter().map(|(child, parent)| (parent.clone(), child.clone())).collect();
                (&edge.parent, on, false)
            } else if edge.parent == here && edge.child != here {
                (&edge.child, edge.on.clone(), true)
            } else {
                continue;
            };
            if there.contains(table) || came.contains_key(table) {
                continue;
            }
            came.insert(table.clone(), Step { table: table.clone(), to: here.clone(), on, many });
            queue.push_back(table.clone());
        }
    }
    let mut steps = Vec::new();
    let mut at = wanted.to_owned();
    while !there.contains(&at) {
        let step = came.get(&at)?.clone();
        at.clone_from(&step.to);
        steps.push(step);
    }
    steps.reverse();
    Some(steps)
}
