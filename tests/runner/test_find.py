import pytest

from itembank.errors import UserError
from runner.find import find_run, run_folders


def test_a_name_means_the_newest_complete_run(make_folder, tmp_path):
    out = tmp_path / "runs"
    old = make_folder(status="complete", started_at="2026-01-01T00:00:00")
    new = make_folder(status="complete", started_at="2026-01-02T00:00:00")
    make_folder(status="interrupted", started_at="2026-01-03T00:00:00")
    make_folder(status="complete", kind="ladder", started_at="2026-01-04T00:00:00")
    assert find_run("incumbent", out) == new.path
    assert find_run(str(old.path), out) == old.path
    assert len(run_folders(out)) == 4


def test_faults_name_what_there_is(make_folder, tmp_path):
    out = tmp_path / "runs"
    with pytest.raises(UserError, match="there are none"):
        find_run("incumbent", out)
    folder = make_folder()
    with pytest.raises(UserError, match="no complete quality run"):
        find_run("incumbent", out)
    with pytest.raises(UserError, match="did you mean 'incumbent'"):
        find_run("incumbant", out)
    empty = folder.path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="is no run folder"):
        find_run(str(empty), out)
