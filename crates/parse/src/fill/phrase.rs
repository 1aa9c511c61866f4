//! Names and other words that may be meant as values.

use super::lexicon::Lexicon;
use super::request::{Request, What};
use super::token::{Kind, Token};

/// Longest phrase, words.
const LONGEST: usize = 5;
/// Most phrases of one request.
const MOST: usize = 160;

pub(super) fn find(request: &mut Request, words: &Lexicon) {
    names(request, words);
    places(request, words);
    nations(request, words);
    phrases(request, words);
}

/// Whether a token can be a part of a name.
fn named(request: &Request, at: usize, words: &Lexicon) -> bool {
    let token = &request.tokens[at];
    if token.kind == Kind::Number {
        return false;
    }
    if token.kind != Kind::Word || !token.cap {
        return false;
    }
    if token.first {
        let lower = token.lower.as_str();
        let next_cap = request.tokens.get(at + 1).is_some_and(|next| next.cap);
        return !words.stop.contains(lower)
            && !words.verbs.contains(lower)
            && (next_cap || token.owner || words.place(&token.text).is_some() || token.is_code());
    }
    !(token.text.len() == 1 && token.is("i"))
}

fn names(request: &mut Request, words: &Lexicon) {
    let len = request.tokens.len();
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < len {
        if !named(request, at, words)
            || (words.stop.contains(&request.tokens[at].lower) && !follows(request, at, words))
        {
            at += 1;
            continue;
        }
        let from = at;
        let mut to = at + 1;
        while to < len && !request.tokens[to - 1].owner {
            let titled = matches!(request.tokens[to - 1].lower.as_str(), "mr" | "mrs" | "ms" | "dr" | "prof" | "st");
            if named(request, to, words) && !request.tokens[to].first {
                to += 1;
            } else if titled && request.tokens[to].is(".") && request.tokens.get(to + 1).is_some_and(|next| next.cap)
                || joins(&request.tokens[to])
                    && !(request.tokens[to].is("to") && from > 0 && request.tokens[from - 1].is("from"))
                    && to + 1 < len
                    && named(request, to + 1, words)
                    && !request.tokens[to + 1].first
            {
                to += 2;
            } else if to + 2 < len
                && request.tokens[to].is("of")
                && request.tokens[to + 1].is("the")
                && named(request, to + 2, words)
            {
                to += 3;
            } else if request.tokens[to].kind == Kind::Number
                && request.tokens[to].text.len() <= 3
                && request.tokens[to].from <= request.tokens[to - 1].to + 1
                && (request.tokens[to - 1].text.contains('&') || to - from >= 2)
            {
                // `S&P 500`, `Apollo Mission 11`
                to += 1;
            } else {
                break;
            }
        }
        found.push((from, to));
        at = to;
    }
    for (from, to) in &found {
        let (mut from, to) = (*from, *to);
        request.add(from, to, What::Name);
        // `Windows 10`
        if request.tokens.get(to).is_some_and(|next| {
            next.kind == Kind::Number && next.text.len() <= 4 && next.from == request.tokens[to - 1].to + 1
        }) && !request.tokens.get(to + 1).is_some_and(|next| next.is_content(words))
        {
            request.add(from, to + 1, What::Name);
        }
        // Without a leading article, and what is around an inner `of`.
        if words.stop.contains(&request.tokens[from].lower) && to - from > 1 {
            from += 1;
            request.add(from, to, What::Name);
        }
        for cut in from + 1..to {
            if joins(&request.tokens[cut]) && cut + 1 < to {
                request.add(from, cut, What::Name);
                let next = cut + 1 + usize::from(request.tokens[cut + 1].is("the"));
                request.add(next, to, What::Name);
            }
        }
        for cut in from + 1..to {
            // `III` is no name without the one before it.
            let numeral =
                request.tokens[cut..to].iter().all(|token| token.text.chars().all(|c| matches!(c, 'I' | 'V' | 'X')));
            if !numeral {
                request.add(cut, to, What::Name);
            }
            request.add(from, cut, What::Name);
        }
    }
    // `Denver, Colorado`
    for pair in found.windows(2) {
        let ((from, comma), (next, to)) = (pair[0], pair[1]);
        if next == comma + 1
            && request.tokens[comma].is(",")
            && region(request.slice(next, to), words)
            && !alone(request.slice(from, comma), request.slice(next, to), words)
        {
            request.add(from, to, What::Name);
        }
    }
}

