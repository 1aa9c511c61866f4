use super::detect::{Around, Found, claims};
use super::learned;
use super::lexicon::{Language, languages};
use super::link::{link, works};
use super::object::{Objects, objects};
use super::text::{Sentence, sentences};
use super::token::Kind;
use super::{Claim, Evidence, Receipts};
use std::ops::Range;

const MOST: usize = 200;
/// Most list items that count as objects of the claim before them.
const ITEMS: usize = 50;

/// Score from which on a sentence counts as one that reports or announces an act, and a request as one for tools.
/// Chosen on held-out examples (`docs/decisions/014-receipts.md`).
pub(super) const CLAIMS: f32 = 0.75;
pub(super) const WANTS_TOOLS: f32 = 0.15;

/// Whether `request` asks for something that only a tool can do or look up.
pub(crate) fn wants_tools(request: &str) -> bool {
    learned::score_request(request) > WANTS_TOOLS
}

/// Finds the claims of `answer` to `request` and links each to the calls in `evidence` that prove it.
///
/// A claim says that the assistant itself has done something: not what it plans, refuses or asks, not what a text says,
/// not what others did. It is proved by calls that succeeded, were not undone, did such a thing, and did it to what the
/// claim names. An answer with an unproved claim is [`super::Verdict::Unverified`].
///
/// Where no tool has run, what is claimed can only be told from what was asked for: the classifiers decide alone.
pub fn check(request: &str, answer: &str, evidence: &[Evidence<'_>]) -> Receipts {
    if request.trim().is_empty() || evidence.iter().any(works) {
        return link_claims(answer, evidence);
    }
    let text = sentences(answer);
    let acts = acts(request, &text);
    let claims = acts.iter().filter_map(|(at, _)| {
        let sentence = text.get(*at)?;
        let named = languages().iter().find_map(|lang| {
            let found = claims(sentence, lang, Around::default()).into_iter().next()?;
            let about = objects(&sentence.tokens, lang);
            Some((found.class, about))
        });
        let (class, about) = named.unwrap_or_else(|| ("do".to_owned(), Objects::default()));
        claim(answer, sentence, &Found::state(sentence, class), &about, &[])
    });
    Receipts::of(claims.collect())
}

/// The bytes of `answer` that claim or announce an act of the assistant, as far as `request` asked for one. This only
/// reads words; the caller decides whether a claim is false, and asks only where no tool has run.
pub fn false_completion(request: &str, answer: &str) -> Option<Range<usize>> {
    let text = sentences(answer);
    let (at, _) = acts(request, &text).into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    span(text.get(at)?)
}

/// The sentences that report or announce an act, with their scores.
fn acts(request: &str, text: &[Sentence]) -> Vec<(usize, f32)> {
    let mut acts = learned::score_sentences(request, text);
    acts.retain(|(_, score)| *score > CLAIMS);
    acts
}

fn span(sentence: &Sentence) -> Option<Range<usize>> {
    Some(sentence.tokens.first()?.start..sentence.tokens.last()?.end)
}

/// Finds claims by the rules, which tell clauses and what they name, and links them to calls.
fn link_claims(answer: &str, evidence: &[Evidence<'_>]) -> Receipts {
    let evidence: Vec<_> = evidence.iter().copied().filter(works).collect();
    let text = sentences(answer);
    let mut found: Vec<(usize, Found, &Language)> = Vec::new();
    let spoken = spoken(&text);
    for (lang, native) in spoken {
        let mut around = Around::default();
        let mut shown = false;
        for (index, sentence) in text.iter().enumerate() {
            if !sentence.item {
                around = Around::default();
            }
            shown &= !sentence.after_rule;
            shown |= salutes(sentence, lang);
            around.foreign = !native;
            around.content |= shown && !sentence.item && !names_path(sentence);
            for one in claims(sentence, lang, around) {
                if !sentence.handed
                    && !found.iter().rev().take(40).any(|(at, other, _)| *at == index && other.verb == one.verb)
                {
                    found.push((index, one, lang));
                }
            }
            if sentence.colon {
                around = announced(sentence, lang);
                shown |= hands_over(sentence, lang);
            }
        }
    }
    let shown = |index: usize| text.get(index).is_some_and(presents);
    if found.iter().any(|(_, one, _)| !one.done) || (0..text.len()).any(shown) {
        found.retain(|(_, one, _)| !one.done);
    } else {
        found.truncate(1);
    }
    found.sort_by_key(|(at, one, _)| (*at, one.span.start, one.verb));
    let mut claims = Vec::new();
    for (at, one, lang) in found.into_iter().take(MOST) {
        let about = about(&text, at, &one, lang);
        let own_text = (about.plain || about.kinds == ["draft"])
            && about.names.is_empty()
            && matches!(one.class.as_str(), "make" | "draft");
        if own_text && (text[at].colon || shown(at) || shown(at + 1)) {
            continue;
        }
        claims.extend(claim(answer, &text[at], &one, &about, &evidence));
    }
    Receipts::of(claims)
}

fn claim(
    answer: &str,
    sentence: &Sentence,
    found: &Found,
    about: &Objects,
    evidence: &[Evidence<'_>],
) -> Option<Claim> {
    let tokens = sentence.tokens.get(found.span.clone())?;
    let (start, end) = (tokens.first()?.start, tokens.last()?.end);
    let linked = link(&found.class, about, evidence);
    let whole = answer.get(start..end)?;
    if linked.calls.is_empty() && evidence.iter().any(|one| shows(one, whole)) {
        return None;
    }
    Some(Claim { text: whole.to_owned(), start, end, action: linked.action, calls: linked.calls, why: linked.why })
}

/// Shortest text that counts as quoted verbatim from a call, bytes.
const QUOTED: usize = 12;

/// Whether `text` occurs verbatim in a call's result or arguments: then the answer quotes what somebody did there.
fn shows(one: &Evidence<'_>, text: &str) -> bool {
    let given = || one.arguments.as_object().into_iter().flat_map(serde_json::Map::values);
    let mut given = given().filter_map(serde_json::Value::as_str);
    one.ok && text.len() >= QUOTED && (one.content.contains(text) || given.any(|given| given.contains(text)))
}

fn about(text: &[Sentence], at: usize, found: &Found, lang: &Language) -> Objects {
    let sentence = &text[at];
    let span = sentence.tokens.get(found.span.clone()).unwrap_or_default();
    let mut about = objects(span, lang);
    if sentence.colon {
        let items = text[at + 1..].iter().take(ITEMS).take_while(|next| next.item);
        for item in items {
            let Some(first) = item.tokens.first().filter(|first| first.names()) else {
                break;
            };
            about.names.extend(objects(std::slice::from_ref(first), lang).names);
        }
    }
    about
}

/// The languages, and whether the text is in each: a single word may belong to several.
fn spoken(text: &[Sentence]) -> Vec<(&'static Language, bool)> {
    let count = |lang: &Language| {
        let tokens = text.iter().flat_map(|sentence| &sentence.tokens);
        tokens.filter(|token| lang.is_common(&token.norm)).count()
    };
    let counts: Vec<_> = languages().iter().map(|lang| (lang, count(lang))).collect();
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let native = |(lang, count): (&'static Language, usize)| (lang, count * 2 >= most);
    counts.into_iter().map(native).collect()
}

/// What a sentence that ends with a colon says about the list after it.
fn announced(sentence: &Sentence, lang: &Language) -> Around {
    let words = sentence.words();
    let content = lang.content_intro.find(&words).is_some() || lang.report.find(&words).is_some();
    let plan = lang.plan_intro.find(&words).is_some() || words.iter().any(|word| lang.modal.contains(word));
    Around { content, plan, ..Around::default() }
}

/// Whether a text follows that the answer delivers, such as a poem or a letter; nothing in it is a claim.
fn hands_over(sentence: &Sentence, lang: &Language) -> bool {
    let words = sentence.words();
    let text = |word: &&str| lang.plain.contains(word) || lang.noun(word) == Some("draft");
    words.iter().any(text) && !words.iter().any(|word| lang.condition.contains(word))
}

/// Whether a letter begins here: "Dear Anna,".
fn salutes(sentence: &Sentence, lang: &Language) -> bool {
    let begins = sentence.tokens.first().is_some_and(|first| lang.letter.contains(&first.norm));
    begins && sentence.tokens.len() <= 12 && sentence.tokens.iter().any(|token| token.is_mark(",:"))
}

/// "Here is the letter": a text follows.
fn presents(sentence: &Sentence) -> bool {
    languages().iter().any(|lang| lang.presenting.find(&sentence.words()).is_some())
}

fn names_path(sentence: &Sentence) -> bool {
    sentence.tokens.iter().any(|token| token.kind == Kind::Path)
}
