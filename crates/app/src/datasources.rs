//! Users' databases: who adds them, and what they have.

use crate::agents::data_agents;
use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::domain_service::{TextWish, unreached};
use crate::domains::asking;
use crate::dto::domains::{
    Datasource, DatasourceColumn, DatasourceInit, DatasourceInput, DatasourceSchema, DatasourceTable, InitTexts,
};
use std::collections::HashSet;
use std::path::Path;
use steward_core::DatasourceId;
use steward_core::ports::VaultError;
use steward_core::provenance::Provenance;
use steward_core::tables::Schema;
use steward_domains::init::init;
use steward_domains::render::{render, render_view};
use steward_tools::datasource::{check_address, check_credential};

impl App {
    /// By name.
    pub async fn datasources(&self, caller: &Caller) -> AppResult<Vec<Datasource>> {
        authorize(caller, Action::Read, Resource::Datasources)?;
        Ok(self.store.datasources(self.tenant()).await?)
    }

    pub async fn datasource(&self, caller: &Caller, id: DatasourceId) -> AppResult<Datasource> {
        authorize(caller, Action::Read, Resource::Datasources)?;
        self.datasource_of(id).await
    }

    async fn datasource_of(&self, id: DatasourceId) -> AppResult<Datasource> {
        let found = self.store.datasource(self.tenant(), id).await?;
        found.ok_or_else(|| AppError::not_found(format!("datasource {id}")))
    }

    pub async fn create_datasource(&self, caller: &Caller, input: DatasourceInput) -> AppResult<Datasource> {
        authorize(caller, Action::Write, Resource::Datasources)?;
        let input = self.with_real_path(caller, input).await?;
        let datasource = self.datasource_from(DatasourceId(self.new_id()), input)?;
        self.check_credential_of(&datasource).await?;
        let saved = self.store.save_datasource(self.tenant(), &Datasource { version: 0, ..datasource }).await?;
        data_agents(&self.store, &*self.deps().ids, self.tenant()).await?;
        Ok(saved)
    }

    /// With the version that was read: one that was changed meanwhile is a conflict.
    pub async fn replace_datasource(
        &self,
        caller: &Caller,
        id: DatasourceId,
        input: DatasourceInput,
    ) -> AppResult<Datasource> {
        authorize(caller, Action::Write, Resource::Datasources)?;
        let known = self.datasource_of(id).await?;
        if known.name != input.name && self.described_by(&known.name).await? {
            return Err(AppError::conflict(
                "datasource_in_use",
                format!("domains name the datasource `{}`", known.name),
                "keep the name, or change the domains first",
            ));
        }
        let version = if input.version == 0 { known.version } else { input.version };
        let input = self.with_real_path(caller, input).await?;
        let datasource = Datasource { version, ..self.datasource_from(id, input)? };
        self.check_credential_of(&datasource).await?;
        let saved = self.store.save_datasource(self.tenant(), &datasource).await?;
        self.domains.forget_schema(id);
        Ok(saved)
    }

