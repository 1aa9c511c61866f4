//! Domains and views: asked by everybody whom they permit, written by operators.

mod places;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::domain_service::{Known, RowsFor, TextWish};
use crate::dto::domains::{
    Choice, DomainAnswer, DomainInfo, DomainQuery, DomainText, DomainTextKind, FieldInfo, FoundDomain,
    InstructionInput, RelationInfo, SavedDomainText, SchemaSearch, StandingInstruction, TextCompletion, TextDiagnostic,
    TextHover, TextInput, TextPlace, TextReport, VerifiedInput, VerifiedQuestion, ViewInfo, WrittenText,
};
use crate::dto::graphql::GraphQlBody;
use crate::inputs::checked_name;
use places::Places;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use steward_core::ports::DataCaller;
use steward_domains::assist;
use steward_domains::chunks::scope;
use steward_domains::graphql::GraphQlRequest;
use steward_domains::model::Grantee;
use steward_domains::query::ops_of;
use steward_domains::registry::{Known as KnownDomain, Right, Visible};
use steward_domains::{Analysis, Catalog};

const FOUND: u32 = 5;
const MOST_FOUND: u32 = 50;

/// What a person asks as.
pub(crate) fn asking(caller: &Caller) -> DataCaller {
    DataCaller { user: Some(caller.user()), ..DataCaller::default() }
}

