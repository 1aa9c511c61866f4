mod examiner;
mod input_rules;
mod key_variables;
mod merge;
mod registry;
mod report_refresh;

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::dto::connections::{Connection as ConnectionView, ConnectionInput};
use crate::dto::exam::RecogniseInput;
use input_rules::{check_address, check_auth, check_input};
use steward_core::ConnectionId;
use steward_core::exam::{Check, ExamReport};
use steward_core::model::{Connection, ModelError, Provider};
use steward_core::ports::{ConnectionHealth, ConnectionTest, KnownConnection, Recognised};

pub use examiner::ExamPrompts;
pub use key_variables::KeyVariables;
pub use registry::{ConnectionRegistry, RegistryParts, RegistrySettings};
pub use report_refresh::report_refresh;

impl App {
    /// Saved ones first, with what is known of their models' prices and exams.
    pub async fn connections(&self, caller: &Caller) -> AppResult<Vec<ConnectionView>> {
        authorize(caller, Action::Read, Resource::Connections)?;
        let mut all = Vec::new();
        for known in self.connections.list().await {
            if authorize(caller, Action::Read, of(&known.connection)).is_err() {
                continue;
            }
            all.push(self.show_connection(known).await);
        }
        Ok(all)
    }

    /// The first one beside the built-in model becomes the default.
    pub async fn create_connection(&self, caller: &Caller, input: ConnectionInput) -> AppResult<ConnectionView> {
        authorize(caller, Action::Write, Resource::Connections)?;
        check_input(&input)?;
        may_say_where(caller, &input, None)?;
        let id = ConnectionId(self.new_id());
        let taken = self.connections.list().await;
        if taken.iter().any(|one| one.connection.name == input.name.trim()) {
            return Err(AppError::conflict(
                "conflict",
                format!("another connection has the name `{}`", input.name.trim()),
                "choose another name",
            ));
        }
        self.prepare_new_resource(caller, id.into()).await?;
        let (connection, key) = input.with_id(id, None);
        self.connections.save(connection, key).await?;
        let saved = self.known_connection(id).await?;
        Ok(self.show_connection(saved).await)
    }

    /// In force at the next run.
    pub async fn replace_connection(
        &self,
        caller: &Caller,
        id: ConnectionId,
        input: ConnectionInput,
    ) -> AppResult<ConnectionView> {
        authorize(caller, Action::Write, Resource::Connections)?;
        let before = self.editable_connection(id).await?;
        check_input(&input)?;
        may_say_where(caller, &input, before.connection.in_house)?;
        let (connection, key) = input.with_id(id, Some(before.connection.capabilities));
        self.connections.save(connection, key).await?;
        let saved = self.known_connection(id).await?;
        Ok(self.show_connection(saved).await)
    }

