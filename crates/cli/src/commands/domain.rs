use crate::args::{ChangeAction, DomainAction, DomainArgs, InstructionAction, VerifiedAction};
use crate::client::{Client, encoded};
use crate::commands::datasource;
use crate::commands::documents::confirmed;
use crate::commands::picked::{first_line, pick, text};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context as _, bail};
use http::Method;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;

pub async fn run(client: &Client, args: DomainArgs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    match args.action.unwrap_or(DomainAction::List) {
        DomainAction::List => list(client, as_json, term).await,
        DomainAction::Init { datasource, table, save } => {
            let found = datasource::find(client, &datasource).await?;
            let body = json!({"tables": table, "save": save});
            let made: Value = client.post(&format!("{}/init", datasource::place(&found)), &body).await?;
            let count = made["domains"].as_array().map_or(0, Vec::len);
            if as_json {
                println!("{made}");
            } else if count == 0 {
                println!("All tables of `{datasource}` are described already.");
            } else if save {
                println!("saved {count} domains with their views; ask them with: steward ask --agent oos \"…\"");
            } else {
                print!("{}", text(&made, "text"));
            }
            Ok(Exit::Done)
        }
        DomainAction::Show { name, view } => {
            let found: Value = client.get(&place(&name, view)).await?;
            if as_json {
                println!("{found}");
            } else {
                print!("{}", text(&found, "text"));
            }
            Ok(Exit::Done)
        }
        DomainAction::Check { file } => check(client, &file, as_json, term).await,
        DomainAction::Save { file } => {
            let body = json!({"text": read(&file)?});
            let saved: Value = client.request(Method::PUT, "/api/domains/texts", Some(&body)).await?;
            if as_json {
                println!("{saved}");
                return Ok(Exit::Done);
            }
            for one in saved.as_array().into_iter().flatten() {
                let written = &one["text"];
                println!("saved {} {}, version {}", text(written, "kind"), text(written, "name"), written["version"]);
                print!("{}", text(one, "diff"));
            }
            let warnings = saved[0]["warnings"].as_array().cloned().unwrap_or_default();
            for warning in warnings.iter().filter_map(Value::as_str) {
                println!("{}", term.yellow(warning));
            }
            Ok(Exit::Done)
        }
        DomainAction::Format { file } => {
            let before = read(&file)?;
            let after: Value = client.post("/api/domains/format", &json!({"text": before})).await?;
            if file == Path::new("-") {
                print!("{}", text(&after, "text"));
            } else if text(&after, "text") != before {
                std::fs::write(&file, text(&after, "text"))
                    .with_context(|| format!("can't write {}", file.display()))?;
            }
            Ok(Exit::Done)
        }
        DomainAction::Remove { name, view, yes } => {
            let kind = if view { "view" } else { "domain" };
            if !confirmed(&format!("the {kind} `{name}`"), yes, term)? {
                return Ok(Exit::Refused);
            }
            client.delete(&place(&name, view)).await?;
            Ok(term.done(&format!("removed the {kind} `{name}`")))
        }
        DomainAction::Query { query, csv } => ask(client, &query, csv, as_json, term).await,
        DomainAction::Search { text: wanted } => {
            let found: Value = client.post("/api/domains/search", &json!({"query": wanted})).await?;
            if as_json {
                println!("{found}");
                return Ok(Exit::Done);
            }
            for one in found["items"].as_array().into_iter().flatten() {
                println!("{}\n{}\n", term.bold(text(one, "domain")), text(one, "text"));
            }
            Ok(Exit::Done)
        }
        DomainAction::Instructions { action } => {
            instructions(client, action.unwrap_or(InstructionAction::List), as_json, term).await
        }
        DomainAction::Verified { action } => {
            verified(client, action.unwrap_or(VerifiedAction::List), as_json, term).await
        }
        DomainAction::Changes { action } => {
            changes(client, action.unwrap_or(ChangeAction::List { all: false }), as_json, term).await
        }
    }
}

