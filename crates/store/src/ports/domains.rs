//! Datasources, domains and views as texts, standing instructions, and proposed changes of records.

use crate::codec::{body, from_json, from_word, page_size, provenance_of, provenance_text, to_json};
use crate::error::{on_duplicate, require_changed};
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use std::fmt::Write as _;
use steward_core::datasource::{
    Datasource, DomainGroup, DomainText, DomainTextKind, RecordChange, StandingInstruction, VerifiedQuestion,
};
use steward_core::ports::{Page, RecordChangeFilter, StoreError, StoreResult};
use steward_core::{DatasourceId, GroupId, RecordChangeId, TenantId, UserId};

fn changed_meanwhile(what: &str) -> StoreError {
    StoreError::Conflict(format!("{what} was changed meanwhile; read it again"))
}

impl Store {
    /// Differs after every change of a datasource or a text.
    pub async fn domains_stamp(&self, tenant: TenantId) -> StoreResult<String> {
        // Each query over a domain asks for it.
        if let Some(changes) = self.domain_changes() {
            return Ok(changes.to_string());
        }
        // Each change of a text adds a version of it.
        let sql = "select t.changes, d.id, d.version \
                   from (select count(*) as changes from domain_text_versions where tenant_id = $1) t \
                   left join datasources d on d.tenant_id = $1 order by d.id";
        let mut stamp = String::new();
        for row in self.rows(sql, args![tenant]).await? {
            let _ = write!(stamp, "{}:{:?}:{:?} ", row.count(0)?, row.opt_id(1)?, row.opt_int(2)?);
        }
        Ok(stamp)
    }

    /// By name.
    pub async fn datasources(&self, tenant: TenantId) -> StoreResult<Vec<Datasource>> {
        let sql = "select body from datasources where tenant_id = $1";
        self.all_by_name(sql, args![tenant], body("a datasource"), |one: &Datasource| one.name.as_str()).await
    }

    pub async fn datasource(&self, tenant: TenantId, id: DatasourceId) -> StoreResult<Option<Datasource>> {
        let sql = "select body from datasources where tenant_id = $1 and id = $2";
        self.first(sql, args![tenant, id], body("a datasource")).await
    }

    /// A name that is taken is a conflict. Returns it with its next version.
    pub async fn save_datasource(&self, tenant: TenantId, datasource: &Datasource) -> StoreResult<Datasource> {
        let saved = Datasource { version: datasource.version + 1, ..datasource.clone() };
        let args = args![tenant, saved.id, &saved.name, saved.version, to_json(&saved)?, datasource.version];
        let sql = if datasource.version == 0 {
            "insert into datasources (tenant_id, id, name, version, body) values ($1, $2, $3, $4 + $6, $5)"
        } else {
            "update datasources set name = $3, version = $4, body = $5
             where tenant_id = $1 and id = $2 and version = $6"
        };
        let done = self.execute(sql, args).await.map_err(|error| {
            on_duplicate(error, || format!("another datasource has the name {:?}; choose another", saved.name))
        })?;
        if done == 0 {
            return Err(changed_meanwhile("the datasource"));
        }
        Ok(saved)
    }

    pub async fn remove_datasource(&self, tenant: TenantId, id: DatasourceId) -> StoreResult<()> {
        let sql = "delete from datasources where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("datasource {id}"))
    }

    /// By kind and name.
    pub async fn domain_texts(&self, tenant: TenantId) -> StoreResult<Vec<DomainText>> {
        let sql = "select kind, name, version, changed_at, changed_by, text, provenance from domain_texts
             where tenant_id = $1";
        let mut all: Vec<DomainText> = self.all(sql, args![tenant], text_of).await?;
        all.sort_by(|one, other| (one.kind.name(), &one.name).cmp(&(other.kind.name(), &other.name)));
        Ok(all)
    }

    pub async fn domain_text(
        &self,
        tenant: TenantId,
        kind: DomainTextKind,
        name: &str,
    ) -> StoreResult<Option<DomainText>> {
        let sql = "select kind, name, version, changed_at, changed_by, text, provenance from domain_texts
             where tenant_id = $1 and kind = $2 and name = $3";
        self.first(sql, args![tenant, kind.name(), name], text_of).await
    }

    /// What the names of groups in all domains mean.
    pub async fn domain_groups(&self, tenant: TenantId) -> StoreResult<Vec<DomainGroup>> {
        let sql = "select domain, name, group_id from domain_groups where tenant_id = $1";
        self.all(sql, args![tenant], |row| {
            Ok(DomainGroup { domain: row.text(0)?, name: row.text(1)?, group: GroupId(row.id(2)?) })
        })
        .await
    }