    pub async fn remove_connection(&self, caller: &Caller, id: ConnectionId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Connections)?;
        self.editable_connection(id).await?;
        Ok(self.connections.remove(id).await?)
    }

    pub async fn make_default_connection(&self, caller: &Caller, id: ConnectionId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Connections)?;
        self.known_connection(id).await?;
        Ok(self.connections.set_default(id).await?)
    }

    /// Asks for one short reply. A connection that fails is an answer too.
    pub async fn test_connection(
        &self,
        caller: &Caller,
        id: ConnectionId,
    ) -> AppResult<Result<ConnectionTest, ModelError>> {
        authorize(caller, Action::Write, Resource::Connections)?;
        self.known_connection(id).await?;
        Ok(self.connections.test(id).await)
    }

    /// Recognises what answers at a URL, by the URL and then by asking it. Nothing is saved.
    pub async fn recognise_connection(&self, caller: &Caller, input: RecogniseInput) -> AppResult<Recognised> {
        authorize(caller, Action::Write, Resource::Connections)?;
        check_address(&input.base_url)?;
        check_auth(&input.auth)?;
        let (auth, key) = input.auth.parted();
        Ok(self.examiner.recognise(input.base_url.trim(), &auth, key).await?)
    }

    pub async fn connections_health(&self, caller: &Caller) -> AppResult<Vec<ConnectionHealth>> {
        authorize(caller, Action::Read, Resource::Connections)?;
        let known = self.readable_connections(caller).await;
        let mut health = self.deps().models.health().await;
        health.retain(|one| known.iter().any(|known| known.connection.id == one.connection));
        Ok(health)
    }

    pub async fn exam_report(&self, caller: &Caller, id: ConnectionId) -> AppResult<ExamReport> {
        authorize(caller, Action::Read, Resource::Connections)?;
        let connection = self.known_connection(id).await?.connection;
        authorize(caller, Action::Read, of(&connection))?;
        self.examiner.report(id).await.ok_or_else(|| {
            AppError::new(
                ErrorKind::NotFound,
                format!("`{}` has not been examined yet", connection.name),
                "examine it with POST to the same address, or with `steward model exam`",
            )
            .code("no_exam")
        })
    }

    pub async fn may_examine(&self, caller: &Caller, id: ConnectionId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Connections)?;
        self.known_connection(id).await?;
        Ok(())
    }

    /// `progress` hears of each check when it is done. Takes about a minute, and up to 15000 tokens.
    pub async fn examine(
        &self,
        caller: &Caller,
        id: ConnectionId,
        progress: &(dyn for<'c> Fn(&'c Check) + Send + Sync),
    ) -> AppResult<ExamReport> {
        self.may_examine(caller, id).await?;
        Ok(self.examiner.examine(id, progress).await?)
    }

    /// An error if neither grants nor the caller's key open it, or there is none; it names those that the caller may use.
    pub async fn usable_connection(&self, caller: &Caller, name: &str) -> Result<Connection, NoConnection> {
        match self.connections.named(name).await {
            Some(found) => {
                authorize(caller, Action::Read, of(&found)).map_err(NoConnection::Forbidden)?;
                Ok(found)
            }
            // A key that names connections learns nothing of the others, not even that they are not there.
            None if names_connections(caller) => Err(NoConnection::Forbidden(AppError::forbidden(
                format!("this key may not use the connection `{name}`"),
                "GET /v1/models lists what it may use, its owner can change that",
            ))),
            None => Err(NoConnection::Unknown { known: self.models_of_connections(caller).await }),
        }
    }

    /// Whether the caller may choose this connection for a run. One that is not there is refused where it is chosen.
    pub(crate) async fn may_ask_connection(&self, caller: &Caller, id: ConnectionId) -> AppResult<()> {
        let known = self.connections.list().await;
        let found = known.iter().find(|one| one.connection.id == id);
        found.map_or(Ok(()), |known| authorize(caller, Action::Ask, of(&known.connection)))
    }

    pub async fn usable_connections(&self, caller: &Caller) -> Vec<String> {
        self.readable_connections(caller).await.into_iter().map(|one| one.connection.name).collect()
    }

    /// The connections that the caller may use, each after the model behind it.
    pub async fn models_of_connections(&self, caller: &Caller) -> Vec<(String, String)> {
        let known = self.readable_connections(caller).await.into_iter();
        known.map(|KnownConnection { connection, .. }| (connection.model, connection.name)).collect()
    }

    pub(crate) async fn readable_connections(&self, caller: &Caller) -> Vec<KnownConnection> {
        let mut known = self.connections.list().await;
        known.retain(|one| authorize(caller, Action::Read, of(&one.connection)).is_ok());
        known
    }

    pub(crate) async fn known_connection(&self, id: ConnectionId) -> AppResult<KnownConnection> {
        let all = self.connections.list().await;
        all.into_iter()
            .find(|known| known.connection.id == id)
            .ok_or_else(|| AppError::not_found(format!("connection {id}")))
    }

    async fn editable_connection(&self, id: ConnectionId) -> AppResult<KnownConnection> {
        let known = self.known_connection(id).await?;
        if known.from == "saved" {
            return Ok(known);
        }
        Err(AppError::conflict(
            "fixed",
            format!("`{}` was found by itself ({}) and can't be changed here", known.connection.name, known.from),
            "change it where it was found, or add a connection of your own",
        ))
    }

    async fn show_connection(&self, known: KnownConnection) -> ConnectionView {
        let price = self.gateway.price(&known.connection);
        let exam = self.examiner.report(known.connection.id).await;
        let exam_state = Some(self.examiner.state(known.connection.id, price).await);
        ConnectionView { known_price: price, exam: exam.as_ref().map(Into::into), exam_state, ..known.into() }
    }
}

pub(crate) fn of(connection: &Connection) -> Resource<'_> {
    Resource::Connection { id: connection.id, name: &connection.name }
}

/// Where confidential data may go is not an operator's to say.
fn may_say_where(caller: &Caller, input: &ConnectionInput, before: Option<bool>) -> AppResult<()> {
    if input.in_house == before {
        return Ok(());
    }
    authorize(caller, Action::Administer, Resource::Policies)
}

fn names_connections(caller: &Caller) -> bool {
    caller.principal.key.as_ref().is_some_and(|key| !key.connections.is_empty())
}

#[derive(Debug)]
pub enum NoConnection {
    Forbidden(AppError),
    /// `known`: those that the caller may use, each after the model behind it.
    Unknown {
        known: Vec<(String, String)>,
    },
}

/// Whether the provider is at one place in the world, which is known: it needs no address.
fn has_own_address(provider: Provider) -> bool {
    matches!(
        provider,
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini | Provider::Cohere | Provider::HuggingFace
    )
}
