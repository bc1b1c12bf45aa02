//! What a function without a name of its own is called: by what it is assigned to, the call that it is an argument of,
//! or the function that returns it.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    AssignmentTarget, BindingPattern, ComputedMemberExpression, Expression, JSXAttributeName, PropertyKey,
};
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::AssignmentOperator;

/// A longer path such as `a.b.c.d` is cut to its last parts.
const MAX_PARTS: usize = 3;

/// Longer names are not used: minified code may have large strings as keys.
const MAX_LENGTH: usize = 100;

/// A string in brackets is shown if it is not longer than this.
const MAX_INDEX_LENGTH: usize = 24;

/// At most this many nodes are left in search of what a function belongs to.
const MAX_STEPS: usize = 32;

/// The name of a function that is called where it is written.
const CALLED_AT_ONCE: &str = "(IIFE)";

/// A property whose name is known only at run time, as V8 shows it.
const COMPUTED: &str = "<computed>";

/// The names of a function without an own one.
#[derive(Default)]
pub(super) struct Context {
    /// Where the name is that a variable or property gives it.
    pub(super) name: Option<Span>,
    pub(super) inferred: Option<String>,
}

impl Context {
    fn inferred(inferred: impl Into<String>) -> Self {
        Self { name: None, inferred: Some(inferred.into()) }
    }

    /// The name of a variable or property at a place.
    fn named(span: Span, source: &str) -> Self {
        let text = text(span, source).filter(|text| text.len() <= MAX_LENGTH);
        Self { name: text.map(|_| span), inferred: text.map(str::to_owned) }
    }

    fn of_key(key: &PropertyKey<'_>, is_computed: bool, source: &str) -> Self {
        let (name, inferred) = self::key(key, is_computed, source);
        Self { name, inferred }
    }
}

fn text(span: Span, source: &str) -> Option<&str> {
    source.get(span.start as usize..span.end as usize)
}

/// Where the name of a property is, and that name.
pub(super) fn key(key: &PropertyKey<'_>, is_computed: bool, source: &str) -> (Option<Span>, Option<String>) {
    let span = match key {
        PropertyKey::StaticIdentifier(name) => name.span,
        PropertyKey::PrivateIdentifier(name) => name.span,
        PropertyKey::StringLiteral(string) => {
            let span = Span::new(string.span.start + 1, string.span.end.saturating_sub(1));
            match text(span, source) {
                Some(text)
                    if !text.is_empty() && !text.contains('\\') && !text.contains(char::is_control) =>
                {
                    span
                }
                _ => return (None, None),
            }
        }
        PropertyKey::NumericLiteral(number) => number.span,
        _ if is_computed => return (None, Some(COMPUTED.to_owned())),
        _ => return (None, None),
    };
    let name = text(span, source).filter(|text| text.len() <= MAX_LENGTH);
    (name.map(|_| span), name.map(str::to_owned))
}

