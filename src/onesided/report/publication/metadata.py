"""Metadata that other programs read: Frictionless, schema.org and Croissant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from onesided.report.publication.released import PublishedRelease
from onesided.report.publication.words import described, protected, title

_CROISSANT = "http://mlcommons.org/croissant/1.0"
_CONTEXT = {
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "sc": "https://schema.org/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "recordSet": "cr:recordSet",
    "field": "cr:field",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "source": "cr:source",
    "fileObject": "cr:fileObject",
    "extract": "cr:extract",
    "column": "cr:column",
}
MEDIA = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
}


def data_package(releases: Sequence[PublishedRelease], files: Mapping[str, str]) -> dict[str, Any]:
    """`datapackage.json` by Frictionless; `files` are names with their hashes."""
    return {
        "$schema": "https://datapackage.org/profiles/1.0/datapackage.json",
        "name": releases[0].name,
        "title": title(releases[0].receipt),
        "created": releases[0].receipt["time"],
        "resources": [
            {
                "name": each.name,
                "path": f"{each.name}.csv",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "hash": f"sha256:{files[f'{each.name}.csv']}",
                "title": title(each.receipt),
                "description": each.receipt.promise,
                "schema": {
                    "fields": [
                        {"name": c.name, "type": _frictionless(c.type), "description": c.text}
                        for c in described(each.receipt, each.table)
                    ]
                },
            }
            for each in releases
            if f"{each.name}.csv" in files
        ],
    }


def schema_org(releases: Sequence[PublishedRelease], files: Mapping[str, str]) -> dict[str, Any]:
    """schema.org/Dataset as JSON-LD, for search engines."""
    first = releases[0]
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": title(first.receipt),
        "description": f"{protected(first.receipt)} {first.receipt.promise}",
        "dateCreated": first.receipt["time"],
        "measurementTechnique": sorted({str(each.receipt["mechanism"]) for each in releases}),
        "variableMeasured": [
            {"@type": "PropertyValue", "name": c.name, "description": c.text}
            for each in releases
            for c in described(each.receipt, each.table)
        ],
        "distribution": [_download(name, digest) for name, digest in _data(files)],
    }


def croissant(releases: Sequence[PublishedRelease], files: Mapping[str, str]) -> dict[str, Any]:
    """`croissant.json` by MLCommons: the files, and the records that are in them."""
    first = releases[0]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CROISSANT,
        "name": first.name,
        "description": f"{title(first.receipt)}. {first.receipt.promise}",
        "datePublished": first.receipt["time"],
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": MEDIA[_ending(name)],
                "sha256": digest,
            }
            for name, digest in _data(files)
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": each.name,
                "name": each.name,
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{each.name}/{c.name}",
                        "name": c.name,
                        "description": c.text,
                        "dataType": _schema_type(c.type),
                        "source": {
                            "fileObject": {"@id": f"{each.name}.parquet"},
                            "extract": {"column": c.name},
                        },
                    }
                    for c in described(each.receipt, each.table)
                ],
            }
            for each in releases
        ],
    }


def _data(files: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, files[name]) for name in sorted(files) if _ending(name) in MEDIA]


def _ending(name: str) -> str:
    return name[name.rfind(".") :]


def _download(name: str, digest: str) -> dict[str, str]:
    return {
        "@type": "DataDownload",
        "contentUrl": name,
        "encodingFormat": MEDIA[_ending(name)],
        "sha256": digest,
    }


def _frictionless(kind: pa.DataType) -> str:
    types = pa.types
    for asked, name in (
        (types.is_boolean, "boolean"),
        (types.is_integer, "integer"),
        (types.is_floating, "number"),
        (types.is_date, "date"),
        (types.is_decimal, "number"),
    ):
        if asked(kind):
            return name
    # Moments are written with a blank between day and time, which no type of the standard takes.
    return "string" if types.is_string(kind) or types.is_large_string(kind) else "any"


def _schema_type(kind: pa.DataType) -> str:
    types = pa.types
    for asked, name in (
        (types.is_boolean, "sc:Boolean"),
        (types.is_integer, "sc:Integer"),
        (types.is_floating, "sc:Float"),
        (types.is_decimal, "sc:Float"),
        (types.is_date, "sc:Date"),
        (types.is_timestamp, "sc:DateTime"),
    ):
        if asked(kind):
            return name
    return "sc:Text"
