//! Drafts the query that a request asks for, from the words that name domains, fields and values: for models that can't
//! write one themselves. What is not understood is told, never left out silently.
//!
//! 1. [`Request::read`] finds the words of asking (`data/asking.toml`: how many, per, the most …).
//! 2. [`Request::phrases`] are the texts that may be values. Whoever can ask the database looks where they stand ([`Found`]).
//! 3. [`draft`] makes a query for each domain that may be meant and takes the one that explains the request best.

mod asking;
mod choice;
mod compose;
mod dates;
mod links;
mod lookup;
mod meaning;
mod place;
mod told;

use std::ops::Range;

use crate::model::View;
use crate::query::{Query, validate_for};
use crate::registry::{Known, Visible};
pub use asking::Request;
use asking::Weight;
use compose::compose;
use links::{Links, Name, is_person};
pub use lookup::{Lookup, lookups, lookups_of_parts};
pub use meaning::{Named, names, similar};
pub use told::in_words;

/// Most words of a value.
const LONGEST: usize = 6;
const MOST_PHRASES: usize = 80;
/// Most of the request that may be left unread, by weight.
const UNREAD: f32 = 0.4;

/// Some words of a request that may be a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    pub words: Range<usize>,
    pub text: String,
    /// Also in the singular; equal to `text` if that changes nothing.
    pub singular: String,
    /// A name or a quotation: it may also be part of a value.
    pub proper: bool,
}

/// A value of the database that a request says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub words: Range<usize>,
    pub domain: String,
    pub field: String,
    /// As the database has it; what was said if it is part of values.
    pub value: String,
    /// Whether it is a whole value.
    pub exact: bool,
}

/// A word that means about the same as a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Alike {
    /// In lower case.
    pub word: String,
    pub domain: String,
    /// `None`: the domain itself.
    pub field: Option<String>,
    /// From 0 to 1.
    pub score: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub query: Query,
    /// Words that name nothing here.
    pub unread: Vec<String>,
    /// How well the request is explained.
    pub score: f32,
    /// Whether so much of it is understood that its answer can be given.
    pub sure: bool,
    /// Whether a number has no effect, or one of several relations would have to be guessed.
    pub refused: bool,
}

impl Request {
    /// What may be a value, longest first: quotations, names, and words in a row.
    pub fn phrases(&self) -> Vec<Phrase> {
        let mut found: Vec<Phrase> = Vec::new();
        for (at, text) in self.quotes.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let first = self.tokens.iter().position(|token| token.quote == Some(at));
            let len = self.tokens.iter().filter(|token| token.quote == Some(at)).count();
            if let Some(first) = first {
                let (text, singular) = (text.clone(), text.clone());
                found.push(Phrase { words: first..first + len, text, singular, proper: true });
            }
        }
        for len in (1..=LONGEST).rev() {
            for first in 0..(self.tokens.len() + 1).saturating_sub(len) {
                let some = &self.tokens[first..first + len];
                let edge = |token: &asking::Token| token.weight == Weight::None && !token.proper;
                let ends = [&some[0], &some[len - 1]];
                if some.iter().any(|token| token.quote.is_some())
                    || some.iter().skip(1).any(|token| !token.joined)
                    || ends.into_iter().any(edge)
                    || (len == 1 && some[0].number.is_some() && !some[0].text.starts_with(|c: char| c.is_ascii_digit()))
                {
                    continue;
                }
                let proper =
                    some.iter().all(|token| token.proper || token.weight == Weight::None || token.number.is_some())
                        && some.iter().any(|token| token.proper);
                // Long ones are names; a few plain words may be one value: `science fiction`.
                if (len > 3 && !proper) || (len > 1 && some.iter().all(|token| token.number.is_some())) {
                    continue;
                }
                let text = some.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
                let last = &some[len - 1];
                let singular = match text.strip_suffix(last.text.as_str()) {
                    Some(before) => format!("{before}{}", last.stem),
                    None => text.clone(),
                };
                found.push(Phrase { words: first..first + len, text, singular, proper });
            }
        }
        found.truncate(MOST_PHRASES);
        found
    }

    /// The words that may mean a name without being it, in lower case.
    pub fn content(&self) -> Vec<String> {
        let content = self.tokens.iter().enumerate().filter(|(at, token)| {
            token.weight == Weight::Full
                && !token.proper
                && token.quote.is_none()
                && token.number.is_none()
                && self.mark_at(*at).is_none()
        });
        let mut words: Vec<String> = content.map(|(_, token)| token.lower.clone()).collect();
        words.sort();
        words.dedup();
        words
    }
}

