"""Records, the CSV that the suite's programs write: kernelcast-records(5)."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

# Columns that are text, even where it is a number's: those without a unit in what a program's --columns lists.
TEXT_COLUMNS = frozenset(
    """
    access addresses after alias alloc app architecture as_of assumed backend bandwidth_source
    best_device best_single_device bottleneck_link bound bytes_shares cache case case_trivial
    chosen_device class clock column counts criterion currency data_set decided definition device
    direction driver dst duplex feature features features_xxh3_64 file flops_shares from gap_of
    global_access_rule gpu group_atomic_unions group_load_lines group_load_requests group_load_sectors
    group_load_unions group_local_requests group_local_stores group_phases group_reuse
    group_shared_loads group_shared_stores group_store_lines group_store_requests group_store_sectors
    group_store_unions hash host_buffer host_waits interface invocation kernel kernel_gpus kind left_out
    library license limiter link map mask matrix_flop max_features measured_on memory memory_type metric
    model name nearest next_device note notes occupancy_target opcode order partition place power_source
    process property provider quantity rates reason recommended regime region relation
    runner_up_host_buffer runner_up_map runs_on scheduler scheme search sensitive_to source source_line
    source_text space spec src src_cache src_gap src_latency src_limits src_link src_measured src_models
    src_peak src_throughput status steered_to stream suite system target targets_xxh3_64 term tested to
    to_device to_place touched_before unit unseen unseen_trivial validated variant vendor verdict where
    worst_device
    """.split()
)


def pandas_module():
    """pandas, which only frames need."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("frames need pandas; python -m pip install pandas") from error
    return pandas


def _value(column: str, text: str) -> Any:
    if column in TEXT_COLUMNS:
        return text
    if text == "":
        return None
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def rows(text: str) -> list[dict[str, Any]]:
    """Records without pandas: numbers are int or float, an empty number is None."""
    return [{name: _value(name, value) for name, value in row.items()} for row in csv.DictReader(io.StringIO(text))]


def read(source: str | os.PathLike) -> pandas.DataFrame:
    """A frame of the records in a file, or in a text with its header row. Text columns have the type "string"; an
    empty number is NaN. Columns that are not the suite's have the type that pandas gives them."""
    pandas = pandas_module()
    text = source if isinstance(source, str) and "\n" in source else Path(source).read_text()
    names = next(csv.reader(io.StringIO(text)), [])
    types = {name: "string" for name in names if name in TEXT_COLUMNS}
    frame = pandas.read_csv(
        io.StringIO(text),
        dtype=types,
        keep_default_na=False,
        na_values={name: ["", "nan"] for name in names if name not in TEXT_COLUMNS},
    )
    return frame
