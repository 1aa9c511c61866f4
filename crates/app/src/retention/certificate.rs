//! What was deleted in a time, from the audit trail.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::retention::{DeletionCertificate, DeletionProof};
use crate::inputs::in_order;
use futures::TryStreamExt as _;
use serde_json::Value;
use std::fmt::Write as _;
use steward_core::Timestamp;
use steward_core::audit::SealedEntry;
use steward_core::ports::AuditFilter;
use steward_core::retention::DELETED;
use steward_core::spreadsheet::{cell, quoted_cell};

/// Deletions that one certificate holds.
const MOST: usize = 100_000;

impl App {
    /// The deletions from `from` on and before `to`.
    pub async fn deletion_certificate(
        &self,
        caller: &Caller,
        from: Timestamp,
        to: Timestamp,
    ) -> AppResult<DeletionCertificate> {
        authorize(caller, Action::Administer, Resource::Audit)?;
        in_order(from, to, "give two times in order")?;
        self.seal_audit().await?;
        let head = self.store.audit_ends(self.tenant()).await?.head;
        let filter =
            AuditFilter { action: Some(DELETED.to_owned()), from: Some(from), to: Some(to), ..AuditFilter::default() };
        let (mut deletions, mut pages) = (Vec::new(), self.audit_pages(filter));
        while let Some(page) = pages.try_next().await? {
            if deletions.len() >= MOST {
                return Err(AppError::invalid(
                    "to",
                    format!("more than {MOST} deletions"),
                    "ask for a shorter time, and for the rest with the next",
                ));
            }
            deletions.extend(page.iter().map(proof));
        }
        Ok(DeletionCertificate {
            from: from.0,
            to: to.0,
            made_at: self.now().0,
            made_by: caller.by(),
            audit_head: format!("{}:{}", head.seq, head.hash),
            deletions,
        })
    }
}

fn proof(sealed: &SealedEntry) -> DeletionProof {
    let detail = &sealed.entry.detail;
    let text = |name: &str| detail.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    DeletionProof {
        seq: sealed.seq,
        at: sealed.entry.at.0,
        kind: text("kind"),
        id: sealed.entry.target.clone(),
        policy: text("policy"),
        age_days: detail.get("age_days").and_then(Value::as_u64),
        sha256: text("sha256"),
        hash: sealed.hash.clone(),
    }
}

impl DeletionCertificate {
    /// As a table, with a header.
    pub fn csv(&self) -> String {
        let mut lines = String::from("seq,time,kind,id,policy,age_days,sha256,hash\r\n");
        for one in &self.deletions {
            let age = one.age_days.map(|age| age.to_string()).unwrap_or_default();
            let (kind, id, policy) = (cell(&one.kind), cell(&one.id), quoted_cell(&one.policy));
            let time = Timestamp(one.at).rfc3339();
            let _ = write!(lines, "{},{time},{kind},{id},{policy},{age},{},{}\r\n", one.seq, one.sha256, one.hash);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use crate::dto::retention::{DeletionCertificate, DeletionProof};

    #[test]
    fn no_cell_of_a_certificate_is_a_formula() {
        let proof = |id: &str, policy: &str| DeletionProof {
            seq: 7,
            at: 0,
            kind: "documents".to_owned(),
            id: id.to_owned(),
            policy: policy.to_owned(),
            age_days: Some(30),
            sha256: "s".to_owned(),
            hash: "h".to_owned(),
        };
        let certificate = DeletionCertificate {
            from: 0,
            to: 1,
            made_at: 1,
            made_by: "ada".to_owned(),
            audit_head: "7:h".to_owned(),
            deletions: vec![proof("a1", "old \"drafts\""), proof("=1", "\r+1")],
        };
        let expect = "seq,time,kind,id,policy,age_days,sha256,hash\r\n\
            7,1970-01-01T00:00:00Z,documents,a1,\"old \"\"drafts\"\"\",30,s,h\r\n\
            7,1970-01-01T00:00:00Z,documents,'=1,\"'\r+1\",30,s,h\r\n";
        assert_eq!(certificate.csv(), expect);
    }
}
