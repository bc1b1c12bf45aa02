/**
 * The first index, not before `from`, whose value is at least `limit`; above `limit` if `isAbove`. Values are sorted.
 */
export function lowerBound(values: Float64Array, limit: number, isAbove = false, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAbove ? values[middle] <= limit : values[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
