//! LIKE and GLOB as SQLite has them, but with the clock checked between steps.

/// Steps between two checks of the clock.
const STEPS: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq)]
enum Place {
    One(char),
    Any,
    /// Any number of any characters.
    Rest,
    /// Whether it is inverted, and its ranges.
    Set(bool, Vec<(char, char)>),
    /// Nothing fits: a set without an end, an escape without a character.
    Never,
}

#[derive(Debug)]
pub(super) struct Pattern {
    places: Vec<Place>,
    /// ASCII letters are equal to their capitals.
    fold: bool,
}

impl Pattern {
    /// `%`, `_`, and a character that takes them literally.
    pub fn like(text: &str, escape: Option<char>) -> Self {
        let mut places = Vec::new();
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            places.push(match c {
                c if Some(c) == escape => characters.next().map_or(Place::Never, Place::One),
                '%' => Place::Rest,
                '_' => Place::Any,
                c => Place::One(c),
            });
        }
        Self { places, fold: true }
    }

    /// `*`, `?`, `[a-z]`, `[^a-z]`.
    pub fn glob(text: &str) -> Self {
        let mut places = Vec::new();
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            places.push(match c {
                '*' => Place::Rest,
                '?' => Place::Any,
                '[' => set(&mut characters),
                c => Place::One(c),
            });
        }
        Self { places, fold: false }
    }

    /// Whether all of `text` fits; `None` if `over` became true in between.
    pub fn matches(&self, text: &str, over: impl Fn() -> bool) -> Option<bool> {
        let (mut at, mut place) = (0, 0);
        // After the last `Rest`, and how far that reaches so far: going back further can't help.
        let mut back = None;
        let mut steps = 0;
        loop {
            steps += 1;
            if steps % STEPS == 0 && over() {
                return None;
            }
            match (self.places.get(place), text[at..].chars().next()) {
                (Some(Place::Rest), _) => {
                    place += 1;
                    back = Some((place, at));
                    if place == self.places.len() {
                        return Some(true);
                    }
                }
                (None, None) => return Some(true),
                (Some(wanted), Some(c)) if self.fits(wanted, c) => {
                    place += 1;
                    at += c.len_utf8();
                }
                // The text is at its end, so a longer `Rest` would leave nothing more for what follows.
                (Some(_), None) => return Some(false),
                _ => {
                    let Some((after, from)) = back else {
                        return Some(false);
                    };
                    let next = text[from..].chars().next().map_or(1, char::len_utf8);
                    back = Some((after, from + next));
                    (place, at) = (after, from + next);
                }
            }
        }
    }

    fn fits(&self, wanted: &Place, c: char) -> bool {
        match wanted {
            Place::One(one) => *one == c || self.fold && one.eq_ignore_ascii_case(&c),
            Place::Any => true,
            Place::Set(inverted, ranges) => ranges.iter().any(|(low, high)| (low..=high).contains(&&c)) != *inverted,
            Place::Rest | Place::Never => false,
        }
    }
}

fn set(characters: &mut std::str::Chars<'_>) -> Place {
    let mut ranges = Vec::new();
    let mut next = characters.next();
    let inverted = next == Some('^');
    if inverted {
        next = characters.next();
    }
    if next == Some(']') {
        ranges.push((']', ']'));
        next = characters.next();
    }
    let mut before = None;
    while let Some(c) = next {
        if c == ']' {
            return Place::Set(inverted, ranges);
        }
        let ahead = characters.clone().next();
        match before {
            Some(low) if c == '-' && ahead.is_some_and(|ahead| ahead != ']') => {
                let high = characters.next().unwrap_or(low);
                ranges.push((low, high));
                before = None;
            }
            _ => {
                ranges.push((c, c));
                before = Some(c);
            }
        }
        next = characters.next();
    }
    Place::Never
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn it_ends_where_it_is_told_to() {
        let text = "a".repeat(200_000);
        let pattern = Pattern::like(&format!("%{}b", "a".repeat(900)), None);
        assert_eq!(pattern.matches(&text, || true), None);
        assert_eq!(pattern.matches("aab", || false), Some(false));
        let pattern = Pattern::glob(&"*a".repeat(400));
        assert_eq!(pattern.matches(&text, || false), Some(true));
    }
}
