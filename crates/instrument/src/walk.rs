//! Collects the edits and the functions of a tree.

use crate::edits::{Edit, Insertion};
use crate::names::Names;
use crate::natives::{Cost, cost_of_assignment, cost_of_call, cost_of_new, needs_layout};
use oxc_ast::ast::*;
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{AssignmentOperator, UnaryOperator};
use oxc_syntax::scope::ScopeFlags;

/// A function that contains this string is left as it is, with all functions in it: the agent of `packages/browser` has
/// it.
const LEAVE_ALONE: &str = "selfprof: leave alone";

/// A function, with what decides whether it is instrumented.
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) parent: Option<u32>,
    /// Where V8 says that it is: its parameters, or all of it if it is an arrow function.
    pub(crate) at: u32,
    pub(crate) end: u32,
    statements: u32,
    /// Whether time can pass in it that no check of another function sees.
    takes_time: bool,
    makes_calls: bool,
    /// Whether it is in code that must stay as it is, or has no statements.
    excluded: bool,
    /// Whether it asks to be left as it is.
    pub(crate) is_left_alone: bool,
    /// Whether it is called where it is written, by code that runs once.
    runs_once: bool,
    /// About how many expressions have run since the check before.
    work: u16,
}

impl Draft {
    fn new(name: String, parent: Option<u32>, at: u32, end: u32) -> Self {
        Self {
            name,
            parent,
            at,
            end,
            statements: 0,
            takes_time: false,
            makes_calls: false,
            excluded: false,
            is_left_alone: false,
            runs_once: false,
            work: 0,
        }
    }

    pub(crate) fn is_worth_checking(&self, min_statements: u32) -> bool {
        let is_large = self.makes_calls && self.statements >= min_statements;
        let is_excluded = self.excluded || self.is_left_alone;
        !is_excluded && (self.takes_time || is_large || min_statements == 0)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) loops: u32,
    pub(crate) force: u32,
    pub(crate) medium: u32,
}

/// What a call that may run functions of the page adds to [`Draft::work`]: such a function may have no checks.
const WORK_OF_CALL: u16 = 3;

pub(crate) struct Collector<'s> {
    source: &'s str,
    names: &'s Names,
    pub(crate) edits: Vec<Edit>,
    /// In the order of the source. The first one is the script itself.
    pub(crate) drafts: Vec<Draft>,
    pub(crate) counts: Counts,
    pub(crate) uses_own_name: bool,
    /// A loop whose body is a declaration, which is an error that the parser leaves to others. A block would make it
    /// right.
    pub(crate) declaration_as_body: Option<u32>,
    /// The function that runs what is visited.
    current: u32,
    /// Whether statements have completion values that `eval` returns.
    has_completion_values: bool,
    /// Inside of how many constructs whose code must stay as it is.
    exclusions: u32,
    /// The name that the next function or class gets if it has none.
    inferred_name: Option<String>,
    /// The name of a class for its constructor.
    class_name: String,
    /// Whether the next expression belongs to a chain with `?.`, or is the callee of `new`.
    in_chain: bool,
    /// Whether the next expression's value is not its only use: it is called or deleted.
    is_reference: bool,
    /// Whether the next function is called where it is written.
    is_called_here: bool,
}

impl<'s> Collector<'s> {
    pub(crate) fn new(source: &'s str, names: &'s Names, is_script: bool) -> Self {
        Self {
            source,
            names,
            edits: Vec::with_capacity(source.len() / 64),
            drafts: vec![Draft {
                runs_once: true,
                ..Draft::new(String::new(), None, 0, source.len() as u32)
            }],
            counts: Counts::default(),
            uses_own_name: false,
            declaration_as_body: None,
            current: 0,
            has_completion_values: is_script,
            exclusions: 0,
            inferred_name: None,
            class_name: String::new(),
            in_chain: false,
            is_reference: false,
            is_called_here: false,
        }
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.drafts[self.current as usize]
    }

    fn insert(&mut self, at: u32, insertion: Insertion) {
        self.edits.push(Edit {
            at,
            insertion,
            closes: None,
            is_after_word: false,
            function: self.current,
            work: 0,
        });
    }

