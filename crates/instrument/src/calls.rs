//! Tracing: an event for each entry and exit of a function, and for each time that one is suspended or resumed.
//!
//! The body of a function becomes the block of a `try` statement, whose `finally` is the exit:
//!
//! ```text
//! function f(a) {let $n=$on&&$e(7);try{ ... }finally{$on&&$t(7,$n)}}
//! x => x.y                 x=>{let $n=$on&&$e(8);try{return x.y}finally{$on&&$t(8,$n)}}
//! ```
//!
//! `$n` is what the entry has returned, by which the runtime notices exits that are missing: at the end of the stack,
//! `$t` cannot be called. While a function is suspended it is negative. What resumes a function may throw or return, so
//! each `catch` and `finally` looks at it:
//!
//! ```text
//! await x                  $h(await $h(x,$n<0||($n=$on?$t(9,$n,1):-1)),$n<0&&($n=$on&&$e(9,1)))
//! catch (e) { ... }        catch (e) {$n<0&&($n=$on&&$e(9,1)); ... }
//! ```

use crate::names::Names;
use crate::walk::Draft;
use oxc_ast::ast::*;
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;
use std::collections::HashSet;

/// Which functions of a source are traced, and by which numbers their events name them.
#[derive(Clone, Copy)]
pub struct Calls<'a> {
    /// The number of the first function, which is the script itself. The others follow in the order of
    /// [`Instrumented::functions`].
    ///
    /// [`Instrumented::functions`]: crate::Instrumented::functions
    pub first_id: u32,
    /// Whether a function with a name is chosen.
    pub is_chosen: &'a dyn Fn(&str) -> bool,
}

impl Calls<'_> {
    /// How many numbers a source takes at most: three bytes make a function, as in `a=>b=>c`.
    pub const fn most_ids(source_bytes: u64) -> u64 {
        source_bytes / 3 + 2
    }
}

/// A text that is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Enter(Shape),
    Exit(Shape),
    /// Before an `await` or `yield` expression, and before its argument.
    OpenValue,
    OpenArgument,
    /// The same after a keyword without a space.
    OpenArgumentAfterWord,
    /// In place of an argument.
    NoArgument,
    CloseArgument,
    CloseValue,
    /// At the start of a block that may run when a function is resumed.
    Resume,
    /// Around `for await`, at the start and at the end of its body, which is a block or another statement.
    OpenLoop,
    CloseLoop,
    OpenBody,
    CloseBody,
    OpenStatementBody,
    CloseStatementBody,
}

/// What decides on the texts around the body of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    can_suspend: bool,
    /// Whether a directive without a semicolon is before it.
    is_after_directive: bool,
    /// Whether it is the expression of an arrow function.
    is_expression: bool,
}

impl Piece {
    fn text(self, names: &Names, id: u32) -> String {
        use Piece::*;
        let Names { active, activation, enter, check: exit, native: first, .. } = names;
        let suspend = || format!("{activation}<0||({activation}={active}?{exit}({id},{activation},1):-1)");
        let resume = || format!("{activation}<0&&({activation}={active}&&{enter}({id},1))");
        match self {
            Enter(shape) => {
                let before = match (shape.is_expression, shape.is_after_directive) {
                    (true, _) => "{",
                    (_, true) => ";",
                    _ => "",
                };
                let after = if shape.is_expression { "return " } else { "" };
                format!("{before}let {activation}={active}&&{enter}({id});try{{{after}")
            }
            Exit(shape) => {
                let resumed = if shape.can_suspend { format!("{};", resume()) } else { String::new() };
                let after = if shape.is_expression { "}" } else { "" };
                format!("}}finally{{{resumed}{active}&&{exit}({id},{activation})}}{after}")
            }
            OpenValue | OpenArgument => format!("{first}("),
            OpenArgumentAfterWord => format!(" {first}("),
            NoArgument => format!(" {first}(void 0,{})", suspend()),
            CloseArgument => format!(",{})", suspend()),
            CloseValue => format!(",{})", resume()),
            Resume => format!("{};", resume()),
            OpenLoop => "try{".to_owned(),
            CloseLoop => format!("}}finally{{{}}}", resume()),
            OpenBody => format!("{};try{{", resume()),
            CloseBody => format!("}}finally{{{}}}", suspend()),
            OpenStatementBody => format!("{{{};try{{", resume()),
            CloseStatementBody => format!("}}finally{{{}}}}}", suspend()),
        }
    }
}

