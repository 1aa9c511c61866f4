mod changes;
mod knowledge;

use super::datasource::DATASOURCE;
use super::rows::{content_of, elements, first_line, items, print_table, text, texts};
use crate::client::{Client, encoded};
use crate::term::{Exit, Term, print_exactly, print_text};
use anyhow::Context as _;
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use steward_core::spreadsheet;

/// Domains, which say what the tables of a database mean: write, ask, and confirm changes of records.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward domain init shop --save\n  steward domain show customer\n  steward domain save customer.oos\n  steward domain query '{\"domain\": \"customer\", \"where\": [{\"field\": \"country\", \"op\": \"eq\", \"value\": \"Norway\"}]}'\n  steward domain changes"
)]
pub enum DomainAction {
    /// List those that may be asked.
    List,
    /// Write first domains and views of a datasource's tables, for a person to refine.
    Init {
        /// The datasource.
        datasource: String,
        /// Only this table; may be repeated. None: all that no domain describes.
        #[arg(long, value_name = "NAME")]
        table: Vec<String>,
        /// Save them; else they are only printed.
        #[arg(long)]
        save: bool,
    },
    /// Show the text of a domain, or of a view.
    Show {
        /// Its name.
        name: String,
        /// A view rather than a domain.
        #[arg(long)]
        view: bool,
    },
    /// Check the text of a file; `-` reads standard input.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Check and save all domains and views of a file; `-` reads standard input.
    Save {
        /// The file.
        file: PathBuf,
    },
    /// Write a file anew in the usual layout; `-` reads standard input and prints.
    Format {
        /// The file.
        file: PathBuf,
    },
    /// Take a domain or a view away. Its versions stay.
    Remove {
        /// Its name.
        name: String,
        /// A view rather than a domain.
        #[arg(long)]
        view: bool,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Ask a domain: a JSON object with domain, fields, where, order, limit, group, aggregate and with.
    Query {
        /// The query.
        query: String,
        /// Comma-separated values instead of a table.
        #[arg(long)]
        csv: bool,
    },
    /// Find the domains that a question is about.
    Search {
        /// The question.
        text: String,
    },
    /// What models are told before each question about data.
    Instructions {
        #[command(subcommand)]
        action: Option<knowledge::InstructionAction>,
    },
    /// Questions that were answered right, with their queries: examples for models.
    Verified {
        #[command(subcommand)]
        action: Option<knowledge::VerifiedAction>,
    },
    /// Changes of records: list, confirm, discard, take back.
    Changes {
        #[command(subcommand)]
        action: Option<changes::ChangeAction>,
    },
}

/// Widest column, characters.
const WIDEST: usize = 40;

pub async fn run(client: &Client, action: Option<DomainAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(DomainAction::List) {
        DomainAction::List => list(client, term).await,
        DomainAction::Init { datasource, table, save } => {
            let found = DATASOURCE.find(client, &datasource).await?;
            let body = json!({"tables": table, "save": save});
            let made: Value = client.post(&format!("{}/init", DATASOURCE.path_of(&found)), &body).await?;
            let count = items(&made, "domains").len();
            Ok(term.shown(&made, || {
                if count == 0 {
                    println!("All tables of `{datasource}` are described already.");
                } else if save {
                    println!("saved {count} domains with their views; ask them with: steward ask --agent oos \"…\"");
                    println!("Agents ask before they act until you have read and saved them, unless the datasource is trusted.");
                } else {
                    print_text(text(&made, "text"));
                }
            }))
        }
        DomainAction::Show { name, view } => {
            let found: Value = client.get(&place(&name, view)).await?;
            Ok(term.shown(&found, || print_text(text(&found, "text"))))
        }
        DomainAction::Check { file } => check(client, &file, term).await,
        DomainAction::Save { file } => {
            let saved: Value = client.put("/api/domains/texts", &json!({"text": read(&file)?})).await?;
            Ok(term.shown(&saved, || {
                for one in elements(&saved) {
                    let (name, version) = (text(&one["text"], "name"), &one["text"]["version"]);
                    println!("saved {} {name}, version {version}", text(&one["text"], "kind"));
                    print_text(text(one, "diff"));
                }
                for warning in texts(&saved[0], "warnings") {
                    println!("{}", term.yellow(warning));
                }
            }))
        }
        DomainAction::Format { file } => {
            let before = read(&file)?;
            let after: Value = client.post("/api/domains/format", &json!({"text": before})).await?;
            if file == Path::new("-") {
                print_exactly(text(&after, "text"));
            } else if text(&after, "text") != before {
                std::fs::write(&file, text(&after, "text"))
                    .with_context(|| format!("can't write {}", file.display()))?;
            }
            Ok(Exit::Done)
        }
        DomainAction::Remove { name, view, yes } => {
            let kind = if view { "view" } else { "domain" };
            if !term.removal_confirmed(yes, &format!("the {kind} `{name}`"), "")? {
                return Ok(Exit::Refused);
            }
            client.delete(&place(&name, view)).await?;
            Ok(term.done(&format!("removed the {kind} `{name}`")))
        }
        DomainAction::Query { query, csv } => ask(client, &query, csv, term).await,
        DomainAction::Search { text: wanted } => {
            let found: Value = client.post("/api/domains/search", &json!({"query": wanted})).await?;
            Ok(term.shown(&found, || {
                for one in items(&found, "items") {
                    println!("{}", term.bold(text(one, "domain")));
                    print_text(text(one, "text"));
                    println!();
                }
            }))
        }
        DomainAction::Instructions { action } => knowledge::instructions(client, action, term).await,
        DomainAction::Verified { action } => knowledge::verified(client, action, term).await,
        DomainAction::Changes { action } => changes::run(client, action, term).await,
    }
}

fn place(name: &str, view: bool) -> String {
    let kind = if view { "view" } else { "domain" };
    format!("/api/domains/texts/{kind}/{}", encoded(name))
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        return content_of(file);
    }
    std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/domains").await?;
    let empty =
        "There are no domains that you may ask. Describe a database with: steward domain init DATASOURCE --save";
    Ok(term.listed(&rows, empty, |one| {
        let rights = match (one["write"] == true, one["delete"] == true) {
            (true, true) => "read, write, delete",
            (true, false) => "read, write",
            (false, true) => "read, delete",
            _ => "read",
        };
        let scope = first_line(one["scope"].as_str().unwrap_or_default(), 80);
        println!("{:<28} {:<20} {rights:<20} {}", text(one, "name"), text(one, "datasource"), term.dim(&scope));
    }))
}

