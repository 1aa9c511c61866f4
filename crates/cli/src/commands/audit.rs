use crate::client::{ByteStream, Client, with_query};
use crate::commands::rows::{cell, for_administrators};
use crate::options::{Actions, Word, duration};
use crate::term::{Exit, Term, print_text};
use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use futures::TryStreamExt as _;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use steward_core::RunId;
use steward_core::audit::{AuditResult, Break, Link, SealedEntry};

/// Who did what, when and from where; check that nobody changed the record.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward audit --action auth --since 1d\n  steward audit --run 3f2a91c0-0000-7000-8000-000000000001\n  steward audit export --format csv --output audit.csv\n  steward audit verify\n  steward audit retention --days 365\n\nOnly administrators may. Without a server you are one. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
)]
pub struct AuditArgs {
    #[command(flatten)]
    listed: Listed,
    #[command(flatten)]
    actions: Actions<AuditAction>,
}

/// What is listed.
#[derive(Debug, Clone, Args)]
pub struct Listed {
    #[command(flatten)]
    wanted: AuditWanted,
    /// At most so many.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
}

/// Which entries. All that is given must fit.
#[derive(Debug, Clone, Default, Args)]
pub struct AuditWanted {
    /// Of this actor: an email, or `steward` for Steward itself.
    #[arg(long, value_name = "WHO")]
    actor: Option<String>,
    /// Of this action, or of those below it: `auth` has `auth.login` too.
    #[arg(long, value_name = "NAME")]
    action: Option<String>,
    /// To this target: an id, a tool or an agent.
    #[arg(long, value_name = "WHAT")]
    target: Option<String>,
    /// That ended so.
    #[arg(long, value_enum)]
    result: Option<ResultArg>,
    /// Of this run.
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,
    /// Not older than this: 90s, 30m, 1h or 7d.
    #[arg(long, value_parser = duration, value_name = "TIME")]
    since: Option<Duration>,
    /// Older than this.
    #[arg(long, value_parser = duration, value_name = "TIME")]
    until: Option<Duration>,
    /// Whose actor, action, target, address or details hold this.
    #[arg(long)]
    text: Option<String>,
}

/// How something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResultArg {
    /// Done.
    Ok,
    /// A person is asked.
    Asked,
    /// Not allowed, or a person said no.
    Refused,
    /// It went wrong.
    Failed,
    /// A person stopped it.
    Stopped,
    /// A limit stopped it.
    Limited,
    /// Nobody knows whether it happened.
    Uncertain,
}

#[derive(Debug, Clone, Subcommand)]
pub enum AuditAction {
    /// List entries, newest first.
    List(Listed),
    /// Show one entry.
    Show {
        /// Its number.
        seq: u64,
    },
    /// Write entries to a file, oldest first.
    Export {
        #[command(flatten)]
        wanted: AuditWanted,
        /// How it is written.
        #[arg(long, value_enum, default_value = "jsonl")]
        format: ExportFormat,
        /// The file; standard output if left out.
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check that every entry is there and as it was written; the exit code is 1 if not.
    Verify {
        /// An entry noted at an earlier check, which must still be there as it was.
        #[arg(long, value_name = "NUMBER:HASH")]
        known: Option<String>,
    },
    /// Show or set how long entries are kept.
    Retention {
        /// Days; older entries are deleted.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: Option<u32>,
        /// Keep all for good.
        #[arg(long, conflicts_with = "days")]
        forever: bool,
    },
    /// Show which deletions of old data wait for an administrator, and why.
    Deletions {
        /// Have them go on: the clock is right, and as much is to be deleted.
        #[arg(long)]
        agree: bool,
    },
}

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated, for spreadsheets.
    Csv,
}

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
    let term = term.with_json(args.actions.json);
    let done = match args.actions.action {
        None => list(client, &args.listed, term).await,
        Some(AuditAction::List(listed)) => list(client, &listed, term).await,
        Some(AuditAction::Show { seq }) => show(client, seq, term).await,
        Some(AuditAction::Export { wanted, format, output }) => {
            export(client, &wanted, format, output.as_deref(), term).await
        }
        Some(AuditAction::Verify { known }) => verify(client, known.as_deref(), term).await,
        Some(AuditAction::Retention { days, forever }) => retention(client, days, forever, term).await,
        Some(AuditAction::Deletions { agree }) => deletions(client, agree, term).await,
    };
    done.map_err(|error| for_administrators(client, error, "sees the audit trail: open it in the studio under Audit"))
}