/// Stands in for the runtime: properties of the global object, which a later `let` of the runtime may shadow.
pub(crate) fn fallback(names: &Names) -> String {
    let Names { active, native: first, .. } = names;
    format!("typeof {active}==\"undefined\"&&(globalThis.{active}=!1,globalThis.{first}=v=>v);")
}

#[derive(Clone, Copy, Debug)]
struct Edit {
    at: u32,
    piece: Piece,
    function: u32,
}

/// What is known of a function while it is visited.
#[derive(Default)]
struct Context {
    /// Its index, if it is traced as far as is known.
    function: Option<u32>,
    can_suspend: bool,
    awaits_what_it_returns: bool,
    is_strict: bool,
    parameters: HashSet<String>,
    /// The functions that its body declares, not in a block: their names and where they start.
    declared: Vec<(String, u32)>,
    /// Names that would not fit beside the declared functions if these were in a block.
    others: HashSet<String>,
    has_eval: bool,
    /// Whether it must stay as it is: it cannot be suspended where only text is inserted, or text would be observed.
    is_refused: bool,
}

pub(crate) struct Tracer<'s> {
    source: &'s str,
    drafts: &'s [Draft],
    is_chosen: &'s dyn Fn(&str) -> bool,
    edits: Vec<Edit>,
    /// The functions that have the pieces, by their indexes.
    is_traced: Vec<bool>,
    /// Those that were chosen and cannot have them.
    refused: Vec<u32>,
    contexts: Vec<Context>,
    /// Inside of how many constructs whose code must stay as it is.
    exclusions: u32,
    /// Where the labels of the next statement start.
    label_start: Option<u32>,
}

/// What is inserted, and where; and which functions are traced.
pub(crate) struct Traced {
    pub(crate) edits: Vec<(u32, String)>,
    pub(crate) is_traced: Vec<bool>,
    pub(crate) refused: Vec<u32>,
}

impl<'s> Tracer<'s> {
    pub(crate) fn new(source: &'s str, drafts: &'s [Draft], calls: &Calls<'s>, is_strict: bool) -> Self {
        Self {
            source,
            drafts,
            is_chosen: calls.is_chosen,
            edits: Vec::new(),
            is_traced: vec![false; drafts.len()],
            refused: Vec::new(),
            contexts: vec![Context { is_strict, ..Context::default() }],
            exclusions: 0,
            label_start: None,
        }
    }

    pub(crate) fn finish(self, names: &Names, first_id: u32) -> Traced {
        let Self { mut edits, is_traced, mut refused, .. } = self;
        edits.retain(|edit| is_traced[edit.function as usize]);
        // Stable: at one offset, what was visited first comes first.
        edits.sort_by_key(|edit| edit.at);
        let text = |edit: Edit| (edit.at, edit.piece.text(names, first_id + edit.function));
        let edits = edits.into_iter().map(text).collect();
        refused.sort_unstable();
        Traced { edits, is_traced, refused }
    }

    fn context(&mut self) -> &mut Context {
        let last = self.contexts.len() - 1;
        &mut self.contexts[last]
    }

    /// The function whose pieces can be inserted, if it can be suspended.
    fn suspending(&self) -> Option<u32> {
        self.contexts.last().filter(|context| context.can_suspend)?.function
    }

    fn insert(&mut self, at: u32, piece: Piece, function: u32) {
        if self.exclusions > 0 {
            self.context().is_refused = true;
        }
        self.edits.push(Edit { at, piece, function });
    }

    /// Begins a function that starts at an offset, as its draft says.
    fn begin(&mut self, at: u32, [is_async, is_generator]: [bool; 2]) {
        // The first one is the script.
        let index = self.drafts[1..].binary_search_by_key(&at, |draft| draft.at).map_or(0, |found| found + 1);
        let is_chosen = index > 0 && (self.is_chosen)(&self.drafts[index].name);
        let is_strict = self.context().is_strict;
        self.contexts.push(Context {
            function: is_chosen.then_some(index as u32),
            can_suspend: is_async || is_generator,
            awaits_what_it_returns: is_async && is_generator,
            is_strict,
            // An object of `with` could observe the names.
            is_refused: self.exclusions > 0,
            ..Context::default()
        });
    }

    fn end(&mut self) {
        let Some(context) = self.contexts.pop() else { return };
        let Some(function) = context.function else { return };
        if context.is_refused || context.loses_functions_in_a_block() {
            self.refused.push(function);
        } else {
            self.is_traced[function as usize] = true;
        }
    }

    /// Visits code that does not run in the function around it.
    fn outside_of_functions(&mut self, is_strict: bool, visit: impl FnOnce(&mut Self)) {
        self.contexts.push(Context { is_strict, ..Context::default() });
        visit(self);
        self.contexts.pop();
    }

