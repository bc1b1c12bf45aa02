//! Whether two answers have the same rows.

use deltalake::arrow::array::RecordBatch;
use deltalake::arrow::error::ArrowError;
use deltalake::arrow::row::{RowConverter, SortField};

/// The number of rows, and a sum over them, in which their order makes no difference.
pub(super) fn digest(batches: &[RecordBatch]) -> Result<(usize, u64), ArrowError> {
    let mut digest = (0, 0_u64);
    for batch in batches.iter().filter(|batch| batch.num_rows() > 0) {
        let rows = rows(batch)?;
        for row in rows.iter() {
            let hash = blake3::hash(row.as_ref());
            let first = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
            digest = (digest.0 + 1, digest.1.wrapping_add(u64::from_le_bytes(*first)));
        }
    }
    Ok(digest)
}

fn rows(batch: &RecordBatch) -> Result<deltalake::arrow::row::Rows, ArrowError> {
    let fields =
        batch.schema().fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
    RowConverter::new(fields)?.convert_columns(batch.columns())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use deltalake::arrow::array::{ArrayRef, Int64Array};

    use super::*;

    #[test]
    fn answers_agree_in_any_order() {
        let batch = |numbers: &[i64]| {
            let column: ArrayRef = Arc::new(Int64Array::from(numbers.to_vec()));
            RecordBatch::try_from_iter([("number", column)]).unwrap()
        };
        let digest = |batches: &[RecordBatch]| digest(batches).unwrap();
        assert_eq!(
            digest(&[batch(&[1, 2]), batch(&[3])]),
            digest(&[batch(&[3, 1]), batch(&[]), batch(&[2])])
        );
        assert_ne!(digest(&[batch(&[1, 2])]), digest(&[batch(&[1, 2, 2])]));
        assert_ne!(digest(&[batch(&[1, 2])]), digest(&[batch(&[1, 3])]));
        assert_eq!(digest(&[]), (0, 0));
    }
}
