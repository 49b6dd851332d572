"""What algorithms over buckets share: trees of boxes, partitions, deviations and totals."""