    /// Its domains stay, and can't be asked any more.
    pub async fn remove_datasource(&self, caller: &Caller, id: DatasourceId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Datasources)?;
        self.store.remove_datasource(self.tenant(), id).await?;
        self.domains.forget_schema(id);
        Ok(())
    }

    /// Opens it anew and says what it has.
    pub async fn check_datasource(&self, caller: &Caller, id: DatasourceId) -> AppResult<DatasourceSchema> {
        authorize(caller, Action::Write, Resource::Datasources)?;
        self.domains.forget_schema(id);
        self.schema_of_datasource(id).await
    }

    pub async fn datasource_schema(&self, caller: &Caller, id: DatasourceId) -> AppResult<DatasourceSchema> {
        authorize(caller, Action::Read, Resource::Datasources)?;
        self.schema_of_datasource(id).await
    }

    async fn schema_of_datasource(&self, id: DatasourceId) -> AppResult<DatasourceSchema> {
        let datasource = self.datasource_of(id).await?;
        let schema = self.domains.schema_of(&datasource).await.map_err(|why| unreached(&datasource, why))?;
        let known = self.domains.known().await?;
        let tables = schema.tables.iter().map(|table| DatasourceTable {
            name: table.name.clone(),
            view: table.view,
            rows: table.row_estimate,
            columns: table
                .columns
                .iter()
                .map(|column| DatasourceColumn { name: column.name.clone(), kind: column.kind.clone(), key: column.pk })
                .collect(),
            domains: known
                .domains
                .iter()
                .filter(|domain| domain.datasource == datasource.name && domain.table == table.name)
                .map(|domain| domain.name.clone())
                .collect(),
        });
        let left_out = self.domains.left_out_of(&datasource).await;
        Ok(DatasourceSchema { tables: tables.collect(), left_out })
    }

    /// Writes first domains and views of its tables, from keys, types and a few values.
    pub async fn init_datasource(
        &self,
        caller: &Caller,
        id: DatasourceId,
        wanted: &DatasourceInit,
    ) -> AppResult<InitTexts> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let datasource = self.datasource_of(id).await?;
        let schema = self.domains.schema_of(&datasource).await.map_err(|why| unreached(&datasource, why))?;
        if let Some(unknown) = wanted.tables.iter().find(|name| !schema.tables.iter().any(|one| one.name == **name)) {
            return Err(AppError::invalid(
                "tables",
                format!("`{}` has no table `{unknown}`", datasource.name),
                format!("see GET /api/datasources/{id}/schema"),
            ));
        }
        let known = self.domains.known().await?;
        let described: HashSet<&str> = known
            .domains
            .iter()
            .filter(|domain| domain.datasource == datasource.name)
            .map(|domain| domain.table.as_str())
            .collect();
        let chosen = |name: &str| {
            if wanted.tables.is_empty() {
                !described.contains(name)
            } else {
                wanted.tables.iter().any(|one| one == name)
            }
        };
        let samples = self.domains.samples_of(&datasource).await?;
        // All tables, since relations lead to others; then those that were chosen.
        let all = init(&datasource.name, &Schema { tables: schema.tables.clone() }, &samples);
        let mut texts: Vec<String> = Vec::new();
        let mut domains = Vec::new();
        for (domain, list, detail) in all.iter().filter(|(domain, ..)| chosen(&domain.table)) {
            texts.push([render(domain), render_view(list), render_view(detail)].join("\n"));
            domains.push(domain.name.clone());
        }
        let text = texts.join("\n");
        let saved = wanted.save && !domains.is_empty();
        if saved {
            // Nobody has looked at them yet, and names and values may be strangers' words.
            let unseen = Provenance::from_outside(&format!("datasource {}", datasource.name));
            let provenance = datasource.untrusted.then_some(unseen);
            let wish = TextWish { text: text.clone(), provenance, ..TextWish::default() };
            self.domains.save_texts(asking(caller), &wish).await?;
        }
        Ok(InitTexts { text, domains, saved })
    }

    async fn described_by(&self, name: &str) -> AppResult<bool> {
        Ok(self.domains.known().await?.domains.iter().any(|domain| domain.datasource == name))
    }

    /// It exists, and may be sent to the database's server.
    async fn check_credential_of(&self, datasource: &Datasource) -> AppResult<()> {
        let Some(id) = datasource.credential else {
            return Ok(());
        };
        let credential = match self.vault.credential(self.tenant(), id).await {
            Err(VaultError::Unknown(_)) => {
                return Err(AppError::invalid(
                    "credential",
                    format!("there is no credential {id}"),
                    "take the id of one from GET /api/credentials",
                ));
            }
            found => found?,
        };
        check_credential(&datasource.database, &credential).map_err(|error| {
            AppError::invalid("credential", error.to_string(), "name another one, or add the host to this one")
        })
    }

    /// A file elsewhere on the server is the installation's to open, and kept by its real path.
    async fn with_real_path(&self, caller: &Caller, mut input: DatasourceInput) -> AppResult<DatasourceInput> {
        let database = input.database.trim();
        if let Some(path) = database.strip_prefix("sqlite:").filter(|path| Path::new(path).is_absolute()) {
            let real = self.host_path(caller, "database", path, |found| found.open_file().map(drop)).await?;
            input.database = format!("sqlite:{}", real.display());
        }
        Ok(input)
    }

    fn datasource_from(&self, id: DatasourceId, input: DatasourceInput) -> AppResult<Datasource> {
        let DatasourceInput {
            name,
            database,
            credential,
            visibility,
            limits,
            writable,
            as_asking_user,
            untrusted,
            version,
        } = input;
        let good = name
            .chars()
            .enumerate()
            .all(|(at, c)| c == '_' || c.is_ascii_alphabetic() || (at > 0 && c.is_ascii_digit()));
        if name.is_empty() || name.len() > 40 || !good {
            return Err(AppError::invalid(
                "name",
                "this can't be the name of a datasource",
                "use 1 to 40 letters, digits and `_`, the first one no digit",
            ));
        }
        let database = database.trim().to_owned();
        check_address(&database).map_err(|why| {
            AppError::invalid(
                "database",
                why,
                "write sqlite:PATH, folder:PATH, or an address with the server and the database's name",
            )
        })?;
        if database.contains("://") && url::Url::parse(&database).is_ok_and(|url| url.password().is_some()) {
            return Err(AppError::invalid(
                "database",
                "a password in the address could be read by others",
                "keep user and password in a credential, and name it in `credential`",
            ));
        }
        if !(1..=1000).contains(&limits.rows) || !(100..=60_000).contains(&limits.timeout_ms) {
            return Err(AppError::invalid(
                "limits",
                "an answer has 1 to 1000 rows, and a statement 100 to 60000 milliseconds",
                "leave `limits` out for 1000 rows and 5 seconds",
            ));
        }
        if writable && database.starts_with("folder:") {
            return Err(AppError::invalid(
                "writable",
                "the files of a folder are only read",
                "leave `writable` out, or put the rows into a database",
            ));
        }
        if as_asking_user && !database.starts_with("postgres") {
            return Err(AppError::invalid(
                "as_asking_user",
                "only PostgreSQL can run statements as the person who asks",
                "leave `as_asking_user` out",
            ));
        }
        let changed_at = self.now();
        Ok(Datasource {
            id,
            name,
            database,
            credential,
            visibility,
            limits,
            writable,
            as_asking_user,
            untrusted,
            version,
            changed_at,
        })
    }
}
