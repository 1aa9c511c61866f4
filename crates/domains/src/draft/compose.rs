//! Composes the query over one domain from what the words of a request name.

mod conditions;
mod measures;
mod numbers;
mod presence;
mod quantities;
mod rows;
mod when;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};

use super::Found;
use super::asking::{Mark, Marked, Request, Weight};
use super::dates::{When, comparison, times};
use super::links::{Link, Links, Name, has_part};
use crate::model::Field;
use crate::query::{Condition, Op, Query};

/// Rows of a superlative in the plural.
const SEVERAL: u32 = 10;
const MOST: u32 = 200;
/// Words for what rows are told apart by.
const KEYS: [&str; 6] = ["number", "numbers", "id", "ids", "nummer", "nummern"];
/// The name of the number of a query.
const NUMBER: &str = "value";

/// A query, and what of the request it says.
pub(super) struct Composed {
    pub query: Query,
    /// Words that it explains, and how well.
    pub used: BTreeMap<usize, f32>,
    /// Words of conditions.
    pub conditions: BTreeSet<usize>,
    /// How far-fetched it is.
    pub strain: f32,
    /// Whether no value and no number is one of its own.
    pub strange: bool,
    /// Words of which the request doesn't say which of several relations or fields they mean.
    pub open: Vec<String>,
    /// Words of which it is clear by others which of several relations they mean.
    pub settled: BTreeSet<usize>,
    /// Words of asking, numbers and times that have no effect.
    pub ignored: BTreeSet<usize>,
    /// Whether words of asking are enough: `how many rows are there?` of a single table.
    pub bare: bool,
}

/// What a query is composed from besides the words of the request.
#[derive(Clone, Copy)]
pub(super) struct Context<'r> {
    pub found: &'r [Found],
    /// The query that it goes on from.
    pub before: Option<&'r Query>,
    /// Whether no other domain may be meant.
    pub alone: bool,
}

/// A field that is compared, added up or sorted by.
#[derive(Clone, Copy)]
struct Measured<'d> {
    place: usize,
    field: &'d Field,
}

struct Composer<'r, 'd> {
    request: &'r Request,
    links: &'r Links<'d>,
    found: &'r [Found],
    before: Option<&'r Query>,
    times: Vec<When>,
    out: Composed,
    /// Numbers that say how many rows.
    limit: Option<u32>,
    /// Marks that had an effect, by their first word.
    consumed: BTreeSet<usize>,
    /// The place behind a relation of which there should be no rows.
    missing: Option<usize>,
    counted: Option<CountedRows>,
    /// The values that the request says: their words, the place, and the field.
    said: Vec<(Range<usize>, usize, String)>,
}

/// `more than 5 orders`: how many rows of a list there should be.
#[derive(Clone, Copy)]
struct CountedRows {
    op: Op,
    number: i64,
    /// Its words, from what compares to the name of the rows.
    words: (usize, usize),
    /// The place of the rows; 0: those of the domain itself, in groups.
    place: usize,
}

pub(super) fn compose(request: &Request, links: &Links<'_>, context: Context<'_>) -> Option<Composed> {
    let Context { found, before, alone } = context;
    let domain = links.places[0].known.domain.name.clone();
    let out = Composed {
        query: Query { domain, ..Query::default() },
        used: BTreeMap::new(),
        conditions: BTreeSet::new(),
        strain: 0.0,
        strange: true,
        open: Vec::new(),
        settled: BTreeSet::new(),
        ignored: BTreeSet::new(),
        bare: false,
    };
    // A name of a month that the database has as a value is that value.
    let is_value = |at: usize| found.iter().any(|one| one.exact && !one.month && one.words.contains(&at));
    let mut times = times(request);
    times.retain(|when| when.month.is_none() || !is_value(when.at));
    let mut composer = Composer {
        request,
        links,
        found,
        before,
        times,
        out,
        limit: None,
        consumed: BTreeSet::new(),
        missing: None,
        counted: None,
        said: Vec::new(),
    };
    composer.values();
    composer.examples();
    composer.flags();
    composer.never();
    composer.missing();
    composer.present();
    composer.out_now();
    composer.limits();
    composer.keys();
    composer.dates();
    composer.numbers();
    composer.form();
    composer.check_counted_kind();
    composer.current();
    composer.subject();
    composer.check_who();
    let counts = !composer.out.query.aggregate.is_empty();
    composer.out.bare = counts && (before.is_some() || (alone && request.wish.is_some()));
    (!composer.out.used.is_empty() || composer.out.bare).then_some(composer.out)
}