/// The query that explains the request best; `None` if nothing that it says is known.
///
/// `subjects`: the domains that may be meant, of those that are `visible`.
pub fn draft(
    request: &Request,
    visible: Visible<'_>,
    subjects: &[Known<'_>],
    views: &[View],
    found: &[Found],
    alike: &[Alike],
) -> Option<Draft> {
    let drafts = subjects.iter().filter_map(|subject| {
        let subject = visible.domain(&subject.domain.name)?;
        let links = Links::read(request, visible, subject, views, alike);
        let composed = compose(request, &links, found)?;
        validate_for(&composed.query, visible).ok()?;
        Some(judged(request, &links, composed))
    });
    // Of equals the first one counts.
    drafts.fold(None, |best: Option<Draft>, next| match best {
        Some(best) if best.score >= next.score => Some(best),
        _ => Some(next),
    })
}

fn judged(request: &Request, links: &Links<'_>, composed: compose::Composed) -> Draft {
    let (mut read, mut all) = (0.0_f32, 0.0_f32);
    let mut unread = Vec::new();
    let (mut names_unread, mut number_unread) = (false, false);
    for (at, token) in request.tokens.iter().enumerate() {
        let named = token.proper || token.quote.is_some();
        let weight = match (token.weight, named) {
            _ if composed.used.contains_key(&at) => 1.0,
            (Weight::None, false) => continue,
            (Weight::Light, false) => 0.1,
            _ if request.mark_at(at).is_some() => continue,
            (Weight::None, true) => 0.3,
            (_, true) => 1.5,
            (Weight::Full, false) => 1.0,
        };
        all += weight;
        if let Some(worth) = composed.used.get(&at) {
            read += weight * worth;
        } else if weight >= 1.0 {
            names_unread |= named;
            number_unread |= token.number.is_some();
            unread.push(token.text.clone());
        }
    }
    let is_used = |link: &&links::Link| composed.used.contains_key(&link.at);
    let open = links.links.iter().filter(is_used).filter_map(|link| {
        let words = request.tokens[link.words()].iter().map(|token| token.text.as_str());
        Some(format!("{} ({})", words.collect::<Vec<_>>().join(" "), link.open.as_ref()?))
    });
    let open: Vec<String> = composed.open.iter().cloned().chain(open).collect();
    let is_open = !open.is_empty();
    let ignored = composed.ignored.iter().map(|at| request.tokens[*at].text.clone());
    // "overdue invoices": a word right before what rows are called says which of them.
    let attributes =
        links.links.iter().filter(|link| matches!(link.name, Name::Place(_)) && is_used(link)).filter_map(|link| {
            let at = link.at.checked_sub(1)?;
            let is_free = |at: usize| !composed.used.contains_key(&at) && request.mark_at(at).is_none();
            let is_full = request.tokens[at].weight == Weight::Full && request.tokens[link.at].joined;
            let after_value = at > 0 && composed.conditions.contains(&(at - 1));
            (is_full && is_free(at) && !after_value).then(|| request.tokens[at].text.clone())
        });
    let refused: Vec<String> = open.into_iter().chain(ignored).chain(attributes).collect();
    let is_refused = !refused.is_empty();
    unread.extend(refused);
    let mut seen = std::collections::BTreeSet::new();
    unread.retain(|word| seen.insert(word.clone()));
    let target = links.links.iter().find(|link| !composed.conditions.contains(&link.at));
    let aim = match target.map(|link| link.name) {
        Some(Name::Place(0)) => 0.35,
        Some(Name::Field(0, _)) => 0.12,
        _ => 0.0,
    };
    let person = request.marked(asking::Mark::Person).is_some() && is_person(links.places[0].known);
    let aim = aim + if person { 0.2 } else { 0.0 };
    // Times and numbers alone could be of anything.
    let strange = links.links.iter().all(|link| match link.name {
        Name::Place(place) | Name::Relation(place) | Name::Field(place, _) => place != 0,
    }) && composed.strange;
    let strain = composed.strain + if strange && !person { 0.3 } else { 0.0 };
    let score = if all > 0.0 { read / all } else { 0.0 } + aim - strain;
    // What is asked for comes first: if it is not known, the rest says nothing.
    let first = request.tokens.iter().enumerate().find(|(at, token)| {
        token.weight == Weight::Full
            && !composed.conditions.contains(at)
            && request.mark_at(*at).is_none()
            && token.number.is_none()
    });
    let aimless = first.is_some_and(|(at, _)| !composed.used.contains_key(&at));
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    let rest = unread.len() as f32;
    let sure = all > 0.0
        && !aimless
        && !names_unread
        && !number_unread
        && !is_refused
        && rest / all.max(1.0) <= UNREAD
        && composed.strain < 0.5;
    Draft { query: composed.query, unread, score, sure, refused: is_open || number_unread }
}