    fn visit_body(&mut self, body: &FunctionBody<'_>) {
        let has = |text: &str| body.directives.iter().any(|directive| directive.directive == text);
        let is_asm = has("use asm");
        let context = self.context();
        context.is_strict |= has("use strict");
        context.is_refused |= is_asm;
        for statement in &body.statements {
            context.declared.extend(declared_function(statement));
            // This is an error, which it would not be in a block.
            context.is_refused |= names_in_block(statement).any(|name| context.parameters.contains(name));
        }
        let function = context.function;
        self.exclusions += u32::from(is_asm);
        let mut shape = self.shape(false);
        if let Some(function) = function {
            let at = body.directives.last().map_or(body.span.start + 1, |last| last.span.end);
            let before = self.source.as_bytes()[at as usize - 1];
            shape.is_after_directive = !body.directives.is_empty() && before != b';';
            self.insert(at, Piece::Enter(shape), function);
        }
        self.visit_statements(&body.statements);
        if let Some(function) = function {
            self.insert(body.span.end - 1, Piece::Exit(shape), function);
        }
        self.exclusions -= u32::from(is_asm);
    }

    fn shape(&mut self, is_expression: bool) -> Shape {
        Shape { can_suspend: self.context().can_suspend, is_after_directive: false, is_expression }
    }

    /// Visits an expression that suspends its function.
    fn visit_suspension(&mut self, expression: Span, argument: Option<&Expression<'_>>) {
        let function = self.suspending();
        if let Some(function) = function {
            self.insert(expression.start, Piece::OpenValue, function);
        }
        self.visit_suspending_value(argument, expression.end);
        if let Some(function) = function {
            self.insert(expression.end, Piece::CloseValue, function);
        }
    }

    /// Visits a value, after which its function is suspended.
    fn visit_suspending_value(&mut self, value: Option<&Expression<'_>>, end: u32) {
        let function = self.suspending();
        match (value, function) {
            (Some(value), Some(function)) => {
                let span = value.span();
                // `await(x)`, `of[x]`
                let is_after_word = self.source.as_bytes()[span.start as usize - 1].is_ascii_alphabetic();
                let piece = if is_after_word { Piece::OpenArgumentAfterWord } else { Piece::OpenArgument };
                self.insert(span.start, piece, function);
                self.visit_expression(value);
                self.insert(span.end, Piece::CloseArgument, function);
            }
            (Some(value), None) => self.visit_expression(value),
            (None, Some(function)) => self.insert(end, Piece::NoArgument, function),
            (None, None) => {}
        }
    }

    fn visit_resumed_block(&mut self, block: &BlockStatement<'_>) {
        if let Some(function) = self.suspending() {
            self.insert(block.span.start + 1, Piece::Resume, function);
        }
        self.visit_block_statement(block);
    }
}

impl Context {
    /// Whether functions that its body declares would have another meaning in a block.
    fn loses_functions_in_a_block(&self) -> bool {
        let mut names = HashSet::new();
        let is_doubled = self.declared.iter().any(|(name, _)| !names.insert(name));
        let is_taken = self.declared.iter().any(|(name, _)| self.others.contains(name));
        is_doubled || is_taken || (self.has_eval && !self.is_strict && !self.declared.is_empty())
    }
}

/// The names that a statement declares for the block around it.
fn names_in_block<'s>(statement: &'s Statement<'_>) -> impl Iterator<Item = &'s str> {
    let (class, variables) = match statement {
        Statement::ClassDeclaration(class) => (class.id.as_ref(), None),
        Statement::VariableDeclaration(variables) if !variables.kind.is_var() => (None, Some(variables)),
        _ => (None, None),
    };
    let declarations = variables.into_iter().flat_map(|variables| &variables.declarations);
    let names = declarations.flat_map(|one| one.id.get_binding_identifiers());
    class.into_iter().chain(names).map(|name| name.name.as_str())
}

/// The function that a statement declares: its name and where it starts.
fn declared_function(statement: &Statement<'_>) -> Option<(String, u32)> {
    match statement {
        Statement::FunctionDeclaration(function) => {
            Some((function.id.as_ref()?.name.to_string(), function.span.start))
        }
        Statement::LabeledStatement(labeled) => declared_function(&labeled.body),
        _ => None,
    }
}

