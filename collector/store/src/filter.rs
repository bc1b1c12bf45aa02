//! Which profiles and samples are asked for: `release = '1.4' and page = '/cart'`.
//!
//! A filter is parsed into an expression of known columns, operators and texts. SQL is made of that expression, never
//! of the text.

use std::fmt;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::ids;
use crate::profile::label_text;

/// A condition on profiles and samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Filter {
    /// All of them.
    #[default]
    All,
    /// Those in which a column has one of these texts.
    OneOf(Column, Vec<String>),
    /// Those of samples in which a label has one of these values.
    Label(String, Vec<String>),
    /// Those in which a column matches a pattern with `%` and `_`.
    Like(Column, String),
    /// Those for which a condition does not hold.
    Not(Box<Filter>),
    /// Those for which both hold.
    And(Box<Filter>, Box<Filter>),
    /// Those for which one of the two holds.
    Or(Box<Filter>, Box<Filter>),
}

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The release.
    Release,
    /// The page.
    Page,
    /// The environment.
    Environment,
    /// The browser.
    Browser,
    /// The class of device.
    Device,
    /// The session, in the sender's words.
    Session,
    /// The kind of work of a sample.
    Marker,
    /// A measure that a sample is in, or `(long task)`, `(long frame)`, `(slow interaction)`.
    Span,
}

impl Column {
    const ALL: [Self; 8] = [
        Self::Release,
        Self::Page,
        Self::Environment,
        Self::Browser,
        Self::Device,
        Self::Session,
        Self::Marker,
        Self::Span,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Page => "page",
            Self::Environment => "environment",
            Self::Browser => "browser",
            Self::Device => "device",
            Self::Session => "session",
            Self::Marker => "marker",
            Self::Span => "span",
        }
    }
}

impl std::str::FromStr for Column {
    type Err = FilterError;

    fn from_str(name: &str) -> Result<Self, FilterError> {
        let known = Self::ALL.into_iter().find(|column| column.as_str().eq_ignore_ascii_case(name));
        known.ok_or_else(|| FilterError::Column(name.chars().take(40).collect()))
    }
}

/// A text that is not a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// It is not an expression.
    #[error("the filter cannot be read: {0}. Example: release = '1.4' and page = '/cart'")]
    Syntax(String),
    /// It names something else.
    #[error("there is no column {0}; there are {columns}", columns = Columns)]
    Column(String),
    /// It does something that a filter cannot.
    #[error("a filter cannot have {0}; it can have =, !=, in, like, and, or, not, and parentheses")]
    Unsupported(String),
    /// It is too long.
    #[error("the filter has {0} characters, more than {MAX_LENGTH}")]
    Long(usize),
}

struct Columns;

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Column::ALL.map(Column::as_str).join(", "))
    }
}

/// The longest filter.
pub const MAX_LENGTH: usize = 4_096;

/// How deep expressions may be nested.
const MAX_DEPTH: usize = 50;

impl std::str::FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        if text.trim().is_empty() {
            return Ok(Self::All);
        }
        if text.len() > MAX_LENGTH {
            return Err(FilterError::Long(text.len()));
        }
        let syntax = |error: ParserError| FilterError::Syntax(error.to_string());
        let mut parser = Parser::new(&GenericDialect {})
            .with_recursion_limit(MAX_DEPTH)
            .try_with_sql(text)
            .map_err(syntax)?;
        let expression = parser.parse_expr().map_err(syntax)?;
        match parser.peek_token().token {
            Token::EOF => Self::of(&expression, MAX_DEPTH),
            Token::Word(word) if word.keyword == Keyword::NoKeyword => {
                Err(FilterError::Syntax(format!("{word} is too much")))
            }
            token => Err(FilterError::Syntax(format!("{token} is too much"))),
        }
    }
}

