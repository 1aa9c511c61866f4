//! Whether what was restored is what it was: the database's pages, the chains of the audit trail, the files that rows refer
//! to, and the decisions of the runs that were kept as tests.

use super::manifest::{ErasedPerson, Manifest};
use super::unpack::Unpacked;
use crate::app::{App, AppResult};
use crate::erasure::FailedErasures;
use crate::tenants::Tenants;
use futures::StreamExt as _;
use serde::Serialize;
use std::collections::BTreeMap;
use steward_core::TenantId;
use steward_core::audit::Link;
use steward_core::ports::{CredentialRows as _, StoreResult};

/// Rows that are read at a time.
const PAGE: u32 = 500;
/// Most problems that are told of one organisation.
const MAX_PROBLEMS: usize = 20;

/// What was found in a restored folder.
#[derive(Debug, Default, Serialize)]
pub struct RestoredCheck {
    pub tenants: Vec<TenantCheck>,
}

#[derive(Debug, Default, Serialize)]
pub struct TenantCheck {
    pub slug: String,
    /// Entries of the audit trail that are there and as they were written.
    pub audit_entries: u64,
    /// Large bodies and sent files that rows refer to.
    pub files: u64,
    /// Runs kept as tests that decide as they did.
    pub kept_runs: u64,
    pub problems: Vec<String>,
}

impl TenantCheck {
    fn tell(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

impl RestoredCheck {
    pub fn problems(&self) -> impl Iterator<Item = String> + '_ {
        self.tenants.iter().flat_map(|one| one.problems.iter().map(move |text| format!("{}: {text}", one.slug)))
    }
}

impl Tenants {
    /// Compares with what the backup says, and each tenant with itself. `stage` is told what is looked at.
    pub async fn check_restored(
        &self,
        manifest: &Manifest,
        stage: &mut (dyn FnMut(String) + Send),
    ) -> AppResult<RestoredCheck> {
        stage("the pages of the database".to_owned());
        self.installation().store.check().await?;
        let mut checked = RestoredCheck::default();
        let rows = self.prepare().await?;
        for of in &manifest.tenants {
            let mut found = TenantCheck { slug: of.slug.clone(), ..TenantCheck::default() };
            if !rows.iter().any(|row| row.id == of.id) {
                found.tell("the organisation isn't in the database".to_owned());
            } else if let Some(app) = self.of(of.id) {
                stage(format!("the organisation {}", of.slug));
                app.check_own(&of.audit, &mut found).await?;
            } else if rows.iter().any(|row| row.id == of.id && row.disabled_at.is_none()) {
                found.tell("the organisation can't be opened; the log says why".to_owned());
            }
            checked.tenants.push(found);
        }
        Ok(checked)
    }

    /// Erases again who was erased after the backup was made. Answers how many, and why others wait.
    pub async fn erase_again(&self, people: &[ErasedPerson]) -> AppResult<(u64, Vec<String>)> {
        let mut by_tenant: BTreeMap<TenantId, Vec<ErasedPerson>> = BTreeMap::new();
        for person in people {
            by_tenant.entry(person.tenant).or_default().push(*person);
        }
        let (mut erased, mut waiting) = (0, Vec::new());
        for (tenant, people) in by_tenant {
            let Some(app) = self.of(tenant) else {
                waiting.push(format!("organisation {tenant} isn't open"));
                continue;
            };
            for person in people {
                erased += u64::from(app.ask_erasure_again(person.user).await?);
            }
            app.go_on_erasing(&mut FailedErasures::default()).await?;
            waiting.extend(app.waiting_erasures().await?);
        }
        Ok((erased, waiting))
    }

    /// Of all credentials, for a restore without their key.
    pub async fn credential_names(&self) -> AppResult<Vec<String>> {
        let mut names = Vec::new();
        for app in self.all() {
            let mut after: Option<String> = None;
            loop {
                let rows = app.store.credential_rows(app.tenant(), after.as_deref(), PAGE).await?;
                names.extend(rows.items.iter().map(|row| row.credential.name.clone()));
                after = rows.items.last().map(|row| row.credential.name.clone());
                if !rows.more {
                    break;
                }
            }
        }
        Ok(names)
    }

    /// Writes down in the restored trail where its data comes from.
    pub async fn note_restored(&self, from: &Unpacked, erased: u64) -> AppResult<()> {
        let home = self.installation();
        let entry = home.audit_fact("backups.restored").with("made_at", from.head.made_at);
        let entry = entry.with("made_by", from.head.program.as_str()).with("list_sha256", from.totals.list.as_str());
        home.record_audit(&entry.with("keys", from.manifest.keys).with("erased_again", erased)).await
    }
}

impl App {
    async fn check_own(&self, audit: &Link, found: &mut TenantCheck) -> AppResult<()> {
        let known = Some(audit.clone()).filter(|link| link.seq > 0);
        let mut steps = self.check_chain(self.audit_fact("audit.verify"), known).await?;
        while let Some(step) = steps.next().await {
            let Some(report) = step?.report else { continue };
            found.audit_entries = report.checked;
            if let Some(broken) = report.broken {
                found.tell(format!(
                    "the chain of the audit trail is broken at entry {}: {}",
                    broken.seq, broken.message
                ));
            }
        }
        self.check_blobs(found).await?;
        self.check_originals(found).await?;
        for kept in self.store.kept_runs(self.tenant()).await? {
            match self.runs.replay(kept.run).await {
                Ok(report) if report.same => found.kept_runs += 1,
                Ok(_) => found.tell(format!("the kept run `{}` doesn't decide as it did", kept.name)),
                Err(error) => found.tell(format!("the kept run `{}` can't be replayed: {error}", kept.name)),
            }
        }
        Ok(())
    }

    async fn check_blobs(&self, found: &mut TenantCheck) -> StoreResult<()> {
        let mut after = String::new();
        loop {
            let hashes = self.store.blobs_of_events(self.tenant(), &after, PAGE).await?;
            let Some(last) = hashes.last() else { return Ok(()) };
            after.clone_from(last);
            for hash in &hashes {
                if self.store.blob_is_whole(self.tenant(), hash).await? {
                    found.files += 1;
                } else {
                    found.tell(format!("the large body {hash} of an event is missing or damaged"));
                }
            }
        }
    }

    async fn check_originals(&self, found: &mut TenantCheck) -> AppResult<()> {
        let mut after = 0;
        loop {
            let originals = self.store.originals(self.tenant(), after, PAGE).await?;
            let Some(last) = originals.last() else { return Ok(()) };
            after = last.number;
            for one in originals.iter().filter(|one| !one.lost) {
                if self.documents.original_is_whole(&one.sha256).await {
                    found.files += 1;
                } else {
                    found.tell(format!("the file of the document {} is missing or damaged", one.name));
                }
            }
        }
    }
}
