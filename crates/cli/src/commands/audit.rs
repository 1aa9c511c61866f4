use crate::args::{AuditAction, AuditArgs, AuditWanted, ExportFormat, Word};
use crate::client::{ByteStream, Client, encoded};
use crate::commands::picked::for_administrators;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, anyhow, bail};
use futures::TryStreamExt as _;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use steward_core::audit::{AuditResult, Break, Link, SealedEntry};

#[derive(Deserialize)]
struct Progress {
    checked: u64,
    total: u64,
    report: Option<Value>,
}

#[derive(Deserialize)]
struct Report {
    checked: u64,
    anchor: Link,
    head: Link,
    broken: Option<Break>,
}

pub async fn run(client: &Client, args: AuditArgs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    let done = match args.action {
        None => list(client, &args.wanted, args.limit, as_json, term).await,
        Some(AuditAction::List { wanted, limit }) => list(client, &wanted, limit, as_json, term).await,
        Some(AuditAction::Show { seq }) => show(client, seq, as_json).await,
        Some(AuditAction::Export { wanted, format, output }) => {
            export(client, &wanted, format, output.as_deref(), term).await
        }
        Some(AuditAction::Verify { known }) => verify(client, known.as_deref(), as_json, term).await,
        Some(AuditAction::Retention { days, forever }) => retention(client, days, forever, as_json, term).await,
    };
    done.map_err(|error| for_administrators(client, error, "sees the audit trail: open it in the studio under Audit"))
}

/// As a query, with what joins it to the path.
fn query(client: &Client, wanted: &AuditWanted) -> String {
    let now = client.now();
    let ago = |time: std::time::Duration| {
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        now.0.saturating_sub(millis).to_string()
    };
    let mut query = String::new();
    for (name, value) in [
        ("actor", wanted.actor.clone()),
        ("action", wanted.action.clone()),
        ("target", wanted.target.clone()),
        ("result", wanted.result.map(Word::word)),
        ("run", wanted.run.map(|run| run.to_string())),
        ("from", wanted.since.map(ago)),
        ("to", wanted.until.map(ago)),
        ("text", wanted.text.clone()),
    ] {
        if let Some(value) = value {
            let joint = if query.is_empty() { '?' } else { '&' };
            let _ = write!(query, "{joint}{name}={}", encoded(&value));
        }
    }
    query
}

async fn list(client: &Client, wanted: &AuditWanted, limit: u32, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = format!("/api/audit{}", query(client, wanted));
    let (rows, more): (Vec<SealedEntry>, bool) = client.list(&path, limit as usize).await?;
    if as_json {
        println!("{}", json!({"entries": rows, "more": more}));
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        term.say("No entry fits.");
    }
    for row in &rows {
        println!("{}", line(row, term));
    }
    if more {
        term.say("there are more: raise --limit, or say which entries");
    }
    Ok(Exit::Done)
}

fn line(row: &SealedEntry, term: Term) -> String {
    let entry = &row.entry;
    let result = format!("{:<9}", entry.result.as_str());
    let result = match entry.result {
        AuditResult::Ok => result,
        AuditResult::Failed | AuditResult::Refused | AuditResult::Uncertain => term.red(&result),
        _ => term.yellow(&result),
    };
    let actor = if entry.actor.is_empty() { "(unknown)" } else { &entry.actor };
    let name = entry.detail.get("name").and_then(Value::as_str);
    let from = entry.address.as_deref().map(|address| format!(" from {address}")).unwrap_or_default();
    format!(
        "{:>7}  {}  {result} {:<28} {}  {}",
        row.seq,
        entry.at.rfc3339(),
        entry.action,
        name.unwrap_or(&entry.target),
        term.dim(&format!("{actor}{from}"))
    )
}

async fn show(client: &Client, seq: u64, as_json: bool) -> anyhow::Result<Exit> {
    let row: SealedEntry = client.get(&format!("/api/audit/{seq}")).await?;
    if as_json {
        println!("{}", json!(row));
        return Ok(Exit::Done);
    }
    let entry = &row.entry;
    let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let facts = [
        ("number", row.seq.to_string()),
        ("time", entry.at.rfc3339()),
        ("actor", entry.actor.clone()),
        ("user", entry.actor_id.map(|id| id.to_string()).unwrap_or_default()),
        ("origin", word(json!(entry.origin))),
        ("address", entry.address.clone().unwrap_or_default()),
        ("action", entry.action.clone()),
        ("target", entry.target.clone()),
        ("result", entry.result.as_str().to_owned()),
        ("run", entry.run_id.map(|id| id.to_string()).unwrap_or_default()),
    ];
    let details = entry.detail.iter().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.as_str(), text)
    });
    let end = [("hash", row.hash.clone())];
    for (name, value) in facts.into_iter().chain(details).chain(end).filter(|(_, value)| !value.is_empty()) {
        println!("{name:<14} {value}");
    }
    Ok(Exit::Done)
}

async fn export(
    client: &Client,
    wanted: &AuditWanted,
    format: ExportFormat,
    output: Option<&Path>,
    term: Term,
) -> anyhow::Result<Exit> {
    let query = query(client, wanted);
    let joint = if query.is_empty() { '?' } else { '&' };
    let path = format!("/api/audit/export{query}{joint}format={}", format.word());
    let mut pieces = client.pieces(Method::GET, &path, None).await?;
    let Some(file) = output else {
        let mut out = std::io::stdout().lock();
        while let Some(piece) = pieces.try_next().await? {
            out.write_all(&piece)?;
        }
        return Ok(Exit::Done);
    };
    let cannot = || format!("cannot write {}", file.display());
    let mut out = std::fs::File::create(file).with_context(cannot)?;
    while let Some(piece) = pieces.try_next().await? {
        out.write_all(&piece).with_context(cannot)?;
    }
    out.sync_all().with_context(cannot)?;
    Ok(term.done(&format!("written: {}", file.display())))
}