impl Composer<'_, '_> {
    /// `now`: rows that have ended are left out, where they say when they end.
    fn current(&mut self) {
        let Some(mark) = self.request.marked(Mark::Now).copied() else { return };
        let ends = |field: &&Field| {
            let says_end = ["to", "end", "until", "thru", "expires", "expiry", "ended"];
            field.kind.is_time() && field.filterable && has_part(field, &says_end)
        };
        let mut added = false;
        for at in 0..self.links.places.len() {
            let place = &self.links.places[at];
            let said = at == 0
                || self.paths().iter().any(|path| {
                    path.rsplit_once('.').is_some_and(|(before, _)| format!("{before}.").starts_with(&place.path))
                });
            let Some(field) = place.known.domain.fields.iter().find(ends).filter(|_| said) else { continue };
            let path = self.links.path(at, field);
            let later = Condition::compare(&path, Op::Gte, json!(self.request.today));
            let condition = if place.known.is_required(&field.name) {
                later
            } else {
                Condition::Any { any: vec![Condition::compare(&path, Op::IsNull, Value::Null), later] }
            };
            self.out.query.conditions.push(condition);
            added = true;
        }
        if added {
            self.use_words(mark.words(), 1.0);
        }
    }

    /// Paths of all fields in the query.
    fn paths(&self) -> Vec<String> {
        let query = &self.out.query;
        let conditions = query.conditions.iter().filter_map(|condition| match condition {
            Condition::Compare(one) => Some(one.field.clone()),
            _ => None,
        });
        let groups = query.group.iter().map(|group| group.field.clone());
        let numbers = query.aggregate.iter().filter_map(|one| one.field.clone());
        conditions.chain(groups).chain(numbers).chain(query.fields.clone()).collect()
    }

    /// A word of asking has had its effect.
    fn consume(&mut self, mark: Marked) {
        self.consumed.insert(mark.at);
        if self.links.links.iter().all(|link| !link.words().contains(&mark.at)) {
            self.out.conditions.extend(mark.words());
        }
    }

    fn use_words(&mut self, words: impl IntoIterator<Item = usize>, worth: f32) {
        for at in words {
            let known = self.out.used.entry(at).or_insert(0.0);
            *known = known.max(worth);
        }
    }

    /// Words that name something of a place.
    fn use_named(&mut self, words: Range<usize>, score: f32, place: usize) {
        #[expect(clippy::cast_precision_loss, reason = "at most three")]
        let worth = score - 0.1 * self.links.places[place].hops as f32;
        self.use_words(words, worth);
    }

    fn use_link(&mut self, link: &Link, place: usize) {
        self.use_named(link.words(), link.score, place);
    }

    /// Words that say which rows of a place are meant.
    fn use_condition(&mut self, words: Range<usize>, score: f32, place: usize) {
        self.out.conditions.extend(words.clone());
        self.use_named(words, score, place);
    }

    fn is_free(&self, at: usize) -> bool {
        !self.out.used.contains_key(&at)
    }

    fn require(&mut self, field: impl Into<String>, op: Op, value: Value) {
        self.out.query.conditions.push(Condition::compare(field, op, value));
    }

    fn superlative(&self) -> Option<Marked> {
        let of = |one: &&Marked| matches!(one.mark, Mark::High | Mark::Low);
        // "first name" is a name.
        let free = |one: &&Marked| self.links.links.iter().all(|link| link.len < 2 || !link.words().contains(&one.at));
        let counted = |one: &&Marked| {
            let before = one.at.checked_sub(1).and_then(|at| self.request.mark_at(at));
            before.is_none_or(|mark| !matches!(mark.mark, Mark::More | Mark::Less | Mark::AtLeast | Mark::AtMost))
        };
        self.request.marks.iter().filter(of).filter(free).find(counted).copied()
    }