impl App {
    /// Those that the caller may read, by name.
    pub async fn domains(&self, caller: &Caller) -> AppResult<Vec<DomainInfo>> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let (known, roles) = self.domains_for(caller).await?;
        let visible = known.domains.seen_by(&roles);
        let mut all: Vec<DomainInfo> = visible.iter().map(|one| info(visible, one)).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    pub async fn domain(&self, caller: &Caller, name: &str) -> AppResult<DomainInfo> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let (known, roles) = self.domains_for(caller).await?;
        let visible = known.domains.seen_by(&roles);
        let found = visible.domain(name).ok_or_else(|| AppError::not_found(format!("domain `{name}`")))?;
        Ok(info(visible, found))
    }

    /// The views of domains that the caller may read, by name.
    pub async fn views(&self, caller: &Caller) -> AppResult<Vec<ViewInfo>> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let (known, roles) = self.domains_for(caller).await?;
        let visible = known.domains.seen_by(&roles);
        let seen = known.views.iter().filter(|view| visible.domain(&view.domain).is_some());
        let mut all: Vec<ViewInfo> = seen.map(view_info).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    pub async fn view(&self, caller: &Caller, name: &str) -> AppResult<ViewInfo> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let (known, roles) = self.domains_for(caller).await?;
        let visible = known.domains.seen_by(&roles);
        let found = known.view(name).filter(|view| visible.domain(&view.domain).is_some());
        found.map(view_info).ok_or_else(|| AppError::not_found(format!("view `{name}`")))
    }

    pub async fn query_domain(&self, caller: &Caller, wanted: &DomainQuery) -> AppResult<DomainAnswer> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let (begun, at) = (Instant::now(), self.now());
        let answer = self.domains.ask(asking(caller), &wanted.query, RowsFor::Person).await?;
        Ok(DomainAnswer::of(answer, at, begun.elapsed().as_secs_f64() * 1000.0))
    }

    /// What a model would be shown for these words.
    pub async fn search_domains(&self, caller: &Caller, wanted: &SchemaSearch) -> AppResult<Vec<FoundDomain>> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let (known, roles) = self.domains_for(caller).await?;
        let limit = wanted.limit.unwrap_or(FOUND).clamp(1, MOST_FOUND) as usize;
        let query = wanted.query.trim();
        if query.is_empty() {
            return Err(AppError::invalid(
                "query",
                "there is nothing to search for",
                "write a question, or words of it",
            ));
        }
        let found = self.domains.search(&known, &roles, query, limit).await?;
        Ok(found.into_iter().map(FoundDomain::from).collect())
    }

    /// The values that a field of a domain can take.
    pub async fn domain_choices(&self, caller: &Caller, name: &str, field: &str) -> AppResult<Vec<Choice>> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let known = self.domains.known().await?;
        let reader = self.domains.reader(asking(caller)).await?;
        let visible = known.domains.seen_by(&reader.roles);
        let found = visible.domain(name).ok_or_else(|| AppError::not_found(format!("domain `{name}`")))?;
        let unknown = || AppError::not_found(format!("a list of choices of `{name}.{field}`"));
        let options = found.field(field).and_then(|field| field.options.as_ref()).ok_or_else(unknown)?;
        let meta = found.domain.metas.iter().find(|meta| meta.name == *options).ok_or_else(unknown)?;
        let choices = self.domains.choices(&known, found.domain, meta, &reader).await?;
        Ok(choices.into_iter().map(|(value, label)| Choice { value, label }).collect())
    }

    /// The texts of all domains and views.
    pub async fn domain_texts(&self, caller: &Caller) -> AppResult<Vec<DomainText>> {
        authorize(caller, Action::Write, Resource::Domains)?;
        Ok(self.store.domain_texts(self.tenant()).await?)
    }

    pub async fn domain_text(&self, caller: &Caller, kind: DomainTextKind, name: &str) -> AppResult<DomainText> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let found = self.store.domain_text(self.tenant(), kind, name).await?;
        found.ok_or_else(|| AppError::not_found(format!("{kind} `{name}`")))
    }

    /// The newest first.
    pub async fn domain_text_versions(
        &self,
        caller: &Caller,
        kind: DomainTextKind,
        name: &str,
    ) -> AppResult<Vec<DomainText>> {
        authorize(caller, Action::Write, Resource::Domains)?;
        Ok(self.store.domain_text_versions(self.tenant(), kind, name).await?)
    }

    /// All domains and views of the text, or none if something is wrong with one.
    pub async fn save_domain_texts(&self, caller: &Caller, input: TextInput) -> AppResult<Vec<SavedDomainText>> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let wish = TextWish { text: input.text, version: input.version, ..TextWish::default() };
        let saved = self.domains.save_texts(asking(caller), &wish).await?;
        Ok(saved.into_iter().map(SavedDomainText::from).collect())
    }

    /// Only a text of this kind and name is saved.
    pub async fn save_domain_text(
        &self,
        caller: &Caller,
        kind: DomainTextKind,
        name: String,
        input: TextInput,
    ) -> AppResult<SavedDomainText> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let (only, name) = (Some(kind), Some(name));
        let wish = TextWish { text: input.text, version: input.version, only, name, provenance: None };
        let saved = self.domains.save_texts(asking(caller), &wish).await?;
        let saved = saved.into_iter().next().ok_or_else(|| AppError::not_found(format!("a {kind} in the text")))?;
        Ok(saved.into())
    }

    /// Its versions stay, and saving it again goes on counting.
    pub async fn remove_domain_text(&self, caller: &Caller, kind: DomainTextKind, name: &str) -> AppResult<()> {
        let known = self.domain_text(caller, kind, name).await?;
        let removed = DomainText { changed_by: Some(caller.user()), changed_at: self.now(), ..known };
        Ok(self.store.remove_domain_text(self.tenant(), &removed).await?)
    }

    pub async fn check_domain_text(&self, caller: &Caller, place: &TextPlace) -> AppResult<TextReport> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let checked = self.domains.check_text(asking(caller), &place.text).await?;
        let text = place.text.clone();
        self.work_for(caller, text.len(), move || report(&text, checked)).await
    }

    pub async fn complete_domain_text(&self, caller: &Caller, place: &TextPlace) -> AppResult<Vec<TextCompletion>> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let catalog = self.domains.catalog().await?;
        let (text, offset) = (place.text.clone(), place.offset);
        self.work_for(caller, text.len(), move || complete(&text, offset, &catalog)).await
    }

    pub async fn hover_domain_text(&self, caller: &Caller, place: &TextPlace) -> AppResult<TextHover> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let catalog = self.domains.catalog().await?;
        let (text, offset) = (place.text.clone(), place.offset);
        let hover = move || {
            let places = Places::new(&text);
            let found = assist::hover(&text, places.byte(offset), &catalog);
            found.map_or(TextHover { from: offset, to: offset, text: String::new() }, |one| TextHover {
                from: places.utf16(one.range.0),
                to: places.utf16(one.range.1),
                text: one.markdown,
            })
        };
        self.work_for(caller, place.text.len(), hover).await
    }

    /// The text with another name for what stands at the place, wherever it is meant.
    pub async fn rename_in_domain_text(&self, caller: &Caller, place: &TextPlace) -> AppResult<WrittenText> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let (text, offset, name) = (place.text.clone(), place.offset, place.name.clone().unwrap_or_default());
        let renamed = self.work_for(caller, text.len(), move || rename(&text, offset, &name)).await?;
        let text =
            renamed.map_err(|why| AppError::invalid("name", why, "put the cursor on a name that the text defines"))?;
        Ok(WrittenText { text })
    }

    pub async fn format_domain_text(&self, caller: &Caller, place: &TextPlace) -> AppResult<WrittenText> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let text = place.text.clone();
        let text = self.work_for(caller, text.len(), move || steward_domains::format::format(&text)).await?;
        Ok(WrittenText { text })
    }

    /// In the order in which they are told.
    pub async fn standing_instructions(&self, caller: &Caller) -> AppResult<Vec<StandingInstruction>> {
        authorize(caller, Action::Write, Resource::Domains)?;
        Ok(self.store.standing_instructions(self.tenant()).await?)
    }

    /// Those that models are told at present, for programs that prompt models themselves.
    pub async fn told_instructions(&self, caller: &Caller) -> AppResult<Vec<StandingInstruction>> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let mut all = self.store.standing_instructions(self.tenant()).await?;
        all.retain(|instruction| instruction.enabled);
        Ok(all)
    }

    /// Effective at the next message.
    pub async fn save_standing_instruction(
        &self,
        caller: &Caller,
        name: &str,
        input: InstructionInput,
    ) -> AppResult<StandingInstruction> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let name = checked_name(name)?;
        let InstructionInput { text, position, enabled, version } = input;
        let instruction = StandingInstruction { name, text, position, enabled, version, changed_at: self.now() };
        Ok(self.store.save_standing_instruction(self.tenant(), &instruction).await?)
    }

    pub async fn remove_standing_instruction(&self, caller: &Caller, name: &str) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Domains)?;
        Ok(self.store.remove_standing_instruction(self.tenant(), name).await?)
    }

    /// Questions that were found to be answered right, the newest first.
    pub async fn verified_questions(&self, caller: &Caller) -> AppResult<Vec<VerifiedQuestion>> {
        authorize(caller, Action::Write, Resource::Domains)?;
        Ok(self.store.verified_questions(self.tenant()).await?)
    }

    /// Keeps a question with the query that answers it: an example for models, and the answer to whoever asks the same.
    pub async fn verify_question(&self, caller: &Caller, input: VerifiedInput) -> AppResult<VerifiedQuestion> {
        authorize(caller, Action::Write, Resource::Domains)?;
        let text = input.text.trim().to_owned();
        if text.is_empty() || text.chars().count() > 1000 || text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(AppError::invalid("text", "this can't be a question", "use 1 to 1,000 characters"));
        }
        let query = self.domains.checked_query(asking(caller), &input.query).await?;
        let kept = VerifiedQuestion {
            id: VerifiedQuestion::id_of(&text),
            domain: query.domain.clone(),
            query: serde_json::to_value(&query).unwrap_or_default(),
            text,
            by: Some(caller.user()),
            at: self.now(),
        };
        self.store.save_verified_question(self.tenant(), &kept).await?;
        Ok(kept)
    }

    pub async fn remove_verified_question(&self, caller: &Caller, id: &str) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Domains)?;
        Ok(self.store.remove_verified_question(self.tenant(), id).await?)
    }

    /// Runs a request. What is wrong with it stands in the answer, as GraphQL has it.
    pub async fn graphql(&self, caller: &Caller, body: GraphQlBody) -> AppResult<Value> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let request = GraphQlRequest {
            query: body.query,
            variables: body.variables.unwrap_or_default(),
            operation: body.operation_name,
        };
        Ok(self.domains.ask_graphql(asking(caller), request).await?)
    }

    /// The types that the caller may ask for, in the language for schemas.
    pub async fn graphql_schema(&self, caller: &Caller) -> AppResult<String> {
        authorize(caller, Action::Read, Resource::Domains)?;
        Ok(self.domains.graphql_schema(asking(caller)).await?)
    }

    async fn domains_for(&self, caller: &Caller) -> AppResult<(Arc<Known>, Vec<Grantee>)> {
        Ok((self.domains.known().await?, self.domains.roles(asking(caller)).await?))
    }
}