async fn verify(client: &Client, known: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let known = known.map(link).transpose()?;
    let body = json!({"known": known});
    let mut pieces = client.pieces(Method::POST, "/api/audit/verify", Some(&body)).await?;
    let report = loop {
        let Some(step) = next_line(&mut pieces).await? else {
            bail!("the check was cut off; the server's log says why");
        };
        match step.report {
            Some(report) => break report,
            None => term.status(&format!("checked {} of {} entries…", step.checked, step.total)),
        }
    };
    term.clear();
    let found: Report = serde_json::from_value(report.clone()).context("the report is not understood")?;
    let exit = if found.broken.is_some() { Exit::Failed } else { Exit::Done };
    if as_json {
        println!("{report}");
        return Ok(exit);
    }
    println!("{}", told(&found, term));
    Ok(exit)
}

fn told(found: &Report, term: Term) -> String {
    let Report { checked, anchor, head, broken } = found;
    if let Some(broken) = broken {
        return format!(
            "{} at entry {}: {}\n{checked} entries before it are right.",
            term.red("The chain is broken"),
            broken.seq,
            broken.message
        );
    }
    let mut text = format!("{}: {checked} entries are there and as they were written.", term.green("The chain holds"));
    if anchor.seq > 0 {
        let _ = write!(text, "\nEntries up to {} were deleted by the retention.", anchor.seq);
    }
    if head.seq > 0 {
        let _ = write!(text, "\nThe last one: {}:{}\nNote it elsewhere; --known checks it later.", head.seq, head.hash);
    }
    text
}

fn link(text: &str) -> anyhow::Result<Link> {
    let parts = text.split_once(':').and_then(|(seq, hash)| Some((seq.parse().ok()?, hash)));
    let (seq, hash) = parts.filter(|(_, hash)| !hash.is_empty()).ok_or_else(|| {
        anyhow!("`{text}` is no noted entry; write it as `steward audit verify` printed it, NUMBER:HASH")
    })?;
    Ok(Link { seq, hash: hash.to_owned() })
}

/// The next line of an answer, whose pieces may be cut anywhere: what follows a line waits in the stream's next item.
async fn next_line(pieces: &mut ByteStream) -> anyhow::Result<Option<Progress>> {
    let mut line = Vec::new();
    while let Some(piece) = pieces.try_next().await? {
        line.extend_from_slice(&piece);
        if let Some(end) = line.iter().rposition(|byte| *byte == b'\n') {
            // Several lines may have come at once: only the last of them counts.
            let begin = line[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if end + 1 == line.len() {
                return serde_json::from_slice(&line[begin..end]).map(Some).context("a line is not understood");
            }
        }
    }
    Ok(None)
}

async fn retention(
    client: &Client,
    days: Option<u32>,
    forever: bool,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let path = "/api/audit/retention";
    let changes = days.is_some() || forever;
    let set: Value = if changes {
        client.request(Method::PUT, path, Some(&json!({"days": days}))).await?
    } else {
        client.get(path).await?
    };
    let said = match set["days"].as_u64() {
        Some(days) => format!("Entries of the audit trail are kept for {days} days."),
        None => "Entries of the audit trail are kept for good.".to_owned(),
    };
    if changes || as_json {
        return Ok(term.changed(&set, as_json, &said));
    }
    println!("{said}");
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::{Report, link, next_line, told};
    use crate::client::ByteStream;
    use crate::term::Term;
    use bytes::Bytes;
    use futures::StreamExt as _;
    use serde_json::json;

    #[test]
    fn a_noted_entry_is_read_as_it_was_printed() {
        let noted = link("12:ab").unwrap();
        assert_eq!((noted.seq, noted.hash.as_str()), (12, "ab"));
        for bad in ["", "12", "12:", ":ab", "x:ab"] {
            assert!(link(bad).unwrap_err().to_string().contains("NUMBER:HASH"), "{bad}");
        }
    }

    #[test]
    fn the_report_says_what_to_do_with_it() {
        let none = json!({"seq": 0, "hash": ""});
        let report = |value| told(&serde_json::from_value::<Report>(value).unwrap(), Term::detect(true));
        let whole =
            json!({"checked": 3, "anchor": {"seq": 2, "hash": "a"}, "head": {"seq": 5, "hash": "b"}, "broken": null});
        let text = report(whole);
        assert!(text.contains("3 entries") && text.contains("5:b") && text.contains("up to 2"), "{text}");
        let broken = json!({"seq": 4, "kind": "missing", "message": "entry 4 is missing"});
        let text = report(json!({"checked": 3, "anchor": none, "head": none, "broken": broken}));
        assert!(text.contains("at entry 4: entry 4 is missing"), "{text}");
    }

    #[tokio::test]
    async fn lines_are_whole_wherever_the_answer_is_cut() {
        let text = "{\"checked\":1,\"total\":3}\n{\"checked\":2,\"total\":3}\n{\"checked\":3,\"total\":3}\n";
        for size in [1, 7, 30, 1000] {
            let pieces: Vec<_> = text.as_bytes().chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
            let mut pieces: ByteStream = futures::stream::iter(pieces).boxed();
            let mut last = 0;
            while let Some(step) = next_line(&mut pieces).await.unwrap() {
                assert!(step.checked > last);
                last = step.checked;
            }
            assert_eq!(last, 3, "pieces of {size}");
        }
    }
}
