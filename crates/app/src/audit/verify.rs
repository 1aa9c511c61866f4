//! A check of the whole chain, page by page.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::audit::{AuditProgress, AuditReport};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use std::time::Instant;
use steward_core::audit::{AuditEntry, AuditResult, Break, BreakKind, Fault, Link, Suspect, Verifier};
use steward_core::ports::ChainEnds;

/// Rows that are read at a time.
const PAGE: u32 = 2000;

struct Check {
    app: App,
    begun: Instant,
    /// The entry that says what was found.
    entry: AuditEntry,
    ends: ChainEnds,
    known: Option<Link>,
    verifier: Verifier,
    over: bool,
}

impl App {
    /// Goes along the chain and says how far it is; the last item has the report. What was found is itself an entry.
    pub async fn verify_audit(
        &self,
        caller: &Caller,
        known: Option<Link>,
    ) -> AppResult<BoxStream<'static, AppResult<AuditProgress>>> {
        authorize(caller, Action::Administer, Resource::Audit)?;
        self.check_chain(self.audit_entry_of(caller, "audit.verify"), known).await
    }

    /// `entry`: what is found is written down with it.
    pub(crate) async fn check_chain(
        &self,
        entry: AuditEntry,
        known: Option<Link>,
    ) -> AppResult<BoxStream<'static, AppResult<AuditProgress>>> {
        self.seal_audit().await?;
        let ends = self.store.audit_ends(self.tenant()).await?;
        if let Some(known) = known.as_ref().filter(|known| known.seq <= ends.anchor.seq) {
            return Err(AppError::invalid(
                "known",
                format!("entry {} was deleted by the retention", known.seq),
                format!("name one after {}, or none", ends.anchor.seq),
            ));
        }
        let check = Check {
            app: self.clone(),
            begun: Instant::now(),
            entry,
            verifier: Verifier::new(ends.anchor.clone(), known.clone()),
            ends,
            known,
            over: false,
        };
        let steps = stream::unfold(check, |mut check| async move {
            if check.over {
                return None;
            }
            let step = check.step().await;
            check.over |= step.is_err();
            Some((step, check))
        });
        Ok(steps.boxed())
    }
}

impl Check {
    async fn step(&mut self) -> AppResult<AuditProgress> {
        let (store, tenant) = (&self.app.store, self.app.tenant());
        let after = self.verifier.last().seq;
        // What lies before the beginning of the chain does not belong to it.
        let from = if self.verifier.checked() == 0 { 0 } else { after };
        let rows = store.audit_chain(tenant, from, PAGE).await?;
        let mut broken = None;
        for row in rows.iter().filter(|row| row.seq <= self.ends.head.seq) {
            broken = match self.verifier.check(row) {
                Ok(()) => continue,
                Err(Fault::Break(broken)) => Some(broken),
                Err(Fault::Suspect(suspect)) => Some(self.tell(&suspect, row.seq).await?),
            };
            break;
        }
        let read_all = rows.last().is_none_or(|last| last.seq >= self.ends.head.seq) || rows.len() < PAGE as usize;
        if broken.is_none() && !read_all {
            return Ok(self.progress(None));
        }
        let broken = match broken {
            Some(broken) => Some(broken),
            None => self.end().await?,
        };
        let now = self.app.store.audit_ends(self.app.tenant()).await?;
        if broken.is_some() && now.anchor != self.ends.anchor {
            // The retention was at work meanwhile.
            self.verifier = Verifier::new(now.anchor.clone(), self.known.clone());
            self.ends = now;
            return Ok(self.progress(None));
        }
        self.report(broken).await
    }

    /// Whether the entry that belongs to the place of a damaged one stands further on.
    async fn tell(&self, suspect: &Suspect, seq: u64) -> AppResult<Break> {
        let mut after = seq;
        loop {
            let rows = self.app.store.audit_chain(self.app.tenant(), after, PAGE).await?;
            let Some(last) = rows.last() else {
                return Ok(suspect.verdict(None));
            };
            if let Some(found) = rows.iter().find(|row| suspect.is_found_at(row)) {
                return Ok(suspect.verdict(Some(found.seq)));
            }
            after = last.seq;
        }
    }

    async fn end(&self) -> AppResult<Option<Break>> {
        if let Err(broken) = self.verifier.end(&self.ends.head) {
            return Ok(Some(broken));
        }
        let (store, tenant) = (&self.app.store, self.app.tenant());
        let behind = store.audit_chain(tenant, self.ends.head.seq, 1).await?;
        let now = store.audit_ends(tenant).await?;
        Ok(behind.first().filter(|_| now.head == self.ends.head).map(|row| Break {
            seq: row.seq,
            kind: BreakKind::Inserted,
            message: format!("entry {} was inserted: the chain ends at {}", row.seq, self.ends.head.seq),
        }))
    }

    async fn report(&mut self, broken: Option<Break>) -> AppResult<AuditProgress> {
        self.over = true;
        let report = AuditReport {
            ok: broken.is_none(),
            checked: self.verifier.checked(),
            anchor: self.ends.anchor.clone(),
            head: self.verifier.last().clone(),
            broken,
            ms: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let entry = self.entry.clone().with("checked", report.checked).with("head_hash", report.head.hash.as_str());
        let entry = if let Some(broken) = &report.broken {
            tracing::error!(entry = broken.seq, problem = broken.message, "the chain of the audit trail is broken");
            let entry = entry.ended(AuditResult::Failed).with("broken_at", broken.seq);
            entry.with("problem", broken.message.as_str())
        } else {
            entry
        };
        self.app.record_audit(&entry).await?;
        Ok(self.progress(Some(report)))
    }

    fn progress(&self, report: Option<AuditReport>) -> AuditProgress {
        let total = self.ends.head.seq.saturating_sub(self.ends.anchor.seq);
        AuditProgress { checked: self.verifier.checked(), total, report }
    }
}
