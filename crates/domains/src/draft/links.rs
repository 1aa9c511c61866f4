//! What the words of a request name, seen from one domain: domains that it leads to, their fields, and values.

use std::ops::Range;

use steward_core::text::{parts, same_word, stem};

use super::asking::{Mark, Request, Weight};
use super::choice::Rivals;
use super::flags::is_flag;
use super::place::Place;
use super::{Alike, Found};
use crate::model::{Field, RelationKind, View};
use crate::registry::{Known, Visible, only};

/// Domains that are looked at from one.
const MOST_PLACES: usize = 60;
/// Relations to a domain that words may mean.
const MOST_HOPS: usize = 3;
/// Most words of a name.
const LONGEST: usize = 4;
/// Least score of a name.
const LEAST: f32 = 0.5;
/// Places whose costs differ by less are level.
const LEVEL: f32 = 0.01;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Place(usize),
    Field(usize, usize),
    /// The words of a relation: what follows is of where it leads.
    Relation(usize),
}

#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub at: usize,
    pub len: usize,
    pub name: Name,
    pub score: f32,
    /// The relations of which the request doesn't say which it means.
    pub open: Option<String>,
}

impl Link {
    pub fn words(&self) -> Range<usize> {
        self.at..self.at + self.len
    }
}

/// What a request names, seen from one domain.
pub(crate) struct Links<'d> {
    pub places: Vec<Place<'d>>,
    pub links: Vec<Link>,
}

/// Whether a field is part of a key, or leads elsewhere: its numbers count nothing.
pub(crate) fn is_key(known: Known<'_>, field: &Field) -> bool {
    let bound = known.domain.relations.iter().filter(|relation| relation.kind == RelationKind::BelongsTo);
    known.facts.key.contains(&field.name)
        || bound.flat_map(|relation| &relation.bind).any(|(local, _)| *local == field.name)
        || parts(&field.name).last().is_some_and(|last| last == "id")
}

/// Whether one of these words is in the name of a field.
pub(crate) fn has_part(field: &Field, words: &[&str]) -> bool {
    parts(&field.name).iter().any(|part| words.contains(&part.as_str()))
}

/// Whether the rows are people: they have first and last names.
pub(crate) fn is_person(known: Known<'_>) -> bool {
    label(known).len() == 2
}

/// The fields that name a row for people; none if it has no name.
pub(crate) fn label(known: Known<'_>) -> Vec<&Field> {
    let fields = || known.domain.fields.iter().filter(|field| field.kind.is_text());
    let first = fields().find(|field| has_part(field, &["first", "given"]));
    let last = fields().find(|field| has_part(field, &["last", "family", "surname"]));
    if let (Some(first), Some(last)) = (first, last) {
        return vec![first, last];
    }
    let own: Vec<String> = parts(&known.domain.name);
    let named = fields().find(|field| ["name", "title", "label"].iter().any(|word| field.name.to_lowercase() == *word));
    let named = named.or_else(|| {
        fields().find(|field| {
            let last = parts(&field.name).last().cloned().unwrap_or_default();
            ["name", "title", "label"].contains(&last.as_str()) && !has_part(field, &["contact"])
        })
    });
    let called = || fields().find(|field| own.contains(&field.name.to_lowercase()));
    named.or_else(called).or_else(|| only(fields())).into_iter().collect()
}

impl<'d> Links<'d> {
    pub fn read(request: &Request, visible: Visible<'d>, subject: Known<'d>, views: &[View], alike: &[Alike]) -> Self {
        let places = reach(visible, subject);
        let mut links = Vec::new();
        let mut at = 0;
        while at < request.tokens.len() {
            let longest = LONGEST.min(request.tokens.len() - at);
            let best = (1..=longest).rev().find_map(|len| named(request, &places, views, at..at + len));
            let best = best.or_else(|| meant(request, &places, alike, at));
            at += best.as_ref().map_or(1, |link| link.len);
            links.extend(best.map(|link| decided(request, &places, link)));
        }
        Self { places, links }
    }

