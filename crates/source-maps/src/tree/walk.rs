//! Collecting the functions of a syntax tree.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrowFunctionExpression, Class, ClassElement, FormalParameters, Function, MethodDefinitionKind,
    PropertyKind,
};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::naming::{self, Context};
use super::{Anchor, Rank, Tree};

/// The functions so far.
pub(super) struct Walk<'a> {
    source: &'a str,
    /// The nodes around the current one, outermost first.
    around: Vec<AstKind<'a>>,
    /// The functions around it, as indices. `None` if TypeScript only declares it.
    open: Vec<Option<u32>>,
    tree: Tree,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, around: Vec::new(), open: Vec::new(), tree: Tree::default() }
    }

    pub(super) fn finish(mut self) -> Tree {
        self.tree.anchors.sort_unstable();
        self.tree.anchors.shrink_to_fit();
        self.tree
    }

    fn anchor(&mut self, offset: u32, rank: Rank) {
        let function = self.tree.functions.len() as u32;
        self.tree.anchors.push(Anchor { offset, rank, function });
    }

    /// What the innermost function around is called.
    fn outer_name(&self) -> Option<&str> {
        let function = self.tree.functions.get((*self.open.last()?)? as usize)?;
        function.inferred.as_deref().or_else(|| function.name(self.source))
    }

    fn context(&self, span: Span) -> Context {
        naming::context(&self.around, span, self.source, self.outer_name())
    }

    /// Adds the function whose anchors were added last.
    fn add(&mut self, name: Option<Span>, inferred: Option<String>) {
        let name = name.map(|span| (span.start, span.end));
        self.tree.functions.push(super::Function { name, inferred: inferred.map(String::into_boxed_str) });
    }

    fn parameters(&mut self, parameters: &FormalParameters<'a>) {
        self.anchor(parameters.span.start, Rank::Parameters);
        let first = parameters.items.first().map(|first| first.span.start);
        let first = first.or_else(|| parameters.rest.as_ref().map(|rest| rest.span.start));
        if let Some(first) = first {
            self.anchor(first, Rank::FirstParameter);
        }
    }

    /// The anchors of `async` and `function`.
    fn keywords(&mut self, span: Span) {
        self.anchor(span.start, Rank::Head);
        let text = &self.source[span.start as usize..span.end as usize];
        if let Some(rest) = text.strip_prefix("async") {
            let space = rest.len() - rest.trim_start().len();
            self.anchor(span.start + ("async".len() + space) as u32, Rank::Head);
        }
    }

    fn enter_function(&mut self, function: &Function<'a>) {
        self.parameters(&function.params);
        // The function of a method has the span of its parameters and body.
        match self.around.last().copied() {
            Some(AstKind::MethodDefinition(method)) if method.value.span == function.span => {
                self.anchor(method.key.span().start, Rank::Head);
                self.anchor(method.span.start, Rank::Head);
                if method.kind == MethodDefinitionKind::Constructor {
                    return self.add_constructor();
                }
                let (name, inferred) = naming::key(&method.key, method.computed, self.source);
                return self.add(name, inferred.filter(|_| name.is_none()));
            }
            Some(AstKind::ObjectProperty(property))
                if property.value.span() == function.span
                    && (property.method || property.kind != PropertyKind::Init) =>
            {
                self.anchor(property.key.span().start, Rank::Head);
                self.anchor(property.span.start, Rank::Head);
                let (name, inferred) = naming::key(&property.key, property.computed, self.source);
                return self.add(name, inferred.filter(|_| name.is_none()));
            }
            _ => {}
        }
        self.keywords(function.span);
        if let Some(types) = &function.type_parameters {
            self.anchor(types.span.start, Rank::Head);
        }
        match &function.id {
            Some(id) => {
                self.anchor(id.span.start, Rank::Head);
                self.declarations(function.span);
                self.add(Some(id.span), None);
            }
            None => self.add_anonymous(function.span),
        }
    }

    fn enter_arrow(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        self.parameters(&arrow.params);
        self.keywords(arrow.span);
        self.add_anonymous(arrow.span);
    }

    fn add_anonymous(&mut self, span: Span) {
        self.declarations(span);
        let Context { name, inferred } = self.context(span);
        self.add(name, inferred);
    }

    /// A constructor is shown with the name of its class, as in V8.
    fn add_constructor(&mut self) {
        let class = self.around.iter().rposition(|kind| matches!(kind, AstKind::Class(_)));
        let Some((index, AstKind::Class(class))) =
            class.and_then(|index| Some((index, self.around.get(index)?)))
        else {
            return self.add(None, None);
        };
        let (name, inferred) = match &class.id {
            Some(id) => (Some(id.span), None),
            None => {
                let context =
                    naming::context(&self.around[..index], class.span, self.source, self.outer_name());
                (context.name, context.inferred)
            }
        };
        self.add(name, inferred);
    }

    /// A class without a constructor has the one that V8 makes.
    fn enter_class(&mut self, class: &Class<'a>) {
        let constructor = class.body.body.iter().any(|element| {
            matches!(element, ClassElement::MethodDefinition(method) if method.kind == MethodDefinitionKind::Constructor)
        });
        let Context { name, inferred } = match &class.id {
            Some(id) => Context { name: Some(id.span), inferred: None },
            None => self.context(class.span),
        };
        let rank = if constructor { Rank::Declaration } else { Rank::Head };
        self.anchor(class.span.start, rank);
        if let Some(id) = &class.id {
            self.anchor(id.span.start, rank);
        }
        self.declarations(class.span);
        self.add(name, inferred);
    }

    /// Anchors at the starts of what declares a function or class: `export default`, `const name =`, `key:`.
    fn declarations(&mut self, span: Span) {
        let mut value = span;
        for index in (0..self.around.len()).rev() {
            let start = match self.around[index] {
                AstKind::ParenthesizedExpression(_)
                | AstKind::TSAsExpression(_)
                | AstKind::TSSatisfiesExpression(_) => {
                    value = self.around[index].span();
                    continue;
                }
                AstKind::VariableDeclarator(declarator) => declarator.span.start,
                AstKind::VariableDeclaration(declaration)
                    if declaration.declarations.first().is_some_and(|first| first.span == value) =>
                {
                    declaration.span.start
                }
                AstKind::ObjectProperty(property) if property.value.span() == value => property.span.start,
                AstKind::PropertyDefinition(property) => {
                    self.anchor(property.key.span().start, Rank::Declaration);
                    property.span.start
                }
                AstKind::ExportDeclaration(_) | AstKind::ExportDefaultDeclaration(_) => {
                    self.around[index].span().start
                }
                _ => return,
            };
            self.anchor(start, Rank::Declaration);
            value = self.around[index].span();
        }
    }
}

impl<'a> VisitJs<'a> for Walk<'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        let index = self.tree.functions.len() as u32;
        match kind {
            AstKind::Function(function) => {
                // Overloads and declarations of TypeScript have no body.
                let has_body = function.body.is_some();
                if has_body {
                    self.enter_function(function);
                }
                self.open.push(has_body.then_some(index));
            }
            AstKind::ArrowFunctionExpression(arrow) => {
                self.enter_arrow(arrow);
                self.open.push(Some(index));
            }
            AstKind::Class(class) => self.enter_class(class),
            _ => {}
        }
        self.around.push(kind);
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        self.around.pop();
        if matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)) {
            self.open.pop();
        }
    }
}
