//! JSON of pages as values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A [`Value`] that is what the JSON says. With its feature `raw_value`, which other parts of this program need, `serde_json` reads an object with
/// one member of a secret name as the value of the JSON in a text: a page that knows the name would have more read than it says.
pub struct PlainValue(pub Value);

impl<'de> Deserialize<'de> for PlainValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Self)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(PlainValue(value)) = elements.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, PlainValue(value))) = members.next_entry()? {
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_json() {
        let json = r#"{"a":[null,true,-1,18446744073709551615,1.5,1e300,"\u00fc\ud83d\ude00",[],{}],"b":{"c":{"d":2}},"a2":0,"b":3}"#;
        let PlainValue(value) = serde_json::from_str(json).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(json).unwrap());
        let raw = r#"{"\u0024serde_json::private::RawValue":"[1,{\"a\":2}]"}"#;
        let PlainValue(value) = serde_json::from_str(raw).unwrap();
        assert_eq!(value["$serde_json::private::RawValue"], r#"[1,{"a":2}]"#);
        for wrong in ["", "{", "[1,]", "1 2", &"[".repeat(200)] {
            assert!(serde_json::from_str::<PlainValue>(wrong).is_err(), "{wrong}");
        }
    }
}
