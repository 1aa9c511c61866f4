//! The words of asking (`data/asking.toml`), and the words of a request with what each is.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;
use steward_core::ports::FileWish;
use steward_core::text::{digits, quoted, stem, words};

const DATA: &str = include_str!("../../data/asking.toml");

// A test reads the file, so it can't be broken here.
static ASKING: LazyLock<Asking> = LazyLock::new(|| toml::from_str(DATA).unwrap_or_default());

pub(crate) fn asking() -> &'static Asking {
    &ASKING
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asking {
    marks: BTreeMap<Mark, Vec<String>>,
    pub measures: Vec<Measure>,
    pub directions: BTreeMap<String, Direction>,
    pub units: BTreeMap<String, Unit>,
    parts: BTreeMap<String, Vec<String>>,
    words: Words,
}

/// What superlatives and verbs compare, and how the fields of it are called.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measure {
    pub name: String,
    high: Vec<String>,
    low: Vec<String>,
    says: Vec<String>,
    pub fields: Vec<String>,
    /// Whether fields of dates are meant.
    #[serde(default)]
    pub dates: bool,
}

/// Which of two relations or fields to the same words mean.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Direction {
    prepositions: Vec<String>,
    verbs: Vec<String>,
    /// What relations and fields of it are called.
    pub names: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unit {
    /// What it measures: units of the same can be converted.
    pub of: String,
    pub size: f64,
    words: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    numbers: Vec<String>,
    /// Twelve lists, January first.
    months: Vec<Vec<String>>,
    stop: Vec<String>,
    light: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    Count,
    Sum,
    Average,
    Maximum,
    Minimum,
    High,
    Low,
    Each,
    More,
    Less,
    AtLeast,
    AtMost,
    Between,
    Not,
    Without,
    Different,
    Alphabetical,
    Sorted,
    Descending,
    Ascending,
    Person,
    When,
    Contains,
    Starts,
    Or,
    By,
    Round,
    Now,
}

/// Some words with a meaning of their own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marked {
    pub mark: Mark,
    pub at: usize,
    pub len: usize,
    /// What it compares.
    pub measure: Option<&'static Measure>,
}

impl Marked {
    pub fn words(&self) -> Range<usize> {
        self.at..self.at + self.len
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Names something.
    Full,
    /// A verb without which the question stays the same.
    Light,
    None,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub text: String,
    pub lower: String,
    pub stem: String,
    /// Capitalised, and not the first word.
    pub proper: bool,
    /// The quotation that it belongs to.
    pub quote: Option<usize>,
    pub weight: Weight,
    pub number: Option<f64>,
    /// Whether white space alone is between it and the word before it.
    pub joined: bool,
    /// Whether it opens a bracket: `Texas (TX)` says one thing twice.
    pub bracketed: bool,
}

/// A request as words, with what each of them is.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub(crate) tokens: Vec<Token>,
    pub(crate) marks: Vec<Marked>,
    /// Words that say what is measured: place of the word, and the measure.
    pub(crate) measures: Vec<(usize, &'static Measure)>,
    pub(crate) quotes: Vec<String>,
    /// `2024-01-31`.
    pub(crate) today: String,
    /// What is wanted of the rows, where the words don't say it.
    pub(crate) wish: Option<FileWish>,
}

/// Whether words are this phrase; the phrase's words may end in a star.
fn is_phrase(tokens: &[Token], phrase: &str) -> bool {
    let mut parts = phrase.split(' ');
    let all = tokens.iter().all(|token| {
        parts.next().is_some_and(|part| match part.strip_suffix('*') {
            Some(begin) => token.lower.starts_with(begin),
            None => token.lower == part,
        })
    });
    all && parts.next().is_none()
}

fn any(tokens: &[Token], phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| is_phrase(tokens, phrase))
}

const LONGEST: usize = 4;