    /// All or none; each with its next version. `groups`: what the names of groups in them mean from now on.
    pub async fn save_domain_texts(
        &self,
        tenant: TenantId,
        texts: &[DomainText],
        groups: &[DomainGroup],
    ) -> StoreResult<Vec<DomainText>> {
        self.write((tenant, texts.to_vec(), groups.to_vec()), |(tenant, texts, groups), tx| {
            Box::pin(async move {
                let mut saved = Vec::with_capacity(texts.len());
                for text in texts {
                    saved.push(save_text(tx, *tenant, text).await?);
                    if text.kind == DomainTextKind::Domain {
                        let meant = groups.iter().filter(|one| one.domain == text.name);
                        replace_groups(tx, *tenant, &text.name, meant).await?;
                    }
                }
                Ok(saved)
            })
        })
        .await
    }

    /// `removed`: who takes it away, and when. Its versions stay.
    pub async fn remove_domain_text(&self, tenant: TenantId, removed: &DomainText) -> StoreResult<()> {
        self.write((tenant, removed.clone()), |(tenant, removed), tx| Box::pin(remove_text(tx, *tenant, removed))).await
    }

    /// All versions of a text, the newest first, also of one that was removed.
    pub async fn domain_text_versions(
        &self,
        tenant: TenantId,
        kind: DomainTextKind,
        name: &str,
    ) -> StoreResult<Vec<DomainText>> {
        let sql = "select kind, name, version, changed_at, changed_by, text, provenance from domain_text_versions
             where tenant_id = $1 and kind = $2 and name = $3 and removed = 0 order by version desc";
        self.all(sql, args![tenant, kind.name(), name], text_of).await
    }

    /// In the order in which they are told.
    pub async fn standing_instructions(&self, tenant: TenantId) -> StoreResult<Vec<StandingInstruction>> {
        let mut all: Vec<StandingInstruction> = self
            .all(
                "select body from standing_instructions where tenant_id = $1",
                args![tenant],
                body("a standing instruction"),
            )
            .await?;
        all.sort_by(|one, other| (one.position, &one.name).cmp(&(other.position, &other.name)));
        Ok(all)
    }

    pub async fn save_standing_instruction(
        &self,
        tenant: TenantId,
        instruction: &StandingInstruction,
    ) -> StoreResult<StandingInstruction> {
        let saved = StandingInstruction { version: instruction.version + 1, ..instruction.clone() };
        let args = args![tenant, &saved.name, saved.version, to_json(&saved)?, instruction.version];
        let sql = if instruction.version == 0 {
            "insert into standing_instructions (tenant_id, name, version, body) values ($1, $2, $3 + $5, $4)
             on conflict do nothing"
        } else {
            "update standing_instructions set version = $3, body = $4
             where tenant_id = $1 and name = $2 and version = $5"
        };
        if self.execute(sql, args).await? == 0 {
            return Err(changed_meanwhile("the standing instruction"));
        }
        Ok(saved)
    }

    pub async fn remove_standing_instruction(&self, tenant: TenantId, name: &str) -> StoreResult<()> {
        let sql = "delete from standing_instructions where tenant_id = $1 and name = $2";
        require_changed(self.execute(sql, args![tenant, name]).await?, || format!("standing instruction {name:?}"))
    }

    /// The newest first.
    pub async fn verified_questions(&self, tenant: TenantId) -> StoreResult<Vec<VerifiedQuestion>> {
        let sql = "select body from verified_questions where tenant_id = $1 order by at desc, id";
        self.all(sql, args![tenant], body("a verified question")).await
    }

    /// Takes the place of the same question.
    pub async fn save_verified_question(&self, tenant: TenantId, question: &VerifiedQuestion) -> StoreResult<()> {
        let sql = "insert into verified_questions (tenant_id, id, at, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, id) do update set at = excluded.at, body = excluded.body";
        self.run(sql, args![tenant, &question.id, question.at, to_json(question)?]).await
    }

    pub async fn remove_verified_question(&self, tenant: TenantId, id: &str) -> StoreResult<()> {
        let sql = "delete from verified_questions where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("verified question {id:?}"))
    }

    pub async fn add_record_change(&self, tenant: TenantId, change: &RecordChange) -> StoreResult<()> {
        let sql = "insert into record_changes
                 (tenant_id, id, domain, state, owner_id, run_id, proposed_at, version, body)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let args = args![
            tenant,
            change.id,
            &change.domain,
            change.state.name(),
            change.owner,
            change.run,
            change.proposed_at,
            change.version,
            to_json(change)?
        ];
        self.run(sql, args).await
    }

    pub async fn record_change(&self, tenant: TenantId, id: RecordChangeId) -> StoreResult<Option<RecordChange>> {
        let sql = "select body from record_changes where tenant_id = $1 and id = $2";
        self.first(sql, args![tenant, id], change_of).await
    }

    /// The newest first.
    pub async fn record_changes(
        &self,
        tenant: TenantId,
        filter: &RecordChangeFilter,
    ) -> StoreResult<Page<RecordChange>> {
        let limit = page_size(filter.limit);
        let sql = "select body from record_changes
             where tenant_id = $1 and ($2 is null or state = $2) and ($3 is null or owner_id = $3)
               and ($4 is null or id < $4)
             order by id desc limit $5";
        let state = filter.state.map(|state| state.name().to_owned());
        let args = args![tenant, state, filter.owner, filter.before, limit + 1];
        self.page(sql, args, limit, change_of).await
    }

