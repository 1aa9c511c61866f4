//! The texts of domains and views: checked, saved with what changed, taken away.

use super::groups::MeantGroups;
use super::{DataResult, DomainService};
use similar::TextDiff;
use std::ops::Range;
use std::time::Duration;
use steward_core::datasource::{DomainText, DomainTextKind};
use steward_core::ports::{DataCaller, DataError, Role, SavedText};
use steward_core::provenance::Provenance;
use steward_domains::lower::lower;
use steward_domains::model::Grantee;
use steward_domains::parser::parse;
use steward_domains::{Analysis, Catalog, Diagnostic, analyze};

/// What no domain can be called, since its address is that of all texts.
const TEXTS: &str = "texts";

/// Longest text of one domain or view, bytes.
const LONGEST: usize = 1 << 20;
/// Longest text of several together, bytes: those of a thousand tables have about 2 MB.
const LONGEST_OF_ALL: usize = 32 << 20;

/// After this a difference is told in larger pieces.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);

/// What of a text to save.
#[derive(Debug, Default)]
pub(crate) struct TextWish {
    pub text: String,
    /// The version that was read; `None`: whatever is there is replaced.
    pub version: Option<u64>,
    /// Only one text of this kind is wanted.
    pub only: Option<DomainTextKind>,
    /// The name that this one must have.
    pub name: Option<String>,
    /// What the texts may derive from besides what was there; `None`: a person who has read them saves them.
    pub provenance: Option<Provenance>,
}

impl DomainService {
    /// What texts can be checked against: all datasources, domains and views.
    pub(crate) async fn catalog(&self) -> DataResult<Catalog> {
        Ok(self.known().await?.catalog(self.group_names().await?))
    }

    pub(crate) async fn check_text(&self, caller: DataCaller, text: &str) -> DataResult<Analysis> {
        Ok(self.analyze(caller, text).await?.0)
    }

    /// What is wrong with a text, and what its groups mean.
    async fn analyze(&self, caller: DataCaller, text: &str) -> DataResult<(Analysis, MeantGroups)> {
        let administers = self.roles(caller).await?.contains(&Grantee::Role(Role::Admin));
        let mut meant = self.meant_groups(caller, text, administers).await?;
        let mut catalog = self.catalog().await?;
        catalog.groups.append(&mut meant.names);
        let owned = text.to_owned();
        let mut analysis = self.run_apart(caller, text.len(), move || analyze(&owned, &catalog)).await?;
        analysis.diagnostics.append(&mut meant.diagnostics);
        analysis.diagnostics.sort_by_key(|diagnostic| diagnostic.range);
        Ok((analysis, meant))
    }

    /// Saves every domain and view of a text, all or none, each as a text of its own.
    pub(crate) async fn save_texts(&self, caller: DataCaller, wish: &TextWish) -> DataResult<Vec<SavedText>> {
        if wish.text.len() > LONGEST_OF_ALL {
            return Err(too_long("the text", LONGEST_OF_ALL));
        }
        let (analysis, meant) = self.analyze(caller, &wish.text).await?;
        if analysis.has_errors() {
            let errors = analysis.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
            return Err(DataError::Refused(listed(&wish.text, errors)));
        }
        let warnings: Vec<String> =
            analysis.diagnostics.iter().map(|diagnostic| told(&wish.text, diagnostic)).collect();
        let text = wish.text.clone();
        let items = self.run_apart(caller, text.len(), move || items(&text)).await?;
        if items.is_empty() {
            return Err(DataError::Refused(
                "there is no domain and no view in the text; begin with `domain <name> from <table>@<datasource> {`"
                    .to_owned(),
            ));
        }
        if let Some(only) = wish.only
            && !matches!(items.as_slice(), [(kind, ..)] if *kind == only)
        {
            return Err(DataError::Refused(format!("give the text of just one {only}; save others on their own")));
        }
        if let (Some(wanted), [(kind, found, _)]) = (&wish.name, items.as_slice())
            && wanted != found
        {
            return Err(DataError::Refused(format!(
                "the text is that of the {kind} `{found}`, not of `{wanted}`; use the same name in both places"
            )));
        }
        for (kind, name, _) in &items {
            check_name(*kind, name)?;
        }
        if let Some((kind, name, _)) = items.iter().find(|(.., range)| range.len() > LONGEST) {
            return Err(too_long(&format!("the {kind} `{name}`"), LONGEST));
        }
        let single = items.len() == 1;
        let (mut texts, mut diffs) = (Vec::new(), Vec::new());
        for (kind, name, range) in items {
            let text = wish.text.get(range).unwrap_or_default().trim_matches('\n').to_owned() + "\n";
            let before = self.parts.store.domain_text(self.parts.tenant, kind, &name).await?;
            let known = before.as_ref().map_or(0, |before| before.version);
            let version = wish.version.filter(|_| single).unwrap_or(known);
            let provenance = provenance_after(before.as_ref(), wish.provenance.as_ref());
            diffs.push(match before {
                Some(before) => {
                    let after = text.clone();
                    self.run_apart(caller, before.text.len() + text.len(), move || diff(&before.text, &after)).await?
                }
                None => String::new(),
            });
            let (changed_by, changed_at) = (caller.user, self.parts.clock.now());
            texts.push(DomainText { kind, name, text, version, changed_by, changed_at, provenance });
        }
        let saved = self.parts.store.save_domain_texts(self.parts.tenant, &texts, &meant.groups).await?;
        let as_saved = |(text, diff)| SavedText { text, diff, warnings: warnings.clone() };
        Ok(saved.into_iter().zip(diffs).map(as_saved).collect())
    }
}

