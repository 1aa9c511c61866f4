//! Small databases of SQL texts, described as `init` does it, and asked in people's words.

use crate::music::{add_functions, read_all, roles};
use rusqlite::Connection;
use serde_json::Value;
use steward_core::tables::{Column, ForeignKey, Schema, Table};
use steward_domains::draft::{
    Draft, Found, Lookup, Request, draft, first_places, in_words, lookups, lookups_of_parts, with_ties,
};
use steward_domains::init::{Samples, form_counts, init};
use steward_domains::model::{Domain, FieldKind};
use steward_domains::query::lower::{Dialect, lower};
use steward_domains::query::{Query, validate};
use steward_domains::registry::{Domains, Facts};

const TODAY: &str = "2025-06-01";
const SAMPLES: usize = 12;

pub struct Base {
    pub domains: Domains,
    pub conn: Connection,
}

/// What became of a question.
#[derive(Debug)]
pub struct Asked {
    pub said: String,
    pub unread: Vec<String>,
    pub sure: bool,
    pub rows: Vec<Vec<Value>>,
}

impl Base {
    pub fn of(sql: &str) -> Self {
        let conn = Connection::open_in_memory().expect("a database");
        conn.execute_batch(sql).expect("tables");
        Self::described(conn)
    }

    pub fn described(conn: Connection) -> Self {
        let facts = describe(&conn, "base");
        let list: Vec<Domain> = facts.iter().map(|(domain, _)| domain.clone()).collect();
        let domains =
            facts.into_iter().fold(Domains::new(list), |set, (domain, facts)| set.with_facts(&domain.name, facts));
        Self { domains, conn }
    }

    pub fn kind(&self, domain: &str, field: &str) -> FieldKind {
        let domain = self.domains.get(domain).unwrap_or_else(|| panic!("no domain {domain}"));
        domain.fields.iter().find(|one| one.name == field).unwrap_or_else(|| panic!("no field {field}")).kind
    }

    /// The rows of a query, or what is wrong with it.
    pub fn query(&self, query: &Value) -> Result<Vec<Vec<Value>>, String> {
        let query = Query::parse(query).map_err(|errors| format!("{errors:?}"))?;
        self.run(&query)
    }

    fn run(&self, query: &Query) -> Result<Vec<Vec<Value>>, String> {
        let checked = validate(query, &self.domains, &roles(&["viewer"]))
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        let lowered = lower(&checked, Dialect::Sqlite);
        let shown: Vec<usize> = (0..lowered.columns.len()).filter(|at| !lowered.columns[*at].is_hidden()).collect();
        let rows = read_all(&self.conn, &lowered.sql, &lowered.values);
        Ok(rows.into_iter().map(|row| shown.iter().map(|at| row[*at].clone()).collect()).collect())
    }

    fn look_up(&self, lookups: Vec<Lookup>) -> Vec<Found> {
        let found = |lookup: &Lookup| {
            let rows = self.run(&lookup.query).expect("a lookup");
            lookup.found(&rows.into_iter().map(|mut row| row.remove(0)).collect::<Vec<_>>())
        };
        lookups.iter().flat_map(found).collect()
    }

    fn draft(&self, text: &str) -> Option<Draft> {
        let who = roles(&["viewer"]);
        let visible = self.domains.seen_by(&who);
        let subjects: Vec<_> = visible.iter().collect();
        let request = Request::read(text, TODAY);
        let mut found = self.look_up(lookups(&request, &subjects));
        found.extend(self.look_up(lookups_of_parts(&request, &subjects, &found)));
        draft(&request, visible, &subjects, &[], &found, &[])
    }

    /// Asks in people's words, without a model that knows what words mean.
    pub fn ask(&self, text: &str) -> Asked {
        match self.draft(text) {
            None => Asked { said: String::new(), unread: Vec::new(), sure: false, rows: Vec::new() },
            Some(made) => {
                let places = first_places(&made.query).map(|query| self.run(&query).expect("the first places"));
                let query = places.map_or(made.query.clone(), |rows| with_ties(made.query, &rows));
                let rows = self.run(&query).unwrap_or_else(|why| panic!("{text}: {why}"));
                Asked { said: in_words(&query), unread: made.unread, sure: made.sure, rows }
            }
        }
    }
}