/// `Durchschnittspreis` as the two words that it is made of.
fn split_compound(lower: &str) -> Option<(String, String)> {
    const BEGINNINGS: [&str; 3] = ["durchschnitts", "gesamt", "höchst"];
    let begin = BEGINNINGS.into_iter().find(|begin| lower.starts_with(begin))?;
    let rest = lower.strip_prefix(begin)?;
    let is_word = rest.chars().count() >= 4 && rest.chars().all(char::is_alphabetic);
    (is_word && !["zahl", "anzahl", "heit"].contains(&rest)).then(|| (begin.to_owned(), rest.to_owned()))
}

impl Request {
    /// `today`: as `2024-01-31`, for what is so now.
    pub fn read(text: &str, today: &str) -> Self {
        let asking = asking();
        let quotes = quoted(text);
        let mut tokens: Vec<Token> = Vec::new();
        let mut end = 0;
        let words = words(text).into_iter().flat_map(|word| {
            let compound = split_compound(&word.lower)
                .filter(|_| !quotes.iter().any(|quote| word.start >= quote.start && word.end <= quote.end));
            match compound {
                Some((begin, rest)) => {
                    vec![(begin, word.start, word.start), (rest, word.start, word.end)]
                }
                None => vec![(word.text.to_owned(), word.start, word.end)],
            }
        });
        for (word, from, to) in words {
            let quote = quotes.iter().position(|quote| from >= quote.start && to <= quote.end);
            let bare = word.trim_end_matches("'s").trim_end_matches("’s").trim_end_matches(['\'', '’']);
            let (bare, lower) = (bare.to_owned(), bare.to_lowercase());
            let number = digits(&bare).and_then(|plain| plain.parse::<f64>().ok());
            #[expect(clippy::cast_precision_loss, reason = "up to twelve")]
            let spelled = || asking.words.numbers.iter().position(|number| *number == lower).map(|at| at as f64);
            let known = |list: &[String]| list.contains(&lower);
            let capital = bare.starts_with(char::is_uppercase);
            let weight = match () {
                () if quote.is_some() => Weight::Full,
                () if known(&asking.words.stop) || bare.len() < 2 && number.is_none() => Weight::None,
                () if known(&asking.words.light) => Weight::Light,
                () => Weight::Full,
            };
            tokens.push(Token {
                stem: stem(&bare),
                proper: capital && !tokens.is_empty() && quote.is_none(),
                quote,
                weight,
                number: if quote.is_some() { None } else { number.or_else(spelled) },
                joined: !tokens.is_empty() && text[end..from].chars().all(char::is_whitespace),
                bracketed: !tokens.is_empty() && text[end..from].ends_with('('),
                text: bare,
                lower,
            });
            end = to;
        }
        let quotes = quotes.iter().map(|quote| quote.text.trim().to_owned()).collect();
        let mut request = Self { tokens, quotes, today: today.to_owned(), ..Self::default() };
        request.mark();
        request.name_stop_words();
        request
    }

    /// The same, where a classifier has found what is wanted: that counts where the words don't say it.
    #[must_use]
    pub fn wishing(self, wish: Option<FileWish>) -> Self {
        Self { wish, ..self }
    }

    /// The number that is wanted, where no word says it.
    pub(crate) fn wished_number(&self) -> Option<FileWish> {
        use Mark::{Average, Count, Each, High, Low, Maximum, Minimum, Sum};
        let says = |mark: &Marked| matches!(mark.mark, Count | Sum | Average | Maximum | Minimum | High | Low | Each);
        self.wish.filter(|wish| *wish != FileWish::Rows && !self.marks.iter().any(says))
    }

    /// Words that name nothing else, where they can only be a name or a value: `the order 10`, `other than en`.
    fn name_stop_words(&mut self) {
        let numbered = |at: usize| self.tokens.get(at + 1).is_some_and(|next| next.number.is_some() && next.joined);
        let orders = (0..self.tokens.len()).filter(|at| self.tokens[*at].lower == "order" && numbered(*at));
        let negated = self
            .tokens
            .len()
            .checked_sub(1)
            .filter(|last| self.marks.iter().any(|mark| mark.mark == Mark::Not && mark.words().end == *last));
        for at in orders.chain(negated).collect::<Vec<_>>() {
            self.tokens[at].weight = Weight::Full;
        }
    }

