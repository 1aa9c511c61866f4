//! What a request asks for, an act or words: read from its beginning and the places it names, never from its topic.

use super::lexicon::{Language, languages, proofs};
use super::token::{Kind, Token, first_tokens};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// A text, an explanation or an opinion: the answer itself is the work.
    Words,
    /// It can't be determined.
    Open,
    /// Something is to be looked up or done somewhere.
    Look,
    /// It begins with what is to be done, or no request is known.
    Do,
}

/// Tokens of a request that are examined.
const LOOKED_AT: usize = 80;
/// A language with up to this many fewer words of the request than the best one is considered, too.
const SLACK: usize = 2;
/// A colon counts only from this token on.
const HEAD: usize = 3;
/// A request longer than this brings its own material, bytes.
const LONG: usize = 400;

pub(super) fn asks(request: &str) -> Asks {
    read(request).0
}

/// Whether `request` asks for a text or an explanation and names no place where something could be done.
pub(crate) fn is_for_text(request: &str) -> bool {
    let (asks, place) = read(request);
    asks == Asks::Words && !place
}

fn read(request: &str) -> (Asks, bool) {
    if request.trim().is_empty() {
        return (Asks::Do, true);
    }
    let mut all = first_tokens(request, LOOKED_AT);
    // What follows a colon is material.
    if let Some(colon) = all.iter().skip(HEAD).position(|token| token.is_mark(":")) {
        all.truncate(HEAD + colon);
    }
    let known = |lang: &Language| {
        let words = all.iter().filter(|token| lang.is_common(&token.norm));
        words.count()
    };
    let most = languages().iter().map(known).max().unwrap_or(0);
    let mut signs = Signs::default();
    for lang in languages().iter().filter(|lang| known(lang) + SLACK >= most) {
        signs.read(&all, lang);
    }
    let long = request.len() > LONG || request.trim().lines().count() > 3;
    let here = signs.place || signs.also;
    let asks = if signs.code && !signs.path {
        Asks::Words
    } else if signs.acts || (signs.soft && !signs.texts && here && !long) {
        Asks::Do
    } else if signs.genre {
        match (signs.place && !long, signs.also) {
            (true, true) => Asks::Do,
            (true, false) if !signs.texts => Asks::Look,
            _ => Asks::Words,
        }
    } else if signs.texts {
        match (signs.place && !long, signs.also) {
            (true, true) => Asks::Do,
            (true, false) if signs.path && signs.soft => Asks::Open,
            _ => Asks::Words,
        }
    } else if signs.place && !long {
        Asks::Look
    } else if long {
        Asks::Words
    } else {
        Asks::Open
    };
    (asks, signs.place)
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a sign of its own")]
struct Signs {
    /// It begins with a verb of doing.
    acts: bool,
    /// It begins with a verb that may mean either.
    soft: bool,
    /// It begins with a verb of wording, or asks how.
    texts: bool,
    /// It names a place where things are done: a file, a calendar.
    place: bool,
    /// It names a file or an address.
    path: bool,
    /// It asks for code: "in Python".
    code: bool,
    /// After "and" comes a verb of doing.
    also: bool,
    genre: bool,
}

impl Signs {
    fn read(&mut self, all: &[Token], lang: &Language) {
        let word = |token: &Token| token.kind == Kind::Word;
        let head = all.iter().position(|token| word(token) && !lang.polite.contains(&token.norm));
        if let Some(at) = head {
            let (head, next) = (&all[at], all.get(at + 1));
            let count = next.is_some_and(|next| lang.counts.contains(&next.norm));
            let named = |token: &Token| token.capital || token.kind != Kind::Word || lang.goes_on.contains(&token.norm);
            let noun = lang.either.has(&head.norm) && !next.is_some_and(named);
            self.acts |= lang.acts.has(&head.norm) && !noun;
            self.soft |= lang.soft.has(&head.norm);
            self.texts |= lang.texts.has(&head.norm) && !count;
        }
        let mut after = false;
        for (at, token) in all.iter().enumerate() {
            if matches!(token.kind, Kind::Path | Kind::Address) {
                self.place = true;
                self.path = true;
            }
            if proofs().code.contains(&token.norm) {
                let before = at.checked_sub(1).map(|before| &all[before].norm);
                self.code |= before.is_none_or(|before| proofs().within.contains(before));
            }
            if word(token) {
                self.place |= lang.places.has(&token.norm);
                self.genre |= lang.genres.contains(&token.norm);
                self.also |= after && lang.acts.has(&token.norm);
                after = lang.split.contains(&token.norm) || (after && lang.polite.contains(&token.norm));
            } else {
                after = token.is_mark(",;.");
            }
        }
    }
}