impl Filter {
    /// `depth` is how deep it may still be nested: chains of `and` are nested without any parenthesis.
    fn of(expression: &Expr, depth: usize) -> Result<Self, FilterError> {
        let Some(deeper) = depth.checked_sub(1) else {
            return Err(FilterError::Unsupported(format!(
                "more than {MAX_DEPTH} conditions within each other"
            )));
        };
        Ok(match expression {
            Expr::Nested(inner) => Self::of(inner, deeper)?,
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Self::Not(Box::new(Self::of(expr, deeper)?)),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::And => {
                    Self::And(Box::new(Self::of(left, deeper)?), Box::new(Self::of(right, deeper)?))
                }
                BinaryOperator::Or => {
                    Self::Or(Box::new(Self::of(left, deeper)?), Box::new(Self::of(right, deeper)?))
                }
                BinaryOperator::Eq => Self::one_of(left, vec![text(right)?])?,
                BinaryOperator::NotEq => Self::Not(Box::new(Self::one_of(left, vec![text(right)?])?)),
                other => return Err(FilterError::Unsupported(format!("the operator {other}"))),
            },
            Expr::InList { expr, list, negated } => {
                let list = list.iter().map(text).collect::<Result<_, _>>()?;
                negated_if(*negated, Self::one_of(expr, list)?)
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char: None } => {
                let column = column(expr)?;
                if column == Column::Session {
                    return Err(FilterError::Unsupported(
                        "a pattern for sessions, of which only hashes are kept".into(),
                    ));
                }
                negated_if(*negated, Self::Like(column, text(pattern)?))
            }
            other => return Err(FilterError::Unsupported(short(other))),
        })
    }

    /// A column or a label with one of these texts.
    fn one_of(left: &Expr, texts: Vec<String>) -> Result<Self, FilterError> {
        Ok(match label(left) {
            Some(name) => Self::Label(name, texts),
            None => Self::OneOf(column(left)?, texts),
        })
    }

    /// Both conditions.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, filter) | (filter, Self::All) => filter,
            (a, b) => Self::And(Box::new(a), Box::new(b)),
        }
    }

    /// Whether it asks for something that only samples have.
    pub fn is_of_samples(&self) -> bool {
        self.has(Column::Marker) || self.has(Column::Span) || self.has_label()
    }

    fn has_label(&self) -> bool {
        match self {
            Self::Label(..) => true,
            Self::All | Self::OneOf(..) | Self::Like(..) => false,
            Self::Not(inner) => inner.has_label(),
            Self::And(a, b) | Self::Or(a, b) => a.has_label() || b.has_label(),
        }
    }

    /// Whether it has a condition on a column.
    pub fn has(&self, wanted: Column) -> bool {
        match self {
            Self::All | Self::Label(..) => false,
            Self::OneOf(column, _) | Self::Like(column, _) => *column == wanted,
            Self::Not(inner) => inner.has(wanted),
            Self::And(a, b) | Self::Or(a, b) => a.has(wanted) || b.has(wanted),
        }
    }

    /// The condition in SQL, on the columns of the table `samples` of an application.
    pub fn to_sql(&self, app: &str) -> String {
        match self {
            Self::All => "true".into(),
            Self::OneOf(_, texts) if texts.is_empty() => "false".into(),
            Self::OneOf(Column::Span, texts) => {
                let has = texts.iter().map(|text| format!("array_has(spans, {})", literal(text)));
                format!("({})", has.collect::<Vec<_>>().join(" or "))
            }
            Self::Label(name, values) => {
                let has = values
                    .iter()
                    .map(|value| format!("array_has(spans, {})", literal(&label_text(name, value))));
                let has = has.collect::<Vec<_>>();
                if has.is_empty() { "false".into() } else { format!("({})", has.join(" or ")) }
            }
            Self::OneOf(Column::Session, texts) => {
                let sessions = texts.iter().map(|text| ids::session(app, text).0.to_string());
                format!("session in ({})", sessions.collect::<Vec<_>>().join(", "))
            }
            Self::OneOf(column, texts) => {
                let texts = texts.iter().map(|text| literal(text)).collect::<Vec<_>>().join(", ");
                format!("{} in ({texts})", value(*column))
            }
            Self::Like(Column::Span, pattern) => {
                format!("array_to_string(spans, chr(10)) like {}", literal(&format!("%{pattern}%")))
            }
            Self::Like(column, pattern) => {
                format!("{} like {}", value(*column), literal(pattern))
            }
            Self::Not(inner) => format!("not ({})", inner.to_sql(app)),
            Self::And(a, b) => format!("({} and {})", a.to_sql(app), b.to_sql(app)),
            Self::Or(a, b) => format!("({} or {})", a.to_sql(app), b.to_sql(app)),
        }
    }
}

