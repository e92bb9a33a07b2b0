//! Declarations of what is read and written, so that the two can't drift apart.

/// Declares a struct with the JSON key of each field, so that writing and reading can't drift apart.
///
/// With `..` as its last line the struct keeps the fields that it does not know, in `extra`.
macro_rules! record {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $key:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
        pub struct $name {
            $(
                $(#[$field_doc])*
                #[serde(rename = $key, skip_serializing_if = "crate::decode::Field::is_absent")]
                pub $field: $type,
            )*
        }

        impl $name {
            /// Takes the fields that it knows, and leaves the rest.
            pub(crate) fn take(
                fields: &mut crate::decode::Fields<'_>,
            ) -> Result<Self, crate::decode::DecodeError> {
                Ok(Self { $($field: fields.take($key)?,)* })
            }
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $key:literal,)* .. }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
        pub struct $name {
            $(
                $(#[$field_doc])*
                #[serde(rename = $key, skip_serializing_if = "crate::decode::Field::is_absent")]
                pub $field: $type,
            )*
            /// Fields that this crate does not know, as they came.
            #[serde(flatten)]
            pub extra: serde_json::Map<String, serde_json::Value>,
        }

        impl $name {
            /// Takes all fields: those that it does not know are kept.
            pub(crate) fn take(
                mut fields: crate::decode::Fields<'_>,
            ) -> Result<Self, crate::decode::DecodeError> {
                Ok(Self { $($field: fields.take($key)?,)* extra: fields.rest() })
            }
        }
    };
}
pub(crate) use record;

/// Declares an enum of names, with what an error calls it.
macro_rules! names {
    (
        $(#[$doc:meta])*
        $name:ident, $expected:literal { $($(#[$variant_doc:meta])* $variant:ident = $wire:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $wire)] $variant,)*
        }

        impl $name {
            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $wire,)* }
            }

            /// The variant of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($wire => Some(Self::$variant),)* _ => None }
            }
        }

        impl crate::decode::Field for $name {
            const EXPECTED: &'static str = $expected;

            fn from_value(
                value: serde_json::Value,
                path: crate::decode::Path<'_>,
                nulls: crate::decode::Nulls,
            ) -> Result<Self, crate::decode::DecodeError> {
                let name = <String as crate::decode::Field>::from_value(value, path, nulls)?;
                Self::from_name(&name).ok_or_else(|| path.unknown(&name, $expected))
            }
        }
    };
}
pub(crate) use names;