    pub fn field(&self, place: usize, field: usize) -> &'d Field {
        &self.places[place].known.domain.fields[field]
    }

    pub fn path(&self, place: usize, field: &Field) -> String {
        format!("{}{}", self.places[place].path, field.name)
    }

    pub fn at(&self, at: usize) -> Option<&Link> {
        self.links.iter().find(|link| link.words().contains(&at))
    }

    /// The field links, with their fields.
    pub fn fields(&self) -> impl Iterator<Item = (&Link, usize, &'d Field)> {
        self.links.iter().filter_map(|link| match link.name {
            Name::Field(place, field) => Some((link, place, self.field(place, field))),
            _ => None,
        })
    }

    /// The links to a field.
    pub fn of(&self, place: usize, field: &Field) -> impl Iterator<Item = &Link> {
        let links = self.fields().filter(move |(_, at, known)| *at == place && known.name == field.name);
        links.map(|(link, ..)| link)
    }

    /// Where a value that was found is meant: the nearest place, or one that words near to it name; several, if nothing
    /// tells them apart. `by`: whether a preposition leads to it.
    pub fn places_of(&self, request: &Request, found: &[&Found], by: bool) -> Vec<(usize, usize)> {
        // "who live in Leeds, sponsored by Ruth Vale": what is led to stands behind it.
        let leads_on = |link: &Link| {
            let next = request.tokens.get(link.at + link.len).map_or("", |token| token.lower.as_str());
            matches!(link.name, Name::Relation(_)) && ["by", "von", "vom", "par", "por"].contains(&next)
        };
        let near = |link: &Link, words: &Range<usize>| {
            let before = words.start.checked_sub(link.at + link.len).is_some_and(|gap| gap <= 3);
            before || (!leads_on(link) && link.at.checked_sub(words.end).is_some_and(|gap| gap <= 2))
        };
        let mut all: Vec<(f32, (usize, usize))> = Vec::new();
        for (at, one) in found.iter().enumerate() {
            for (index, place) in self.places.iter().enumerate() {
                if place.known.domain.name != one.domain {
                    continue;
                }
                #[expect(clippy::cast_precision_loss, reason = "at most three")]
                let mut cost = place.hops as f32 + if place.many { 0.3 } else { 0.0 };
                for link in self.links.iter().filter(|link| near(link, &one.words)) {
                    cost -= match link.name {
                        Name::Relation(to) if to == index => 1.6,
                        Name::Place(to) if to == index && to != 0 => 1.2,
                        Name::Field(to, field) if to == index && self.field(to, field).name == one.field => 1.5,
                        _ => 0.0,
                    };
                }
                if label(place.known).iter().any(|field| field.name == one.field) {
                    cost -= 0.4;
                }
                if !one.exact {
                    cost += 0.8;
                }
                // Who asks for albums by somebody names no album.
                let own = index == 0
                    && self
                        .links
                        .iter()
                        .any(|link| link.name == Name::Place(0) && link.at + link.len < one.words.start);
                if own && by && label(place.known).iter().any(|field| field.name == one.field) {
                    cost += 2.0;
                }
                all.push((cost, (at, index)));
            }
        }
        let least = all.iter().map(|(cost, _)| *cost).fold(f32::INFINITY, f32::min);
        all.into_iter().filter(|(cost, _)| *cost <= least + LEVEL).map(|(_, found)| found).collect()
    }
}

/// The domains that relations lead to, nearest first.
fn reach<'d>(visible: Visible<'d>, subject: Known<'d>) -> Vec<Place<'d>> {
    let first = Place { path: String::new(), known: subject, hops: 0, many: false, relation: None, from: 0 };
    let mut places = vec![first];
    let mut from = 0;
    while from < places.len() && places.len() < MOST_PLACES {
        let (path, known, hops, many) =
            (places[from].path.clone(), places[from].known, places[from].hops, places[from].many);
        let (back, begin) = (places[from].relation, from);
        from += 1;
        if hops >= MOST_HOPS {
            continue;
        }
        let mut relations: Vec<_> = visible.relations(known).collect();
        relations.sort_by_key(|(relation, _)| relation.kind == RelationKind::HasMany);
        for (relation, to) in relations {
            let returns = back.is_some_and(|back| {
                back.kind != relation.kind
                    && back.bind.iter().zip(&relation.bind).all(|(one, other)| one.0 == other.1 && one.1 == other.0)
            });
            if returns {
                continue;
            }
            places.push(Place {
                path: format!("{path}{}.", relation.name),
                known: to,
                hops: hops + 1,
                many: many || relation.kind == RelationKind::HasMany,
                relation: Some(relation),
                from: begin,
            });
        }
    }
    places.truncate(MOST_PLACES);
    places
}

