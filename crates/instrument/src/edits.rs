//! Insertions, and the text that results from them.

use crate::names::Names;

/// A text that is inserted. Nothing is ever removed or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// At the start of a function's body.
    Enter,
    /// The same after a directive without a semicolon.
    EnterAfterDirective,
    /// Before the expression that is the body of an arrow function; closed by a parenthesis.
    EnterExpression,
    /// At the end of a function's body.
    Leave,
    /// The same after a statement without a semicolon.
    LeaveAfterStatement,
    /// Before the value of a return statement, or the last one of a sequence; closed by a parenthesis.
    ReturnValue,
    /// Before a return statement without a value; closed by a brace.
    ReturnNothing,
    /// At the start of the block that is the body of a loop.
    Loop,
    /// Before a body that is another statement; closed by a brace.
    LoopStatement,
    /// Both for loops outside of functions in scripts: their statements have completion values, which `eval` returns,
    /// and declarations have none.
    TopLevelLoop,
    TopLevelLoopStatement,
    /// Before a native call that may take milliseconds; closed by a parenthesis.
    Native,
    /// Before a native call that counts as several events; closed by a parenthesis.
    Scan,
    /// Before an `await` or `yield`; closed by a parenthesis.
    Resume,
    CloseParenthesis,
    CloseBrace,
    /// Before the first statement of the source: what stands in where the runtime has not run.
    Fallback,
    /// The same after a directive without a semicolon.
    FallbackAfterDirective,
}

impl Insertion {
    pub(crate) fn is_fallback(self) -> bool {
        matches!(self, Self::Fallback | Self::FallbackAfterDirective)
    }

    /// Whether functions that are not worth checking go without it.
    fn is_omitted_from_small_functions(self) -> bool {
        use Insertion::*;
        matches!(
            self,
            Enter
                | EnterAfterDirective
                | EnterExpression
                | Leave
                | LeaveAfterStatement
                | ReturnValue
                | ReturnNothing
        )
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    /// The offset in the source before which the text goes.
    pub(crate) at: u32,
    pub(crate) insertion: Insertion,
    /// For what closes something: what it closes.
    pub(crate) closes: Option<Insertion>,
    /// Whether the insertion begins with a name, and the byte before might belong to it: `return"text"`,
    /// `else[].sort()`.
    pub(crate) is_after_word: bool,
    /// The index of the function that runs the inserted code.
    pub(crate) function: u32,
    /// For exits: about how many expressions have run since the check before.
    pub(crate) work: u16,
}

impl Edit {
    pub(crate) fn is_exit(&self) -> bool {
        use Insertion::*;
        let insertion = self.closes.unwrap_or(self.insertion);
        matches!(insertion, Leave | LeaveAfterStatement | ReturnValue | ReturnNothing)
    }

    pub(crate) fn is_omitted_from_small_functions(&self) -> bool {
        self.closes.unwrap_or(self.insertion).is_omitted_from_small_functions()
    }
}

/// The texts of the insertions.
pub(crate) struct Texts {
    enter: String,
    check: String,
    top_level_check: String,
    leave: String,
    native: String,
    scan: String,
    resume: String,
    pub(crate) fallback: String,
}

/// What an insertion consists of.
pub(crate) type Parts<'a> = [&'a str; 3];

impl Texts {
    pub(crate) fn new(names: &Names) -> Self {
        let Names { enter, check, leave, native, scan, resume, .. } = names;
        Self {
            enter: format!("{enter}?.()"),
            check: format!("{check}?.()"),
            // An empty pattern binds nothing, but needs a value that is not undefined.
            top_level_check: format!("let{{}}={check}?.()||0;"),
            leave: format!("{leave}("),
            native: format!("{native}("),
            scan: format!("{scan}("),
            resume: format!("{resume}("),
            // Properties of the global object, which a later `let` of the runtime may shadow.
            fallback: format!(
                "typeof {leave}==\"undefined\"&&(g=>{{g.{enter}=g.{check}=void 0;\
                 g.{leave}=g.{native}=g.{scan}=g.{resume}=v=>v}})(globalThis);"
            ),
        }
    }

    pub(crate) fn length_of(&self, edit: &Edit) -> usize {
        self.of(edit).into_iter().map(str::len).sum()
    }

    pub(crate) fn of(&self, edit: &Edit) -> Parts<'_> {
        use Insertion::*;
        let before = if edit.is_after_word { " " } else { "" };
        match edit.insertion {
            Enter => ["", &self.enter, ";"],
            EnterAfterDirective => [";", &self.enter, ";"],
            EnterExpression => ["(", &self.enter, ","],
            Leave => ["", &self.check, ""],
            LeaveAfterStatement => [";", &self.check, ""],
            ReturnValue => [before, &self.leave, ""],
            ReturnNothing | LoopStatement => ["{", &self.check, ";"],
            Loop => ["", &self.check, ";"],
            TopLevelLoop => ["", &self.top_level_check, ""],
            TopLevelLoopStatement => ["{", &self.top_level_check, ""],
            Native => [before, &self.native, ""],
            Scan => [before, &self.scan, ""],
            Resume => [before, &self.resume, ""],
            CloseParenthesis => ["", ")", ""],
            CloseBrace => ["", "}", ""],
            Fallback => ["", &self.fallback, ""],
            FallbackAfterDirective => [";", &self.fallback, ""],
        }
    }
}

/// Where text was inserted: an offset in the source, and the bytes of all insertions up to and including this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inserted {
    pub(crate) at: u32,
    pub(crate) sum: u32,
}

/// The source with texts inserted at offsets, which are sorted.
pub(crate) fn splice<'t>(
    source: &str,
    insertions: impl Iterator<Item = (u32, Parts<'t>)> + Clone,
) -> (String, Vec<Inserted>) {
    let length: usize = insertions.clone().flat_map(|(_, parts)| parts).map(str::len).sum();
    let mut text = String::with_capacity(source.len() + length);
    let mut inserted: Vec<Inserted> = Vec::with_capacity(insertions.size_hint().0);
    let (mut from, mut sum) = (0, 0);
    for (offset, parts) in insertions {
        let at = offset as usize;
        text.push_str(&source[from..at]);
        from = at;
        for part in parts {
            text.push_str(part);
            sum += part.len() as u32;
        }
        match inserted.last_mut() {
            Some(last) if last.at == offset => last.sum = sum,
            _ => inserted.push(Inserted { at: offset, sum }),
        }
    }
    text.push_str(&source[from..]);
    (text, inserted)
}

/// Bytes inserted before the character at an offset.
pub(crate) fn shift(inserted: &[Inserted], offset: u32) -> u32 {
    let next = inserted.partition_point(|entry| entry.at <= offset);
    next.checked_sub(1).map_or(0, |index| inserted[index].sum)
}

/// Bytes inserted before an offset, without those directly before the character there.
pub(crate) fn shift_of_end(inserted: &[Inserted], offset: u32) -> u32 {
    let next = inserted.partition_point(|entry| entry.at < offset);
    next.checked_sub(1).map_or(0, |index| inserted[index].sum)
}