/// Whether `first` can't lie in `second`: a country in a country, a state in a state.
pub(super) fn alone(first: &str, second: &str, words: &Lexicon) -> bool {
    use super::lexicon::Place;
    match (words.place(first), words.place(second)) {
        (Some(Place::Country | Place::Continent), _) => true,
        (Some(Place::State(_)), Some(Place::State(_))) => !words.states.contains_key(&first.to_lowercase()),
        _ => false,
    }
}

/// Whether a text names a country or a state.
pub(super) fn region(text: &str, words: &Lexicon) -> bool {
    use super::lexicon::Place;
    matches!(words.place(text), Some(Place::State(_) | Place::Country | Place::City(_)))
        && !matches!(words.place(text), Some(Place::City(_)) if !words.states.contains_key(&text.to_lowercase()))
        || words.states.values().any(|code| code == text)
}

fn joins(token: &Token) -> bool {
    matches!(
        token.lower.as_str(),
        "of" | "de" | "del" | "van" | "von" | "&" | "la" | "du" | "der" | "v" | "vs" | "to" | "'"
    )
}

/// `The Weeknd`: an article with a capital within a sentence, before a name.
fn follows(request: &Request, at: usize, words: &Lexicon) -> bool {
    !request.tokens[at].first
        && matches!(request.tokens[at].lower.as_str(), "the" | "a" | "an")
        && request.tokens.get(at + 1).is_some_and(|next| next.cap && !words.stop.contains(&next.lower))
}

/// Places are known in small letters as well: `in new york`.
fn places(request: &mut Request, words: &Lexicon) {
    for at in 0..request.tokens.len() {
        let led = at > 0
            && matches!(
                request.tokens[at - 1].lower.as_str(),
                "in" | "to" | "from" | "near" | "at" | "for" | "of" | "around" | "and"
            );
        let found = (1..=3).rev().map(|len| at + len).find(|end| {
            let several = end - at > 1;
            *end <= request.tokens.len()
                && (several || (led && request.tokens[at].text.len() > 4))
                && !words.stop.contains(&request.tokens[at].lower)
                && words.place(request.slice(at, *end)).is_some()
        });
        if let Some(end) = found {
            request.add(at, end, What::Name);
        }
    }
}

/// `German` speaks of Germany.
fn nations(request: &mut Request, words: &Lexicon) {
    for at in 0..request.tokens.len() {
        if let Some(country) = words.nations.get(&request.tokens[at].lower)
            && request.tokens[at].cap
        {
            request.add_as(at, at + 1, What::Nation, country.clone());
        }
    }
}

/// Words without capitals: runs between marks and words of no meaning, and their parts.
fn phrases(request: &mut Request, words: &Lexicon) {
    let len = request.tokens.len();
    let inside = |at: usize, request: &Request| {
        let token = &request.tokens[at];
        let asks = words.verbs.contains(&token.lower)
            && (token.first
                || at == 0
                || matches!(request.tokens[at - 1].lower.as_str(), "to" | "please" | "and" | "," | "you" | "me" | "i"));
        token.is_content(words) && !asks
    };
    let mut at = 0;
    let before = request.spans.len();
    while at < len {
        if !inside(at, request) {
            at += 1;
            continue;
        }
        let from = at;
        while at < len && inside(at, request) {
            at += 1;
            if request.tokens[at - 1].owner {
                break;
            }
        }
        for begin in from..at {
            for end in (begin + 1..=at.min(begin + LONGEST)).rev() {
                if request.spans.len() - before > MOST {
                    return;
                }
                request.add(begin, end, What::Phrase);
            }
        }
        // `theory of evolution`
        if request.tokens.get(at).is_some_and(|t| t.is("of")) {
            let mut next = at + 1;
            while next < len
                && (request.tokens[next].is("the") || request.tokens[next].is("a") || request.tokens[next].is("an"))
            {
                next += 1;
            }
            let mut end = next;
            while end < len && end - next < LONGEST && inside(end, request) {
                end += 1;
            }
            if end > next {
                for begin in from..at {
                    request.add(begin, end, What::Phrase);
                }
            }
        }
    }
}
