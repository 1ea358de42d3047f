from concurrent.futures import ThreadPoolExecutor

from ropespec.backends.cache import Cache


def made(cache, key, size):
    """Ask for a value; return it and whether it had to be made."""
    calls = []

    def make():
        calls.append(key)
        return "x" * size

    return cache.get(key, make), bool(calls)


def test_a_value_is_made_once():
    """The second time a key is asked for, its value is the one that was made before."""
    cache = Cache(100, len)
    first, new = made(cache, "a", 10)
    again, old = made(cache, "a", 20)

    assert new
    assert not old
    assert again is first


def test_the_least_recently_used_goes_first():
    """What was asked for last stays; the bytes held never exceed the limit."""
    cache = Cache(100, len)
    made(cache, "a", 40)
    made(cache, "b", 40)
    made(cache, "a", 40)
    made(cache, "c", 40)

    assert cache.held == 80
    assert not made(cache, "a", 40)[1]
    assert made(cache, "b", 40)[1]


def test_what_is_too_large_is_not_kept():
    """A value beyond the limit is returned, and nothing is kept in its place."""
    cache = Cache(100, len)
    value, _ = made(cache, "a", 101)

    assert len(value) == 101
    assert cache.held == 0
    assert made(cache, "a", 101)[1]


def test_clearing():
    """After `clear` nothing is held, and every value is made anew."""
    cache = Cache(100, len)
    made(cache, "a", 40)
    cache.clear()

    assert cache.held == 0
    assert made(cache, "a", 40)[1]


def test_many_threads():
    """Threads that ask for many keys at once get the right values, within the limit."""
    cache = Cache(1000, len)

    def ask(i):
        return cache.get(i % 7, lambda: str(i % 7) * 300)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(5000)))

    assert found == [str(i % 7) * 300 for i in range(5000)]
    assert cache.held <= 1000
