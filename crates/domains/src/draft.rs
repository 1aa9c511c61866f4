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
mod flags;
mod follow;
mod links;
mod lookup;
mod meaning;
mod place;
mod sources;
mod ties;
mod told;

use std::ops::Range;

use crate::model::View;
use crate::query::{Condition, Query, validate_for};
use crate::registry::{Known, Visible};
pub use asking::Request;
use asking::Weight;
use compose::{Context, compose};
pub use follow::{first_rows, follow};
use links::{Links, Name, is_person, same_root};
pub use lookup::{Lookup, lookups, lookups_of_parts};
pub use meaning::{Named, names, similar};
use steward_core::text::{parts, stem};
pub use ties::{first_places, with_ties};
pub use told::in_words;

/// Most words of a value.
const LONGEST: usize = 6;
const MOST_PHRASES: usize = 80;
/// Most of the request that may be left unread, by weight.
const UNREAD: f32 = 0.4;
/// Words after which a noun says only what the name behind it is: "our client Ann".
const OWNERS: [&str; 9] = ["our", "my", "your", "their", "unser", "unsere", "unserer", "notre", "nuestro"];
const ARTICLES: [&str; 9] = ["the", "der", "die", "das", "den", "dem", "le", "la", "el"];

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
    /// Whether it is a month, of a year that the database has.
    pub month: bool,
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

    /// The words that name something, in the order in which they are said.
    pub fn naming(&self) -> Vec<String> {
        let names = self
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, token)| token.proper || token.weight == Weight::Full && self.mark_at(*at).is_none());
        names.map(|(_, token)| token.text.clone()).collect()
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
    // What is called as one domain does not mean another one.
    let is_other =
        |one: &Alike, known: &Known<'_>| known.domain.name != one.domain && stem(&known.domain.name) == stem(&one.word);
    let alike: Vec<Alike> =
        alike.iter().filter(|one| !subjects.iter().any(|known| is_other(one, known))).cloned().collect();
    let alike = without_values(request, &alike, found);
    let alike = alike.as_slice();
    let several = subjects.windows(2).any(|two| two[0].domain.datasource != two[1].domain.datasource);
    let drafts = subjects.iter().filter_map(|subject| {
        let subject = visible.domain(&subject.domain.name)?;
        let links = Links::read(request, visible, subject, views, alike);
        let context = Context { found, before: None, alone: subjects.len() == 1 };
        let mut composed = compose(request, &links, context)?;
        let datasource = subject.domain.datasource.as_str();
        let named = sources::named(request, datasource, subjects, found).filter(|_| several);
        if let Some(at) = named {
            composed.used.insert(at, 1.0);
            composed.conditions.insert(at);
        }
        validate_for(&composed.query, visible).ok()?;
        let explained = sources::explained(request, &links, found, &composed);
        let target = links.links.iter().find(|link| !composed.conditions.contains(&link.at)).map_or(0, |link| link.at);
        let subject = request.tokens.get(target).map(|token| token.text.clone()).unwrap_or_default();
        let mut draft = judged(request, &links, composed);
        draft.sure &= !draft.unread.iter().any(|word| is_elsewhere(subjects, word, &draft.query));
        Some(sources::Candidate { datasource, draft, explained, named: named.is_some(), subject })
    });
    sources::chosen(drafts.collect())
}

/// Without the words that the database has as values: a dog is a pet, but not each pet is a dog.
fn without_values(request: &Request, alike: &[Alike], found: &[Found]) -> Vec<Alike> {
    let is_value = |one: &Alike| {
        let is_it = |found: &Found| request.tokens[found.words.clone()].iter().all(|token| token.lower == one.word);
        found.iter().any(|found| found.exact && !found.month && found.words.len() == 1 && is_it(found))
    };
    alike.iter().filter(|one| !is_value(one)).cloned().collect()
}

/// Whether a word that had no effect names something here that the query does not speak of: it would be another question.
fn names_something(request: &Request, links: &Links<'_>, composed: &compose::Composed, at: usize) -> bool {
    let token = &request.tokens[at];
    let same = |name: &String| name.len() >= 4 && same_root(name, &token.lower);
    let mut said: Vec<String> =
        fields_of_query(&composed.query).iter().flat_map(|path| path.split('.').flat_map(parts)).collect();
    said.extend(parts(&composed.query.domain));
    let domain = links.places[0].known.domain;
    // "sold" of what has a date of it.
    let is_dated = |field: &crate::model::Field| field.kind.is_time() && parts(&field.name).iter().any(same);
    let is_timeless = crate::draft::dates::times(request).is_empty();
    let is_led = request.direction(at, true).is_some_and(|direction| choice::leads(direction, &said));
    if said.iter().any(same) || is_led || (is_timeless && domain.fields.iter().any(is_dated)) {
        return false;
    }
    let paths = fields_of_query(&composed.query);
    let is_spoken_of = |path: &str| !path.is_empty() && paths.iter().any(|field| field.starts_with(path));
    let near = links.places.iter().filter(|place| place.hops <= 1 && !is_spoken_of(&place.path));
    let names = near.flat_map(|place| {
        let relation = place.relation.map(|relation| parts(&relation.name)).unwrap_or_default();
        let dates =
            place.known.domain.fields.iter().filter(|field| field.kind.is_time()).flat_map(|field| parts(&field.name));
        relation.into_iter().chain(parts(&place.known.domain.name)).chain(dates).collect::<Vec<_>>()
    });
    links.at(at).is_some_and(|link| link.score > 0.7) || names.into_iter().any(|name| same(&name))
}

