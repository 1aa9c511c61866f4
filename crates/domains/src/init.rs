//! First domains and views from an existing database, for a person to refine. The same database gives the same texts.

mod examples;
mod fields;
mod links;
mod names;
mod scope;
mod stored;
mod views;

use crate::model::{Domain, Field, Grantee, Meta, Note, Permission, View};
use links::{Link, Side};
use names::Namer;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use steward_core::ports::Role;
use steward_core::tables::{Schema, Table};

pub use stored::{Stored, form_counts};

/// A few values of each column, by table and column.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    pub tables: BTreeMap<String, BTreeMap<String, ColumnSample>>,
}

#[derive(Debug, Clone, Default)]
pub struct ColumnSample {
    pub values: Vec<Value>,
    /// Number of different values, where it was counted.
    pub distinct: Option<u64>,
    /// The forms of all values, where they were counted.
    pub stored: Option<Stored>,
}

impl Samples {
    fn of(&self, table: &Table, column: &str) -> Option<&ColumnSample> {
        self.tables.get(&table.name)?.get(column)
    }
}

/// A table with more rows is no list of choices.
const LOOKUP_ROWS: u64 = 100;

/// A domain, a view of its rows and a view of one row for each table.
pub fn init(datasource: &str, schema: &Schema, samples: &Samples) -> Vec<(Domain, View, View)> {
    let names = names::of_domains(&schema.tables);
    let links = links::find(&schema.tables);
    let sides = links::sides(&schema.tables, &names, &links);
    let builder = Builder { datasource, schema, samples, names: &names, links: &links };
    let domains: Vec<Domain> =
        schema.tables.iter().enumerate().map(|(at, table)| builder.domain(at, table, &sides[at])).collect();
    let views = views::of_domains(&domains, &schema.tables);
    domains.into_iter().zip(views).map(|(domain, (list, detail))| (domain, list, detail)).collect()
}

struct Builder<'s> {
    datasource: &'s str,
    schema: &'s Schema,
    samples: &'s Samples,
    names: &'s [String],
    links: &'s [Link],
}

impl Builder<'_> {
    fn domain(&self, at: usize, table: &Table, sides: &[Side]) -> Domain {
        let (metas, options) = self.metas(at);
        let keys: Vec<&str> = table
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .filter(|name| table.foreign_keys.iter().any(|key| key.column == *name))
            .collect();
        let fields: Vec<Field> = table
            .columns
            .iter()
            .filter_map(|column| {
                let sample = self.samples.of(table, &column.name);
                let mut field = fields::describe(column, sample)?;
                field.options = options.get(column.name.as_str()).cloned();
                if !column.pk && !keys.contains(&column.name.as_str()) {
                    field.examples = sample.map_or(Vec::new(), |sample| examples::of(&field, sample));
                }
                Some(field)
            })
            .collect();
        let scope = scope::sentence(table, sides, self.names);
        let mut notes = vec![Note { tag: "scope".to_owned(), text: scope }];
        notes.extend(
            fields::odd_kinds(table, &fields, self.samples).map(|text| Note { tag: "format_hint".to_owned(), text }),
        );
        Domain {
            name: self.names[at].clone(),
            table: table.name.clone(),
            datasource: self.datasource.to_owned(),
            permissions: permissions(table.view),
            fields,
            relations: sides.iter().map(|side| side.relation(self.names)).collect(),
            metas,
            notes,
            aliases: Vec::new(),
        }
    }

    /// Choices for the columns that refer to a small table of names, and which column has which.
    fn metas(&self, at: usize) -> (Vec<Meta>, HashMap<&str, String>) {
        let mut metas: Vec<Meta> = Vec::new();
        let mut options = HashMap::new();
        let mut namer = Namer::default();
        let mut meta_names: HashMap<usize, String> = HashMap::new();
        for link in self.links.iter().filter(|link| link.child == at) {
            let [(column, key)] = link.pairs.as_slice() else { continue };
            let Some(label) = lookup_label(&self.schema.tables[link.parent], key) else { continue };
            let name = meta_names.entry(link.parent).or_insert_with(|| {
                let name = namer.unique(&self.names[link.parent]);
                let table = self.schema.tables[link.parent].name.clone();
                let (key, label) = (key.clone(), label.to_owned());
                metas.push(Meta { name: name.clone(), table, key, order_by: Some(label.clone()), label });
                name
            });
            options.insert(column.as_str(), name.clone());
        }
        (metas, options)
    }
}

/// The column with the names, where the table is a small one with a key and a name.
fn lookup_label<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    let small = table.row_estimate.is_some_and(|rows| rows <= LOOKUP_ROWS);
    let [one, other] = table.columns.as_slice() else { return None };
    let (key, label) = if one.name == key { (one, other) } else { (other, one) };
    (small && !table.view && table.foreign_keys.is_empty() && key.pk && !label.pk && label.is_text())
        .then_some(label.name.as_str())
}

/// Rows of a view of the database can't be changed.
fn permissions(view: bool) -> Vec<Permission> {
    let grant = |role: Role, write: bool, delete: bool| Permission {
        to: Grantee::Role(role),
        read: true,
        write: write && !view,
        delete: delete && !view,
    };
    vec![
        grant(Role::Admin, true, true),
        grant(Role::Operator, true, false),
        grant(Role::Developer, false, false),
        grant(Role::Viewer, false, false),
    ]
}