    /// Inserts what begins with a name before an expression, and returns the index of the edit.
    fn open(&mut self, at: u32, insertion: Insertion) -> usize {
        let is_after_word = self.byte_before(at).is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
        });
        self.insert(at, insertion);
        let index = self.edits.len() - 1;
        self.edits[index].is_after_word = is_after_word;
        index
    }

    fn close(&mut self, at: u32, opened: Insertion, insertion: Insertion) {
        self.insert(at, insertion);
        let index = self.edits.len() - 1;
        self.edits[index].closes = Some(opened);
    }

    fn add_work(&mut self, work: u16) {
        let draft = self.draft();
        draft.work = draft.work.saturating_add(work);
    }

    /// Whether functions have exits here that can be checked.
    fn has_exits(&self) -> bool {
        self.exclusions == 0 && self.current != 0
    }

    /// Says of the edits since an index that they are exits after the work of the function until now.
    fn end_exit(&mut self, indices: impl IntoIterator<Item = usize>) {
        let work = self.draft().work;
        for index in indices {
            self.edits[index].work = work;
        }
    }

    /// Visits the value that a function returns, whose evaluation is the last that the function does.
    fn visit_result(&mut self, value: &Expression<'_>) {
        // Of a sequence, the other values would be further arguments.
        let last = match value {
            Expression::SequenceExpression(sequence) => sequence.expressions.last().unwrap_or(value),
            _ => value,
        };
        let span = last.span();
        if let Expression::SequenceExpression(sequence) = value {
            // Minifiers join statements with commas.
            self.draft().statements += sequence.expressions.len() as u32 - 1;
            for expression in sequence.expressions.iter().take(sequence.expressions.len() - 1) {
                self.visit_expression(expression);
            }
        }
        let opening = self.open(span.start, Insertion::ReturnValue);
        self.visit_expression(last);
        self.close(span.end, Insertion::ReturnValue, Insertion::CloseParenthesis);
        self.end_exit([opening, self.edits.len() - 1]);
    }

    /// Inserts what stands in for the runtime, before all statements.
    pub(crate) fn insert_fallback(&mut self, program: &Program<'_>) {
        if program.body.is_empty() {
            return;
        }
        match (program.directives.last(), &program.hashbang) {
            (Some(directive), _) if self.byte_before(directive.span.end) == Some(b';') => {
                self.insert(directive.span.end, Insertion::Fallback);
            }
            (Some(directive), _) => self.insert(directive.span.end, Insertion::FallbackAfterDirective),
            (None, Some(hashbang)) => {
                // Behind the end of its line, of which `\r\n` has two bytes.
                let rest = &self.source[hashbang.span.end as usize..];
                let length =
                    if rest.starts_with("\r\n") { 2 } else { rest.chars().next().map_or(0, char::len_utf8) };
                self.insert(hashbang.span.end + length as u32, Insertion::Fallback);
            }
            (None, None) => self.insert(0, Insertion::Fallback),
        }
    }

    /// The byte before an offset.
    fn byte_before(&self, offset: u32) -> Option<u8> {
        (offset as usize).checked_sub(1).map(|before| self.source.as_bytes()[before])
    }

    /// Visits a value that gets the name of what it is assigned to, if it is a function or class without one.
    fn visit_named(&mut self, name: Option<&str>, value: &Expression<'_>) {
        if let Some(name) = name
            && is_anonymous_function_or_class(value)
        {
            self.inferred_name = Some(name.to_owned());
        }
        self.visit_expression(value);
    }

    fn begin_function(&mut self, at: u32, end: u32, name: String) -> u32 {
        let surrounding = self.current;
        let mut draft = Draft::new(name, Some(surrounding), at, end);
        draft.excluded = self.exclusions > 0;
        draft.runs_once =
            std::mem::take(&mut self.is_called_here) && self.drafts[surrounding as usize].runs_once;
        self.current = self.drafts.len() as u32;
        self.drafts.push(draft);
        surrounding
    }

    fn visit_body(&mut self, body: &FunctionBody<'_>) {
        let is_asm = body.directives.iter().any(|directive| directive.directive == "use asm");
        if is_asm {
            self.exclusions += 1;
        }
        let is_checked = self.exclusions == 0 && !body.statements.is_empty();
        self.draft().excluded = !is_checked;
        if is_checked {
            match body.directives.last() {
                None => self.insert(body.span.start + 1, Insertion::Enter),
                Some(directive) if self.byte_before(directive.span.end) == Some(b';') => {
                    self.insert(directive.span.end, Insertion::Enter);
                }
                Some(directive) => self.insert(directive.span.end, Insertion::EnterAfterDirective),
            }
        }
        self.visit_statements(&body.statements);
        if is_checked
            && let Some(last) = body.statements.last()
            && can_complete(last)
        {
            let end = last.span().end;
            let insertion = if self.byte_before(end) == Some(b';') {
                Insertion::Leave
            } else {
                Insertion::LeaveAfterStatement
            };
            self.insert(end, insertion);
            self.end_exit([self.edits.len() - 1]);
        }
        if is_asm {
            self.exclusions -= 1;
        }
    }

    fn visit_loop_body(&mut self, body: &Statement<'_>) {
        if self.exclusions > 0 {
            return self.visit_statement(body);
        }
        self.counts.loops += 1;
        self.draft().takes_time = true;
        self.draft().work = 0;
        let is_top_level = self.current == 0 && self.has_completion_values;
        if let Statement::BlockStatement(block) = body {
            self.insert(
                block.span.start + 1,
                if is_top_level { Insertion::TopLevelLoop } else { Insertion::Loop },
            );
            self.visit_statement(body);
        } else {
            let opening =
                if is_top_level { Insertion::TopLevelLoopStatement } else { Insertion::LoopStatement };
            let span = body.span();
            if is_declaration(body) {
                self.declaration_as_body = Some(span.start);
            }
            self.insert(span.start, opening);
            self.visit_statement(body);
            self.close(span.end, opening, Insertion::CloseBrace);
        }
    }

    /// Begins to wrap a native call, or a read that costs as much as one. Returns what opened it.
    fn open_native(&mut self, span: Span, cost: Cost) -> Option<Insertion> {
        let insertion = match cost {
            Cost::Force => {
                self.counts.force += 1;
                Insertion::Native
            }
            // What runs once is not worth the bytes.
            Cost::Scan if !self.draft().runs_once => {
                self.counts.medium += 1;
                Insertion::Scan
            }
            Cost::Scan | Cost::Trivial | Cost::Unknown => return None,
        };
        self.draft().takes_time = true;
        self.open(span.start, insertion);
        Some(insertion)
    }

    fn close_native(&mut self, span: Span, opened: Option<Insertion>) {
        if let Some(opened) = opened {
            self.close(span.end, opened, Insertion::CloseParenthesis);
            self.draft().work = 0;
        }
    }

    /// Begins to wrap an `await` or `yield`, after which other code has run.
    fn open_resumption(&mut self, span: Span) {
        self.draft().takes_time = true;
        if self.exclusions == 0 {
            self.open(span.start, Insertion::Resume);
        }
    }

    fn close_resumption(&mut self, span: Span) {
        if self.exclusions == 0 {
            self.close(span.end, Insertion::Resume, Insertion::CloseParenthesis);
            self.draft().work = 0;
        }
    }

    fn visit_member(&mut self, object: &Expression<'_>) {
        self.visit_expression(object);
        self.in_chain = false;
    }
}

