//! Databases and files of rows in a workspace, asked in people's words as described data is: what nobody described is
//! described for the request.

use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use steward_core::ports::{Embedder, Entry, FileDraft, FileForm, FileQuestion, Role, WorkspaceReader};
use steward_core::tables::Schema;
use steward_domains::draft::{
    Alike, Draft, Found, Lookup, Request, draft, first_places, first_rows, follow, in_words, lookups, lookups_of_parts,
    names, similar, with_ties,
};
use steward_domains::init::{Samples, form_counts, init};
use steward_domains::model::{Domain, Grantee};
use steward_domains::query::lower::spelled_out;
use steward_domains::query::{Dialect, Function, Query, lower, validate};
use steward_domains::registry::{Domains, Facts};
use steward_tools::LocalWorkspaces;
use steward_tools::datasource::SAMPLES;
use steward_tools::sql::Database;

/// Databases with more tables are not described for a request.
const MOST_TABLES: usize = 40;
/// Rows of a table up to which its values are looked at.
const MOST_ROWS: u64 = 200_000;
/// Names that words are compared with by their meaning.
const MOST_NAMES: usize = 200;
/// Who asks: the files of a workspace have no rights of their own.
const WHO: [Grantee; 1] = [Grantee::Role(Role::Viewer)];

/// Workspaces whose tables are described.
#[derive(Clone)]
pub struct WorkspaceTables {
    embedder: Arc<dyn Embedder>,
}

impl WorkspaceTables {
    /// `embedder`: for words that mean a name without being it.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder }
    }

    /// Names that the words of a request mean; none outside of a runtime.
    fn meant(&self, request: &Request, domains: &Domains) -> Vec<Alike> {
        let words = request.content();
        let mut all = names(domains.iter());
        all.truncate(MOST_NAMES);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Vec::new() };
        if words.is_empty() {
            return Vec::new();
        }
        let texts: Vec<String> = words.iter().cloned().chain(all.iter().map(|name| name.text.clone())).collect();
        let vectors = runtime.block_on(self.embedder.embed(&texts)).unwrap_or_default();
        if vectors.len() < texts.len() {
            return Vec::new();
        }
        let (of_words, of_names) = vectors.split_at(words.len());
        similar(&words, of_words, &all, of_names)
    }
}

impl WorkspaceReader for WorkspaceTables {
    fn entries(&self, workspace: &Path) -> Vec<Entry> {
        LocalWorkspaces::entries(workspace)
    }

    fn read(&self, workspace: &Path, path: &str, most: u64) -> Option<Vec<u8>> {
        LocalWorkspaces::read(workspace, path, most)
    }

    fn databases(&self, workspace: &Path, entries: &[Entry]) -> Vec<String> {
        LocalWorkspaces::databases(workspace, entries)
    }

    fn schema(&self, workspace: &Path, path: &str) -> Option<Schema> {
        Some(Database::open(workspace, path)?.schema().clone())
    }

    fn draft(&self, workspace: &Path, path: &str, question: &FileQuestion) -> Option<FileDraft> {
        let described = Described::open(workspace, path)?;
        let request = Request::read(&question.text, &question.today).wishing(question.wish);
        let before = question.before.as_ref().and_then(|query| Query::parse(query).ok());
        let visible = described.domains.seen_by(&WHO);
        let subjects: Vec<_> = visible.iter().collect();
        let mut found = described.look_up(&lookups(&request, &subjects));
        found.extend(described.look_up(&lookups_of_parts(&request, &subjects, &found)));
        let read = |alike: &[Alike]| match &before {
            Some(before) => follow(before, &request, visible, &found, alike),
            None => draft(&request, visible, &subjects, &[], &found, alike),
        };
        let mut made = read(&[]);
        if !made.as_ref().is_some_and(|made| made.sure) {
            let alike = self.meant(&request, &described.domains);
            let better = read(&alike).filter(|one| made.as_ref().is_none_or(|made| one.sure || one.score > made.score));
            made = better.or(made);
        }
        let made = made.map(|made| Draft { query: described.with_ties(made.query), ..made });
        Some(described.told(made, &request))
    }

