//! Columns of a result.

use deltalake::arrow::array::{
    Array, AsArray, BinaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
};
use deltalake::arrow::compute::cast;
use deltalake::arrow::datatypes::{DataType, Int32Type, Int64Type};

use super::QueryError;

/// A result's columns by name and type.
pub(crate) trait Columns {
    /// Numbers of 64 bits.
    fn numbers(&self, name: &str) -> Result<Int64Array, QueryError>;
    /// Numbers of 32 bits.
    fn small_numbers(&self, name: &str) -> Result<Int32Array, QueryError>;
    /// Texts.
    fn texts(&self, name: &str) -> Result<StringArray, QueryError>;
    /// Bytes.
    fn bytes(&self, name: &str) -> Result<BinaryArray, QueryError>;
    /// Lists of numbers of 64 bits.
    fn lists(&self, name: &str) -> Result<Vec<Vec<i64>>, QueryError>;
}

impl Columns for RecordBatch {
    fn numbers(&self, name: &str) -> Result<Int64Array, QueryError> {
        Ok(as_type(self, name, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
    }

    fn small_numbers(&self, name: &str) -> Result<Int32Array, QueryError> {
        Ok(as_type(self, name, &DataType::Int32)?.as_primitive::<Int32Type>().clone())
    }

    fn texts(&self, name: &str) -> Result<StringArray, QueryError> {
        Ok(as_type(self, name, &DataType::Utf8)?.as_string::<i32>().clone())
    }

    fn bytes(&self, name: &str) -> Result<BinaryArray, QueryError> {
        Ok(as_type(self, name, &DataType::Binary)?.as_binary::<i32>().clone())
    }

    fn lists(&self, name: &str) -> Result<Vec<Vec<i64>>, QueryError> {
        let column =
            self.column_by_name(name).ok_or_else(|| QueryError::Result(format!("no column {name}")))?;
        let list = column
            .as_list_opt::<i32>()
            .ok_or_else(|| QueryError::Result(format!("{} in {name}", column.data_type())))?;
        let values = |row: usize| list.value(row).as_primitive::<Int64Type>().values().to_vec();
        Ok((0..list.len()).map(values).collect())
    }
}

/// A column as this type, which engines may return differently.
fn as_type(
    rows: &RecordBatch,
    name: &str,
    data_type: &DataType,
) -> Result<deltalake::arrow::array::ArrayRef, QueryError> {
    let column = rows.column_by_name(name).ok_or_else(|| QueryError::Result(format!("no column {name}")))?;
    cast(column, data_type).map_err(|error| QueryError::Result(format!("{name}: {error}")))
}