fn info(visible: Visible<'_>, known: KnownDomain<'_>) -> DomainInfo {
    let domain = known.domain;
    let field = |field: &steward_domains::model::Field| FieldInfo {
        name: field.name.clone(),
        kind: field.kind.name().to_owned(),
        readonly: field.readonly,
        ops: if field.filterable { ops_of(field.kind).into_iter().map(str::to_owned).collect() } else { Vec::new() },
        choices: field.options.is_some(),
    };
    let relations = visible.relations(known).map(|(relation, _)| RelationInfo {
        name: relation.name.clone(),
        kind: relation.kind.name().to_owned(),
        domain: relation.domain.clone(),
        bind: relation.bind.clone(),
    });
    DomainInfo {
        name: domain.name.clone(),
        datasource: domain.datasource.clone(),
        scope: scope(domain).map(str::to_owned),
        key: known.facts.key.clone(),
        fields: domain.fields.iter().map(field).collect(),
        relations: relations.collect(),
        write: visible.allows(domain, Right::Write),
        delete: visible.allows(domain, Right::Delete),
    }
}

fn view_info(view: &steward_domains::model::View) -> ViewInfo {
    ViewInfo {
        name: view.name.clone(),
        title: view.title.clone(),
        domain: view.domain.clone(),
        view: serde_json::to_value(view).unwrap_or_default(),
    }
}

