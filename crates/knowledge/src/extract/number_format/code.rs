//! The parts of a format's code.

/// One of up to four parts of a code that `;` separates.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Section {
    pub condition: Option<Condition>,
    pub parts: Vec<Part>,
    /// Of the names of months and days: the lower ten bits of a Windows locale.
    pub language: Option<u32>,
    /// A date or time in the look that the reader has set.
    pub is_system_date: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Literal(String),
    /// `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// With a `+` before exponents that are not negative, or not.
    Exponent(bool),
    Slash,
    /// `y`, `m`, `d`, `h`, `s`, `b`, or `n` for minutes; and how often it stands.
    Date(char, usize),
    /// Tenths, hundredths … of seconds.
    Subsecond(usize),
    /// Hours, minutes or seconds that don't end at 24 or 60.
    Elapsed(char, usize),
    /// `AM/PM`, or `A/P`.
    HalfDay(bool),
    General,
    /// `@`
    Text,
}

#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    operator: String,
    bound: f64,
}

impl Condition {
    fn of(text: &str) -> Option<Self> {
        let operator: String = text.chars().take_while(|letter| matches!(letter, '<' | '>' | '=')).collect();
        let bound = text[operator.len()..].trim().parse().ok()?;
        (!operator.is_empty()).then_some(Self { operator, bound })
    }

    #[expect(clippy::float_cmp, reason = "the condition of the format is exact")]
    pub fn holds(&self, number: f64) -> bool {
        match self.operator.as_str() {
            "<" => number < self.bound,
            "<=" => number <= self.bound,
            ">" => number > self.bound,
            ">=" => number >= self.bound,
            "<>" => number != self.bound,
            _ => number == self.bound,
        }
    }

    /// Whether it holds for negative numbers only.
    pub fn is_negative(&self) -> bool {
        match self.operator.as_str() {
            "<" => self.bound <= 0.0,
            "<=" | "=" => self.bound < 0.0,
            _ => false,
        }
    }
}

impl Section {
    pub fn has_date(&self) -> bool {
        self.is_system_date || self.parts.iter().any(|part| matches!(part, Part::Date(..) | Part::Elapsed(..)))
    }

    /// Whether it has a sign of negative numbers among its texts.
    pub fn has_sign(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Literal(text) if text.contains(['-', '(', '−'])))
    }

    fn add(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Literal(last)) => last.push_str(text),
            _ => self.parts.push(Part::Literal(text.to_owned())),
        }
    }

    /// What stands in brackets.
    fn add_bracket(&mut self, inner: &str) {
        let lower = inner.to_ascii_lowercase();
        if let Some(currency) = inner.strip_prefix('$') {
            let (symbol, locale) = currency.rsplit_once('-').unwrap_or((currency, ""));
            self.add(symbol);
            let Ok(locale) = u32::from_str_radix(locale.split(',').next().unwrap_or_default(), 16) else { return };
            match locale & 0xffff {
                0xf800 | 0xf400 => self.is_system_date = true,
                locale => self.language = Some(locale & 0x3ff),
            }
        } else if inner.starts_with(['<', '>', '=']) {
            self.condition = Condition::of(inner);
        } else if let Some(first @ ('h' | 'm' | 's')) = lower.chars().next()
            && lower.chars().all(|letter| letter == first)
        {
            self.parts.push(Part::Elapsed(first, lower.len()));
        }
        // Colours and forms of digits say nothing.
    }

    /// A month after hours or before seconds is minutes.
    fn find_minutes(&mut self) {
        let mut is_after_hours = false;
        let mut last_month = None;
        for at in 0..self.parts.len() {
            match self.parts[at] {
                Part::Date('m', 1..=2) if is_after_hours => {
                    self.parts[at] = Part::Date('n', self.count_at(at));
                    is_after_hours = false;
                }
                Part::Date('m', count) => last_month = (count < 3).then_some(at),
                Part::Date('s', _) | Part::Elapsed('s', _) => {
                    if let Some(month) = last_month.take() {
                        self.parts[month] = Part::Date('n', self.count_at(month));
                    }
                    is_after_hours = false;
                }
                Part::Date('h', _) | Part::Elapsed('h', _) => is_after_hours = true,
                Part::Date(..) => (is_after_hours, last_month) = (false, None),
                _ => {}
            }
        }
    }

    fn count_at(&self, at: usize) -> usize {
        if let Part::Date(_, count) = self.parts[at] { count } else { 1 }
    }
}

/// Longest code that is read; Excel takes 255 letters.
const LONGEST: usize = 1000;

pub(super) fn sections(code: &str) -> Vec<Section> {
    let letters: Vec<char> = code.chars().take(LONGEST).collect();
    let (mut all, mut section, mut at) = (Vec::new(), Section::default(), 0);
    while let Some(letter) = letters.get(at) {
        let rest = &letters[at..];
        let begins = |text: &str| {
            let mut rest = rest.iter();
            text.chars().all(|one| rest.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&one)))
        };
        let same = rest.iter().take_while(|one| one.eq_ignore_ascii_case(letter)).count();
        let mut length = 1;
        match letter.to_ascii_lowercase() {
            ';' => all.push(std::mem::take(&mut section)),
            '"' => {
                let text: String = rest[1..].iter().take_while(|one| **one != '"').collect();
                length = text.chars().count() + 2;
                section.add(&text);
            }
            '\\' | '_' | '*' => {
                length = 2;
                match (letter, rest.get(1)) {
                    ('\\', Some(next)) => section.add(&next.to_string()),
                    // As wide as a letter, or filled up with it.
                    ('_', _) => section.add(" "),
                    _ => {}
                }
            }
            '[' => {
                let inner: String = rest[1..].iter().take_while(|one| **one != ']').collect();
                length = inner.chars().count() + 2;
                section.add_bracket(&inner);
            }
            'g' if begins("general") => {
                length = 7;
                section.parts.push(Part::General);
            }
            'a' if begins("am/pm") => {
                length = 5;
                section.parts.push(Part::HalfDay(true));
            }
            'a' if begins("a/p") => {
                length = 3;
                section.parts.push(Part::HalfDay(false));
            }
            'e' if begins("e+") || begins("e-") => {
                length = 2;
                section.parts.push(Part::Exponent(begins("e+")));
            }
            // Names of days in East Asian formats.
            'a' if same > 2 => {
                length = same;
                section.parts.push(Part::Date('d', same));
            }
            // Names of eras; years are those of the common one.
            'g' => length = same,
            'e' => {
                length = same;
                section.parts.push(Part::Date('y', 4));
            }
            '.' if matches!(section.parts.last(), Some(Part::Date('s', _) | Part::Elapsed('s', _))) => {
                let digits = rest[1..].iter().take_while(|one| **one == '0').count();
                length = 1 + digits;
                match digits {
                    0 => section.add("."),
                    digits => section.parts.push(Part::Subsecond(digits)),
                }
            }
            field @ ('y' | 'm' | 'd' | 'h' | 's' | 'b') => {
                length = same;
                section.parts.push(Part::Date(field, same));
            }
            digit @ ('0' | '#' | '?') => section.parts.push(Part::Digit(digit)),
            '.' => section.parts.push(Part::Point),
            ',' => section.parts.push(Part::Comma),
            '%' => section.parts.push(Part::Percent),
            '/' => section.parts.push(Part::Slash),
            '@' => section.parts.push(Part::Text),
            _ => section.add(&letter.to_string()),
        }
        at += length;
    }
    all.push(section);
    for section in &mut all {
        section.find_minutes();
    }
    all
}