/// Whether a word that was not read is the whole name of something of another domain.
fn is_elsewhere(subjects: &[Known<'_>], word: &str, query: &Query) -> bool {
    let word = word.to_lowercase();
    let mut said: Vec<String> =
        fields_of_query(query).iter().flat_map(|path| path.split('.').flat_map(parts)).collect();
    said.extend(parts(&query.domain));
    let names = subjects.iter().flat_map(|known| {
        let fields = known.domain.fields.iter().map(|field| &field.name);
        fields.chain(std::iter::once(&known.domain.name))
    });
    !said.iter().any(|part| same_root(part, &word)) && names.into_iter().any(|name| stem(name) == stem(&word))
}

/// Who asks for rows of one kind is not answered by rows of another.
fn other_rows(request: &Request, links: &Links<'_>, composed: &compose::Composed) -> Option<String> {
    let query = &composed.query;
    let link = links.links.iter().find(|link| !composed.conditions.contains(&link.at))?;
    let Name::Place(place) = link.name else { return None };
    let is_rows = query.aggregate.is_empty() && query.group.is_empty();
    let path = &links.places[place].path;
    let is_shown = fields_of_query(query).iter().any(|field| field.starts_with(path.as_str()));
    (is_rows && place > 0 && link.score > 0.9 && !is_shown).then(|| request.tokens[link.at].text.clone())
}

/// All paths in a query.
fn fields_of_query(query: &Query) -> Vec<String> {
    fn of(condition: &Condition, all: &mut Vec<String>) {
        match condition {
            Condition::Compare(one) => all.push(one.field.clone()),
            Condition::Any { any: list } | Condition::All { all: list } | Condition::Not { not: list } => {
                for one in list {
                    of(one, all);
                }
            }
        }
    }
    let mut all = query.fields.clone();
    query.conditions.iter().for_each(|one| of(one, &mut all));
    all.extend(query.group.iter().map(|group| group.field.clone()));
    all.extend(query.aggregate.iter().filter_map(|one| one.field.clone()));
    all
}

fn judged(request: &Request, links: &Links<'_>, composed: compose::Composed) -> Draft {
    let (mut read, mut all) = (0.0_f32, 0.0_f32);
    let (mut unread, mut relations) = (Vec::new(), Vec::new());
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
            relations.extend(names_something(request, links, &composed, at).then(|| token.text.clone()));
            names_unread |= named;
            number_unread |= token.number.is_some();
            unread.push(token.text.clone());
        }
    }
    let is_used = |link: &&links::Link| composed.used.contains_key(&link.at);
    let is_settled = |link: &&links::Link| composed.settled.contains(&link.at);
    let open = links.links.iter().filter(is_used).filter(|link| !is_settled(link)).filter_map(|link| {
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
    // "green Tea": a word right before a value says which; "the band Queen" says only what it is.
    let before_values = (1..request.tokens.len()).filter(|at| {
        let (before, value) = (&request.tokens[at - 1], &request.tokens[*at]);
        let is_value = composed.conditions.contains(at)
            && composed.used.contains_key(at)
            && links.at(*at).is_none()
            && request.mark_at(*at).is_none()
            && value.number.is_none()
            && value.weight == Weight::Full
            && value.joined;
        let is_open = !composed.used.contains_key(&(at - 1))
            && before.weight == Weight::Full
            && before.number.is_none()
            && request.mark_at(at - 1).is_none()
            && !["ed", "ing"].iter().any(|end| before.lower.ends_with(end));
        let led = |word: &str| ARTICLES.contains(&word) || OWNERS.contains(&word);
        let article = at.checked_sub(2).is_some_and(|at| led(request.tokens[at].lower.as_str()));
        is_value && is_open && !(article && value.proper)
    });
    relations.extend(before_values.map(|at| request.tokens[at - 1].text.clone()));
    relations.extend(other_rows(request, links, &composed));
    let refused: Vec<String> = open.into_iter().chain(ignored).chain(attributes).chain(relations).collect();
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
    let sure = (all > 0.0 || composed.bare)
        && !aimless
        && !names_unread
        && !number_unread
        && !is_refused
        && rest / all.max(1.0) <= UNREAD
        && composed.strain < 0.5;
    Draft { query: composed.query, unread, score, sure, refused: is_open || number_unread }
}
