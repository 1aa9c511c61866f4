//! Three linear classifiers over words, word pieces and marks of form, trained on labelled examples in many languages
//! (`tests/data/answers/learn`; `tests` writes the weights). One says how much a request asks for something that only a
//! tool can do, one how much a sentence of an answer reports or announces an act of the assistant, and the last tells
//! such a sentence from one that refuses the act or asks back.

use super::lexicon::{Language, Words, languages};
use super::promise::announces;
use super::text::Sentence;
use super::token::{Kind, Token, first_tokens};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

/// Number of weights; a feature's hash picks one.
const BUCKETS: usize = 1 << 16;
/// Most tokens of the request and of a sentence that are used.
const LOOKED_AT: usize = 40;
/// Number of sentences at the beginning and the end in which an answer speaks of itself.
const HEAD: usize = 3;
const TAIL: usize = 2;
/// Tokens that a request or a sentence begins with, which say most.
const OPENING: usize = 4;
/// Lengths of word pieces, letters.
const PIECES: std::ops::RangeInclusive<usize> = 2..=5;
/// Weights of words, of those in the opening, and of marks. Chosen on held-out examples, like the two below.
const REQUEST: [f32; 3] = [0.8, 1.3, 0.15];
const SENTENCE: [f32; 3] = [0.7, 0.7, 1.0];
/// Share of the request's score in that of a sentence, and the most of it that counts: no request makes an act of a
/// sentence that reads like none.
const ASKED: f32 = 2.0;
const MOST_ASKED: f32 = 1.2;
/// What counts as the request's score where the request is not known.
const UNKNOWN: f32 = 0.45;
/// Letters that must agree for words to count as the same, and the least length of a significant word.
const STEM: usize = 5;
const TELLING: usize = 4;

/// A table per classifier: its scale as a little-endian `f32`, then one signed byte per bucket.
const WEIGHTS: &[u8] = include_bytes!("../../data/receipts/learned.bin");
const TABLE: usize = 4 + BUCKETS;
/// The tables, by what their classifiers tell.
const WANTS: usize = 0;
const ACTS: usize = 1;
const NO_REFUSAL: usize = 2;

/// Buckets and their values.
type Features = Vec<(usize, f32)>;

/// How much `request` asks for something that only a tool can do or look up; above 0 means more likely than not.
pub(super) fn score_request(request: &str) -> f32 {
    weigh(WANTS, &request_features(request))
}

/// How much each sentence in which the answer `text` speaks of itself reads like an act. Those that read more like a
/// refusal are left out.
pub(super) fn score_sentences(request: &str, text: &[Sentence]) -> Vec<(usize, f32)> {
    let asked = if request.trim().is_empty() { UNKNOWN } else { score_request(request) };
    let answer = Answer::new(request, text);
    let scored = near(text).into_iter().filter_map(|at| {
        let features = answer.features(at);
        (weigh(NO_REFUSAL, &features) > 0.0).then(|| (at, total(weigh(ACTS, &features), asked)))
    });
    scored.collect()
}

fn total(sentence: f32, request: f32) -> f32 {
    sentence + ASKED * request.min(MOST_ASKED)
}

fn weigh(table: usize, features: &Features) -> f32 {
    let Some((unit, weights)) = WEIGHTS.get(table * TABLE..).and_then(<[u8]>::split_first_chunk::<4>) else {
        return 0.0;
    };
    let weighed =
        features.iter().filter_map(|(bucket, value)| Some(value * f32::from(weights.get(*bucket)?.cast_signed())));
    weighed.sum::<f32>() * f32::from_le_bytes(*unit)
}

fn near(text: &[Sentence]) -> Vec<usize> {
    let voice = voice(text);
    let skipped = HEAD..voice.len().saturating_sub(TAIL);
    voice.iter().enumerate().filter(|(place, _)| !skipped.contains(place)).map(|(_, at)| *at).collect()
}

/// The sentences that the assistant says itself.
fn voice(text: &[Sentence]) -> Vec<usize> {
    (0..text.len()).filter(|at| !text[*at].handed).collect()
}

fn request_features(request: &str) -> Features {
    let all = first_tokens(request, LOOKED_AT);
    let has = |wanted: &str| all.iter().any(|token| token.is_mark(wanted));
    let kinds = |wanted: &[Kind]| all.iter().any(|token| wanted.contains(&token.kind));
    let marks = [
        ("always", true),
        (":", has(":")),
        ("?", has("?")),
        ("0", kinds(&[Kind::Number, Kind::Time])),
        ("path", kinds(&[Kind::Path, Kind::Address])),
        ("lines", request.lines().count() > 2),
        ("long", request.len() > 400),
    ];
    let marks = marks.iter().filter(|(_, is)| *is).map(|(mark, _)| hash(&["qm", mark]));
    let [words, opening, each] = REQUEST;
    let mut sum = Sum::default();
    sum.add(words, worded(&all, "q"));
    sum.add(opening, worded(&all[..all.len().min(OPENING)], "q^"));
    sum.add(each, marks.map(|mark| scaled(mark, 1.0)).collect());
    sum.features()
}

