import threading

import optuna

from judgesmith.optimizers.storage import JournalLock, journal_storage, open_storage


def test_half_a_line_that_a_kill_left_is_cut_off(tmp_path):
    path = tmp_path / "folder" / "a.journal"
    open_storage(path).study("one").add_trial(optuna.trial.create_trial(value=1.0))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op_code": 4, "study' + b"y" * 200_000)
    study = open_storage(path).study("one")
    study.add_trial(optuna.trial.create_trial(value=2.0))
    assert [one.value for one in open_storage(path).study("one").trials] == [1.0, 2.0]
    assert path.read_bytes().startswith(whole)


def test_a_journal_of_half_a_line_is_empty(tmp_path):
    path = tmp_path / "a.journal"
    path.write_bytes(b'{"op_code"')
    assert journal_storage(path).get_all_studies() == []
    assert path.read_bytes() == b""


def test_a_lock_is_waited_for(tmp_path):
    path = tmp_path / "a.journal"
    first, second, order = JournalLock(path), JournalLock(path), []

    def wait():
        second.acquire()
        order.append("second")
        second.release()

    first.acquire()
    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(timeout=0.05)
    order.append("first")
    first.release()
    waiting.join()
    assert order == ["first", "second"]


def test_nothing_is_left_beside_a_journal(tmp_path):
    open_storage(tmp_path / "a.journal").study("one").add_trial(
        optuna.trial.create_trial(value=1.0)
    )
    assert [one.name for one in tmp_path.iterdir()] == ["a.journal"]