impl<'a> VisitJs<'a> for Tracer<'_> {
    fn visit_function(&mut self, it: &Function<'a>, _flags: ScopeFlags) {
        let context = self.context();
        if it.r#type == FunctionType::FunctionDeclaration
            && !context.is_strict
            && !context.declared.iter().any(|(_, start)| *start == it.span.start)
            && let Some(id) = &it.id
        {
            // A function in a block, which sets the variable of its name around it, too.
            context.others.insert(id.name.to_string());
        }
        self.begin(it.params.span.start, [it.r#async, it.generator]);
        self.visit_formal_parameters(&it.params);
        if let Some(body) = &it.body {
            self.visit_body(body);
        }
        self.end();
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.begin(it.span.start, [it.r#async, false]);
        self.visit_formal_parameters(&it.params);
        match &it.body {
            ArrowFunctionBody::FunctionBody(body) => self.visit_body(body),
            body => {
                let body = body.to_expression();
                let (span, function, shape) = (body.span(), self.context().function, self.shape(true));
                if let Some(function) = function {
                    self.insert(span.start, Piece::Enter(shape), function);
                }
                self.visit_expression(body);
                if let Some(function) = function {
                    self.insert(span.end, Piece::Exit(shape), function);
                }
            }
        }
        self.end();
    }

    fn visit_formal_parameters(&mut self, it: &FormalParameters<'a>) {
        let context = self.context();
        let patterns = it.items.iter().map(|item| &item.pattern);
        let patterns = patterns.chain(it.rest.iter().map(|rest| &rest.rest.argument));
        for name in patterns.flat_map(BindingPattern::get_binding_identifiers) {
            context.parameters.insert(name.name.to_string());
        }
        if !context.is_strict {
            // `arguments` shows functions of their names.
            context.others.extend(context.parameters.iter().cloned());
        }
        walk::walk_formal_parameters(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let was_strict = std::mem::replace(&mut self.context().is_strict, true);
        walk::walk_class(self, it);
        self.context().is_strict = was_strict;
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.outside_of_functions(true, |this| walk::walk_static_block(this, it));
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        self.visit_property_key(&it.key);
        if let Some(value) = &it.value {
            self.outside_of_functions(true, |this| this.visit_expression(value));
        }
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        let context = self.context();
        if it.kind == VariableDeclarationKind::AwaitUsing {
            // It is suspended at the end of the block.
            context.is_refused = true;
        } else if it.kind.is_var() {
            for name in it.declarations.iter().flat_map(|one| one.id.get_binding_identifiers()) {
                context.others.insert(name.name.to_string());
            }
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if it.callee.get_inner_expression().is_specific_id("eval") {
            self.context().has_eval = true;
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_with_statement(&mut self, it: &WithStatement<'a>) {
        self.visit_expression(&it.object);
        self.exclusions += 1;
        self.visit_statement(&it.body);
        self.exclusions -= 1;
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.visit_suspension(it.span, Some(&it.argument));
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        self.visit_suspension(it.span, it.argument.as_ref());
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        let is_awaited = self.context().awaits_what_it_returns;
        match &it.argument {
            Some(value) if is_awaited => self.visit_suspending_value(Some(value), it.span.end),
            Some(value) => self.visit_expression(value),
            None => {}
        }
    }

    fn visit_catch_clause(&mut self, it: &CatchClause<'a>) {
        if let Some(param) = &it.param {
            self.visit_catch_parameter(param);
        }
        self.visit_resumed_block(&it.body);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.visit_block_statement(&it.block);
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &it.finalizer {
            self.visit_resumed_block(finalizer);
        }
    }

    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        let start = self.label_start.unwrap_or(it.span.start);
        self.label_start = Some(start);
        self.visit_statement(&it.body);
        self.label_start = None;
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !matches!(it, Statement::LabeledStatement(_) | Statement::ForOfStatement(_)) {
            self.label_start = None;
        }
        walk::walk_statement(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        let start = self.label_start.take().unwrap_or(it.span.start);
        let function = self.suspending().filter(|_| it.r#await);
        let Some(function) = function else {
            return walk::walk_for_of_statement(self, it);
        };
        self.insert(start, Piece::OpenLoop, function);
        self.visit_for_statement_left(&it.left);
        self.visit_suspending_value(Some(&it.right), it.span.end);
        let body = it.body.span();
        let [opening, closing] = match &it.body {
            Statement::BlockStatement(_) => {
                [(body.start + 1, Piece::OpenBody), (body.end - 1, Piece::CloseBody)]
            }
            _ => [(body.start, Piece::OpenStatementBody), (body.end, Piece::CloseStatementBody)],
        };
        self.insert(opening.0, opening.1, function);
        self.visit_statement(&it.body);
        self.insert(closing.0, closing.1, function);
        self.insert(it.span.end, Piece::CloseLoop, function);
    }
}
