//! Which of several relations or fields that lead to the same is meant: the sender of a parcel or its receiver.

use std::ops::Range;

use steward_core::text::{parts, same_word, stem};

use super::asking::{Direction, Request, Weight};
use super::place::Place;
use crate::model::{Field, RelationKind};

/// Words before and after what is meant that may say which it is.
const BEFORE: usize = 4;
const BEHIND: usize = 2;
/// Between a preposition and what it leads to.
const APART: usize = 3;

/// Relations and fields that lead to the same.
pub(crate) struct Rivals {
    /// The words of each that not all of them have.
    own: Vec<Vec<String>>,
    /// How each is shown.
    names: Vec<String>,
    /// The one that is called as what it leads to.
    plain: Option<usize>,
}

impl Rivals {
    /// `all`: places, with a field where fields of one place are rivals too.
    pub fn new(places: &[Place<'_>], all: &[(usize, Option<&Field>)]) -> Self {
        let path = |(place, field): &(usize, Option<&Field>)| {
            let names = places[*place].path.split('.').filter(|name| !name.is_empty());
            names.chain(field.map(|field| field.name.as_str())).map(str::to_owned).collect::<Vec<_>>()
        };
        let paths: Vec<Vec<String>> = all.iter().map(path).collect();
        let words: Vec<Vec<String>> =
            paths.iter().map(|path| path.iter().flat_map(|name| parts(name)).collect()).collect();
        let shared = |part: &String| words.iter().all(|of| of.contains(part));
        let own = words.iter().map(|of| of.iter().filter(|part| !shared(part)).cloned().collect()).collect();
        let is_plain = |(place, _): &(usize, Option<&Field>)| {
            let place = &places[*place];
            let from = parts(&places[place.from].known.domain.name);
            place.relation.is_some_and(|relation| match relation.kind {
                // The books of an author are those whose author it is, rather than the translator.
                RelationKind::HasMany => relation.bind.iter().all(|(_, foreign)| {
                    let mut column = parts(foreign);
                    column.retain(|part| part != "id");
                    column == from
                }),
                _ => parts(&relation.name) == parts(&place.known.domain.name),
            })
        };
        let plain: Vec<usize> = (0..all.len()).filter(|at| is_plain(&all[*at])).collect();
        let names =
            paths.iter().map(|path| path.iter().map(|name| parts(name).join(" ")).collect::<Vec<_>>().join(" "));
        Self { own, names: names.collect(), plain: plain.first().copied().filter(|_| plain.len() == 1) }
    }

    /// The one that the words around a place of the request mean; `None`: they don't say.
    pub fn chosen(&self, request: &Request, words: &Range<usize>) -> Option<usize> {
        if self.own.len() == 1 {
            return Some(0);
        }
        let near = words.start.saturating_sub(BEFORE)..request.tokens.len().min(words.end + BEHIND);
        let near: Vec<usize> = near.filter(|at| !words.contains(at)).collect();
        let is_named = |own: &Vec<String>| {
            near.iter().any(|at| {
                let token = &request.tokens[*at];
                let same = |part: &String| stem(part) == token.stem || same_word(part, &token.lower);
                token.weight != Weight::None && own.iter().any(|part| part.len() >= 3 && same(part))
            })
        };
        self.only(is_named)
            .or_else(|| self.by_direction(preposition(request, words)))
            .or_else(|| {
                let mut others = (0..request.tokens.len()).filter(|at| !words.contains(at));
                self.by_direction(others.find_map(|at| request.direction(at, true)))
            })
            .or(self.plain)
    }

    fn by_direction(&self, direction: Option<&'static Direction>) -> Option<usize> {
        let direction = direction?;
        self.only(|own| leads(direction, own))
    }

    fn only(&self, fits: impl Fn(&Vec<String>) -> bool) -> Option<usize> {
        let mut found = (0..self.own.len()).filter(|at| fits(&self.own[*at]));
        found.next().filter(|_| found.next().is_none())
    }

    /// `sender or receiver`
    pub fn told(&self) -> String {
        self.names.join(" / ")
    }
}

/// The direction of the preposition before some words.
pub(crate) fn preposition(request: &Request, words: &Range<usize>) -> Option<&'static Direction> {
    let before = words.start.saturating_sub(APART)..words.start;
    before.rev().find_map(|at| request.direction(at, false))
}

/// Whether what is called so leads in a direction.
pub(crate) fn leads(direction: &Direction, name: &[String]) -> bool {
    name.iter().any(|part| direction.names.contains(part))
}
