//! Parses words into an expression: `not` binds closer than `and`, `and` closer than `or`. Operands of comparisons and
//! brackets are parsed by `operand.rs`.

mod operand;

use std::ops::Range;

use super::lexer::{self, ExpressionToken, SpannedToken};
use super::words::{self, Condition, ConditionOperand, OperandUnit};
use super::{Atom, ClaimCounter, ComparisonOperator, Expression, ExpressionNode, WhenError, trim_range};
use loopkeeper_text::clauses::list;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::tr;

/// Maximum length; longer conditions are not comprehensible.
const MAX_LENGTH: usize = 1000;
/// Maximum nesting of brackets and of `not`, which bounds the stack.
const MAX_DEPTH: usize = 32;

/// Parses an expression without checking that it is useful.
pub(super) fn parse_expression(text: &str) -> Result<Expression, WhenError> {
    if text.len() > MAX_LENGTH {
        let message = tr!("the expression is longer than {max} bytes", max = MAX_LENGTH);
        return Err(WhenError::new(0..text.len(), message, tr!("write it with fewer conditions")));
    }
    let tokens = lexer::tokenize(text)?;
    if tokens.is_empty() {
        let hint = tr!("write one such as `criteria and plan`, or remove the line");
        return Err(WhenError::new(0..text.len(), tr!("an empty expression defines no condition"), hint));
    }
    let mut parser = Parser { text, tokens: &tokens, at: 0, depth: 0 };
    let node = parser.parse_or()?;
    match parser.peek() {
        None => Ok(Expression(node)),
        Some(extra) => Err(parser.extra_word_error(extra)),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [SpannedToken<'t>],
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn parse_or(&mut self) -> Result<ExpressionNode, WhenError> {
        let mut parts = vec![self.parse_and()?];
        while self.eat_operator("or") {
            parts.push(self.parse_and()?);
        }
        Ok(ExpressionNode::or(parts))
    }

    fn parse_and(&mut self) -> Result<ExpressionNode, WhenError> {
        let mut parts = vec![self.parse_operand()?];
        while self.eat_operator("and") {
            parts.push(self.parse_operand()?);
        }
        Ok(ExpressionNode::and(parts))
    }

    fn parse_operand(&mut self) -> Result<ExpressionNode, WhenError> {
        if self.eat_operator("not") {
            return self.with_depth(|it| Ok(ExpressionNode::Not(Box::new(it.parse_operand()?))));
        }
        let Some(word) = self.next() else { return Err(self.unfinished_error()) };
        match &word.token {
            ExpressionToken::Open => {
                let inner = self.with_depth(Self::parse_or)?;
                self.expect_close(word)?;
                Ok(inner)
            }
            ExpressionToken::Word(name) => {
                self.parse_condition(name, word.range.clone()).map(ExpressionNode::Atom)
            }
            _ => Err(self.misplaced_word_error(word)),
        }
    }

    fn with_depth(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<ExpressionNode, WhenError>,
    ) -> Result<ExpressionNode, WhenError> {
        if self.depth == MAX_DEPTH {
            let message = tr!("the expression is nested deeper than {max} levels", max = MAX_DEPTH);
            return Err(WhenError::new(self.previous_range(), message, tr!("write it with fewer brackets")));
        }
        self.depth += 1;
        let node = read(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn parse_condition(&mut self, name: &str, range: Range<usize>) -> Result<Atom, WhenError> {
        let Some(condition) = words::find_condition(name) else {
            return Err(unknown_word_error(name, range));
        };
        let compared = match self.peek().map(|it| &it.token) {
            Some(ExpressionToken::Compare(comparison)) => Some(*comparison),
            _ => None,
        };
        match (condition.takes, compared) {
            (
                ConditionOperand::Comparison(with) | ConditionOperand::OptionalComparison(with),
                Some(comparison),
            ) => {
                self.at += 1;
                self.parse_comparison(condition, comparison, with)
            }
            (ConditionOperand::Nothing | ConditionOperand::Brackets, Some(_)) => {
                Err(not_compared(condition, self.peek()))
            }
            (ConditionOperand::Comparison(_), None) => {
                Err(WhenError::new(range, tr!("`{name}` needs a comparison", name), condition.form_hint()))
            }
            (ConditionOperand::Brackets, None) => self.parse_bracketed(condition, range),
            (ConditionOperand::Nothing | ConditionOperand::OptionalComparison(_), None) => {
                bare_condition(condition, self.peek())
            }
        }
    }

    fn parse_comparison(
        &mut self,
        condition: &Condition,
        comparison: ComparisonOperator,
        with: OperandUnit,
    ) -> Result<Atom, WhenError> {
        let Some(range) = self.take_value() else {
            let message = tr!("`{name}` is compared with nothing", name = condition.name);
            return Err(WhenError::new(self.previous_range(), message, condition.form_hint()));
        };
        let written = self.text.get(range.clone()).unwrap_or_default();
        let value = operand::parse_value(condition, with, written)
            .map_err(|(message, hint)| WhenError::new(range.clone(), message, hint))?;
        match words::parse_quantity(condition.name) {
            Some(quantity) => Ok(Atom::Compare(quantity, comparison, value)),
            None => Err(unknown_word_error(condition.name, range)),
        }
    }

    /// The operand of a comparison: one word, and following ones that begin with a number, as in `1h 30m`.
    fn take_value(&mut self) -> Option<Range<usize>> {
        let Some(SpannedToken { token: ExpressionToken::Word(first), range }) = self.peek() else {
            return None;
        };
        if words::find_condition(first).is_some() || words::OPERATORS.contains(first) {
            return None;
        }
        let mut whole = range.clone();
        self.at += 1;
        while let Some(SpannedToken { token: ExpressionToken::Word(more), range }) = self.peek()
            && more.starts_with(|it: char| it.is_ascii_digit())
        {
            whole.end = range.end;
            self.at += 1;
        }
        Some(whole)
    }

    fn parse_bracketed(&mut self, condition: &Condition, range: Range<usize>) -> Result<Atom, WhenError> {
        let name = condition.name;
        let Some(open) = self.peek().filter(|it| it.token == ExpressionToken::Open) else {
            let message = tr!("`{name}` needs brackets", name);
            return Err(WhenError::new(range, message, condition.form_hint()));
        };
        self.at += 1;
        let Some(inner) = self.next() else { return Err(unclosed_error(open)) };
        let atom = operand::parse_named(condition, &inner.token).unwrap_or_else(|| {
            Err((tr!("`{name}` has nothing between its brackets", name), condition.form_hint()))
        });
        let at = if inner.token == ExpressionToken::Close {
            open.range.start..inner.range.end
        } else {
            inner.range.clone()
        };
        let atom = atom.map_err(|(message, hint)| WhenError::new(at, message, hint))?;
        match self.next() {
            Some(it) if it.token == ExpressionToken::Close => Ok(atom),
            Some(more) => {
                let message = tr!("`{name}` takes one text between its brackets", name);
                let at = inner.range.start..more.range.end;
                Err(WhenError::new(at, message, tr!("put quotes around the whole text")))
            }
            None => Err(unclosed_error(open)),
        }
    }

    fn expect_close(&mut self, open: &SpannedToken<'_>) -> Result<(), WhenError> {
        match self.peek() {
            Some(it) if it.token == ExpressionToken::Close => {
                self.at += 1;
                Ok(())
            }
            Some(it) => Err(self.extra_word_error(it)),
            None => Err(unclosed_error(open)),
        }
    }

    fn eat_operator(&mut self, operator: &str) -> bool {
        let is_it = matches!(self.peek(), Some(SpannedToken { token: ExpressionToken::Word(word), .. }) if *word == operator);
        self.at += usize::from(is_it);
        is_it
    }

    fn peek(&self) -> Option<&'t SpannedToken<'t>> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'t SpannedToken<'t>> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    /// The range of the token before the current one.
    fn previous_range(&self) -> Range<usize> {
        let before = self.at.checked_sub(1).and_then(|it| self.tokens.get(it));
        before.map_or_else(|| trim_range(self.text), |it| it.range.clone())
    }

    fn written(&self, word: &SpannedToken<'_>) -> String {
        shown(self.text.get(word.range.clone()).unwrap_or_default()).replace("\\\"", "\"")
    }

    /// A word that cannot follow a whole condition.
    fn extra_word_error(&self, word: &SpannedToken<'_>) -> WhenError {
        let written = self.written(word);
        let new = |message: String, hint: String| WhenError::new(word.range.clone(), message, hint);
        match &word.token {
            ExpressionToken::Close => new(
                tr!("this `)` closes nothing").to_owned(),
                tr!("remove it, or open it with `(`").to_owned(),
            ),
            ExpressionToken::Compare(_) => {
                let message = tr!("`{written}` compares nothing", written);
                new(message, tr!("write one comparison at a time").to_owned())
            }
            ExpressionToken::Word(operator) if !is_condition(operator) => {
                unknown_word_error(operator, word.range.clone())
            }
            ExpressionToken::Open
            | ExpressionToken::Word(_)
            | ExpressionToken::Quoted(_)
            | ExpressionToken::Pattern(_) => new(
                tr!("an operator is missing before `{written}`", written),
                tr!("write `and` or `or` between conditions").to_owned(),
            ),
        }
    }

    /// A word where a condition should begin.
    fn misplaced_word_error(&self, word: &SpannedToken<'_>) -> WhenError {
        let written = self.written(word);
        let (message, hint) = match &word.token {
            ExpressionToken::Close if self.at > 1 => return self.nothing_before(word),
            ExpressionToken::Compare(_) => (
                tr!("`{written}` compares nothing", written),
                tr!("write the compared value before it, as in `iterations>10`").to_owned(),
            ),
            ExpressionToken::Quoted(_) | ExpressionToken::Pattern(_) => {
                let form = format!("text({written})");
                (tr!("`{written}` alone is not a condition", written), tr!("did you mean `{form}`?", form))
            }
            _ => return self.extra_word_error(word),
        };
        WhenError::new(word.range.clone(), message, hint)
    }

    /// `( )` or `plan and )`.
    fn nothing_before(&self, close: &SpannedToken<'_>) -> WhenError {
        let before = self.at.checked_sub(2).and_then(|it| self.tokens.get(it));
        match before {
            Some(open) if open.token == ExpressionToken::Open => WhenError::new(
                open.range.start..close.range.end,
                tr!("there is nothing between these brackets"),
                tr!("write a condition in them, or remove them"),
            ),
            Some(operator) => dangling_operator_error(&self.written(operator), operator.range.clone()),
            None => self.extra_word_error(close),
        }
    }

    /// The text ends where a condition should begin.
    fn unfinished_error(&self) -> WhenError {
        match self.tokens.last() {
            Some(open) if open.token == ExpressionToken::Open => unclosed_error(open),
            Some(operator) => dangling_operator_error(&self.written(operator), operator.range.clone()),
            None => {
                let message = tr!("an empty expression defines no condition");
                WhenError::new(0..self.text.len(), message, tr!("write a condition"))
            }
        }
    }
}

fn bare_condition(condition: &Condition, next: Option<&SpannedToken<'_>>) -> Result<Atom, WhenError> {
    if let Some(open) = next.filter(|it| it.token == ExpressionToken::Open) {
        let message = tr!("`{name}` takes nothing in brackets", name = condition.name);
        return Err(WhenError::new(open.range.clone(), message, condition.form_hint()));
    }
    Ok(match condition.name {
        "criteria" => Atom::Criteria,
        "plan" => Atom::Plan,
        "promise" => Atom::Promise,
        "exit_signal" => Atom::ExitSignal,
        "indicators" => Atom::Enough(ClaimCounter::Indicators),
        _ => Atom::Enough(ClaimCounter::DoneSignals),
    })
}

fn is_condition(word: &str) -> bool {
    words::find_condition(word).is_some() || words::OPERATORS.contains(&word)
}

fn not_compared(condition: &Condition, comparison: Option<&SpannedToken<'_>>) -> WhenError {
    let range = comparison.map_or(0..0, |it| it.range.clone());
    let (name, form) = (condition.name, condition.form);
    let hint = tr!("write `{form}` or `not {form}`", form);
    WhenError::new(range, tr!("`{name}` holds or does not; it is not a number to compare", name), hint)
}

fn unclosed_error(open: &SpannedToken<'_>) -> WhenError {
    WhenError::new(open.range.clone(), tr!("this `(` is never closed"), tr!("close it with `)`"))
}

fn dangling_operator_error(operator: &str, range: Range<usize>) -> WhenError {
    let hint = tr!("write a condition after it, or remove the `{operator}`", operator);
    WhenError::new(range, tr!("`{operator}` has no condition after it", operator), hint)
}

fn unknown_word_error(word: &str, range: Range<usize>) -> WhenError {
    let written = shown(word);
    let lower = word.to_ascii_lowercase();
    if word != lower && is_condition(&lower) {
        let message = tr!("`{written}` is written in lower case", written);
        let mut error = WhenError::new(range, message, tr!("write `{word}`", word = lower));
        error.fix = Some(lower);
        return error;
    }
    if words::OPERATORS.contains(&word) {
        let message = tr!("`{written}` is where a condition should be", written);
        return WhenError::new(range, message, tr!("write a condition before and after it"));
    }
    let message = tr!("`{written}` is not a condition", written);
    if let Some((name, form)) = words::suggest_word(word) {
        let error = WhenError::new(range, message, tr!("did you mean `{form}`?", form));
        return WhenError { fix: Some(name.to_owned()), ..error };
    }
    let names: Vec<&str> = words::CONDITIONS.iter().map(|it| it.name).collect();
    WhenError::new(range, message, tr!("use one of {names}", names = list(&names)))
}
