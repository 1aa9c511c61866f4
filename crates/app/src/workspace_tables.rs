//! Databases and files of rows in a workspace, asked in people's words as described data is: what nobody described is
//! described for the request.

use serde_json::Value;
use std::path::Path;
use steward_core::ports::{Entry, FileDraft, Role, TableReader, WorkspaceReader};
use steward_core::tables::{Query, Schema};
use steward_domains::draft::{Found, Lookup, Request, draft, in_words, lookups, lookups_of_parts};
use steward_domains::init::{Samples, form_counts, init};
use steward_domains::model::{Domain, Grantee};
use steward_domains::query::lower::spelled_out;
use steward_domains::query::{Dialect, lower, validate};
use steward_domains::registry::{Domains, Facts};
use steward_tools::LocalWorkspaces;
use steward_tools::datasource::SAMPLES;
use steward_tools::sql::Database;

/// Databases with more tables are not described for a request.
const MOST_TABLES: usize = 40;
/// Rows of a table up to which its values are looked at.
const MOST_ROWS: u64 = 200_000;

/// Workspaces whose tables are described.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkspaceTables(LocalWorkspaces);

impl WorkspaceReader for WorkspaceTables {
    fn entries(&self, workspace: &Path) -> Vec<Entry> {
        self.0.entries(workspace)
    }

    fn read(&self, workspace: &Path, path: &str, most: u64) -> Option<Vec<u8>> {
        self.0.read(workspace, path, most)
    }

    fn databases(&self, workspace: &Path, entries: &[Entry]) -> Vec<String> {
        self.0.databases(workspace, entries)
    }

    fn tables(&self, workspace: &Path, path: &str) -> Option<Box<dyn TableReader>> {
        self.0.tables(workspace, path)
    }

    fn draft(&self, workspace: &Path, path: &str, request: &str, today: &str) -> Option<FileDraft> {
        let database = Database::open(workspace, path).filter(|one| one.schema().tables.len() <= MOST_TABLES)?;
        let domains = described(&database);
        let who = [Grantee::Role(Role::Viewer)];
        let visible = domains.seen_by(&who);
        let subjects: Vec<_> = visible.iter().collect();
        let read = Request::read(request, today);
        let look_up = |all: Vec<Lookup>| -> Vec<Found> {
            let found = |lookup: &Lookup| {
                let checked = validate(&lookup.query, &domains, &who).ok()?;
                let lowered = lower(&checked, Dialect::Sqlite);
                let rows = database.rows(&lowered.sql, &lowered.values).into_iter();
                let values: Vec<Value> = rows.filter_map(|row| row.into_iter().next()).collect();
                Some(lookup.found(&values))
            };
            all.iter().filter_map(found).flatten().collect()
        };
        let mut found = look_up(lookups(&read, &subjects));
        found.extend(look_up(lookups_of_parts(&read, &subjects, &found)));
        let made = draft(&read, visible, &subjects, &[], &found, &[])?;
        Some(FileDraft {
            sql: spelled_out(&validate(&made.query, &domains, &who).ok()?),
            said: in_words(&made.query),
            number: made.query.group.is_empty() && !made.query.aggregate.is_empty(),
            unread: made.unread,
            sure: made.sure,
            refused: made.refused,
        })
    }

    fn answers(&self, query: &Query, schema: &Schema) -> bool {
        self.0.answers(query, schema)
    }

    fn runs(&self, program: &str) -> bool {
        self.0.runs(program)
    }

    fn split_command(&self, line: &str) -> Option<Vec<String>> {
        self.0.split_command(line)
    }
}

fn described(database: &Database) -> Domains {
    let schema = database.schema();
    let mut samples = Samples::default();
    for table in &schema.tables {
        for (sql, columns) in form_counts(table) {
            if let Some(row) = database.rows(&sql, &[]).first() {
                samples.add_forms(table, &columns, row);
            }
        }
        for column in table.columns.iter().filter(|_| table.row_estimate.is_some_and(|rows| rows <= MOST_ROWS)) {
            let values = database.distinct_values(&table.name, &column.name, SAMPLES);
            let sample = samples.tables.entry(table.name.clone()).or_default().entry(column.name.clone()).or_default();
            sample.distinct = (values.len() < SAMPLES).then_some(values.len() as u64);
            sample.values = values;
        }
    }
    let list: Vec<Domain> = init("workspace", schema, &samples).into_iter().map(|(domain, ..)| domain).collect();
    let facts: Vec<(String, Facts)> = list
        .iter()
        .zip(&schema.tables)
        .map(|(domain, table)| (domain.name.clone(), Facts::of(domain, table)))
        .collect();
    facts.into_iter().fold(Domains::new(list), |set, (name, facts)| set.with_facts(&name, facts))
}