/// An answer, as far as all of its sentences share it.
struct Answer<'a> {
    text: &'a [Sentence],
    voice: Vec<usize>,
    /// The languages it may be in.
    languages: Vec<&'static Language>,
    /// Significant words of the request, and their stems.
    words: BTreeSet<String>,
    stems: BTreeSet<String>,
    marks: Vec<String>,
}

impl<'a> Answer<'a> {
    fn new(request: &str, text: &'a [Sentence]) -> Self {
        let common = |lang: &Language| {
            let tokens = text.iter().flat_map(|sentence| &sentence.tokens);
            tokens.filter(|token| lang.is_common(&token.norm)).count()
        };
        let counts: Vec<_> = languages().iter().map(|lang| (lang, common(lang))).collect();
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let languages: Vec<_> =
            counts.into_iter().filter(|(_, count)| count * 2 >= most).map(|(lang, _)| lang).collect();
        let asked = first_tokens(request, LOOKED_AT);
        let near: Vec<&Sentence> = near(text).into_iter().map(|at| &text[at]).collect();
        let says =
            |sentence: &Sentence, list: fn(&Language) -> &Words| languages.iter().any(|lang| sentence.has(list(lang)));
        let many = |is: &dyn Fn(&Sentence) -> bool| near.iter().filter(|sentence| is(sentence)).count().min(2);
        let size: usize = text.iter().map(|one| one.tokens.len()).sum();
        let marks = vec![
            format!("denied{}", many(&|one| says(one, |lang| &lang.negation))),
            format!("own denied{}", many(&|one| says(one, |lang| &lang.negation) && says(one, |lang| &lang.first))),
            format!("if{}", many(&|one| says(one, |lang| &lang.condition))),
            format!("may{}", many(&|one| says(one, |lang| &lang.modal))),
            format!("asks{}", many(&|one| one.question)),
            format!("code{}", text.iter().any(|one| one.before_code)),
            format!("last asks{}", text.last().is_some_and(|last| last.question)),
            format!("size{}", size.max(1).ilog2().min(9)),
            format!("asked lines{}", request.lines().count().min(3)),
            format!("asked size{}", (request.len() / 40 + 1).ilog2().min(4)),
            format!("asked?{}", request.trim_end().ends_with('?')),
        ];
        Self {
            text,
            voice: voice(text),
            languages,
            words: asked.iter().map(|token| token.norm.clone()).collect(),
            stems: asked.iter().filter_map(stem).collect(),
            marks,
        }
    }

    fn features(&self, at: usize) -> Features {
        let looked_at = self.text[at].first(LOOKED_AT);
        let marks: BTreeSet<u64> = self.marks_of(at).iter().map(|mark| hash(&["m", mark])).collect();
        let [words, opening, all] = SENTENCE;
        #[expect(clippy::cast_precision_loss, reason = "some dozens")]
        let each = (marks.len() as f32).sqrt().recip();
        let mut sum = Sum::default();
        sum.add(words, worded(looked_at, "s"));
        sum.add(opening, worded(self.text[at].first(OPENING), "s^"));
        sum.add(all, marks.into_iter().map(|mark| scaled(mark, each)).collect());
        sum.features()
    }

    fn marks_of(&self, at: usize) -> Vec<String> {
        let sentence = &self.text[at];
        let looked_at = sentence.first(LOOKED_AT);
        let end = if sentence.question {
            "?"
        } else if sentence.colon {
            ":"
        } else {
            "."
        };
        let stems: BTreeSet<String> = looked_at.iter().filter_map(stem).collect();
        let shared = stems.intersection(&self.stems).count();
        // "Rename it" and "Renamed": the act that was asked for, in another form.
        let inflected = |token: &&Token| {
            !self.words.contains(&token.norm) && stem(token).is_some_and(|stem| self.stems.contains(&stem))
        };
        let place = self.voice.iter().position(|one| *one == at).unwrap_or(0);
        let kinds = |wanted: &[Kind]| sentence.tokens.iter().any(|token| wanted.contains(&token.kind));
        let mut marks = vec![
            "always".to_owned(),
            format!("end{end}"),
            format!("shared{}", shared.min(3)),
            format!("new{}", (stems.len() - shared + 1).ilog2().min(4)),
            format!("inflected{}", looked_at.iter().filter(inflected).count().min(2)),
            format!("place{}", place.min(3)),
            format!("left{}", (self.voice.len() - place).min(4)),
            format!("length{}", sentence.tokens.len().max(1).ilog2().min(6)),
            format!("item{}", sentence.item),
            format!("before code{}", sentence.before_code),
            format!("path{}", kinds(&[Kind::Path, Kind::Address])),
            format!("quote{}", kinds(&[Kind::Quote])),
            format!("number{}", kinds(&[Kind::Number, Kind::Time])),
        ];
        marks.extend(self.marks.iter().cloned());
        for lang in &self.languages {
            let said = grammar(sentence, lang);
            marks.extend(said.iter().filter(|(_, is)| *is).map(|(mark, _)| (*mark).to_owned()));
        }
        marks
    }
}

