//! What a call costs that runs no JavaScript of the page, as far as its name tells.
//!
//! A wrong guess costs a little accuracy or time, never correctness: the call itself stays as it is.

use oxc_ast::ast::{Expression, match_member_expression};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Often takes microseconds, and may take milliseconds: the clock is read after it.
    Force,
    /// Counts as several events.
    Scan,
    /// Not worth an event.
    Trivial,
    /// May run functions of the page.
    Unknown,
}

pub(crate) fn cost_of_call(callee: &Expression) -> Cost {
    match callee {
        Expression::Identifier(name) => of_global(name.name.as_str()),
        Expression::StaticMemberExpression(member) => {
            let object = match &member.object {
                Expression::Identifier(object) => Some(object.name.as_str()),
                _ => None,
            };
            of_method(object, member.property.name.as_str())
        }
        Expression::ParenthesizedExpression(inner) => cost_of_call(&inner.expression),
        match_member_expression!(Expression) => Cost::Unknown,
        _ => Cost::Unknown,
    }
}

/// What `new` costs: formats of `Intl` load data of the locale.
pub(crate) fn cost_of_new(callee: &Expression) -> Cost {
    match callee {
        Expression::Identifier(name) if name.name == "RegExp" => Cost::Scan,
        Expression::StaticMemberExpression(member) => match &member.object {
            Expression::Identifier(object) if object.name == "Intl" => Cost::Force,
            _ => Cost::Unknown,
        },
        _ => Cost::Unknown,
    }
}

fn of_global(name: &str) -> Cost {
    match name {
        "structuredClone" | "getComputedStyle" | "atob" | "btoa" => Cost::Force,
        "encodeURIComponent" | "decodeURIComponent" | "encodeURI" | "decodeURI" | "escape" | "unescape" => {
            Cost::Scan
        }
        "parseInt" | "parseFloat" | "isNaN" | "isFinite" | "Number" | "String" | "Boolean" | "Symbol"
        | "BigInt" | "clearTimeout" | "clearInterval" => Cost::Trivial,
        _ => Cost::Unknown,
    }
}

fn of_method(object: Option<&str>, method: &str) -> Cost {
    match (object, method) {
        (Some("JSON"), "parse" | "stringify") | (Some("Intl"), _) => Cost::Force,
        (Some("Math" | "Number" | "Symbol" | "performance" | "Date"), _) => Cost::Trivial,
        (
            Some("Object"),
            "keys" | "values" | "entries" | "assign" | "fromEntries" | "getOwnPropertyNames",
        ) => Cost::Trivial,
        (
            Some("Object"),
            "create" | "defineProperty" | "freeze" | "is" | "getPrototypeOf" | "setPrototypeOf" | "hasOwn",
        )
        | (Some("Array"), "isArray")
        | (Some("String"), "fromCharCode" | "fromCodePoint") => Cost::Trivial,
        (
            _,
            "sort"
            | "toSorted"
            | "localeCompare"
            | "toLocaleString"
            | "toLocaleDateString"
            | "toLocaleTimeString"
            | "format"
            | "formatToParts"
            | "querySelector"
            | "querySelectorAll"
            | "getElementsByClassName"
            | "getBoundingClientRect"
            | "getClientRects"
            | "getComputedStyle"
            | "checkVisibility"
            | "scrollIntoView"
            | "elementFromPoint"
            | "elementsFromPoint"
            | "caretRangeFromPoint"
            | "getItem"
            | "setItem"
            | "encode"
            | "encodeInto"
            | "decode"
            | "drawImage"
            | "fillText"
            | "strokeText"
            | "measureText"
            | "getImageData"
            | "putImageData"
            | "toDataURL"
            | "appendChild"
            | "insertBefore"
            | "removeChild"
            | "replaceChild"
            | "replaceChildren"
            | "replaceWith"
            | "cloneNode"
            | "importNode"
            | "insertAdjacentElement"
            | "insertAdjacentHTML"
            | "structuredClone",
        ) => Cost::Force,
        (
            _,
            "exec" | "test" | "match" | "matchAll" | "replace" | "replaceAll" | "search" | "split"
            | "normalize",
        ) => Cost::Scan,
        (
            _,
            "append" | "prepend" | "remove" | "createElement" | "createElementNS" | "createTextNode"
            | "setAttribute" | "removeAttribute" | "join" | "fill" | "flat" | "reverse" | "copyWithin"
            | "repeat",
        ) => Cost::Scan,
        (
            _,
            "indexOf" | "lastIndexOf" | "includes" | "concat" | "slice" | "splice" | "substring" | "trim"
            | "toLowerCase" | "toUpperCase" | "padStart" | "padEnd" | "toFixed" | "toPrecision" | "unshift",
        ) => Cost::Trivial,
        (
            _,
            "push" | "pop" | "shift" | "charAt" | "charCodeAt" | "codePointAt" | "at" | "has"
            | "hasOwnProperty" | "startsWith" | "endsWith" | "getAttribute" | "hasAttribute" | "contains"
            | "getTime" | "preventDefault" | "stopPropagation",
        ) => Cost::Trivial,
        _ => Cost::Unknown,
    }
}

/// What an assignment to a property of an element costs.
pub(crate) fn cost_of_assignment(property: &str) -> Cost {
    match property {
        "innerHTML" | "outerHTML" | "textContent" | "innerText" | "nodeValue" | "className" | "cssText" => {
            Cost::Force
        }
        _ => Cost::Unknown,
    }
}

/// Properties of elements and windows whose value may need a new layout of the page.
pub(crate) fn needs_layout(property: &str) -> bool {
    matches!(
        property,
        "offsetWidth"
            | "offsetHeight"
            | "offsetTop"
            | "offsetLeft"
            | "offsetParent"
            | "clientWidth"
            | "clientHeight"
            | "clientTop"
            | "clientLeft"
            | "scrollWidth"
            | "scrollHeight"
            | "scrollTop"
            | "scrollLeft"
            | "innerText"
    )
}