/// The names of the function at `span`, by the nodes around it, outermost first. `outer` is what the innermost function
/// around is called.
pub(super) fn context(around: &[AstKind<'_>], span: Span, source: &str, outer: Option<&str>) -> Context {
    let mut child = span;
    // The function is the object of `.bind`.
    let mut is_bound = false;
    for &kind in around.iter().rev().take(MAX_STEPS) {
        match kind {
            AstKind::ParenthesizedExpression(_)
            | AstKind::TSAsExpression(_)
            | AstKind::TSSatisfiesExpression(_)
            | AstKind::TSNonNullExpression(_)
            | AstKind::TSTypeAssertion(_)
            | AstKind::ChainExpression(_)
            | AstKind::LogicalExpression(_)
            | AstKind::JSXExpressionContainer(_) => {}
            AstKind::ConditionalExpression(conditional) if conditional.test.span() != child => {}
            AstKind::SequenceExpression(sequence)
                if sequence.expressions.last().is_some_and(|last| last.span() == child) => {}
            AstKind::StaticMemberExpression(member) if member.object.span() == child => {
                match member.property.name.as_str() {
                    "call" | "apply" => return Context::inferred(CALLED_AT_ONCE),
                    "bind" => is_bound = true,
                    _ => return Context::default(),
                }
            }
            AstKind::CallExpression(call) if call.callee.span() == child => {
                if !is_bound {
                    return Context::inferred(CALLED_AT_ONCE);
                }
                is_bound = false;
            }
            AstKind::CallExpression(call) => return callback(&call.callee, ""),
            AstKind::NewExpression(new) if new.callee.span() != child => {
                return callback(&new.callee, "new ");
            }
            AstKind::TaggedTemplateExpression(tagged) if tagged.tag.span() == child => {
                return Context::inferred(CALLED_AT_ONCE);
            }
            AstKind::AssignmentExpression(assignment) if assignment.right.span() == child => {
                return match assignment.operator {
                    AssignmentOperator::Assign
                    | AssignmentOperator::LogicalOr
                    | AssignmentOperator::LogicalAnd
                    | AssignmentOperator::LogicalNullish => target(&assignment.left, source),
                    _ => Context::default(),
                };
            }
            AstKind::VariableDeclarator(declarator) => return binding(&declarator.id, source),
            AstKind::FormalParameter(parameter) => return binding(&parameter.pattern, source),
            AstKind::AssignmentPattern(pattern) => return binding(&pattern.left, source),
            AstKind::AssignmentTargetWithDefault(with_default) => {
                return target(&with_default.binding, source);
            }
            AstKind::AssignmentTargetPropertyIdentifier(property) => {
                return Context::named(property.binding.span, source);
            }
            AstKind::ObjectProperty(property) if property.value.span() == child => {
                return Context::of_key(&property.key, property.computed, source);
            }
            AstKind::PropertyDefinition(property)
                if property.value.as_ref().is_some_and(|value| value.span() == child) =>
            {
                return Context::of_key(&property.key, property.computed, source);
            }
            AstKind::AccessorProperty(property)
                if property.value.as_ref().is_some_and(|value| value.span() == child) =>
            {
                return Context::of_key(&property.key, property.computed, source);
            }
            AstKind::JSXAttribute(attribute) => {
                let JSXAttributeName::Identifier(name) = &attribute.name else { return Context::default() };
                return Context { name: None, ..Context::named(name.span, source) };
            }
            AstKind::ExportDefaultDeclaration(export) => {
                let head = text(Span::new(export.span.start, child.start), source).unwrap_or_default();
                let Some(at) = head.find("default") else { return Context::default() };
                let start = export.span.start + at as u32;
                return Context::named(Span::new(start, start + "default".len() as u32), source);
            }
            AstKind::ReturnStatement(_) => return returned_by(outer),
            AstKind::ArrowFunctionExpression(arrow) if arrow.body.span() == child => {
                return returned_by(outer);
            }
            _ => return Context::default(),
        }
        child = kind.span();
    }
    Context::default()
}

fn binding(pattern: &BindingPattern<'_>, source: &str) -> Context {
    match pattern {
        BindingPattern::BindingIdentifier(name) => Context::named(name.span, source),
        _ => Context::default(),
    }
}

fn callback(callee: &Expression<'_>, before: &str) -> Context {
    match path(Part::Expression(callee)) {
        Some(callee) => Context::inferred(format!("(callback of {before}{callee})")),
        None => Context::default(),
    }
}

fn returned_by(outer: Option<&str>) -> Context {
    match outer.filter(|name| !name.starts_with('(') && name.len() <= MAX_LENGTH) {
        Some(name) => Context::inferred(format!("(returned by {name})")),
        None => Context::default(),
    }
}

/// What an assignment names: JavaScript names a function after a variable, and people after a property, too.
fn target(target: &AssignmentTarget<'_>, source: &str) -> Context {
    let (name, part) = match target {
        AssignmentTarget::AssignmentTargetIdentifier(name) => return Context::named(name.span, source),
        AssignmentTarget::StaticMemberExpression(member) => {
            (Some(member.property.span), Part::Static(&member.property.name, &member.object))
        }
        AssignmentTarget::PrivateFieldExpression(member) => {
            (Some(member.field.span), Part::Private(&member.field.name, &member.object))
        }
        AssignmentTarget::ComputedMemberExpression(member) => (None, Part::Computed(member)),
        _ => return Context::default(),
    };
    Context { name, inferred: path(part) }
}

/// A part of a path, and what is before it.
enum Part<'tree, 'a> {
    Static(&'tree str, &'tree Expression<'a>),
    Private(&'tree str, &'tree Expression<'a>),
    Computed(&'tree ComputedMemberExpression<'a>),
    Expression(&'tree Expression<'a>),
}

/// The last parts of a path, such as `a.b`, `a().b` or `a.<computed>`. `this` is left out, as V8 does.
fn path(mut part: Part<'_, '_>) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    // The calls and literal indices behind the next part.
    let mut suffix = String::new();
    let mut length = 0;
    loop {
        let (name, before) = match part {
            Part::Static(name, object) => (name.to_owned(), Some(object)),
            Part::Private(name, object) => (format!("#{name}"), Some(object)),
            Part::Computed(member) => match &member.expression {
                Expression::StringLiteral(string) if is_short(&string.value) => {
                    suffix.insert_str(0, &format!("['{}']", string.value));
                    (String::new(), Some(&member.object))
                }
                Expression::NumericLiteral(number) => {
                    suffix.insert_str(0, &format!("[{}]", number.value));
                    (String::new(), Some(&member.object))
                }
                _ => (COMPUTED.to_owned(), Some(&member.object)),
            },
            Part::Expression(expression) => match expression {
                Expression::Identifier(name) => (name.name.to_string(), None),
                Expression::Super(_) => ("super".to_owned(), None),
                Expression::StaticMemberExpression(member) => {
                    part = Part::Static(&member.property.name, &member.object);
                    continue;
                }
                Expression::PrivateFieldExpression(member) => {
                    part = Part::Private(&member.field.name, &member.object);
                    continue;
                }
                Expression::ComputedMemberExpression(member) => {
                    part = Part::Computed(member);
                    continue;
                }
                Expression::CallExpression(call) => {
                    suffix.insert_str(0, "()");
                    (String::new(), Some(&call.callee))
                }
                Expression::TSNonNullExpression(inner) => (String::new(), Some(&inner.expression)),
                // Something else has these properties, such as an array.
                _ => break,
            },
        };
        if !name.is_empty() {
            let name = name + &std::mem::take(&mut suffix);
            length += name.len() + 1;
            if length > MAX_LENGTH {
                break;
            }
            parts.push(name);
        }
        match before {
            Some(before) if parts.len() < MAX_PARTS && suffix.len() <= MAX_LENGTH => {
                part = Part::Expression(before)
            }
            _ => break,
        }
    }
    parts.reverse();
    (!parts.is_empty()).then(|| parts.join("."))
}

fn is_short(text: &str) -> bool {
    text.len() <= MAX_INDEX_LENGTH && !text.contains(char::is_control)
}