    /// Finds the longest phrases.
    fn mark(&mut self) {
        let asking = asking();
        let mut at = 0;
        while at < self.tokens.len() {
            let found = (1..=LONGEST.min(self.tokens.len() - at)).rev().find_map(|len| {
                let some = &self.tokens[at..at + len];
                if some.iter().any(|token| token.quote.is_some()) {
                    return None;
                }
                // A name is no superlative: the album Greatest Hits.
                let name = some.iter().any(|token| token.proper);
                let of_measure = asking.measures.iter().find_map(|one| {
                    let mark = match () {
                        () if !name && any(some, &one.high) => Mark::High,
                        () if !name && any(some, &one.low) => Mark::Low,
                        () => return None,
                    };
                    Some(Marked { mark, at, len, measure: Some(one) })
                });
                of_measure.or_else(|| {
                    // Words of two marks, such as `by`, are of the first one.
                    let (mark, _) = asking.marks.iter().find(|(mark, phrases)| {
                        any(some, phrases) && !(name && matches!(mark, Mark::High | Mark::Low))
                    })?;
                    Some(Marked { mark: *mark, at, len, measure: None })
                })
            });
            let said = (1..=2.min(self.tokens.len() - at)).rev().find_map(|len| {
                let some = &self.tokens[at..at + len];
                asking.measures.iter().find(|measure| any(some, &measure.says))
            });
            self.measures.extend(said.map(|measure| (at, measure)));
            at += found.map_or(1, |found| found.len);
            self.marks.extend(found);
        }
    }

    /// Words between two places that name something.
    pub(crate) fn told_between(&self, from: usize, to: usize) -> usize {
        self.tokens
            .get(from..to)
            .map_or(usize::MAX, |some| some.iter().filter(|token| token.weight == Weight::Full).count())
    }

    pub(crate) fn marked(&self, mark: Mark) -> Option<&Marked> {
        self.marks.iter().find(|one| one.mark == mark)
    }

    /// The mark that a word belongs to.
    pub(crate) fn mark_at(&self, at: usize) -> Option<&Marked> {
        self.marks.iter().find(|one| one.words().contains(&at))
    }

    /// `year`, `month` or `day`, where the word is one of these.
    pub(crate) fn date_part(&self, at: usize) -> Option<&'static str> {
        let some = self.tokens.get(at..=at)?;
        asking().parts.iter().find(|(_, words)| any(some, words)).map(|(part, _)| part.as_str())
    }

    pub(crate) fn unit(&self, at: usize) -> Option<(&'static str, &'static Unit)> {
        let some = self.tokens.get(at..=at)?;
        asking().units.iter().find(|(_, unit)| any(some, &unit.words)).map(|(name, unit)| (name.as_str(), unit))
    }

    /// The direction that a word leads in, as a preposition or as a verb.
    pub(crate) fn direction(&self, at: usize, verb: bool) -> Option<&'static Direction> {
        let some = self.tokens.get(at..=at)?;
        let said = |one: &&Direction| any(some, if verb { &one.verbs } else { &one.prepositions });
        asking().directions.values().find(said)
    }

    /// From 1.
    pub(crate) fn month(&self, at: usize) -> Option<u32> {
        let lower = &self.tokens.get(at)?.lower;
        let found = asking().words.months.iter().position(|names| names.contains(lower))?;
        u32::try_from(found + 1).ok()
    }

    pub(crate) fn year(&self, at: usize) -> Option<i32> {
        let token = self.tokens.get(at)?;
        token.text.parse().ok().filter(|year| (1800..2200).contains(year) && token.text.len() == 4)
    }
}

#[cfg(test)]
mod tests {
    use super::{Asking, DATA};

    #[test]
    fn the_file_of_words_can_be_read() {
        let asking = toml::from_str::<Asking>(DATA).unwrap_or_else(|error| panic!("data/asking.toml: {error}"));
        assert!(!asking.measures.is_empty() && !asking.units.is_empty() && !asking.marks.is_empty());
        assert_eq!((asking.directions.len(), asking.words.months.len()), (2, 12));
    }
}
