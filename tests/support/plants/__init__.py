"""Leaks of the past, to be planted again: an audit that is worth its name finds each of them.

Nothing in the package plants faults. What stands here puts them back from outside, by replacing
what the code of today calls. Plants of one number are leaks of one kind.
"""

from __future__ import annotations

from support.plants import beside, cells, claims, elsewhere, keys, means, sources
from support.plants.planting import Plant, Where

PLANTS = (
    Plant(1, "noise of a mean follows keys", means.noise_follows_the_number_of_keys),
    Plant(2, "a mean of no row fails", means.no_row_is_a_failure),
    Plant(3, "auto reads keys as objects", keys.keys_become_python_objects),
    Plant(4, "a mean by NaN fails", means.a_key_unlike_itself_is_a_failure),
    Plant(5, "coarse moments raise", cells.casts_of_coarse_moments_raise, Where.DUCKDB),
    Plant(6, "policies read all cells", cells.a_policy_in_python_reads_every_cell, Where.DUCKDB),
    Plant(7, "operators of others", elsewhere.operators_of_others_are_found, Where.POSTGRES),
    Plant(8, "capitals in names", sources.names_that_differ_in_capitals_are_renamed, Where.DUCKDB),
    Plant(9, "paths are patterns", sources.paths_are_patterns, Where.DUCKDB),
    Plant(10, "wide literals", elsewhere.a_missing_number_is_below_a_wide_literal, Where.SPARK),
    Plant(11, "false yes", claims.integers_beside_floats_have_no_regions, Where.POLICIES),
    Plant(12, "one name for two requests", claims.two_requests_have_one_name),
    Plant(12, "n read and not said", claims.n_is_read_and_not_said),
    Plant(13, "exports confirm guesses", claims.an_export_confirms_guesses),
    Plant(14, "statistics decide", sources.statistics_decide_conditions, Where.DUCKDB),
    Plant(15, "bits of NaN", keys.the_bits_of_nan_are_published, Where.DUCKDB),
    Plant(16, "cells of files raise", cells.files_are_read_with_errors, Where.DUCKDB),
    Plant(17, "offsets are lost", keys.an_offset_is_lost_on_the_way),
    Plant(18, "formats found again", sources.formats_are_found_again, Where.DUCKDB),
    Plant(19, "headers are not read", sources.only_the_first_file_names_the_columns, Where.DUCKDB),
    Plant(20, "not found is false", beside.what_is_not_found_is_false, Where.DUCKDB),
)

__all__ = ["PLANTS", "Plant", "Where"]