/// The places that are reached over the same domains, by other relations.
pub(crate) fn twins(places: &[Place<'_>], of: usize) -> Vec<usize> {
    let way = |mut at: usize| {
        let mut way = Vec::new();
        while let Some(relation) = places[at].relation {
            way.push((places[at].known.domain.name.as_str(), relation.kind));
            at = places[at].from;
        }
        way
    };
    let own = way(of);
    (0..places.len()).filter(|at| *at == of || (of > 0 && way(*at) == own)).collect()
}

/// The link to the place that the words around it mean.
fn decided(request: &Request, places: &[Place<'_>], mut link: Link) -> Link {
    let (Name::Field(place, _) | Name::Place(place) | Name::Relation(place)) = link.name;
    let all = twins(places, place);
    if all.len() < 2 || matches!(link.name, Name::Relation(_)) {
        return link;
    }
    let rivals = Rivals::new(places, &all.iter().map(|at| (*at, None)).collect::<Vec<_>>());
    match rivals.chosen(request, &link.words()) {
        Some(chosen) => {
            link.name = match link.name {
                Name::Field(_, field) => Name::Field(all[chosen], field),
                _ => Name::Place(all[chosen]),
            };
        }
        None => link.open = Some(rivals.told()),
    }
    link
}

/// How well words are a name, from 0 to 1. Part of a name counts less.
fn alike(words: &[&str], stems: &[&str], name: &[String]) -> f32 {
    let whole: String = name.iter().map(|part| stem(part)).collect();
    if stems.concat() == whole || words.concat() == name.concat() {
        return 1.0;
    }
    let ([word], [stem_of]) = (words, stems) else { return 0.0 };
    if word.chars().count() >= 5 && strsim::osa_distance(stem_of, &whole) <= 1 {
        return 0.85;
    }
    let told = |part: &String| !["id", "no", "is", "of", "the", "name"].contains(&part.as_str());
    if name.len() > 1 {
        if name.last().is_some_and(|last| told(last) && stem(last) == *stem_of) {
            return 0.75;
        }
        if name.iter().any(|part| told(part) && stem(part) == *stem_of) {
            return 0.65;
        }
        if name.iter().any(|part| told(part) && part.len() >= 3 && same_word(part, word)) {
            return 0.6;
        }
    } else if whole.len() >= 4 && same_word(&whole, word) {
        return 0.7;
    }
    0.0
}

/// Names that are nearer are meant rather.
#[expect(clippy::cast_precision_loss, reason = "at most three")]
fn rank(score: f32, hops: usize) -> f32 {
    score - 0.12 * hops as f32
}

/// The best name for some words.
fn named(request: &Request, places: &[Place<'_>], views: &[View], words: Range<usize>) -> Option<Link> {
    let tokens = request.tokens.get(words.clone())?;
    if tokens.iter().any(|token| token.quote.is_some() || token.number.is_some())
        || tokens.iter().skip(1).any(|token| !token.joined)
    {
        return None;
    }
    if tokens.len() == 1 && tokens[0].weight == Weight::None {
        return None;
    }
    let lower: Vec<&str> = tokens.iter().map(|token| token.lower.as_str()).collect();
    let stems: Vec<&str> = tokens.iter().map(|token| token.stem.as_str()).collect();
    let light = tokens.len() == 1 && tokens[0].weight == Weight::Light;
    let marked = tokens.len() == 1 && request.mark_at(words.start).is_some();
    let mut best: Option<(f32, Link)> = None;
    let mut take = |score: f32, hops: usize, name: Name| {
        // A word of asking names only what is called exactly that.
        if score < if light || marked { 0.95 } else { LEAST } {
            return;
        }
        let rank = rank(score, hops);
        if best.as_ref().is_none_or(|(known, _)| rank > *known) {
            best = Some((rank, Link { at: words.start, len: words.len(), name, score, open: None }));
        }
    };
    for (index, place) in places.iter().enumerate() {
        let domain = place.known.domain;
        let aliases = domain.aliases.iter().map(|alias| words_of(alias));
        let titles = views.iter().filter(|view| view.domain == domain.name).map(|view| words_of(&view.title));
        for (name, most) in [parts(&domain.name)]
            .into_iter()
            .chain(aliases)
            .map(|name| (name, 1.0))
            .chain(titles.map(|name| (name, 0.9)))
        {
            take(alike(&lower, &stems, &name).min(most), place.hops, Name::Place(index));
        }
        if let Some(relation) = place.relation {
            let mut own = parts(&relation.name);
            own.extend(relation.bind.iter().flat_map(|(local, _)| parts(local)));
            let leads =
                own.iter().filter(|part| *part != "id").map(|part| alike(&lower, &stems, std::slice::from_ref(part)));
            take(leads.fold(0.0, f32::max) * 0.9, place.hops, Name::Relation(index));
            // "translated" of what has a translator.
            // "most rented" is a measure.
            let is_measured = words
                .start
                .checked_sub(1)
                .is_some_and(|at| request.mark_at(at).is_some_and(|one| matches!(one.mark, Mark::High | Mark::Low)));
            let is_verb = lower.len() == 1 && place.hops == 1 && !place.many && !is_measured;
            if is_verb && own.iter().any(|part| part.len() >= 4 && *part != "name" && same_root(part, lower[0])) {
                take(0.58, place.hops, Name::Relation(index));
            }
        }
        for (at, field) in domain.fields.iter().enumerate() {
            if is_key(place.known, field) && !lower.contains(&"id") {
                continue;
            }
            // "unpaid" of what is paid or not.
            let can_be_negated = is_flag(field) || field.kind.is_time();
            if let [word] = lower.as_slice()
                && can_be_negated
                && is_negated(word, &field.name)
            {
                take(0.9, place.hops, Name::Field(index, at));
            }
            let labels = views.iter().filter(|view| view.domain == domain.name).flat_map(|view| &view.tables);
            let labels = labels.flat_map(|table| &table.columns).filter(|column| column.field == field.name);
            let aliases = field.aliases.iter().map(|alias| words_of(alias));
            for name in
                [parts(&field.name)].into_iter().chain(aliases).chain(labels.map(|column| words_of(&column.label)))
            {
                take(alike(&lower, &stems, &name) - 0.02, place.hops, Name::Field(index, at));
            }
        }
    }
    best.map(|(_, link)| link)
}

/// Whether a verb and a noun are of one root: `translated` and `translator`, `bestellt` and `bestellung`.
pub(crate) fn same_root(one: &str, other: &str) -> bool {
    const ENDS: [&str; 34] = [
        "", "s", "d", "ed", "ing", "ings", "er", "ers", "or", "ors", "ion", "ions", "al", "als", "e", "es", "en", "t",
        "n", "ung", "ungen", "te", "ten", "r", "rs", "ance", "ances", "ment", "ments", "y", "led", "ling", "ied",
        "ies",
    ];
    let shared = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let rest = |text: &str| text.get(shared..).is_some_and(|rest| ENDS.contains(&rest));
    one == other || (shared >= 4 && rest(one) && rest(other))
}

/// Whether a word says the contrary of a name: `unpaid` of `paid`, `inactive` of `is_active`.
pub(crate) fn is_negated(word: &str, name: &str) -> bool {
    const BEGINS: [&str; 8] = ["non-", "un-", "non", "un", "in", "im", "ir", "dis"];
    let names = parts(name);
    let says = |rest: &str| rest.len() >= 4 && names.iter().any(|part| part.len() >= 4 && same_root(part, rest));
    !names.iter().any(|part| same_root(part, word))
        && BEGINS.into_iter().filter_map(|begin| word.strip_prefix(begin)).any(says)
}

fn words_of(text: &str) -> Vec<String> {
    steward_core::text::words(text).into_iter().flat_map(|word| parts(&word.lower)).collect()
}

/// What a word that names nothing may mean.
fn meant(request: &Request, places: &[Place<'_>], alike: &[Alike], at: usize) -> Option<Link> {
    let token = request.tokens.get(at)?;
    if token.weight != Weight::Full || token.proper || token.quote.is_some() || request.mark_at(at).is_some() {
        return None;
    }
    let mut best: Option<(f32, Link)> = None;
    for one in alike.iter().filter(|one| one.word == token.lower) {
        for (index, place) in places.iter().enumerate().filter(|(_, place)| place.known.domain.name == one.domain) {
            let name = match &one.field {
                None => Name::Place(index),
                Some(field) => {
                    let Some(found) = place.known.domain.fields.iter().position(|known| known.name == *field) else {
                        continue;
                    };
                    if is_key(place.known, &place.known.domain.fields[found]) || is_negated(&one.word, field) {
                        continue;
                    }
                    Name::Field(index, found)
                }
            };
            let rank = rank(one.score, place.hops);
            if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, Link { at, len: 1, name, score: one.score, open: None }));
            }
        }
    }
    best.map(|(_, link)| link)
}