/// What was found, at places as editors count them.
fn report(text: &str, checked: Analysis) -> TextReport {
    let places = Places::new(text);
    let domains = checked.domains.iter().map(|one| one.domain.name.clone());
    let names = domains.chain(checked.views.iter().map(|one| one.view.name.clone())).collect();
    let diagnostics = checked.diagnostics.into_iter().map(|one| TextDiagnostic {
        from: places.utf16(one.range.0),
        to: places.utf16(one.range.1),
        line: places.line(one.range.0),
        error: one.is_error(),
        code: one.code.to_owned(),
        message: one.message,
        hint: one.hint,
    });
    TextReport { diagnostics: diagnostics.collect(), names }
}

fn complete(text: &str, offset: u32, catalog: &Catalog) -> Vec<TextCompletion> {
    let places = Places::new(text);
    let found = assist::complete(text, places.byte(offset), catalog);
    let completion = |one: assist::Completion| TextCompletion {
        from: places.utf16(one.range.0),
        to: places.utf16(one.range.1),
        label: one.label,
        insert: one.insert,
        kind: serde_json::to_value(one.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default(),
        detail: one.detail.unwrap_or_default(),
    };
    found.into_iter().map(completion).collect()
}

fn rename(text: &str, offset: u32, name: &str) -> Result<String, String> {
    let at = Places::new(text).byte(offset);
    let mut edits = assist::rename(text, at, name).map_err(|error| error.to_string())?;
    edits.sort_by_key(|edit| edit.range);
    let (mut renamed, mut done) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        let (from, to) = edit.range;
        if let (Some(kept), Some(_)) = (text.get(done..from), text.get(from..to)) {
            renamed.push_str(kept);
            renamed.push_str(&edit.insert);
            done = to;
        }
    }
    renamed.push_str(&text[done..]);
    Ok(renamed)
}