fn place(name: &str, view: bool) -> String {
    let kind = if view { "view" } else { "domain" };
    format!("/api/domains/texts/{kind}/{}", encoded(name))
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input can't be read")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/domains").await?;
    let empty =
        "There are no domains that you may ask. Describe a database with: steward domain init DATASOURCE --save";
    if term.listed(&rows, as_json, empty) {
        return Ok(Exit::Done);
    }
    for one in &rows {
        let rights = match (one["write"] == true, one["delete"] == true) {
            (true, true) => "read, write, delete",
            (true, false) => "read, write",
            (false, true) => "read, delete",
            _ => "read",
        };
        let scope = first_line(one["scope"].as_str().unwrap_or_default(), 80);
        println!("{:<28} {:<20} {rights:<20} {}", text(one, "name"), text(one, "datasource"), term.dim(&scope));
    }
    Ok(Exit::Done)
}

async fn check(client: &Client, file: &Path, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let report: Value = client.post("/api/domains/check", &json!({"text": read(file)?})).await?;
    if as_json {
        println!("{report}");
    }
    let all = report["diagnostics"].as_array().cloned().unwrap_or_default();
    for one in all.iter().filter(|_| !as_json) {
        let line = format!("line {}", one["line"]);
        let line = if one["error"] == true { term.red(&line) } else { term.yellow(&line) };
        println!("{line}: {} {}", text(one, "message"), term.dim(one["hint"].as_str().unwrap_or_default()));
    }
    if all.iter().any(|one| one["error"] == true) {
        return Ok(Exit::Failed);
    }
    if !as_json {
        println!("no errors in {} domains and views", report["names"].as_array().map_or(0, Vec::len));
    }
    Ok(Exit::Done)
}

