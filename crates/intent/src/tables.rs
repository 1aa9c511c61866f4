//! Questions about databases and files of rows: which of them is meant, and the call that answers. What a question asks of a
//! table is read where its data is described (`WorkspaceReader::draft`).

use crate::draft::{Desk, Draft, call, files, near, open};
use crate::read::path::{PathMatch, is_database, is_rows};
use serde_json::json;
use steward_core::ports::{FileDraft, FileForm, FileQuestion, FileWish};
use steward_core::tables::{Schema, Table};

/// Databases and files that are looked into for one question.
const SOURCES: usize = 12;
/// How well a question must be explained by data that it does not name, if its kind is not sure.
const EXPLAINED: f32 = 0.6;
/// How well a word must be the name of a table that it means.
const NAMED: f32 = 0.7;

impl Desk<'_> {
    pub(crate) async fn table(&self) -> Option<Draft> {
        let named = self.file().filter(|found| is_rows(&found.path) || is_database(&found.path));
        let mut paths: Vec<String> = match &named {
            Some(found) => vec![found.path.clone()],
            None => self.view.sources(),
        };
        // If a file is named and no table, other sources can't answer the question.
        if named.is_none()
            && let Some(other) = self.view.file(self.wanted.text).filter(|f| f.score >= 0.9)
        {
            return Some(open("no_table", vec![("file", other.path)]));
        }
        if paths.is_empty() {
            return Some(match self.no_file() {
                missing if missing.frame == "no_file" => missing,
                _ => files::nothing(),
            });
        }
        paths.truncate(SOURCES);
        match self.wanted.kind {
            "tables" => self.tables_of(paths.iter().find(|path| is_database(path)).or(paths.first())?).await,
            "columns" => self.columns(&paths, named.as_ref()).await,
            _ => self.rows(&paths, named.as_ref()).await,
        }
    }

    async fn rows(&self, paths: &[String], named: Option<&PathMatch>) -> Option<Draft> {
        let apart = named.map_or((0, 0), |found| found.span);
        let text = self.wanted.text;
        let wish = match self.wanted.kind {
            "count" | "lines" => Some(FileWish::Count),
            "sum" => Some(FileWish::Sum),
            "average" => Some(FileWish::Average),
            _ => None,
        };
        let question = FileQuestion {
            text: format!("{} {}", text.get(..apart.0)?, text.get(apart.1..)?),
            before: None,
            wish: wish.filter(|_| self.wanted.sure),
            today: self.view.today(),
        };
        let mut best: Option<(String, FileDraft)> = None;
        for path in paths {
            let Some(made) = self.view.draft(path.clone(), question.clone()).await else { continue };
            if best.as_ref().is_none_or(|(_, known)| (made.sure, made.score) > (known.sure, known.score)) {
                best = Some((path.clone(), made));
            }
        }
        let (path, made) = best?;
        // Rows of any file: nothing says of which.
        let is_any = named.is_none() && made.score <= 0.0 && paths.len() > 1;
        if made.sure && !is_any && (self.wanted.sure || named.is_some() || made.score >= EXPLAINED) {
            return Some(answered(&path, made));
        }
        if !self.wanted.sure {
            return None;
        }
        if is_any {
            return Some(open("which_table", vec![("names", paths.join(", "))]));
        }
        Some(unclear(&path, &made))
    }

    pub(crate) async fn tables_of(&self, path: &str) -> Option<Draft> {
        let Some(schema) = self.view.schema(path.to_owned()).await else {
            return Some(files::nothing());
        };
        let tables: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        let told = vec![("file", path.to_owned()), ("number", tables.len().to_string()), ("names", tables.join(", "))];
        Some(call("sql", files::schema(path, "*"), "tables", told))
    }

    /// The columns of the table that is named best; `None`: the request names something else.
    async fn columns(&self, paths: &[String], named: Option<&PathMatch>) -> Option<Draft> {
        let words = self.told(named.map_or((0, 0), |found| found.span));
        let mut best: Option<(f32, String, Table)> = None;
        for path in paths {
            let Some(Schema { tables }) = self.view.schema(path.clone()).await else { continue };
            let alone = tables.len() == 1 && named.is_some_and(|found| found.span != (0, 0) || words.is_empty());
            for table in tables {
                let likeness = |word: &str| near::letters(word, &table.name);
                let best_word = words.iter().map(|one| likeness(&one.text)).fold(0.0, f32::max);
                // "the table track of invoices": other words would ask for something else.
                let others = words.iter().any(|one| !one.quoted && likeness(&one.text) < NAMED);
                let fits = if alone { 1.0 } else { best_word };
                let is_it = fits >= NAMED && (alone || !others);
                if is_it && best.as_ref().is_none_or(|(known, ..)| fits > *known) {
                    best = Some((fits, path.clone(), table));
                }
            }
        }
        let Some((_, path, table)) = best else {
            return self.wanted.sure.then(|| open("which_table", vec![("names", paths.join(", "))]));
        };
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let told = vec![
            ("table", shown(&path, &table.name)),
            ("number", columns.len().to_string()),
            ("names", columns.join(", ")),
        ];
        Some(call("sql", files::schema(&path, &table.name), "columns", told))
    }
}

/// The call for what was read from a question.
pub(crate) fn answered(path: &str, made: FileDraft) -> Draft {
    let frame = match made.form {
        FileForm::AllRows if is_rows(path) => "rows_of",
        FileForm::AllRows | FileForm::Number => "data_number",
        FileForm::Rows => "rows",
    };
    let mut what = made.said;
    if !made.unread.is_empty() {
        what = format!("{what}; –{}", made.unread.join(", "));
    }
    let arguments = json!({"database": path, "query": {"sql": made.sql}});
    Draft { query: Some(made.query), ..call("sql", arguments, frame, vec![("what", what), ("file", path.to_owned())]) }
}

/// Leaving out words that were not understood would answer another question.
pub(crate) fn unclear(path: &str, made: &FileDraft) -> Draft {
    let table = if made.table.is_empty() { path.to_owned() } else { shown(path, &made.table) };
    let frame = if made.unread.is_empty() { "which_column" } else { "not_found" };
    open(frame, vec![("spare", made.unread.join(", ")), ("table", table), ("names", made.columns.join(", "))])
}

fn shown(path: &str, table: &str) -> String {
    if is_rows(path) { path.to_owned() } else { table.to_owned() }
}