fn check_name(kind: DomainTextKind, name: &str) -> DataResult<()> {
    if kind == DomainTextKind::Domain && name == TEXTS {
        return Err(DataError::Refused(format!(
            "a domain can't be called `{TEXTS}`, as /api/domains/{TEXTS} is the address of all texts; choose another name, \
             such as `text_rows`"
        )));
    }
    Ok(())
}

/// A person answers for what they save; how confidential it is stays, since they have read what was there.
fn provenance_after(before: Option<&DomainText>, added: Option<&Provenance>) -> Provenance {
    let before = before.map(|before| before.provenance.clone()).unwrap_or_default();
    match added {
        None => Provenance { level: before.level, ..Provenance::default() },
        Some(added) => {
            let mut provenance = before;
            provenance.join(added);
            provenance
        }
    }
}

fn too_long(what: &str, most: usize) -> DataError {
    DataError::Refused(format!("{what} is longer than {most} bytes; divide it"))
}

/// The domains and views of a text, each with the comments before it.
fn items(text: &str) -> Vec<(DomainTextKind, String, Range<usize>)> {
    let lowered = lower(&parse(text));
    let domains = lowered.domains.iter().map(|one| (DomainTextKind::Domain, one.domain.name.clone(), one.ranges.whole));
    let views = lowered.views.iter().map(|one| (DomainTextKind::View, one.view.name.clone(), one.ranges.whole));
    let mut all: Vec<_> = domains.chain(views).collect();
    all.sort_by_key(|(_, _, range)| range.0);
    let mut begin = 0;
    let mut found = Vec::with_capacity(all.len());
    for (kind, name, range) in all {
        found.push((kind, name, begin..range.1));
        begin = range.1;
    }
    // What stands after the last one is a comment on it.
    if let Some((_, _, last)) = found.last_mut() {
        last.end = text.len();
    }
    found
}

/// Lines that went and came, with three around them.
fn diff(before: &str, after: &str) -> String {
    // Of two large texts with little in common the least difference takes very long to find.
    let mut limited = TextDiff::configure();
    limited.timeout(DIFF_TIMEOUT);
    limited.diff_lines(before, after).unified_diff().context_radius(3).to_string()
}

fn listed<'d>(text: &str, diagnostics: impl Iterator<Item = &'d Diagnostic>) -> String {
    let all: Vec<String> = diagnostics.take(12).map(|diagnostic| told(text, diagnostic)).collect();
    all.join("\n")
}

fn told(text: &str, diagnostic: &Diagnostic) -> String {
    let before = text.get(..diagnostic.range.0).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let hint = diagnostic.hint.as_ref().map_or_else(String::new, |hint| format!(" {hint}"));
    format!("line {line}: {}{hint}", diagnostic.message)
}

#[cfg(test)]
mod tests {
    use super::check_name;
    use steward_core::datasource::DomainTextKind;

    #[test]
    fn a_domain_has_an_address_of_its_own() {
        assert!(check_name(DomainTextKind::Domain, "texts").is_err());
        assert!(check_name(DomainTextKind::View, "texts").is_ok());
        for name in ["text", "query", "search", "Texts"] {
            assert!(check_name(DomainTextKind::Domain, name).is_ok(), "{name}");
        }
    }
}