    /// `top 5`, `the five largest`, `which five customers … most`.
    fn limits(&mut self) {
        if self.superlative().is_none() {
            return;
        }
        let numbers = self.request.tokens.iter().enumerate().filter_map(|(at, token)| Some((at, token.number?)));
        let fits = numbers.filter(|(at, number)| {
            let compared = comparison(self.request, *at, at + 1).is_some() || self.request.unit(at + 1).is_some();
            let valued = matches!(self.links.at(at + 1).map(|link| link.name), Some(Name::Field(place, field)) if self.links.field(place, field).kind.is_number());
            (1.0..=f64::from(MOST)).contains(number) && number.fract() == 0.0 && !compared && !valued
        });
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 200")]
        let found = fits.map(|(at, number)| (at, number as u32)).next();
        if let Some((at, number)) = found {
            self.limit = Some(number);
            self.use_words([at], 1.0);
            self.out.conditions.insert(at);
        }
    }

    fn direction(&self) -> Option<bool> {
        if self.request.marked(Mark::Descending).is_some() {
            return Some(true);
        }
        self.request.marked(Mark::Ascending).map(|_| false)
    }

    fn subject(&mut self) {
        let Links { places, links } = self.links;
        for link in links {
            match link.name {
                Name::Place(0) => self.use_link(link, 0),
                // Named for what a condition is on: `albums of the artist …`.
                Name::Place(place) | Name::Relation(place) if place > 0 => {
                    let path = &places[place].path;
                    let stands = |condition: &Condition| matches!(condition, Condition::Compare(one) if one.field.starts_with(path.as_str()));
                    if self.out.query.conditions.iter().any(stands) {
                        self.use_link(link, place);
                    }
                }
                _ => {}
            }
        }
        let request = self.request;
        for mark in &request.marks {
            let counts = matches!(
                mark.mark,
                Mark::Sum
                    | Mark::Average
                    | Mark::Maximum
                    | Mark::Minimum
                    | Mark::High
                    | Mark::Low
                    | Mark::Each
                    | Mark::More
                    | Mark::Less
                    | Mark::AtLeast
                    | Mark::AtMost
                    | Mark::Not
                    | Mark::Without
                    | Mark::Contains
                    | Mark::Starts
                    | Mark::Round
            );
            // A word of asking without effect: another question would be answered.
            let named =
                links.iter().any(|link| link.words().contains(&mark.at)) || self.out.used.contains_key(&mark.at);
            let compares = matches!(mark.mark, Mark::More | Mark::Less | Mark::AtLeast | Mark::AtMost);
            let behind = mark.at + mark.len;
            // "look after": without a number nothing is compared.
            let has_number = (behind..(behind + 3).min(request.tokens.len()))
                .any(|at| request.tokens[at].number.is_some() || request.month(at).is_some());
            // "over time", but not "more than last year" and "over the average".
            let loose = mark.len == 1 && !has_number && (behind..behind + 3).all(|at| request.mark_at(at).is_none());
            let told = match mark.mark {
                Mark::Sum => !self.out.query.aggregate.is_empty(),
                Mark::Each => !self.out.query.group.is_empty(),
                _ => compares && loose,
            };
            if counts && !named && !told && !self.consumed.contains(&mark.at) {
                self.out.strain += 0.5;
                self.out.ignored.extend(mark.words());
            }
        }
        // Conditions on two fields must both hold: with "or" one of them would be enough.
        for or in request.marks.iter().filter(|mark| mark.mark == Mark::Or && !self.consumed.contains(&mark.at)) {
            let conditions = &self.out.conditions;
            if conditions.range(..or.at).next().is_some() && conditions.range(or.at + or.len..).next().is_some() {
                self.out.ignored.extend(or.words());
            }
        }
        for mark in request.marks.iter().filter(|mark| links.iter().all(|link| !link.words().contains(&mark.at))) {
            // They count as read, but explain nothing by themselves.
            let used = &self.out.used;
            let full = |at: &usize| !used.contains_key(at) && request.tokens[*at].weight == Weight::Full;
            self.out.conditions.extend(mark.words().filter(full));
        }
    }
}
