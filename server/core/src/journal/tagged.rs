//! The record of a line as JSON: its type is a member of the same object as its own members. Not left to serde's `tag`,
//! which copies every member before it reads one and so takes most of the time of reading a long journal.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, IgnoredAny, VariantAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use super::Record;

/// The members of a record as they are in a line, `type` first, without braces.
pub(super) fn members_of(record: &Record) -> serde_json::Result<String> {
    let text = serde_json::to_string(record)?;
    // `{"type":{…}}`, or the name alone of a type without members; a name needs no escape.
    let named = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(&text);
    let (name, members) = named.split_once(':').unwrap_or((named, "{}"));
    let members = members.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or_default();
    let comma = if members.is_empty() { "" } else { "," };
    Ok(format!("\"type\":{name}{comma}{members}"))
}

/// Reads a record of this type from the object that contains its members. Other members are ignored.
pub(super) fn read_record(type_name: &str, object: &[u8]) -> serde_json::Result<Record> {
    let mut json = serde_json::Deserializer::from_slice(object);
    let record = Record::deserialize(TaggedObject { type_name, object: &mut json })?;
    json.end()?;
    Ok(record)
}

/// An object presented as the variant `type_name` of an enum.
struct TaggedObject<'a, D> {
    type_name: &'a str,
    object: D,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for TaggedObject<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, D: Deserializer<'de>> EnumAccess<'de> for TaggedObject<'_, D> {
    type Error = D::Error;
    type Variant = TaggedMembers<D>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), D::Error> {
        let name: StrDeserializer<'_, D::Error> = StrDeserializer::new(self.type_name);
        Ok((seed.deserialize(name)?, TaggedMembers(self.object)))
    }
}

/// The object once its variant is known.
struct TaggedMembers<D>(D);

impl<'de, D: Deserializer<'de>> VariantAccess<'de> for TaggedMembers<D> {
    type Error = D::Error;

    /// A type that this version does not know: its members are ignored.
    fn unit_variant(self) -> Result<(), D::Error> {
        IgnoredAny::deserialize(self.0).map(drop)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, D::Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, D::Error> {
        Err(D::Error::custom("the members of a record have names"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct("Record", fields, visitor)
    }
}