/// The path with those entries as its query.
fn path_to(client: &Client, path: &str, wanted: &AuditWanted) -> String {
    let now = client.now();
    let ago = |time: Duration| {
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        now.0.saturating_sub(millis).to_string()
    };
    let parts = [
        ("actor", wanted.actor.clone()),
        ("action", wanted.action.clone()),
        ("target", wanted.target.clone()),
        ("result", wanted.result.map(Word::word)),
        ("run", wanted.run.map(|run| run.to_string())),
        ("from", wanted.since.map(ago)),
        ("to", wanted.until.map(ago)),
        ("text", wanted.text.clone()),
    ];
    with_query(path, parts)
}

async fn list(client: &Client, listed: &Listed, term: Term) -> anyhow::Result<Exit> {
    let path = path_to(client, "/api/audit", &listed.wanted);
    let (rows, more): (Vec<SealedEntry>, bool) = client.list(&path, listed.limit as usize).await?;
    Ok(term.shown(&json!({"entries": rows, "more": more}), || {
        if rows.is_empty() {
            term.say("No entry fits.");
        }
        for row in &rows {
            println!("{}", line(row, term));
        }
        if more {
            term.say("there are more: raise --limit, or say which entries");
        }
    }))
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

async fn show(client: &Client, seq: u64, term: Term) -> anyhow::Result<Exit> {
    let row: SealedEntry = client.get(&format!("/api/audit/{seq}")).await?;
    Ok(term.shown(&row, || {
        let entry = &row.entry;
        let facts = [
            ("number", row.seq.to_string()),
            ("time", entry.at.rfc3339()),
            ("actor", entry.actor.clone()),
            ("user", entry.actor_id.map(|id| id.to_string()).unwrap_or_default()),
            ("origin", cell(&json!(entry.origin))),
            ("address", entry.address.clone().unwrap_or_default()),
            ("action", entry.action.clone()),
            ("target", entry.target.clone()),
            ("result", entry.result.as_str().to_owned()),
            ("run", entry.run_id.map(|id| id.to_string()).unwrap_or_default()),
        ];
        let details = entry.detail.iter().map(|(name, value)| (name.as_str(), cell(value)));
        let end = [("hash", row.hash.clone())];
        for (name, value) in facts.into_iter().chain(details).chain(end).filter(|(_, value)| !value.is_empty()) {
            println!("{name:<14} {value}");
        }
    }))
}

async fn export(
    client: &Client,
    wanted: &AuditWanted,
    format: ExportFormat,
    output: Option<&Path>,
    term: Term,
) -> anyhow::Result<Exit> {
    let path = with_query(&path_to(client, "/api/audit/export", wanted), [("format", Some(format.word()))]);
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

async fn verify(client: &Client, known: Option<&str>, term: Term) -> anyhow::Result<Exit> {
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
    term.shown(&report, || print_text(&told(&found, term)));
    Ok(if found.broken.is_some() { Exit::Failed } else { Exit::Done })
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

async fn retention(client: &Client, days: Option<u32>, forever: bool, term: Term) -> anyhow::Result<Exit> {
    let path = "/api/audit/retention";
    let changes = days.is_some() || forever;
    let set: Value = if changes { client.put(path, &json!({"days": days})).await? } else { client.get(path).await? };
    let said = match set["days"].as_u64() {
        Some(days) => format!("Entries of the audit trail are kept for {days} days."),
        None => "Entries of the audit trail are kept for good.".to_owned(),
    };
    if changes {
        return Ok(term.changed(&set, &said));
    }
    Ok(term.shown(&set, || println!("{said}")))
}

async fn deletions(client: &Client, agree: bool, term: Term) -> anyhow::Result<Exit> {
    let path = "/api/data-governance/retention";
    let mut rules: Value = client.get(path).await?;
    if agree && let Some(confirmation) = rules.pointer("/held_back/0/confirmation") {
        let _: Value = client.post(&format!("{path}/agree"), &json!({"confirmation": confirmation})).await?;
        return Ok(term.changed(&json!({"agreed": true}), "The deletions go on."));
    }
    let held = rules["held_back"].take();
    Ok(term.shown(&held, || {
        let held = held.as_array().map(Vec::as_slice).unwrap_or_default();
        if held.is_empty() {
            println!("No deletion waits for an administrator.");
        }
        for one in held {
            let word = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            println!("{}: nothing is deleted: {}; {}", word("by"), word("message"), word("hint"));
        }
    }))
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
