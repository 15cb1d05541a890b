"""Screens of links as objects of a bucket: Amazon S3, or a store that is asked alike, such as MinIO, Ceph or R2.

The package boto3 asks it, with the key, region and endpoint that AWS's own tools look for. What is over is not given
out; to delete it is for a lifecycle rule of the bucket.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar, cast

from views.state.link_folder import is_name, packed, unpacked

SCHEME: Final = "s3://"
_SECONDS: Final = 10
_REGION: Final = "us-east-1"
_LARGEST_ANSWER: Final = 32 << 20
_MISSING: Final = ("NoSuchKey", "404")
_KEY_HINT: Final = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the server to a key of the store"
_REGION_HINT: Final = "set AWS_REGION for the server to the region of the bucket"
# S3 answers AccessDenied for an object that is missing to a key that may not list the bucket.
_HINTS: Final = MappingProxyType(
    {
        "NoSuchBucket": "create it, or name another in RELAXSCOPE_LINKS",
        "InvalidAccessKeyId": _KEY_HINT,
        "SignatureDoesNotMatch": _KEY_HINT,
        "AccessDenied": "the key needs s3:GetObject and s3:PutObject on its objects, and s3:ListBucket on the bucket",
        "PermanentRedirect": _REGION_HINT,
        "AuthorizationHeaderMalformed": _REGION_HINT,
        "RequestTimeTooSkewed": "set the clock of the server",
    }
)
T = TypeVar("T")


class _Content(Protocol):
    def read(self, amt: int) -> bytes: ...


class _Client(Protocol):
    """A client of boto3, as far as it is used here."""

    def put_object(self, *, Bucket: str, Key: str, Body: bytes) -> object: ...

    def get_object(self, *, Bucket: str, Key: str) -> Mapping[str, object]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where objects are kept, and the beginning of their names."""

    name: str
    prefix: str


def bucket_of(address: str) -> Bucket:
    """Read `s3://bucket/prefix`."""
    name, _, prefix = address.removeprefix(SCHEME).partition("/")
    return Bucket(name, f"{prefix.strip('/')}/" if prefix.strip("/") else "")


def put(bucket: Bucket, name: str, content: bytes, made: float, until: float) -> None:
    """Keep a content.

    Raises:
        OSError: the bucket does not take it, or there is no boto3.
    """
    body = packed(content, made, until)
    _ask(bucket, lambda client: client.put_object(Bucket=bucket.name, Key=f"{bucket.prefix}{name}", Body=body))


def get(bucket: Bucket, name: str, at: float) -> bytes | None:
    """Return a content by its name; `None` if it is not kept, any more or at all.

    Raises:
        OSError: the bucket does not answer, or there is no boto3.
    """

    def read(client: _Client) -> bytes:
        answer = client.get_object(Bucket=bucket.name, Key=f"{bucket.prefix}{name}")
        return cast(_Content, answer["Body"]).read(_LARGEST_ANSWER)

    found = _ask(bucket, read) if is_name(name) else None
    return None if found is None else unpacked(found, at)


def _ask(bucket: Bucket, ask: Callable[[_Client], T]) -> T | None:
    """Ask the bucket; `None` if there is no such object."""
    try:
        # Neither has types.
        import boto3  # pyright: ignore[reportMissingTypeStubs]
        import botocore  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise OSError("the package boto3 is not installed: pip install 'relaxscope[s3]'") from error
    library, core = cast(Any, boto3), cast(Any, botocore)
    # Stores that are asked as S3 is do not all know its newer checksums, or a host for each bucket.
    config = core.config.Config(
        s3={"addressing_style": "path"},
        connect_timeout=_SECONDS,
        read_timeout=_SECONDS,
        retries={"total_max_attempts": 2},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    try:
        session = library.Session()
        made: _Client = session.client("s3", region_name=session.region_name or _REGION, config=config)
        with closing(made) as client:
            return ask(client)
    except core.exceptions.ClientError as error:
        code: str = error.response["Error"]["Code"]
        if code in _MISSING:
            return None
        hint = _HINTS.get(code)
        raise OSError(f"{bucket.name} answers {code}{f': {hint}' if hint else ''}") from error
    except core.exceptions.BotoCoreError as error:
        raise OSError(f"{bucket.name} does not answer: {error}") from error
