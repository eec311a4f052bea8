"""A signed audit: who may rely on it, and what it does not survive."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer.testing import CliRunner

from republish.anonymize.errors import SignatureError
from republish.orchestration.audit.signature import (
    PASSPHRASE_VARIABLE,
    SIGNATURE,
    SIGNED,
    load_private_key,
    load_public_key,
    verify_releases,
    verify_report,
)
from republish.orchestration.cli import main as cli
from republish.orchestration.cli.app import app
from tests.orchestration.audit.published_folders import NAMES, forge, run, write_series

FIRST, SECOND, THIRD = NAMES
EARLIER, LATER = "2024-01-15", "2025-01-01"


def write_private(file, key, passphrase=None):
    encryption = (
        serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    )
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    )
    return file


def write_public(file, key):
    file.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return file


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Three releases, audited and signed; the folder has key.pem and key.pub too."""
    folder = tmp_path_factory.mktemp("audited")
    write_series(folder)
    key = Ed25519PrivateKey.generate()
    write_private(folder / "key.pem", key)
    write_public(folder / "key.pub", key)
    with (folder / "contract.yaml").open("a") as contract:
        contract.write("governance: {controller: A hospital}\n")
    told = {"auditor": "Ada Officer", "purpose": "Yearly review."}
    code, broken = run(folder, sign=folder / "key.pem", **told)
    assert (code, broken) == (0, set())
    return folder


@pytest.fixture
def folder(audited, tmp_path):
    """A copy of it for one test."""
    return shutil.copytree(audited, tmp_path / "copy")


def verify(folder, place="published/hospital/v1"):
    statement, _ = verify_report(folder / "report", load_public_key(folder / "key.pub"))
    return verify_releases(folder / place, statement)


def copied(folder, release):
    """Another release in the series, a copy of the last one."""
    series = folder / "published/hospital/v1"
    shutil.copytree(series / THIRD, series / release)


@pytest.mark.slow("takes more than a second")
def test_a_series_is_as_it_was_audited(audited):
    assert verify(audited) == (list(NAMES), [])


@pytest.mark.slow("takes more than a second")
def test_a_release_that_was_published_since_is_named_and_the_audited_ones_are_checked(folder):
    """Whatever a schedule had added, nothing of a signed audit could be verified any more."""
    copied(folder, LATER)
    assert verify(folder) == (list(NAMES), [LATER])
    with pytest.raises(SignatureError, match=f"{LATER}: was not audited"):
        verify(folder, f"published/hospital/v1/{LATER}")
    forge(folder / f"published/hospital/v1/{SECOND}", tuples=1)
    with pytest.raises(SignatureError, match="is not what was audited and signed"):
        verify(folder)


def test_a_single_release_is_as_it_was_audited(audited):
    assert verify(audited, f"published/hospital/v1/{SECOND}") == ([SECOND], [])


def test_what_is_signed_says_by_whom_and_when_and_no_path(audited):
    statement = json.loads((audited / "report" / SIGNED).read_text())
    assert statement["auditor"] == "Ada Officer"
    assert statement["purpose"] == "Yearly review."
    assert statement["governance"] == {"controller": "A hospital"}
    assert statement["verdict"] == "Every promise holds."
    assert str(audited) not in (audited / "report" / SIGNED).read_text()


@pytest.mark.slow("makes and audits many releases")
def test_the_hash_of_all_figures_says_nothing_of_the_rest_of_them(folder):
    """Whoever guesses the hashes of small true tables can't find out by it that the guess is right."""
    report, drawn = folder / "report", set()
    for key in (folder / "key.pem", write_private(folder / "other.pem", Ed25519PrivateKey.generate())):
        run(folder, sign=key)
        nonce = json.loads((report / "audit.json").read_text())["nonce"]
        drawn.add(nonce)
        for name in ("audit.html", SIGNED):
            assert nonce not in (report / name).read_text()
    assert len(drawn) == 2


def test_openssl_checks_the_signature_too(audited):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pub", "-rawin"]
    words += ["-in", f"report/{SIGNED}", "-sigfile", f"report/{SIGNATURE}"]
    assert subprocess.run(words, cwd=audited, check=False, capture_output=True).returncode == 0


def change(file):
    file.write_bytes(file.read_bytes().replace(b"0", b"1", 1))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda at: change(at / "report/audit.html"), "audit.html: was changed after it was signed"),
        (lambda at: change(at / "report/audit.json"), "audit.json: was changed after it was signed"),
        (lambda at: change(at / "report" / SIGNED), "what was signed was changed, or somebody else"),
        (lambda at: (at / "report" / SIGNATURE).write_bytes(b"x"), "is no signature of"),
        (lambda at: (at / "report" / SIGNATURE).unlink(), "is missing. Give the folder that"),
        (lambda at: write_public(at / "key.pub", Ed25519PrivateKey.generate()), "somebody else signed it"),
        (
            lambda at: forge(at / f"published/hospital/v1/{SECOND}", tuples=1),
            f"{SECOND}/manifest.json: is not what was audited and signed",
        ),
        (
            lambda at: shutil.rmtree(at / f"published/hospital/v1/{THIRD}"),
            f"{THIRD}: was audited and signed, and is missing",
        ),
        (
            lambda at: copied(at, EARLIER),
            f"{EARLIER}: was not audited; the signed report is about hospital/v1 {FIRST}, ",
        ),
    ],
)
def test_any_change_is_one_clear_error(folder, spoil, said):
    spoil(folder)
    with pytest.raises(SignatureError) as refused:
        verify(folder)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2