    /// Saves it with its next version; one that was changed meanwhile is a conflict.
    pub async fn save_record_change(&self, tenant: TenantId, change: &RecordChange) -> StoreResult<RecordChange> {
        let saved = RecordChange { version: change.version + 1, ..change.clone() };
        let sql = "update record_changes set state = $3, version = $4, body = $5
             where tenant_id = $1 and id = $2 and version = $6";
        let args = args![tenant, saved.id, saved.state.name(), saved.version, to_json(&saved)?, change.version];
        if self.execute(sql, args).await? == 0 {
            return Err(changed_meanwhile("the proposed change"));
        }
        Ok(saved)
    }
}

fn text_of(row: &Row) -> StoreResult<DomainText> {
    Ok(DomainText {
        kind: from_word("the kind of a text of a domain", row.text(0)?)?,
        name: row.text(1)?,
        version: row.count(2)?,
        changed_at: row.time(3)?,
        changed_by: row.opt_id(4)?.map(UserId),
        text: row.text(5)?,
        provenance: provenance_of(row.opt_text(6)?)?,
    })
}

fn change_of(row: &Row) -> StoreResult<RecordChange> {
    from_json("a proposed change", &row.text(0)?)
}

const KEEP_VERSION: &str = "insert into domain_text_versions
        (tenant_id, kind, name, version, changed_at, changed_by, removed, text, provenance)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

async fn save_text(tx: &mut Tx<'_>, tenant: TenantId, text: &DomainText) -> StoreResult<DomainText> {
    let mut saved = text.clone();
    if text.version == 0 {
        // One that was there before goes on counting.
        let sql = "select coalesce(max(version), 0) from domain_text_versions
             where tenant_id = $1 and kind = $2 and name = $3";
        let known = tx.rows(sql, args![tenant, text.kind.name(), &text.name]).await?;
        saved.version = known.first().map_or(Ok(0), |row| row.count(0))? + 1;
        let sql = "insert into domain_texts (tenant_id, kind, name, version, changed_at, changed_by, text, provenance)
             values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing";
        let args = args![
            tenant,
            text.kind.name(),
            &text.name,
            saved.version,
            saved.changed_at,
            saved.changed_by,
            &saved.text,
            provenance_text(&saved.provenance)?
        ];
        if tx.execute(sql, args).await? == 0 {
            return Err(StoreError::Conflict(format!("there is a {} {} already", text.kind, text.name)));
        }
    } else {
        saved.version += 1;
        let sql = "update domain_texts set version = $4, changed_at = $5, changed_by = $6, text = $7, provenance = $9
             where tenant_id = $1 and kind = $2 and name = $3 and version = $8";
        let args = args![
            tenant,
            text.kind.name(),
            &text.name,
            saved.version,
            saved.changed_at,
            saved.changed_by,
            &saved.text,
            text.version,
            provenance_text(&saved.provenance)?
        ];
        if tx.execute(sql, args).await? == 0 {
            return Err(changed_meanwhile(&format!("the {} {}", text.kind, text.name)));
        }
    }
    keep_version(tx, tenant, &saved, false).await?;
    Ok(saved)
}

async fn remove_text(tx: &mut Tx<'_>, tenant: TenantId, removed: &DomainText) -> StoreResult<()> {
    let sql = "delete from domain_texts where tenant_id = $1 and kind = $2 and name = $3 and version = $4";
    let gone = tx.execute(sql, args![tenant, removed.kind.name(), &removed.name, removed.version]).await?;
    if gone == 0 {
        return Err(changed_meanwhile(&format!("the {} {}", removed.kind, removed.name)));
    }
    if removed.kind == DomainTextKind::Domain {
        replace_groups(tx, tenant, &removed.name, std::iter::empty()).await?;
    }
    let last = DomainText { version: removed.version + 1, ..removed.clone() };
    keep_version(tx, tenant, &last, true).await
}

async fn replace_groups<'g>(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    domain: &str,
    groups: impl Iterator<Item = &'g DomainGroup>,
) -> StoreResult<()> {
    tx.run("delete from domain_groups where tenant_id = $1 and domain = $2", args![tenant, domain]).await?;
    for one in groups {
        let sql = "insert into domain_groups (tenant_id, domain, name, group_id) values ($1, $2, $3, $4)";
        tx.run(sql, args![tenant, domain, &one.name, one.group]).await?;
    }
    Ok(())
}

async fn keep_version(tx: &mut Tx<'_>, tenant: TenantId, text: &DomainText, removed: bool) -> StoreResult<()> {
    let args = args![
        tenant,
        text.kind.name(),
        &text.name,
        text.version,
        text.changed_at,
        text.changed_by,
        removed,
        &text.text,
        provenance_text(&text.provenance)?
    ];
    tx.run(KEEP_VERSION, args).await
}
