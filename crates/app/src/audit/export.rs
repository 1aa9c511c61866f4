//! The audit trail as a file, oldest entry first; never more than a page of it in memory.

use super::check_filter;
use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::json;
use steward_core::audit::{AuditResult, SealedEntry};
use steward_core::ports::AuditFilter;
use steward_core::spreadsheet::guarded;
use utoipa::ToSchema;

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditFormat {
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated, with a header, for spreadsheets.
    Csv,
}

const COLUMNS: [&str; 14] = [
    "seq", "time", "actor", "actor_id", "origin", "address", "action", "target", "result", "run_id", "detail", "at",
    "id", "hash",
];

impl App {
    /// The entries that fit, piece by piece. The export is itself an entry, before it begins.
    pub async fn export_audit(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        format: AuditFormat,
    ) -> AppResult<BoxStream<'static, AppResult<Bytes>>> {
        authorize(caller, Action::Administer, Resource::Audit)?;
        check_filter(&filter)?;
        let entry = self.audit_entry_of(caller, "audit.export").with("format", json!(format));
        let entry = entry
            .with("actor", filter.actor.clone())
            .with("action", filter.action.clone())
            .with("target", filter.target.clone())
            .with("result", filter.result.map(AuditResult::as_str))
            .with("run_id", filter.run.map(|run| run.to_string()))
            .with("from", filter.from.map(|at| at.0))
            .with("to", filter.to.map(|at| at.0))
            .with("text", filter.text.clone());
        self.record_audit(&entry).await?;
        self.seal_audit().await?;
        let pages = self.audit_pages(filter).enumerate();
        Ok(pages.map(move |(number, page)| written(format, number == 0, &page?)).boxed())
    }
}

fn written(format: AuditFormat, first: bool, entries: &[SealedEntry]) -> AppResult<Bytes> {
    match format {
        AuditFormat::Jsonl => {
            let mut lines = String::new();
            for entry in entries {
                lines += &json!(entry).to_string();
                lines.push('\n');
            }
            Ok(lines.into())
        }
        AuditFormat::Csv => csv_of(first, entries)
            .map(Bytes::from)
            .map_err(|error| AppError::unavailable(format!("the export can't be written: {error}"))),
    }
}

fn csv_of(header: bool, entries: &[SealedEntry]) -> csv::Result<Vec<u8>> {
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    if header {
        table.write_record(COLUMNS)?;
    }
    for SealedEntry { seq, entry, hash } in entries {
        let origin = entry.origin.map_or_else(String::new, |origin| json!(origin).as_str().unwrap_or("").to_owned());
        table.write_record([
            seq.to_string(),
            entry.at.rfc3339(),
            guarded(&entry.actor).into_owned(),
            entry.actor_id.map(|id| id.to_string()).unwrap_or_default(),
            origin,
            guarded(entry.address.as_deref().unwrap_or_default()).into_owned(),
            guarded(&entry.action).into_owned(),
            guarded(&entry.target).into_owned(),
            entry.result.as_str().to_owned(),
            entry.run_id.map(|id| id.to_string()).unwrap_or_default(),
            json!(entry.detail).to_string(),
            entry.at.0.to_string(),
            entry.id.to_string(),
            hash.clone(),
        ])?;
    }
    table.into_inner().map_err(|error| error.into_error().into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::csv_of;
    use steward_core::Timestamp;
    use steward_core::audit::{AuditEntry, SealedEntry};
    use uuid::Uuid;

    #[test]
    fn formulas_and_quotes_stay_text() {
        let entry = AuditEntry::new(Uuid::nil(), Timestamp(0), "auth.login").by("=1, \"x\"", None).with("a", "b");
        let text = csv_of(true, &[SealedEntry { seq: 1, entry, hash: "h".to_owned() }]).unwrap();
        let expect = "seq,time,actor,actor_id,origin,address,action,target,result,run_id,detail,at,id,hash\r\n\
            1,1970-01-01T00:00:00Z,\"'=1, \"\"x\"\"\",,,,auth.login,,ok,,\"{\"\"a\"\":\"\"b\"\"}\",0,\
            00000000-0000-0000-0000-000000000000,h\r\n";
        assert_eq!(String::from_utf8(text).unwrap(), expect);
    }
}