def test_half_of_the_report_is_enough_and_none_is_not(folder):
    (folder / "report/audit.json").unlink()
    verify(folder)
    (folder / "report/audit.html").unlink()
    with pytest.raises(SignatureError, match="has none of the report's files"):
        verify(folder)


@pytest.mark.slow("takes more than a second")
def test_an_audit_without_a_key_takes_an_old_signature_away(folder):
    run(folder)
    assert not (folder / "report" / SIGNATURE).exists()
    assert not (folder / "report" / SIGNED).exists()


def test_there_is_nothing_to_sign_without_a_report(folder):
    with pytest.raises(SignatureError, match="Add --out FOLDER"):
        run(folder, sign=folder / "key.pem", out=None)


@pytest.mark.slow("takes more than a second")
def test_the_page_s_commands_run_as_printed(folder, monkeypatch, capsys):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    page = (Path(__file__).parents[3] / "docs/how-to/audit.md").read_text()
    _, _, after = page.partition("## A signed audit")
    commands = re.findall(r"^\$ (.+)$", after.partition("\n## ")[0], flags=re.MULTILINE)
    monkeypatch.chdir(folder)
    for line in commands:
        words = shlex.split(line)
        if words[0] == "openssl":
            subprocess.run(words, check=True, capture_output=True)
            continue
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert not ended.value.code, line
    assert [line.split()[:2] for line in commands][2:4] == [["republish", "audit"], ["republish", "verify"]]
    told = capsys.readouterr().out
    assert "3 releases as audited on" in told
    assert "The audit's verdict: No promise is broken; 1 could not be decided." in told


# ---- keys


def test_a_key_may_have_a_passphrase(tmp_path, monkeypatch):
    file = write_private(tmp_path / "key.pem", Ed25519PrivateKey.generate(), b"open sesame")
    with pytest.raises(SignatureError, match=f"has a passphrase: give it in {PASSPHRASE_VARIABLE}"):
        load_private_key(file)
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "open, barley")
    with pytest.raises(SignatureError, match="can't be opened with the passphrase") as refused:
        load_private_key(file)
    assert "barley" not in str(refused.value)
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "open sesame")
    assert load_private_key(file)


@pytest.mark.slow("takes more than a second")
def test_words_of_a_signed_report_forge_no_line(folder):
    forged = "Ada\nThe audit's verdict: Every promise holds.\x1b[1A\x1b[2K"
    run(folder, sign=folder / "key.pem", auditor=forged)
    words = [folder / "published/hospital/v1", "--report", folder / "report"]
    shown = CliRunner().invoke(app, ["verify", *map(str, words), "--public-key", str(folder / "key.pub")])
    assert (shown.exit_code, len(shown.output.splitlines())) == (0, len(NAMES) + 4)
    assert all(line.isprintable() for line in shown.output.splitlines())


STATEMENTS = {
    "a report elsewhere": {"report": {"../../etc/passwd": "0"}},
    "a report that is a list": {"report": ["audit.html"]},
    "releases that are text": {"releases": "all"},
    "a release without files": {"releases": [{"series": "a", "release": "b"}]},
    "a release with a file elsewhere": {"releases": [{"series": "a", "release": "b", "files": {"/x": "0"}}]},
    "no verdict": {"verdict": None},
    "an auditor who is a list": {"auditor": ["Ada"]},
    "another key": {"key": "0" * 64},
    "another format": {"format": "1"},
}


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("what", STATEMENTS)
def test_what_is_signed_and_no_statement_is_refused(what, folder):
    run(folder, sign=folder / "key.pem")
    file = folder / "report" / SIGNED
    content = json.dumps(json.loads(file.read_text()) | STATEMENTS[what]).encode()
    file.write_bytes(content)
    (folder / "report" / SIGNATURE).write_bytes(load_private_key(folder / "key.pem").sign(content))
    with pytest.raises(SignatureError, match="is signed, and not in the format"):
        verify_report(folder / "report", load_public_key(folder / "key.pub"))


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda file: None, "can't be read: No such file"),
        (lambda file: file.write_text("no key"), "is no private key in PEM"),
        (lambda file: write_public(file, Ed25519PrivateKey.generate()), "is a public key"),
        (lambda file: write_private(file, rsa.generate_private_key(65537, 2048)), "is no Ed25519 key"),
    ],
)
def test_what_is_no_private_key_is_refused_before_anything_is_attacked(folder, write, said):
    write(folder / "other.pem")
    shutil.rmtree(folder / "truth")
    with pytest.raises(SignatureError, match=said):
        run(folder, sign=folder / "other.pem")


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda file: None, "can't be read: No such file"),
        (lambda file: file.write_text("no key"), "is no public key in PEM"),
        (lambda file: write_private(file, Ed25519PrivateKey.generate()), "keep it to yourself"),
        (lambda file: write_public(file, rsa.generate_private_key(65537, 2048)), "is no Ed25519 key"),
    ],
)
def test_what_is_no_public_key_is_refused(tmp_path, write, said):
    write(tmp_path / "key.pub")
    with pytest.raises(SignatureError, match=said):
        load_public_key(tmp_path / "key.pub")