async fn check(client: &Client, file: &Path, term: Term) -> anyhow::Result<Exit> {
    let report: Value = client.post("/api/domains/check", &json!({"text": read(file)?})).await?;
    let all = items(&report, "diagnostics");
    let wrong = all.iter().any(|one| one["error"] == true);
    term.shown(&report, || {
        for one in all {
            let line = format!("line {}", one["line"]);
            let line = if one["error"] == true { term.red(&line) } else { term.yellow(&line) };
            println!("{line}: {} {}", text(one, "message"), term.dim(text(one, "hint")));
        }
        if !wrong {
            println!("no errors in {} domains and views", items(&report, "names").len());
        }
    });
    Ok(if wrong { Exit::Failed } else { Exit::Done })
}

async fn ask(client: &Client, query: &str, as_csv: bool, term: Term) -> anyhow::Result<Exit> {
    let query: Value = serde_json::from_str(query).context("the query is no JSON object")?;
    let answer: Value = client.post("/api/domains/query", &json!({"query": query})).await?;
    Ok(term.shown(&answer, || {
        let columns: Vec<&str> = items(&answer, "columns").iter().map(|column| text(column, "name")).collect();
        let rows: Vec<Vec<String>> =
            items(&answer, "rows").iter().map(|row| elements(row).map(cell).collect()).collect();
        if as_csv {
            print_exactly(&(csv_line(columns.into_iter()) + "\n"));
            for row in &rows {
                print_exactly(&(csv_line(row.iter().map(String::as_str)) + "\n"));
            }
            return;
        }
        let columns: Vec<String> = columns.into_iter().map(|name| first_line(name, WIDEST)).collect();
        let shown: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| first_line(cell, WIDEST)).collect()).collect();
        print_table(&columns, &shown, term);
        let more = if answer["truncated"] == true { "; there are more" } else { "" };
        println!("{}", term.dim(&format!("{} rows of {}{more}", rows.len(), text(&answer, "domain"))));
    }))
}

/// Empty for what is unknown.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Spreadsheets run what begins like a formula; a number is none.
fn csv_line<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let written = |cell: &str| if cell.parse::<f64>().is_ok() { cell.to_owned() } else { spreadsheet::cell(cell) };
    cells.map(written).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::csv_line;

    #[test]
    fn cells_are_quoted_and_formulas_disarmed() {
        for (cells, expect) in [
            (vec!["a", "b"], "a,b"),
            (vec!["a,b", "say \"x\"", "two\nlines"], "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\""),
            (vec!["=1+1", "-5", "+49 30", "@x", " =1"], "'=1+1,-5,'+49 30,'@x,' =1"),
        ] {
            assert_eq!(csv_line(cells.into_iter()), expect);
        }
    }
}