fn is_anonymous_function_or_class(value: &Expression<'_>) -> bool {
    match value {
        Expression::ArrowFunctionExpression(_) => true,
        Expression::FunctionExpression(function) => function.id.is_none(),
        Expression::ClassExpression(class) => class.id.is_none(),
        Expression::ParenthesizedExpression(inner) => is_anonymous_function_or_class(&inner.expression),
        _ => false,
    }
}

fn is_function(value: &Expression<'_>) -> bool {
    match value {
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => true,
        Expression::ParenthesizedExpression(inner) => is_function(&inner.expression),
        _ => false,
    }
}

fn is_declaration(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::FunctionDeclaration(_) | Statement::ClassDeclaration(_) => true,
        Statement::VariableDeclaration(declaration) => !declaration.kind.is_var(),
        Statement::LabeledStatement(labeled) => is_declaration(&labeled.body),
        _ => false,
    }
}

/// Whether what follows the statement can run.
fn can_complete(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ReturnStatement(_) | Statement::ThrowStatement(_) => false,
        Statement::BlockStatement(block) => block.body.last().is_none_or(can_complete),
        Statement::IfStatement(branches) => {
            can_complete(&branches.consequent) || branches.alternate.as_ref().is_none_or(can_complete)
        }
        _ => true,
    }
}

