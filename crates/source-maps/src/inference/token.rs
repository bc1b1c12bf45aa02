//! Tokens of JavaScript, as coarse as naming functions allows.

/// A token. What is in brackets is one token once the bracket is closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Byte offsets. Those of an [`Index`](Kind::Index) are of what is in the brackets, if that is a single token.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The function that starts or ends here.
    pub(super) function: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier, or a keyword as the name of a property.
    Name,
    Keyword(Keyword),
    Number,
    String,
    Template,
    Regex,
    /// `.` or `?.`
    Dot,
    /// `=`, `||=`, `&&=` or `??=`
    Assign,
    Arrow,
    Colon,
    Question,
    /// `||`, `&&` or `??`
    Logical,
    Star,
    /// `++` or `--`
    Step,
    OtherPunctuation,
    /// `(...)`; of a statement or of a function's parameters if `is_head`.
    Parentheses {
        is_head: bool,
    },
    /// `[...]` with the elements of an array.
    Array,
    /// `[...]` after an object.
    Index(IndexKey),
    /// `{...}`
    Braces,
    /// The `{...}` after `=>`.
    ArrowBody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexKey {
    String,
    NameOrNumber,
    Other,
}

/// Keywords, grouped by what may follow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Function,
    Class,
    Return,
    New,
    /// `await`, after `for` a part of the statement's head.
    Await,
    /// `case` or `default`
    Case,
    Export,
    /// A keyword followed by parentheses and a statement.
    Head,
    /// A keyword followed by a statement.
    Block,
    /// An operator such as `typeof` or `in`.
    Operator,
    Extends,
    Import,
    Other,
}

impl Keyword {
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "function" => Self::Function,
            "class" => Self::Class,
            "return" => Self::Return,
            "new" => Self::New,
            "await" => Self::Await,
            "case" | "default" => Self::Case,
            "export" => Self::Export,
            "if" | "for" | "while" | "switch" | "with" | "catch" => Self::Head,
            "else" | "do" | "try" | "finally" => Self::Block,
            "typeof" | "void" | "delete" | "in" | "instanceof" => Self::Operator,
            "extends" => Self::Extends,
            "import" => Self::Import,
            "break" | "const" | "continue" | "debugger" | "let" | "throw" | "var" | "yield" => Self::Other,
            _ => return None,
        })
    }
}

impl Token {
    /// Whether an operand may end with this token, so that a `/` after it divides.
    pub(super) fn ends_operand(&self) -> bool {
        use Kind::*;
        matches!(
            self.kind,
            Name | Number
                | String
                | Template
                | Regex
                | Step
                | Parentheses { is_head: false }
                | Array
                | Index(_)
                | Braces
        )
    }

    /// Whether this token can only be the start of something if an operand is before it.
    pub(super) fn starts_operand(&self) -> bool {
        match self.kind {
            Kind::Name | Kind::Number | Kind::String | Kind::Regex => true,
            Kind::Keyword(keyword) => !matches!(keyword, Keyword::Operator | Keyword::Extends),
            _ => false,
        }
    }
}
