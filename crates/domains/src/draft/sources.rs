//! Which of several databases a question is about: the one that explains its words; if two do, that is asked back.

use steward_core::text::{parts, stem};

use super::asking::{Request, Token, Weight};
use super::compose::Composed;
use super::links::Links;
use super::{Draft, Found};
use crate::registry::Known;

/// How much less of a question another database may explain to be meant as well, in words.
const LEVEL: f32 = 0.3;

/// A draft with the database that it asks.
pub(super) struct Candidate<'d> {
    pub datasource: &'d str,
    pub draft: Draft,
    /// How many words the database knows.
    pub explained: f32,
    /// Whether the question names the database.
    pub named: bool,
    /// What is asked for.
    pub subject: String,
}

/// Where a question names a database, by a word that is nothing else here.
pub(super) fn named(request: &Request, datasource: &str, subjects: &[Known<'_>], found: &[Found]) -> Option<usize> {
    let is_it = |token: &Token| token.quote.is_none() && token.lower == datasource.to_lowercase();
    let at = request.tokens.iter().position(is_it)?;
    let word = &request.tokens[at].stem;
    let is_name = subjects.iter().any(|known| {
        let fields = known.domain.fields.iter().map(|field| &field.name);
        fields.chain([&known.domain.name]).flat_map(|name| parts(name)).any(|part| stem(&part) == *word)
    });
    (!is_name && !found.iter().any(|one| one.words.contains(&at))).then_some(at)
}

/// How many words of a question a database knows: as names, as values, or by what they mean.
pub(super) fn explained(request: &Request, links: &Links<'_>, found: &[Found], composed: &Composed) -> f32 {
    let is_here = |one: &&Found| links.places.iter().any(|place| place.known.domain.name == one.domain);
    let words = request.tokens.iter().enumerate().filter(|(_, token)| token.weight == Weight::Full || token.proper);
    let known = |at: usize| {
        let named = links.at(at).map_or(0.0, |link| link.score);
        let is_value = found.iter().filter(is_here).any(|one| one.exact && one.words.contains(&at));
        let used = composed.used.get(&at).copied().unwrap_or_default();
        if is_value { 1.0 } else { named.max(used * 0.9) }
    };
    words.map(|(at, _)| known(at)).sum()
}

/// The best draft of the database that is meant. Of equals the first one counts.
pub(super) fn chosen(mut all: Vec<Candidate<'_>>) -> Option<Draft> {
    if all.iter().any(|one| one.named) {
        all.retain(|one| one.named);
    }
    let mut best: Vec<Candidate<'_>> = Vec::new();
    for one in all {
        match best.iter_mut().find(|known| known.datasource == one.datasource) {
            None => best.push(one),
            Some(known) => {
                let explained = known.explained.max(one.explained);
                if one.draft.score > known.draft.score {
                    *known = one;
                }
                known.explained = explained;
            }
        }
    }
    let most = best.iter().map(|one| one.explained).fold(0.0, f32::max);
    // Words are not taken into a database that knows less of them.
    best.retain(|one| one.explained >= most - LEVEL);
    let sure = best.iter().filter(|one| one.draft.sure && one.draft.unread.is_empty());
    let names: Vec<&str> = sure.map(|one| one.datasource).collect();
    let names = (names.len() > 1).then(|| names.join(" / "));
    let mut first = best.into_iter().reduce(|known, one| {
        let better = (one.draft.sure, one.draft.score) > (known.draft.sure, known.draft.score);
        if better { one } else { known }
    })?;
    if let Some(names) = names {
        first.draft.unread = vec![format!("{} ({names})", first.subject)];
        (first.draft.sure, first.draft.refused) = (false, true);
    }
    Some(first.draft)
}