/// The name that a property gives to a function. Computed names are not known before the program runs, and V8 has none
/// for them.
fn name_of_key(key: &PropertyKey<'_>, is_computed: bool) -> Option<String> {
    if is_computed {
        return None;
    }
    match key {
        PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
        PropertyKey::PrivateIdentifier(name) => Some(format!("#{}", name.name)),
        PropertyKey::StringLiteral(name) => Some(name.value.to_string()),
        PropertyKey::NumericLiteral(name) => Some(name.value.to_string()),
        PropertyKey::BigIntLiteral(name) => Some(name.value.to_string()),
        _ => None,
    }
}

fn name_of_target<'t>(target: &'t AssignmentTarget<'_>) -> Option<&'t str> {
    match target {
        AssignmentTarget::AssignmentTargetIdentifier(name) => Some(name.name.as_str()),
        _ => None,
    }
}

fn name_of_pattern<'p>(pattern: &'p BindingPattern<'_>) -> Option<&'p str> {
    match pattern {
        BindingPattern::BindingIdentifier(name) => Some(name.name.as_str()),
        _ => None,
    }
}

impl<'a> VisitJs<'a> for Collector<'_> {
    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        self.draft().is_left_alone |= it.value == LEAVE_ALONE;
    }

    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        // Minifiers write strings as templates.
        self.draft().is_left_alone |= it.value.raw == LEAVE_ALONE;
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.uses_own_name |= it.name.starts_with('$') && self.names.contains(it.name.as_str());
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.uses_own_name |= it.name.starts_with('$') && self.names.contains(it.name.as_str());
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !matches!(
            it,
            Statement::BlockStatement(_) | Statement::EmptyStatement(_) | Statement::FunctionDeclaration(_)
        ) {
            self.draft().statements += 1;
        }
        walk::walk_statement(self, it);
    }

    fn visit_sequence_expression(&mut self, it: &SequenceExpression<'a>) {
        // Minifiers join statements with commas.
        self.draft().statements += it.expressions.len() as u32 - 1;
        walk::walk_sequence_expression(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, _flags: ScopeFlags) {
        let inferred = self.inferred_name.take();
        let name = it.id.as_ref().map(|id| id.name.to_string()).or(inferred).unwrap_or_default();
        if let Some(id) = &it.id {
            self.visit_binding_identifier(id);
        }
        let surrounding = self.begin_function(it.params.span.start, it.span.end, name);
        self.visit_formal_parameters(&it.params);
        if let Some(body) = &it.body {
            self.visit_body(body);
        }
        self.current = surrounding;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let name = self.inferred_name.take().unwrap_or_default();
        let surrounding = self.begin_function(it.span.start, it.span.end, name);
        self.visit_formal_parameters(&it.params);
        match &it.body {
            ArrowFunctionBody::FunctionBody(body) => self.visit_body(body),
            body => {
                let body = body.to_expression();
                self.draft().statements += 1;
                let span = body.span();
                if self.has_exits() {
                    self.insert(span.start, Insertion::EnterExpression);
                    self.visit_result(body);
                    self.close(span.end, Insertion::EnterExpression, Insertion::CloseParenthesis);
                } else {
                    self.visit_expression(body);
                }
            }
        }
        self.current = surrounding;
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let inferred = self.inferred_name.take();
        let name = it.id.as_ref().map(|id| id.name.to_string()).or(inferred).unwrap_or_default();
        let outer = std::mem::replace(&mut self.class_name, name);
        walk::walk_class(self, it);
        self.class_name = outer;
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        self.visit_property_key(&it.key);
        let name = name_of_key(&it.key, it.computed);
        self.inferred_name = match it.kind {
            MethodDefinitionKind::Constructor => Some(self.class_name.clone()),
            MethodDefinitionKind::Method => name,
            MethodDefinitionKind::Get => name.map(|name| format!("get {name}")),
            MethodDefinitionKind::Set => name.map(|name| format!("set {name}")),
        };
        self.visit_function(&it.value, ScopeFlags::Function);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        self.visit_property_key(&it.key);
        if let Some(value) = &it.value {
            self.visit_named(name_of_key(&it.key, it.computed).as_deref(), value);
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        self.visit_property_key(&it.key);
        let name = name_of_key(&it.key, it.computed);
        let name = match it.kind {
            PropertyKind::Get => name.map(|name| format!("get {name}")),
            PropertyKind::Set => name.map(|name| format!("set {name}")),
            // This sets the prototype.
            PropertyKind::Init => name.filter(|name| name != "__proto__" || it.method || it.shorthand),
        };
        self.visit_named(name.as_deref(), &it.value);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.visit_binding_pattern(&it.id);
        if let Some(value) = &it.init {
            self.visit_named(name_of_pattern(&it.id), value);
        }
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.visit_decorators(&it.decorators);
        self.visit_binding_pattern(&it.pattern);
        if let Some(value) = &it.initializer {
            self.visit_named(name_of_pattern(&it.pattern), value);
        }
    }

    fn visit_assignment_pattern(&mut self, it: &AssignmentPattern<'a>) {
        self.visit_binding_pattern(&it.left);
        self.visit_named(name_of_pattern(&it.left), &it.right);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let cost = match &it.left {
            AssignmentTarget::StaticMemberExpression(member) if self.exclusions == 0 => {
                cost_of_assignment(member.property.name.as_str())
            }
            _ => Cost::Unknown,
        };
        let opened = self.open_native(it.span, cost);
        self.visit_assignment_target(&it.left);
        let names = matches!(
            it.operator,
            AssignmentOperator::Assign
                | AssignmentOperator::LogicalAnd
                | AssignmentOperator::LogicalOr
                | AssignmentOperator::LogicalNullish
        );
        self.visit_named(name_of_target(&it.left).filter(|_| names), &it.right);
        self.close_native(it.span, opened);
    }

    fn visit_assignment_target_with_default(&mut self, it: &AssignmentTargetWithDefault<'a>) {
        self.visit_assignment_target(&it.binding);
        self.visit_named(name_of_target(&it.binding), &it.init);
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.visit_identifier_reference(&it.binding);
        if let Some(value) = &it.init {
            self.visit_named(Some(it.binding.name.as_str()), value);
        }
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(_)
            | ExportDefaultDeclarationKind::ClassDeclaration(_) => {
                self.inferred_name = Some("default".to_owned());
                walk::walk_export_default_declaration_kind(self, &it.declaration);
            }
            other => match other.as_expression() {
                Some(value) => self.visit_named(Some("default"), value),
                None => walk::walk_export_default_declaration_kind(self, other),
            },
        }
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        match &it.argument {
            Some(value) if self.has_exits() => self.visit_result(value),
            Some(value) => self.visit_expression(value),
            // Not `return void(...)`: an async generator would await it.
            None if self.has_exits() => {
                self.insert(it.span.start, Insertion::ReturnNothing);
                self.close(it.span.end, Insertion::ReturnNothing, Insertion::CloseBrace);
                self.end_exit([self.edits.len() - 2, self.edits.len() - 1]);
            }
            None => {}
        }
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        if let Some(init) = &it.init {
            self.visit_for_statement_init(init);
        }
        if let Some(test) = &it.test {
            self.visit_expression(test);
        }
        if let Some(update) = &it.update {
            self.visit_expression(update);
        }
        self.visit_loop_body(&it.body);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.visit_loop_body(&it.body);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.visit_loop_body(&it.body);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.visit_expression(&it.test);
        self.visit_loop_body(&it.body);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.visit_loop_body(&it.body);
        self.visit_expression(&it.test);
    }

    fn visit_with_statement(&mut self, it: &WithStatement<'a>) {
        self.visit_expression(&it.object);
        // The object would be asked for each of our names.
        self.exclusions += 1;
        self.visit_statement(&it.body);
        self.exclusions -= 1;
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.open_resumption(it.span);
        walk::walk_await_expression(self, it);
        self.close_resumption(it.span);
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        self.open_resumption(it.span);
        walk::walk_yield_expression(self, it);
        self.close_resumption(it.span);
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        let is_reference = std::mem::take(&mut self.is_reference);
        self.add_work(1);
        match it {
            Expression::StaticMemberExpression(member) => {
                let is_wrapped = !is_reference
                    && !self.in_chain
                    && self.exclusions == 0
                    && needs_layout(member.property.name.as_str());
                let cost = if is_wrapped { Cost::Force } else { Cost::Unknown };
                let opened = self.open_native(member.span, cost);
                self.visit_static_member_expression(member);
                self.close_native(member.span, opened);
                return;
            }
            Expression::ParenthesizedExpression(inner) => {
                // `(a.b)()` passes `a` as `this`.
                self.is_reference = is_reference;
                self.in_chain = false;
                self.visit_expression(&inner.expression);
                return;
            }
            Expression::CallExpression(_)
            | Expression::NewExpression(_)
            | Expression::ComputedMemberExpression(_)
            | Expression::PrivateFieldExpression(_) => {}
            _ => self.in_chain = false,
        }
        walk::walk_expression(self, it);
    }

    fn visit_chain_expression(&mut self, it: &ChainExpression<'a>) {
        self.in_chain = true;
        walk::walk_chain_expression(self, it);
        self.in_chain = false;
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.visit_member(&it.object);
    }

    fn visit_private_field_expression(&mut self, it: &PrivateFieldExpression<'a>) {
        self.visit_member(&it.object);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        self.visit_member(&it.object);
        self.visit_expression(&it.expression);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let in_chain = std::mem::take(&mut self.in_chain);
        let cost = cost_of_call(&it.callee);
        if cost == Cost::Unknown {
            self.draft().makes_calls = true;
            self.add_work(WORK_OF_CALL);
        }
        let is_wrapped = !in_chain && self.exclusions == 0;
        let opened = if is_wrapped { self.open_native(it.span, cost) } else { None };
        self.in_chain = in_chain;
        self.is_reference = true;
        self.is_called_here = is_function(&it.callee);
        self.visit_expression(&it.callee);
        self.in_chain = false;
        self.is_reference = false;
        self.visit_arguments(&it.arguments);
        self.close_native(it.span, opened);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        let in_chain = std::mem::take(&mut self.in_chain);
        let cost = cost_of_new(&it.callee);
        if cost == Cost::Unknown {
            self.draft().makes_calls = true;
            self.add_work(WORK_OF_CALL);
        }
        let is_wrapped = !in_chain && self.exclusions == 0;
        let opened = if is_wrapped { self.open_native(it.span, cost) } else { None };
        // A parenthesis in the callee would be taken for that of the arguments.
        self.in_chain = true;
        self.visit_expression(&it.callee);
        self.in_chain = false;
        self.visit_arguments(&it.arguments);
        self.close_native(it.span, opened);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.draft().makes_calls = true;
        self.is_reference = true;
        self.visit_expression(&it.tag);
        self.is_reference = false;
        self.in_chain = false;
        self.visit_template_literal(&it.quasi);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.draft().makes_calls = true;
        walk::walk_import_expression(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        self.is_reference = it.operator == UnaryOperator::Delete;
        self.visit_expression(&it.argument);
        self.is_reference = false;
    }
}
