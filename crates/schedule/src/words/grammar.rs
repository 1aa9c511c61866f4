//! What the tokens of a text say, each used exactly once.

use super::lexicon::{Sense, Unit};
use super::question::Ask;
use super::said::{
    Said, Target, When, as_month, as_number, as_part, as_position, as_span, as_target, as_unit, is_month,
};
use super::tokens::Token;

pub(super) type Step = Result<bool, Ask>;

pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) said: Said,
}

/// Reads all tokens; asks about the first one that fits nowhere.
pub(super) fn parse(tokens: &[Token]) -> Result<Said, Ask> {
    if let Some(unknown) = tokens.iter().find(|token| token.senses.is_empty()) {
        return Err(Ask::UnknownWord(unknown.text.clone()));
    }
    let mut parser = Parser { tokens, at: 0, said: Said::default() };
    while let Some(token) = parser.tokens.get(parser.at) {
        if !parser.read_phrase()? {
            return Err(if parser.sees(&Sense::Or) {
                Ask::EitherOr
            } else if parser.sees(&Sense::And) {
                Ask::TwoTimings
            } else {
                Ask::Misplaced(token.text.clone())
            });
        }
    }
    Ok(parser.said)
}

impl Parser<'_> {
    fn senses(&self, ahead: usize) -> &[Sense] {
        self.tokens.get(self.at + ahead).map_or(&[], |token| token.senses.as_slice())
    }

    pub(super) fn sees(&self, sense: &Sense) -> bool {
        self.senses(0).contains(sense)
    }

    pub(super) fn take(&mut self, sense: &Sense) -> bool {
        let found = self.sees(sense);
        self.at += usize::from(found);
        found
    }

    pub(super) fn find<T>(&self, choose: impl Fn(&Sense) -> Option<T>) -> Option<T> {
        self.senses(0).iter().find_map(choose)
    }

    pub(super) fn pick<T>(&mut self, choose: impl Fn(&Sense) -> Option<T>) -> Option<T> {
        let found = self.find(choose);
        self.at += usize::from(found.is_some());
        found
    }

    /// Does nothing unless all of `read` succeeds.
    pub(super) fn attempt<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<T>, Ask>,
    ) -> Result<Option<T>, Ask> {
        let begin = self.at;
        let found = read(self)?;
        if found.is_none() {
            self.at = begin;
        }
        Ok(found)
    }

    fn read_phrase(&mut self) -> Step {
        // A comma between phrases says nothing.
        if self.at > 0 && self.at + 1 < self.tokens.len() && self.take(&Sense::Comma) {
            return Ok(true);
        }
        Ok(self.read_zone()
            || self.read_when()?
            || self.read_window()?
            || self.read_nth()?
            || self.read_every()?
            || self.read_weekdays(false)?
            || self.read_months()?
            || self.read_times()?
            || self.read_part()?)
    }

    fn read_zone(&mut self) -> bool {
        let begin = self.at;
        let _ = self.take(&Sense::In);
        let found = self.pick(|sense| if let Sense::Zone(name) = sense { Some(name.clone()) } else { None });
        if found.is_none() || self.said.zone.is_some() {
            self.at = begin;
            return false;
        }
        self.said.zone = found;
        true
    }

    /// Today, tomorrow, a date, in two hours.
    fn read_when(&mut self) -> Step {
        // `Morgen` is tomorrow or the morning: the latter where the day is known.
        let day_is_known = self.said.repeats || self.said.weekdays != 0 || self.said.when.is_some();
        if day_is_known && self.find(as_part).is_some() {
            return Ok(false);
        }
        let found = self.attempt(|parser| {
            let on = parser.take(&Sense::On);
            if let Some(when) = parser.pick(|sense| match sense {
                Sense::Today | Sense::TodayPart(_) if !on => Some(When::Days(0)),
                Sense::Tomorrow if !on => Some(When::Days(1)),
                Sense::DayAfterTomorrow if !on => Some(When::Days(2)),
                Sense::Date(year, month, day) => Some(When::Date(*year, *month, *day)),
                _ => None,
            }) {
                if let Some(&Sense::TodayPart(part)) = parser.tokens[parser.at - 1].senses.first() {
                    parser.set_part(part)?;
                }
                return Ok(Some(when));
            }
            if let Some(when) = parser.read_date_with_month() {
                return Ok(Some(when));
            }
            if !parser.take(&Sense::In) {
                return Ok(None);
            }
            if let Some((n, unit)) = parser.pick(as_span) {
                return Ok(Some(When::Delay(n, unit)));
            }
            let number = parser.pick(as_number);
            let unit = parser.pick(as_unit);
            Ok(number.zip(unit).map(|(number, unit)| When::Delay(number, unit)))
        })?;
        let Some(when) = found else { return Ok(false) };
        if self.said.when.is_some() {
            return Err(Ask::TwoTimings);
        }
        self.said.when = Some(when);
        Ok(true)
    }

    /// `24 December`, `December 24th`, `24. Dezember 2026`, `24th of December`.
    fn read_date_with_month(&mut self) -> Option<When> {
        let begin = self.at;
        let as_day = |sense: &Sense| match sense {
            Sense::Ordinal(day) | Sense::Number(day) if (1..=31).contains(day) => i8::try_from(*day).ok(),
            _ => None,
        };
        let month_first = self.pick(as_month);
        let day = self.pick(as_day);
        let _ = month_first.is_none() && self.take(&Sense::Of);
        let month = month_first.or_else(|| self.pick(as_month));
        if let (Some(day), Some(month)) = (day, month) {
            let _ = self.take(&Sense::Comma);
            let year = self.pick(|sense| match sense {
                Sense::Number(year) if (2000..=9000).contains(year) => i16::try_from(*year).ok(),
                _ => None,
            });
            // `1st of January and July` is no date.
            let goes_on = self.sees(&Sense::And)
                && self.tokens.get(self.at + 1).is_some_and(|token| token.senses.iter().any(is_month));
            if !goes_on {
                return i8::try_from(month).ok().map(|month| When::Date(year, month, day));
            }
        }
        self.at = begin;
        None
    }

    /// `on the first and third Monday of the month`, `am 1. und 15. jeden Monats`, `every last Friday`.
    fn read_nth(&mut self) -> Step {
        let begin = self.at;
        let found = self.attempt(|parser| {
            let _ = parser.take(&Sense::On);
            let every = parser.take(&Sense::Every);
            let mut positions = Vec::new();
            while let Some(position) = parser.pick(as_position) {
                positions.push(position);
                let joined = parser.attempt(|parser| {
                    let joined = parser.take(&Sense::And) || parser.take(&Sense::Comma);
                    let _ = joined && (parser.take(&Sense::On) || parser.take(&Sense::And));
                    Ok((joined && parser.find(as_position).is_some()).then_some(()))
                })?;
                if joined.is_none() {
                    break;
                }
            }
            let target = parser.pick(as_target);
            if positions.is_empty() {
                return Ok(None);
            }
            let period = parser.read_period()?;
            Ok(Some((every, positions, target, period)))
        })?;
        let Some((every, positions, target, period)) = found else { return Ok(false) };
        if self.sees(&Sense::Or) {
            return Err(Ask::EitherOr);
        }
        if every && period.is_none() {
            // `every second Monday`, `every third day`: a step, or that one of the month.
            if let ([n], Some(Target::Weekday(_) | Target::Workday)) = (&positions[..], target)
                && *n > 1
            {
                return Err(Ask::NthOrAlternate(*n));
            }
            if let ([n], Some(Target::Day)) = (&positions[..], target) {
                return match u32::try_from(*n) {
                    Ok(n) if n > 1 => self.set_step(n, Unit::Day).map(|()| true),
                    _ => Err(Ask::Contradiction),
                };
            }
            if let ([n], None) = (&positions[..], target)
                && *n > 1
                && let Some(unit) = self.pick(as_unit)
            {
                return self.set_step(n.unsigned_abs(), unit).map(|()| true);
            }
            if target.is_none() {
                self.at = begin;
                return Ok(false);
            }
        }
        if !self.said.nth.is_empty() || !self.said.month_days.is_empty() {
            return Err(Ask::TwoTimings);
        }
        self.said.repeats |= every;
        if period.is_some() {
            self.said.period = period;
        }
        match target {
            Some(target) => self.said.nth = positions.into_iter().map(|n| (n, target)).collect(),
            None => {
                for position in positions {
                    let day = u32::try_from(position).map_err(|_| Ask::DayMissing)?;
                    self.said.month_days.push(day);
                }
            }
        }
        Ok(true)
    }

    /// `of the month`, `jeden Monats`, `of each quarter`, `of January and July`.
    fn read_period(&mut self) -> Result<Option<Unit>, Ask> {
        self.attempt(|parser| {
            let _ = parser.take(&Sense::Of) || parser.take(&Sense::In);
            let every = parser.take(&Sense::Every);
            let unit = parser.find(as_unit).filter(|unit| *unit >= Unit::Month);
            if let Some(unit) = unit {
                parser.at += 1;
                parser.said.repeats = true;
                return Ok(Some(unit));
            }
            if parser.find(as_month).is_some() {
                parser.said.repeats |= every;
                parser.read_month_list()?;
                return Ok(Some(Unit::Month));
            }
            Ok(None)
        })
    }

    /// `every 2 hours`, `daily`, `every other Monday`, `jeden Abend`.
    fn read_every(&mut self) -> Step {
        if let Some((n, unit)) =
            self.pick(|sense| if let Sense::EverySpan(n, unit) = sense { Some((*n, *unit)) } else { None })
        {
            return self.set_step(n, unit).map(|()| true);
        }
        if let Some(part) = self.pick(|sense| if let Sense::EveryPart(part) = sense { Some(*part) } else { None }) {
            self.set_step(1, Unit::Day)?;
            return self.set_part(part).map(|()| true);
        }
        let begin = self.at;
        let _ = self.take(&Sense::On) || self.take(&Sense::At) || self.take(&Sense::In);
        if !self.take(&Sense::Every) {
            self.at = begin;
            return Ok(false);
        }
        if self.read_yearly_date()? {
            return Ok(true);
        }
        let other = self.take(&Sense::Other);
        let number = if other { Some(2) } else { self.pick(as_number) };
        if let Some((n, unit)) = self.pick(as_span) {
            return if number.is_some() { Err(Ask::Contradiction) } else { self.set_step(n, unit).map(|()| true) };
        }
        // `every morning` before `every day`: the same word may be both.
        if number.is_none()
            && let Some(part) = self.pick(as_part)
        {
            self.set_step(1, Unit::Day)?;
            return self.set_part(part).map(|()| true);
        }
        if let Some(unit) = self.pick(as_unit) {
            let Some(number) = number.or(Some(1)).filter(|number| *number > 0) else { return Err(Ask::Contradiction) };
            return self.set_step(number, unit).map(|()| true);
        }
        if let Some(number) = number {
            if !other {
                return Err(Ask::Contradiction);
            }
            // Every other one of Monday to Friday has no rule of weeks.
            if self.sees(&Sense::Workday) || self.sees(&Sense::Workdays) {
                return Err(Ask::NotPossible);
            }
            self.set_step(number, Unit::Week)?;
            return if self.read_weekdays(true)? { Ok(true) } else { Err(Ask::DayMissing) };
        }
        self.said.repeats = true;
        if self.read_weekdays(true)? || self.read_months()? {
            return Ok(true);
        }
        self.at = begin;
        Ok(false)
    }

    /// `every 24 December`.
    fn read_yearly_date(&mut self) -> Step {
        let Some(when) = self.read_date_with_month() else { return Ok(false) };
        if self.said.when.is_some() {
            return Err(Ask::TwoTimings);
        }
        self.said.when = Some(when);
        self.set_step(1, Unit::Year).map(|()| true)
    }

    /// `Monday to Friday`, `montags, mittwochs und freitags`, `on weekdays and Saturday`.
    fn read_weekdays(&mut self, every: bool) -> Step {
        let found = self.attempt(|parser| {
            let from = parser.take(&Sense::From);
            let _ = !from && (parser.take(&Sense::On) || parser.take(&Sense::At));
            let begin = parser.at;
            let Some((mut bits, mut repeats)) = parser.read_weekday_item() else { return Ok(None) };
            // `from Monday` without an end is no day of the week.
            if from && parser.at == begin + 1 {
                return Ok(None);
            }
            loop {
                let more = parser.attempt(|parser| {
                    if !(parser.take(&Sense::And) || parser.take(&Sense::Comma)) {
                        return Ok(None);
                    }
                    let _ = parser.take(&Sense::And);
                    let _ = parser.take(&Sense::On);
                    let each = parser.take(&Sense::Every);
                    Ok(parser.read_weekday_item().map(|(bits, repeats)| (bits, repeats || each)))
                })?;
                let Some((others, repeat)) = more else { break };
                bits |= others;
                repeats |= repeat;
            }
            Ok(Some((bits, repeats)))
        })?;
        let Some((bits, repeats)) = found else { return Ok(false) };
        if self.sees(&Sense::Or) {
            return Err(Ask::EitherOr);
        }
        if self.said.weekdays != 0 {
            return Err(Ask::TwoTimings);
        }
        self.said.weekdays = bits;
        self.said.repeats |= repeats || every;
        Ok(true)
    }

    /// One day, a range or a kind of days, and whether it is said of each.
    fn read_weekday_item(&mut self) -> Option<(u64, bool)> {
        let as_day = |sense: &Sense| match sense {
            Sense::Weekday(day) => Some((*day, false)),
            Sense::Weekdays(day) => Some((*day, true)),
            _ => None,
        };
        let kinds = self.pick(|sense| match sense {
            Sense::Workday => Some((0b011_1110, false)),
            Sense::Workdays => Some((0b011_1110, true)),
            Sense::Weekend => Some((0b100_0001, false)),
            Sense::Weekends => Some((0b100_0001, true)),
            _ => None,
        });
        if kinds.is_some() {
            return kinds;
        }
        let (first, repeats) = self.pick(as_day)?;
        let begin = self.at;
        if self.take(&Sense::To)
            && let Some((last, _)) = self.pick(as_day)
        {
            let days = (0..7)
                .map(|n| (first + n) % 7)
                .take_while(|day| *day != last)
                .fold(1 << last, |bits, day| bits | 1 << day);
            return Some((days, true));
        }
        self.at = begin;
        Some((1 << first, repeats))
    }

    /// `in January and July`.
    fn read_months(&mut self) -> Step {
        let begin = self.at;
        let _ = self.take(&Sense::In) || self.take(&Sense::Of);
        let _ = self.take(&Sense::Every);
        if self.find(as_month).is_none() {
            self.at = begin;
            return Ok(false);
        }
        self.read_month_list().map(|()| true)
    }

    fn read_month_list(&mut self) -> Result<(), Ask> {
        if self.said.months != 0 {
            return Err(Ask::TwoTimings);
        }
        while let Some(month) = self.pick(as_month) {
            self.said.months |= 1 << month;
            let begin = self.at;
            if self.take(&Sense::To) {
                let Some(last) = self.pick(as_month) else { return Err(Ask::Contradiction) };
                let following = (0..12).map(|n| (month - 1 + n) % 12 + 1).take_while(|month| *month != last);
                self.said.months |= following.fold(1 << last, |bits, month| bits | 1 << month);
                continue;
            }
            if !((self.take(&Sense::And) || self.take(&Sense::Comma)) && self.find(as_month).is_some()) {
                self.at = begin;
                break;
            }
        }
        if self.sees(&Sense::Or) { Err(Ask::EitherOr) } else { Ok(()) }
    }

    fn set_step(&mut self, n: u32, unit: Unit) -> Result<(), Ask> {
        self.said.repeats = true;
        self.said.step = match self.said.step {
            None => Some((n, unit)),
            Some(known) if known == (n, unit) => Some(known),
            // `daily, every 2 hours`: each day is no limit.
            Some((1, Unit::Day)) if unit < Unit::Day => Some((n, unit)),
            Some(known) if known.1 < Unit::Day && (n, unit) == (1, Unit::Day) => Some(known),
            Some(_) => return Err(Ask::Contradiction),
        };
        Ok(())
    }
}