fn schema(conn: &Connection) -> Schema {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let tables = read_all(conn, all, &[]).into_iter().map(|row| {
        let name = text(&row[0]);
        let info = format!("SELECT name, type, \"notnull\", pk FROM pragma_table_info('{name}')");
        let keys =
            format!("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list('{name}') ORDER BY id, seq");
        let columns = read_all(conn, &info, &[]).into_iter().map(|row| Column {
            name: text(&row[0]),
            kind: text(&row[1]),
            not_null: row[2] == 1,
            pk: row[3] != 0,
        });
        let foreign_keys = read_all(conn, &keys, &[]).into_iter().map(|row| ForeignKey {
            column: text(&row[0]),
            table: text(&row[1]),
            references: text(&row[2]),
        });
        let rows = read_all(conn, &format!("SELECT count(*) FROM \"{name}\""), &[])[0][0].as_u64();
        Table {
            columns: columns.collect(),
            foreign_keys: foreign_keys.collect(),
            view: false,
            row_estimate: rows,
            name,
        }
    });
    Schema { tables: tables.collect() }
}

/// The tables of a database as `init` describes them, with what is known of each.
fn describe(conn: &Connection, datasource: &str) -> Vec<(Domain, Facts)> {
    add_functions(conn);
    let schema = schema(conn);
    let mut samples = Samples::default();
    for table in &schema.tables {
        for (sql, columns) in form_counts(table) {
            samples.add_forms(table, &columns, &read_all(conn, &sql, &[])[0]);
        }
        for column in &table.columns {
            let sql = format!(
                "SELECT DISTINCT \"{0}\" FROM \"{1}\" WHERE \"{0}\" IS NOT NULL LIMIT {SAMPLES}",
                column.name, table.name
            );
            let values: Vec<Value> = read_all(conn, &sql, &[]).into_iter().map(|mut row| row.remove(0)).collect();
            let sample = samples.tables.entry(table.name.clone()).or_default().entry(column.name.clone()).or_default();
            sample.distinct = (values.len() < SAMPLES).then_some(values.len() as u64);
            sample.values = values;
        }
    }
    let list = init(datasource, &schema, &samples).into_iter().map(|(domain, ..)| domain);
    list.zip(&schema.tables).map(|(domain, table)| (domain.clone(), Facts::of(&domain, table))).collect()
}

/// What becomes of a question to several databases, each with its name and its tables: the database that is asked, or the
/// words that were not understood.
pub fn ask_several(databases: &[(&str, &str)], text: &str) -> Result<String, Vec<String>> {
    let mut all = Vec::new();
    for (name, sql) in databases {
        let conn = Connection::open_in_memory().expect("a database");
        conn.execute_batch(sql).expect("tables");
        all.push((describe(&conn, name), conn));
    }
    let list: Vec<Domain> = all.iter().flat_map(|(facts, _)| facts.iter().map(|(domain, _)| domain.clone())).collect();
    let mut domains = Domains::new(list);
    let mut conns = std::collections::BTreeMap::new();
    for (facts, conn) in all {
        for (domain, facts) in &facts {
            domains = domains.with_facts(&domain.name, facts.clone());
        }
        conns.insert(facts[0].0.datasource.clone(), Base { domains: Domains::default(), conn });
    }
    for base in conns.values_mut() {
        base.domains = domains.clone();
    }
    let who = roles(&["viewer"]);
    let visible = domains.seen_by(&who);
    let subjects: Vec<_> = visible.iter().collect();
    let request = Request::read(text, TODAY);
    let of = |name: &str| domains.get(name).expect("a domain").datasource.clone();
    let found: Vec<Found> = lookups(&request, &subjects)
        .into_iter()
        .flat_map(|lookup| conns[&of(&lookup.query.domain)].look_up(vec![lookup]))
        .collect();
    let made = draft(&request, visible, &subjects, &[], &found, &[]).ok_or_else(|| request.naming())?;
    if made.sure { Ok(of(&made.query.domain)) } else { Err(made.unread) }
}