/// What the grammar of `sentence` says about who does what when.
fn grammar(sentence: &Sentence, lang: &Language) -> [(&'static str, bool); 17] {
    let words = sentence.words();
    let opens = |list: &Words| words.first().is_some_and(|word| list.contains(word));
    [
        ("announces", announces(sentence, lang)),
        ("modal", sentence.has(&lang.modal)),
        ("condition", sentence.has(&lang.condition)),
        ("denies", sentence.has(&lang.negation)),
        ("first", sentence.has(&lang.first)),
        ("first opens", opens(&lang.first)),
        ("article opens", opens(&lang.determiners)),
        ("your", sentence.has(&lang.own)),
        ("now", sentence.has(&lang.now)),
        ("stands", sentence.has(&lang.stands)),
        ("finite", sentence.has(&lang.finite)),
        ("participle", words.iter().any(|word| lang.participle(word).is_some())),
        ("participle opens", words.first().is_some_and(|word| lang.participle(word).is_some())),
        ("has been", lang.perfect.scattered(&words)),
        ("was", lang.simple.scattered(&words)),
        ("is", lang.state.scattered(&words)),
        ("have", lang.have.scattered(&words)),
    ]
}

fn stem(token: &Token) -> Option<String> {
    let telling = token.kind == Kind::Word && token.norm.chars().count() >= TELLING;
    telling.then(|| token.norm.chars().take(STEM).collect())
}

#[derive(Default)]
struct Sum(BTreeMap<usize, f32>);

impl Sum {
    fn add(&mut self, weight: f32, features: Features) {
        for (bucket, value) in features {
            *self.0.entry(bucket).or_default() += weight * value;
        }
    }

    fn features(self) -> Features {
        self.0.into_iter().collect()
    }
}

/// Words, word pairs and word pieces, together of weight 1.
fn worded(tokens: &[Token], of: &str) -> Features {
    let mut seen = BTreeSet::new();
    let mut before = "^".to_owned();
    for token in tokens {
        let word = shown(token);
        seen.insert(hash(&[of, "w", &word]));
        seen.insert(hash(&[of, "b", &before, " ", &word]));
        if matches!(token.kind, Kind::Word) {
            pieces(&word, |piece| {
                seen.insert(hash(&[of, "c", piece]));
            });
        }
        before = word;
    }
    seen.insert(hash(&[of, "b", &before, " $"]));
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let each = (seen.len() as f32).sqrt().recip();
    seen.into_iter().map(|hash| scaled(hash, each)).collect()
}

/// A word without digits; names are replaced by their kind.
fn shown(token: &Token) -> String {
    match token.kind {
        Kind::Word => {
            let mut word: String = token.norm.chars().map(|c| if c.is_numeric() { '0' } else { c }).collect();
            word.truncate(word.char_indices().nth(40).map_or(word.len(), |(at, _)| at));
            word
        }
        Kind::Number => "0".to_owned(),
        Kind::Time => "0:0".to_owned(),
        Kind::Path => "/path".to_owned(),
        Kind::Address => "/address".to_owned(),
        Kind::Quote => "/quote".to_owned(),
        Kind::Mark(mark) => mark.to_string(),
    }
}

fn pieces(word: &str, mut each: impl FnMut(&str)) {
    let marked = format!("<{word}>");
    let ends: Vec<usize> = marked.char_indices().map(|(at, _)| at).chain([marked.len()]).collect();
    for length in PIECES {
        for window in ends.windows(length + 1) {
            each(&marked[window[0]..window[length]]);
        }
    }
}

/// FNV-1a, 64 bits.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The bucket of a hash. Another part of the hash gives the sign, so that collisions cancel out.
fn scaled(hash: u64, value: f32) -> (usize, f32) {
    #[expect(clippy::cast_possible_truncation, reason = "only the lowest bits are wanted")]
    let bucket = hash as usize % BUCKETS;
    (bucket, if hash >> 40 & 1 == 1 { value } else { -value })
}
