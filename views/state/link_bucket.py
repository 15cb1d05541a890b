"""Screens of links as objects of a bucket: Amazon S3, or a store that is asked alike, such as MinIO, Ceph or R2.

Requests are signed as AWS Signature Version 4 says, and name the bucket in their path. What is over is not given out;
to delete it is for a lifecycle rule of the bucket.

See: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

import hmac
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from views.state.link_folder import is_name, packed, unpacked

SCHEME: Final = "s3://"
_SECONDS: Final = 10
_REGION: Final = "us-east-1"
_LARGEST_ANSWER: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class Key:
    """Who asks, and of which region."""

    name: str
    secret: str = field(repr=False)
    region: str = _REGION
    token: str = field(default="", repr=False)
    """Of a session for which the key is; empty if it is for good."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where objects are kept, and the beginning of their names."""

    endpoint: str
    name: str
    prefix: str
    key: Key


def bucket_of(address: str, environment: Mapping[str, str]) -> Bucket:
    """Read `s3://bucket/prefix`; key, region and endpoint are where AWS's own tools look for them."""
    name, _, prefix = address.removeprefix(SCHEME).partition("/")
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or _REGION
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
    who, secret, token = (environment.get(item, "") for item in names)
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return Bucket(endpoint or f"https://s3.{region}.amazonaws.com", name, prefix, Key(who, secret, region, token))


def put(bucket: Bucket, name: str, content: bytes, made: float, until: float) -> None:
    """Keep a content.

    Raises:
        OSError: the bucket does not take it.
    """
    status, answer = _ask(bucket, "PUT", name, packed(content, made, until))
    if status != 200:
        raise OSError(f"{bucket.name} answers {status} {_code(answer)}".rstrip())


def get(bucket: Bucket, name: str, at: float) -> bytes | None:
    """Return a content by its name; `None` if it is not kept, any more or at all.

    Raises:
        OSError: the bucket does not answer.
    """
    if not is_name(name):
        return None
    status, answer = _ask(bucket, "GET", name)
    if status == 200:
        return unpacked(answer, at)
    if status == 404 and _code(answer) in ("", "NoSuchKey"):
        return None
    raise OSError(f"{bucket.name} answers {status} {_code(answer)}".rstrip())


def _ask(bucket: Bucket, method: Literal["GET", "PUT"], name: str, body: bytes = b"") -> tuple[int, bytes]:
    where = urlsplit(bucket.endpoint)
    path = quote(f"{where.path.rstrip('/')}/{bucket.name}/{bucket.prefix}{name}", safe="/-_.~")
    headers = signed(method, path, {"host": where.netloc}, body, bucket.key, datetime.now(UTC))
    connect = HTTPConnection if where.scheme == "http" else HTTPSConnection
    try:
        with closing(connect(where.netloc, timeout=_SECONDS)) as connection:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(_LARGEST_ANSWER)
    except HTTPException as error:
        raise OSError(f"{bucket.endpoint} gives no answer of HTTP: {error!r}") from error


def signed(method: str, path: str, headers: Mapping[str, str], body: bytes, key: Key, now: datetime) -> dict[str, str]:
    """Return the headers of a request, those of its signature included; the names of `headers` are in small letters."""
    stamp, digest = now.strftime("%Y%m%dT%H%M%SZ"), sha256(body).hexdigest()
    sent = {**headers, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    if key.token:
        sent["x-amz-security-token"] = key.token
    names = ";".join(sorted(sent))
    lines = "".join(f"{name}:{sent[name]}\n" for name in sorted(sent))
    request = f"{method}\n{path}\n\n{lines}\n{names}\n{digest}"
    parts = (stamp[:8], key.region, "s3", "aws4_request")
    scope = "/".join(parts)
    made = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{sha256(request.encode()).hexdigest()}"
    with_ = f"AWS4{key.secret}".encode()
    for part in parts:
        with_ = hmac.digest(with_, part.encode(), "sha256")
    signature = hmac.digest(with_, made.encode(), "sha256").hex()
    who = f"Credential={key.name}/{scope},SignedHeaders={names},Signature={signature}"
    return {**sent, "authorization": f"AWS4-HMAC-SHA256 {who}"}


def _code(answer: bytes) -> str:
    """Return the word by which the store says what is wrong: `<Error><Code>NoSuchKey</Code>`."""
    word = answer.partition(b"<Code>")[2].partition(b"</Code>")[0][:40].decode("ascii", "replace")
    return word if word.isalnum() else ""