async fn ask(client: &Client, query: &str, as_csv: bool, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let query: Value = serde_json::from_str(query).context("the query is no JSON object")?;
    let answer: Value = client.post("/api/domains/query", &json!({"query": query})).await?;
    if as_json {
        println!("{answer}");
        return Ok(Exit::Done);
    }
    let columns: Vec<&str> =
        answer["columns"].as_array().into_iter().flatten().map(|column| text(column, "name")).collect();
    let rows: Vec<Vec<String>> = answer["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| row.as_array().into_iter().flatten().map(cell).collect())
        .collect();
    if as_csv {
        println!("{}", csv_line(columns.iter().copied()));
        for row in &rows {
            println!("{}", csv_line(row.iter().map(String::as_str)));
        }
        return Ok(Exit::Done);
    }
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.chain([columns[at].chars().count()]).max().unwrap_or(0).min(40)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{:<width$}", first_line(cell, 40))).collect();
        padded.join("  ").trim_end().to_owned()
    };
    println!("{}", term.bold(&line(&columns)));
    for row in &rows {
        println!("{}", line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let more = if answer["truncated"] == true { "; there are more" } else { "" };
    println!("{}", term.dim(&format!("{} rows of {}{more}", rows.len(), text(&answer, "domain"))));
    Ok(Exit::Done)
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Spreadsheets run what begins like a formula.
fn csv_line<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let quoted = |cell: &str| {
        let number = cell.parse::<f64>().is_ok();
        let formula = !number && cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let cell = if formula { format!("'{cell}") } else { cell.to_owned() };
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
    };
    cells.map(quoted).collect::<Vec<_>>().join(",")
}

async fn instructions(client: &Client, action: InstructionAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = |name: &str| format!("/api/standing-instructions/{}", encoded(name));
    let all = client.rows("/api/standing-instructions").await?;
    match action {
        InstructionAction::List => {
            let empty = "There are none. Add one with: steward domain instructions set NAME TEXT";
            if term.listed(&all, as_json, empty) {
                return Ok(Exit::Done);
            }
            for one in &all {
                let off = if one["enabled"] == true { "" } else { " (off)" };
                println!("{:<28} {}{off}", text(one, "name"), first_line(text(one, "text"), 90));
            }
            Ok(Exit::Done)
        }
        InstructionAction::Set { name, text: told, position, off } => {
            let known = all.iter().find(|one| text(one, "name") == name);
            let version = known.map_or(json!(0), |one| one["version"].clone());
            let body = json!({"text": told, "position": position, "enabled": !off, "version": version});
            let saved: Value = client.request(Method::PUT, &path(&name), Some(&body)).await?;
            Ok(term.changed(&saved, as_json, &format!("saved `{name}`; it acts on the next message")))
        }
        InstructionAction::Remove { name } => {
            client.delete(&path(&name)).await?;
            Ok(term.done(&format!("removed `{name}`")))
        }
    }
}

async fn verified(client: &Client, action: VerifiedAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        VerifiedAction::List => {
            let all = client.rows("/api/verified-questions").await?;
            let empty = "There are none. Keep one with: steward domain verified add QUESTION QUERY";
            if term.listed(&all, as_json, empty) {
                return Ok(Exit::Done);
            }
            for one in &all {
                println!("{}  {:<20} {}", text(one, "id"), text(one, "domain"), first_line(text(one, "text"), 90));
            }
            Ok(Exit::Done)
        }
        VerifiedAction::Add { text: question, query } => {
            let query: Value = serde_json::from_str(&query).context("the query is no JSON object")?;
            let kept: Value =
                client.post("/api/verified-questions", &json!({"text": question, "query": query})).await?;
            Ok(term.changed(&kept, as_json, &format!("kept as {}; it acts on the next message", text(&kept, "id"))))
        }
        VerifiedAction::Remove { id } => {
            client.delete(&format!("/api/verified-questions/{}", encoded(&id))).await?;
            Ok(term.done(&format!("removed {id}")))
        }
    }
}

async fn changes(client: &Client, action: ChangeAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let (id, verb) = match action {
        ChangeAction::List { all } => {
            let path = if all { "/api/record-changes" } else { "/api/record-changes?state=proposed" };
            let rows = client.rows(path).await?;
            if term.listed(&rows, as_json, "No change of a record waits.") {
                return Ok(Exit::Done);
            }
            for one in &rows {
                print_change(one, term);
            }
            return Ok(Exit::Done);
        }
        ChangeAction::Propose { change } => {
            let change: Value = serde_json::from_str(&change).context("the change is no JSON object")?;
            let made: Value = client.post("/api/record-changes", &json!({"change": change})).await?;
            if as_json {
                println!("{made}");
                return Ok(Exit::Done);
            }
            print_change(&made, term);
            println!(
                "Nothing is written yet. Confirm it with: steward domain changes confirm {}",
                text(&made["change"], "id")
            );
            return Ok(Exit::Done);
        }
        ChangeAction::Confirm { id } => (id, "confirm"),
        ChangeAction::Discard { id } => (id, "discard"),
        ChangeAction::Undo { id } => (id, "undo"),
    };
    let rows = client.rows("/api/record-changes").await?;
    let ids: Vec<Value> = rows.iter().map(|one| one["change"].clone()).collect();
    let found = pick(ids, &id, "change", "steward domain changes list --all")?;
    let done: Value = client.act(&format!("/api/record-changes/{}/{verb}", text(&found, "id"))).await?;
    if as_json {
        println!("{done}");
    } else {
        print_change(&done, term);
    }
    if done["change"]["state"] == "failed" {
        bail!("{}", done["change"]["outcome"].as_str().unwrap_or("it was not written"));
    }
    Ok(Exit::Done)
}

fn print_change(one: &Value, term: Term) {
    let change = &one["change"];
    let what = text(&change["change"], "change");
    println!("{}  {:<9} {what} {}", text(change, "id"), text(change, "state"), text(change, "domain"));
    for field in one["difference"].as_array().into_iter().flatten() {
        let line = format!("    {}: {} → {}", text(field, "field"), cell(&field["before"]), cell(&field["after"]));
        println!("{}", term.dim(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::csv_line;

    #[test]
    fn cells_are_quoted_and_formulas_disarmed() {
        for (cells, expect) in [
            (vec!["a", "b"], "a,b"),
            (vec!["a,b", "say \"x\"", "two\nlines"], "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\""),
            (vec!["=1+1", "-5", "+49 30", "@x"], "'=1+1,-5,'+49 30,'@x"),
        ] {
            assert_eq!(csv_line(cells.into_iter()), expect);
        }
    }
}
