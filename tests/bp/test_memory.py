import threading

from treebp.bp.memory import empty


def place(array):
    return array.__array_interface__["data"][0]


def test_memory_is_lent_again_only_when_nobody_has_it():
    first = empty(10_000)
    where, view = place(first), first[5:].reshape(5, -1)
    del first
    second = empty(10_000)
    assert place(second) != where  # a view of a view is enough
    del view
    assert place(empty(9_000)) == where
    assert len(empty(9_000)) == 9_000


def test_threads_do_not_share_memory():
    where = place(empty(10_000))
    found = []
    thread = threading.Thread(target=lambda: found.append(empty(10_000)))
    thread.start()
    thread.join()
    assert place(found[0]) != where


def test_what_is_kept_is_bounded():
    for _ in range(5):
        held = [empty(3 << 20) for _ in range(4)]
        assert len({place(array) for array in held}) == 4