/// The text in a column. A sample without a marker has an empty one. The other columns always have a text, and an
/// expression would keep the engine from skipping files by them.
fn value(column: Column) -> &'static str {
    match column {
        Column::Marker => "coalesce(marker, '')",
        _ => column.as_str(),
    }
}

/// A text as SQL writes it.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn negated_if(is_negated: bool, filter: Filter) -> Filter {
    if is_negated { Filter::Not(Box::new(filter)) } else { filter }
}

/// The name of a label: `label.tenant`, or `label."the tenant"`. Names may have dots.
fn label(expression: &Expr) -> Option<String> {
    let Expr::CompoundIdentifier(parts) = expression else { return None };
    let (first, rest) = parts.split_first()?;
    let is_label = first.value.eq_ignore_ascii_case("label");
    is_label.then(|| rest.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join("."))
}

fn column(expression: &Expr) -> Result<Column, FilterError> {
    let Expr::Identifier(name) = expression else {
        return Err(FilterError::Unsupported(format!("{} on the left side", short(expression))));
    };
    name.value.parse()
}

/// A text in single or, as people write them, in double quotes, or a number.
fn text(expression: &Expr) -> Result<String, FilterError> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Ok(text.clone()),
            Value::Number(number, _) => Ok(number.to_string()),
            _ => Err(FilterError::Unsupported(format!("{} as a value", short(expression)))),
        },
        Expr::Identifier(name) if name.quote_style == Some('"') => Ok(name.value.clone()),
        Expr::Identifier(name) => Err(FilterError::Syntax(format!("{name} needs quotes: '{name}'"))),
        _ => Err(FilterError::Unsupported(format!("{} as a value", short(expression)))),
    }
}

fn short(expression: &Expr) -> String {
    expression.to_string().chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn sql(filter: &str, expected: &str) {
        assert_eq!(filter.parse::<Filter>().unwrap().to_sql("shop"), expected);
    }

    #[track_caller]
    fn error(filter: &str, expected: &str) {
        let error = filter.parse::<Filter>().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn filters_become_sql() {
        sql("", "true");
        sql("release = \"1.4\"", "release in ('1.4')");
        sql("release = 1.4", "release in ('1.4')");
        sql("label.tenant = 'a'", "(array_has(spans, '(label) tenant=a'))");
        sql(
            "LABEL.http.method in ('GET', 'it''s')",
            "(array_has(spans, '(label) http.method=GET') or array_has(spans, '(label) http.method=it''s'))",
        );
        sql("label.\"the tenant\" != 'a'", "not ((array_has(spans, '(label) the tenant=a')))");
        error("label.tenant like 'a%'", "on the left side");
        error("span.tenant = 'a'", "span.tenant on the left side");
        sql("release = '1.4' and page = '/cart'", "(release in ('1.4') and page in ('/cart'))");
        sql(
            "not (page like '/p%' or marker in ('gc', 'layout'))",
            "not ((page like '/p%' or coalesce(marker, '') in ('gc', 'layout')))",
        );
        sql("span = 'checkout'", "(array_has(spans, 'checkout'))");
        sql("BROWSER <> 'Chrome 153'", "not (browser in ('Chrome 153'))");
        let session = ids::session("shop", "a").0;
        sql("session = 'a'", &format!("session in ({session})"));
    }

    #[test]
    fn texts_stay_texts() {
        sql("page = 'it''s'' or true --'", "page in ('it''s'' or true --')");
        sql("page = \"x' or 1=1\"", "page in ('x'' or 1=1')");
    }

    #[test]
    fn anything_else_is_refused() {
        error("release =", "cannot be read");
        error("release = '1.4' or", "cannot be read");
        error("release = '1' '2'", "too much");
        error("release = '1'; drop table samples", "too much");
        error("weight > 5", "the operator >");
        error("weight = '5'", "there is no column weight; there are release, page,");
        error("page = (select 1)", "as a value");
        error("upper(page) = 'A'", "on the left side");
        error("page = release", "needs quotes");
        error("session like 'a%'", "only hashes are kept");
        error("true", "a filter cannot have true");
        error(&"(".repeat(3_000), "cannot be read");
        error(&"x".repeat(5_000), "more than 4096");
        let chain = vec!["page = 'a'"; 200].join(" and ");
        error(&chain, "more than 50 conditions");
    }
}
