"""Links to screens that a server keeps: the store, what an address says beside one, and Chromium."""

import json
import random
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.request import Request, urlopen

import boto3  # pyright: ignore[reportMissingTypeStubs]
import pytest
from moto.server import ThreadedMotoServer
from playwright.sync_api import Page, expect

from tests.app_server import serve
from tests.browser import open_popover
from views.state.address import LINK, changed_values, read_address, to_address
from views.state.link_bucket import Bucket
from views.state.links import (
    DAYS,
    LARGEST_SCREEN,
    KeptScreen,
    LinkError,
    days_kept,
    find,
    keep,
    links_place,
)
from views.state.selection import screen

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SCREEN = KeptScreen({"sample": "relax/mlp.py", "seed": 7}, {"source": ("a", "b")}, b"inputs")


@pytest.fixture(params=["file", "folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where links are kept: a file that is not there yet, or a folder, which its operator has made."""
    if request.param == "folder":
        (tmp_path / "links").mkdir(mode=0o700)
        return tmp_path / "links"
    return tmp_path / "deep" / "links.sqlite"


def test_a_screen_is_found_by_its_link_until_it_ends(place: Path) -> None:
    file = place
    link = keep(SCREEN, file, NOW)
    assert link.until == NOW + timedelta(days=DAYS)
    assert find(link.name, file, NOW + timedelta(days=DAYS - 1)) == SCREEN
    assert find(link.name, file, NOW + timedelta(days=DAYS + 1)) is None
    assert keep(SCREEN, file, NOW).name == link.name
    assert all(path.stat().st_mode & 0o077 == 0 for path in (file, *file.parent.rglob("*")))
    later = NOW + timedelta(days=DAYS + 1)
    assert keep(KeptScreen({"seed": 8}), file, later).name != link.name
    assert find(link.name, file, NOW) is None


def test_a_folder_gives_what_belongs_to_links_alone(tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"secret" * 10)
    (folder / "README").write_text("The operator's.")
    link = keep(SCREEN, folder, NOW)
    for name in ("../secret", "README", f"./{link.name}", link.name.upper(), "." * 16, "../links/" + "a" * 7):
        assert find(name, folder, NOW) is None
    (folder / link.name).write_bytes((folder / link.name).read_bytes()[:-1])
    assert find(link.name, folder, NOW) is None
    (folder / link.name).write_bytes(b"")
    assert find(link.name, folder, NOW) is None
    assert keep(SCREEN, folder, NOW) == link
    assert find(link.name, folder, NOW) == SCREEN
    assert sorted(path.name for path in folder.iterdir()) == sorted(("README", link.name))
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved" / "README")
    with pytest.raises(LinkError, match="cannot be used"):
        keep(SCREEN, folder, NOW)


def test_what_is_over_makes_no_live_link_give_way(tmp_path: Path) -> None:
    noise = random.Random(0)
    old = keep(KeptScreen({"seed": 1}, {}, noise.randbytes(2000)), tmp_path, NOW)
    young = keep(KeptScreen({"seed": 2}, {}, noise.randbytes(1000)), tmp_path, NOW - timedelta(days=1))
    later = NOW + timedelta(days=DAYS - 0.5)
    assert keep(KeptScreen({"seed": 3}, {}, noise.randbytes(500)), tmp_path, later, 3000).name
    assert find(old.name, tmp_path, later) is not None
    assert find(young.name, tmp_path, later) is None


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(LinkError, match="no space left"):
        keep(SCREEN, tmp_path, NOW)
    assert not [*tmp_path.iterdir()]


def test_servers_that_share_a_folder_lose_no_link(tmp_path: Path) -> None:
    screens = [KeptScreen({"seed": number}) for number in range(24)]
    with ThreadPoolExecutor(6) as servers:
        asked = [servers.submit(keep, item, tmp_path, NOW) for item in screens * 3]
        links = [item.result() for item in asked]
    assert [find(link.name, tmp_path, NOW) for link in links] == screens * 3
    assert len(list(tmp_path.iterdir())) == len(screens)


def test_other_names_and_damaged_screens_are_not_found(tmp_path: Path) -> None:
    file = tmp_path / "links.sqlite"
    assert find("a" * 16, file, NOW) is None
    link = keep(SCREEN, file, NOW)
    for name in ("", link.name[:-1], link.name.upper(), "%" * 16, f"{link.name}'"):
        assert find(name, file, NOW) is None
    with sqlite3.connect(file) as store:
        store.execute("UPDATE screens SET content = ?", (b"something else",))
    assert find(link.name, file, NOW) is None
    file.write_bytes(b"no database" * 100)
    with pytest.raises(LinkError, match="cannot be used"):
        find(link.name, file, NOW)


def test_the_oldest_make_room_and_what_is_too_large_is_refused(place: Path) -> None:
    file = place
    noise = random.Random(0)
    links = [
        keep(KeptScreen({"sample": str(day)}, {}, noise.randbytes(1000)), file, NOW + timedelta(days=day), 2500)
        for day in range(4)
    ]
    assert [find(link.name, file, NOW) is not None for link in links] == [False, False, True, True]
    with pytest.raises(LinkError, match="a link holds 16 MB"):
        keep(KeptScreen({}, {}, noise.randbytes(LARGEST_SCREEN + 1)), file, NOW)


KEPT = "kept"
MAY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": f"arn:aws:s3:::{KEPT}/*"},
        {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{KEPT}"},
    ],
}


class Store(NamedTuple):
    """A server of moto that checks signatures and permissions, with one bucket and one user."""

    address: str
    key: str
    secret: str

    def client(self, service: str) -> Any:
        """Return a client of boto3 for one who may do everything while the server asks for no key."""
        return cast(Any, boto3).client(
            service,
            endpoint_url=self.address,
            region_name="us-east-1",
            aws_access_key_id="operator",
            aws_secret_access_key="operator",
        )

    def ask_for_keys(self, *, is_asked: bool) -> None:
        count = b"0" if is_asked else b"inf"
        request = Request(f"{self.address}/moto-api/reset-auth", count, {"content-type": "text/plain"}, method="POST")
        with urlopen(request) as answer:
            assert answer.status == 200


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    operator = Store(f"http://{host}:{port}", "", "")
    operator.ask_for_keys(is_asked=False)
    operator.client("s3").create_bucket(Bucket=KEPT)
    users = operator.client("iam")
    users.create_user(UserName="links")
    users.put_user_policy(UserName="links", PolicyName="may", PolicyDocument=json.dumps(MAY))
    made = users.create_access_key(UserName="links")["AccessKey"]
    yield Store(operator.address, made["AccessKeyId"], made["SecretAccessKey"])
    server.stop()


@pytest.fixture
def bucket(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    store.ask_for_keys(is_asked=True)
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", store.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", store.secret)
    place = links_place({"RELAXSCOPE_LINKS": f"s3://{KEPT}/our links/"})
    assert isinstance(place, Bucket)
    assert place == Bucket(KEPT, "our links/")
    yield place
    store.ask_for_keys(is_asked=False)


def test_a_bucket_keeps_screens_until_they_end(bucket: Bucket, store: Store) -> None:
    large = KeptScreen({"seed": 8}, {}, random.Random(2).randbytes(6 << 20))
    links = [keep(screen, bucket, NOW) for screen in (SCREEN, large)]
    for link, kept in zip(links, (SCREEN, large), strict=True):
        assert find(link.name, bucket, NOW + timedelta(days=DAYS - 1)) == kept
        assert find(link.name, bucket, NOW + timedelta(days=DAYS + 1)) is None
    assert keep(SCREEN, bucket, NOW) == links[0]
    name = links[0].name
    for other in ("a" * 16, "../" + "a" * 13, name.upper()):
        assert find(other, bucket, NOW) is None
    store.ask_for_keys(is_asked=False)
    client = store.client("s3")
    listed = [item["Key"] for item in client.list_objects_v2(Bucket=KEPT)["Contents"]]
    assert listed == sorted(f"our links/{link.name}" for link in links)
    body = client.get_object(Bucket=KEPT, Key=f"our links/{name}")["Body"].read()
    client.put_object(Bucket=KEPT, Key=f"our links/{name}", Body=body[:-1])
    assert find(name, bucket, NOW) is None


def refused(bucket: Bucket) -> str:
    """Return how a bucket refuses to keep a screen, and to give one."""
    with pytest.raises(LinkError) as kept:
        keep(SCREEN, bucket, NOW)
    with pytest.raises(LinkError) as found:
        find("a" * 16, bucket, NOW)
    assert str(kept.value).partition("http")[0] == str(found.value).partition("http")[0]
    return str(kept.value)


def test_what_a_bucket_refuses_is_said_without_the_key(
    bucket: Bucket, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "(other answers AccessDenied: the key needs s3:GetObject" in refused(Bucket("other", ""))
    wrong = "the secret of somebody else"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", wrong)
    said = refused(bucket)
    assert "(kept answers SignatureDoesNotMatch: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in said
    assert wrong not in said
    assert store.key not in said
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    assert "the bucket of the links cannot be used (kept answers InvalidAccessKeyId: set AWS" in refused(bucket)
    store.ask_for_keys(is_asked=False)
    assert "(other answers NoSuchBucket: create it" in refused(Bucket("other", ""))


def test_a_bucket_that_cannot_be_asked_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "who")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "unsaid")
    assert "the bucket of the links cannot be used (kept does not answer" in refused(Bucket(KEPT, ""))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    assert "Unable to locate credentials" in refused(Bucket(KEPT, ""))


def test_a_bucket_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "pip install 'relaxscope[s3]'" in refused(Bucket(KEPT, ""))


def test_where_and_how_long_links_are_kept_is_for_the_operator_to_say() -> None:
    assert links_place({"RELAXSCOPE_LINKS": "off"}) is None
    assert links_place({"RELAXSCOPE_LINKS": "/srv/links"}) == Path("/srv/links")
    assert links_place({"XDG_DATA_HOME": "/data"}) == Path("/data/relaxscope/links.sqlite")
    assert [days_kept({"RELAXSCOPE_LINK_DAYS": given}) for given in ("7", "0", "x", "²")] == [7, DAYS, DAYS, DAYS]


def test_a_link_is_a_whole_screen_of_which_the_address_says_what_is_otherwise() -> None:
    kept = changed_values(screen(sample="relax/mlp.py", text="x = 1", seed=7, time=3))
    assert read_address({LINK: "a"}, None, kept).selection.values() == screen(**kept).values()
    assert read_address({LINK: "a", "time": "5"}, None, kept).selection.values()["time"] == 5
    odd = {**kept, "seed": -1, "time": "3", "no_field": 4, "sample": "\ud800"}
    assert changed_values(read_address({LINK: "a"}, None, odd).selection) == {
        "sample": screen().values()["sample"],
        "text": "x = 1",
    }


def test_what_is_too_long_for_an_address_is_read_from_the_link() -> None:
    text = random.Random(1).randbytes(60_000).hex()
    current = screen(text=text, seed=7)
    address = to_address(current)
    assert read_address(address).complaints
    read = read_address({**address, LINK: "a"}, None, {"text": text, "seed": 9})
    assert read.complaints == ()
    assert read.selection.values() == current.values()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the app from a home directory of its own, where its links are kept."""
    with serve(tmp_path_factory.mktemp("links")) as found:
        yield found


def short_link(page: Page) -> str:
    open_popover(page.get_by_role("button", name="Share"))
    page.get_by_role("button", name="Short link").click()
    expect(page.get_by_text("This server keeps the screen until")).to_be_visible()
    expect(page.get_by_test_id("stImage").get_by_role("img")).to_be_visible()
    return page.locator("code").filter(has_text="?link=").inner_text().strip()


@pytest.mark.browser
def test_a_short_link_leads_to_the_screen_in_another_browser(page: Page, url: str) -> None:
    page.goto(f"{url}/run?sample=relax/mlp.py&seed=41&time=3")
    expect(page.get_by_text("Inputs: seed 41")).to_be_visible()
    link = short_link(page)
    assert link.startswith(f"{url}/run?link=")
    assert len(link) < len(url) + 40
    browser = page.context.browser
    assert browser is not None
    with browser.new_context() as other:
        opened = other.new_page()
        opened.goto(link)
        expect(opened.get_by_text("Inputs: seed 41")).to_be_visible()
        opened.wait_for_url("**/run?*time=3*")
        opened.goto(f"{url}/run?link={'a' * 16}")
        expect(opened.get_by_text("The link is not known here")).to_be_visible()


@pytest.mark.browser
def test_a_screen_without_an_address_has_a_link_and_outlives_a_reload(page: Page, url: str) -> None:
    noise = random.Random(2).randbytes(60_000).hex()
    text = f"# {noise}\n@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n    return R.exp(x)\n"
    page.goto(f"{url}/?seed=2")
    page.get_by_role("button", name="Upload").first.click()
    page.locator("input[type=file]").set_input_files(
        {"name": "long.py", "mimeType": "text/x-python", "buffer": text.encode()}
    )
    expect(page.get_by_text("not in the address")).to_be_visible()
    page.keyboard.press("Escape")
    link = short_link(page)
    expect(page.get_by_text("not in the address")).to_have_count(0)
    page.wait_for_url("**left_out=text**")
    page.reload()
    expect(page.get_by_placeholder("long.py · yours")).to_be_visible()
    expect(page.get_by_text("too long for one")).to_have_count(0)
    browser = page.context.browser
    assert browser is not None
    with browser.new_context() as other:
        opened = other.new_page()
        opened.goto(link)
        expect(opened.get_by_placeholder("long.py · yours")).to_be_visible()