    fn first_rows(&self, workspace: &Path, path: &str, query: &Value, count: u32) -> Option<FileDraft> {
        let described = Described::open(workspace, path)?;
        let query = first_rows(&Query::parse(query).ok()?, count);
        let made = Draft { query, unread: Vec::new(), score: 1.0, sure: true, refused: false };
        Some(described.told(Some(made), &Request::default())).filter(|draft| draft.sure)
    }

    fn runs(&self, program: &str) -> bool {
        LocalWorkspaces::runs(program)
    }

    fn split_command(&self, line: &str) -> Option<Vec<String>> {
        LocalWorkspaces::split_command(line)
    }
}

/// A database of the workspace with its domains.
struct Described {
    database: Database,
    domains: Domains,
}

impl Described {
    fn open(workspace: &Path, path: &str) -> Option<Self> {
        let database = Database::open(workspace, path)?;
        let domains =
            if database.schema().tables.len() <= MOST_TABLES { described(&database) } else { Domains::default() };
        Some(Self { database, domains })
    }

    /// Where the words of a request stand as values.
    fn look_up(&self, all: &[Lookup]) -> Vec<Found> {
        let found = |lookup: &Lookup| {
            let checked = validate(&lookup.query, &self.domains, &WHO).ok()?;
            let lowered = lower(&checked, Dialect::Sqlite);
            let rows = self.database.rows(&lowered.sql, &lowered.values).into_iter();
            let values: Vec<Value> = rows.filter_map(|row| row.into_iter().next()).collect();
            Some(lookup.found(&values))
        };
        all.iter().filter_map(found).flatten().collect()
    }

    /// The query for all rows that share the first place, where it asks for the first one.
    fn with_ties(&self, query: Query) -> Query {
        let checked = first_places(&query).and_then(|places| validate(&places, &self.domains, &WHO).ok());
        let Some(checked) = checked else { return query };
        let lowered = lower(&checked, Dialect::Sqlite);
        with_ties(query, &self.database.rows(&lowered.sql, &lowered.values))
    }

    /// What became of a question. Where nothing of it is known, its words are what was not understood.
    fn told(&self, made: Option<Draft>, request: &Request) -> FileDraft {
        let made = made.and_then(|made| {
            let checked = validate(&made.query, &self.domains, &WHO).ok()?;
            Some((spelled_out(&checked), made))
        });
        let Some((sql, made)) = made else {
            let tables = &self.database.schema().tables;
            let (table, columns) = match tables.as_slice() {
                [only] => (only.name.clone(), only.columns.iter().map(|column| column.name.clone()).collect()),
                several => (String::new(), several.iter().map(|table| table.name.clone()).collect()),
            };
            return FileDraft {
                query: Value::Null,
                sql: String::new(),
                said: String::new(),
                form: FileForm::Rows,
                table,
                columns,
                unread: request.naming(),
                sure: false,
                score: 0.0,
            };
        };
        let domain = self.domains.get(&made.query.domain);
        FileDraft {
            sql,
            said: in_words(&made.query),
            form: form_of(&made.query),
            table: domain.map(|domain| domain.table.clone()).unwrap_or_default(),
            columns: domain.into_iter().flat_map(|one| &one.fields).map(|field| field.name.clone()).collect(),
            unread: made.unread,
            sure: made.sure,
            score: made.score,
            query: serde_json::to_value(&made.query).unwrap_or_default(),
        }
    }
}

fn form_of(query: &Query) -> FileForm {
    match query.aggregate.as_slice() {
        [] => FileForm::Rows,
        _ if !query.group.is_empty() => FileForm::Rows,
        [one] if one.function == Function::Count && one.field.is_none() && query.conditions.is_empty() => {
            FileForm::AllRows
        }
        _ => FileForm::Number,
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
